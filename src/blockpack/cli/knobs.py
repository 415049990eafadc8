"""The store's knobs as command-line options, and their values as keyword arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

# (option, type, help, can be changed after creation); defaults are the library's own.
_OPTIONS: tuple[tuple[str, Any, str, bool], ...] = (
    ("--compression", click.Choice(["s2", "zstd", "snappy"]),
     "Codec for new data; sealed segments keep theirs.  [default: s2]", True),
    ("--compression-level", str,
     "Import speed: level or tier of the open segment, thrown away at seal.  [default: 1]", True),
    ("--seal-compression-level", str,
     "Final size: level or tier of the re-pack at seal.  [default: 6]", True),
    ("--block-group-size", int,
     "Blocks that share one compressed group: larger is smaller on disk and slower for a random "
     "read. Locked at creation.  [default: 64]", False),
    ("--segment-blocks", int,
     "A segment closes at a multiple of this.  [default: 50000]", True),
    ("--segment-bytes", int,
     "A segment closes early at this many decoded bytes.  [default: 8 GiB]", True),
    ("--seal-lag", int,
     "A full segment is sealed once the head is this far past it.  [default: 64]", True),
    ("--links", click.Choice(["hash", "none"]),
     "hash: the parent hash must be keccak of the previous header. none: for chains where it is "
     "not (IBFT, some Clique). Locked at creation.  [default: hash]", False),
)


def _add(command: Callable[..., Any], wanted: Callable[[bool], bool]) -> Callable[..., Any]:
    for name, kind, text, changeable in reversed(_OPTIONS):
        if wanted(changeable):
            command = click.option(name, type=kind, default=None, help=text)(command)
    return command


def creation_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Every knob, for commands that may create a store."""
    return _add(command, lambda changeable: True)


def changeable_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The knobs that an existing store takes."""
    return _add(command, lambda changeable: changeable)


def given(options: dict[str, Any]) -> dict[str, Any]:
    """The knobs that were typed, levels as numbers where they are numbers."""
    values = {name: value for name, value in options.items() if value is not None}
    for name in ("compression_level", "seal_compression_level"):
        text = values.get(name)
        if isinstance(text, str) and text.lstrip("-").isdigit():
            values[name] = int(text)
    return values
