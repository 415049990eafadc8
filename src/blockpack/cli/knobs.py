"""The store's knobs as command-line options, and their values as keyword arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from blockpack.store.knobs import CODECS, DICTIONARIES, LINKS, LOCKED, REPACKED, Knobs

_DEFAULTS = Knobs()
# (option, type, help); defaults are the library's own.
_OPTIONS: tuple[tuple[str, Any, str], ...] = (
    ("--compression", click.Choice(CODECS),
     "Codec for new data; sealed segments keep theirs."),
    ("--compression-level", str,
     "Import speed: level or tier of the open segment, thrown away at seal."),
    ("--seal-compression-level", str,
     "Final size: level or tier of the re-pack at seal."),
    ("--block-group-size", int,
     "Blocks that share one compressed group: larger is smaller on disk and slower for a random "
     "read. Only `repack` changes it later."),
    ("--segment-blocks", int,
     "A segment closes at a multiple of this."),
    ("--segment-bytes", int,
     "A segment closes early at this many decoded bytes."),
    ("--seal-lag", int,
     "A full segment is sealed once the head is this far past it."),
    ("--seal-dictionary", click.Choice(DICTIONARIES),
     "none: plain groups. auto: the sealer packs a sample in groups of several sizes and in frames "
     "that share a prefix, and takes what is read fastest within 1 % of the plain groups' size."),
    ("--links", click.Choice(LINKS),
     "hash: the parent hash must be keccak of the previous header. none: for chains where it is "
     "not (IBFT, some Clique). Locked at creation."),
)


def _add(command: Callable[..., Any], left_out: tuple[str, ...] = (),
         shown: str | None = None) -> Callable[..., Any]:
    for option, kind, text in reversed(_OPTIONS):
        name = option[2:].replace("-", "_")
        if name not in left_out:
            default = shown or f"  [default: {getattr(_DEFAULTS, name)}]"
            command = click.option(option, type=kind, default=None, help=text + default)(command)
    return command


def creation_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Every knob, for commands that may create a store."""
    return _add(command)


def changeable_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The knobs that an existing store takes."""
    return _add(command, left_out=LOCKED)


def repacking_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The knobs that repacking a store changes; those not given stay as they are."""
    return _add(command, left_out=tuple(set(LOCKED) - set(REPACKED)), shown="  [default: as it is]")


def seal_threads_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds ``--seal-threads``, which is no knob: it leaves no trace in the files."""
    return click.option("--seal-threads", type=click.IntRange(1), default=1, show_default=True,
                        help="Threads that pack segments in the background.")(command)


def given(options: dict[str, Any]) -> dict[str, Any]:
    """The knobs that were typed, levels as numbers where they are numbers."""
    values = {name: value for name, value in options.items() if value is not None}
    for name in ("compression_level", "seal_compression_level"):
        if name in values:
            values[name] = level(values[name])
    return values


def level(text: str) -> int | str:
    """A level as typed: a number where it is one, else a tier's name."""
    return int(text) if text.lstrip("-").isdigit() else text
