"""What a column of a table is: its name, what it is made of, and what it is in a data frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from blockpack._native.columns import FIELDS, KINDS
from blockpack.chain.columns.column import Field

HASH_BYTES: Final = 32
ADDRESS_BYTES: Final = 20
BLOOM_BYTES: Final = 256
SENDER: Final = "sender"

_HASH = Field("item", "fixed", HASH_BYTES, nullable=False)
_ADDRESS = Field("address", "fixed", ADDRESS_BYTES, nullable=False)
_ACCESS = Field("item", "struct", 0, False, (
    _ADDRESS, Field("storage_keys", "list", 0, False, (_HASH,))))
_AUTHORIZATION = Field("item", "struct", 0, False, (
    Field("chain_id", "u256", nullable=False), _ADDRESS,
    Field("nonce", "u64", nullable=False), Field("y_parity", "u64", nullable=False),
    Field("r", "u256", nullable=False), Field("s", "u256", nullable=False)))
# What the kernel makes -> what it is in a data frame; numbers are u64 where nothing else is said.
_KINDS: Final = {
    "success": "bool", "u256": "u256", "little_u256": "u256", "u256_f64": "f64",
    "u256_decimal": "string", "fixed": "fixed", "fixed_or_none": "fixed", "keccak": "fixed",
    "root": "fixed", "bloom": "fixed", SENDER: "fixed", "bytes": "binary", "hashes": "list",
    "access_list": "list", "authorizations": "list"}
_CHILDREN: Final = {"hashes": _HASH, "access_list": _ACCESS, "authorizations": _AUTHORIZATION}


@dataclass(frozen=True, slots=True)
class Spec:
    """One column of a table: of ext/columns, ``kind`` of the cells of ``source``.

    ``is_default`` columns are given where none are named. ``wider`` is the column that has the
    numbers which are above the 64 bits of this one.
    """

    name: str
    doc: str
    kind: str
    source: int
    other: int = -1
    width: int = 0
    nullable: bool = False
    is_default: bool = True
    wider: str | None = None

    def field(self, name: str) -> Field:
        """What describes it in a schema, under the name that was asked for."""
        child = _CHILDREN.get(self.kind)
        return Field(name, _KINDS.get(self.kind, "u64"), self.width, self.nullable,
                     () if child is None else (child,))

    def wanted(self) -> tuple[str, int, int, int, int, bool, str | None]:
        """As Builder takes it."""
        kind = KINDS["bytes" if self.kind == SENDER else self.kind]
        return self.name, kind, self.source, self.other, self.width, self.nullable, self.wider

    def hidden(self) -> Spec:
        """The same, given only where it is named."""
        return replace(self, is_default=False)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of rows. ``aliases`` are further names of its columns, as other tools have them."""

    name: str
    doc: str
    columns: Mapping[str, Spec]
    aliases: Mapping[str, str]


def named(*groups: Spec | list[Spec]) -> dict[str, Spec]:
    """Columns by name, in order."""
    found: dict[str, Spec] = {}
    for group in groups:
        for spec in [group] if isinstance(group, Spec) else group:
            assert spec.name not in found, spec.name
            found[spec.name] = spec
    return found


def number(name: str, source: str, doc: str, *, nullable: bool = False) -> Spec:
    """A number that the walk has counted or computed."""
    return Spec(name, doc, "number", FIELDS[source], nullable=nullable)


def integer(name: str, source: int, doc: str, *, nullable: bool = False) -> Spec:
    """An RLP integer of 64 bits."""
    return Spec(name, doc, "u64", source, nullable=nullable)


def fixed(name: str, source: int, width: int, doc: str, *, nullable: bool = False) -> Spec:
    """A string of that many bytes."""
    return Spec(name, doc, "fixed", source, width=width, nullable=nullable)


def binary(name: str, source: int, doc: str, *, nullable: bool = False) -> Spec:
    """A string of any size."""
    return Spec(name, doc, "bytes", source, nullable=nullable)


def keccak(name: str, source: str, doc: str) -> Spec:
    """A hash that has to be computed: given only where it is named."""
    return Spec(name, doc, "keccak", FIELDS[source], width=HASH_BYTES, is_default=False)


def wide(name: str, source: int, doc: str, *, nullable: bool = False, short: bool = True
         ) -> list[Spec]:
    """An integer of 256 bits in all its forms: as u64 under its plain name (the default one) if
    ``short``, as 32 bytes, as the nearest double and as decimal digits."""
    forms = [("binary", "u256", "32 bytes, big-endian"), ("f64", "u256_f64", "the nearest double"),
             ("string", "u256_decimal", "decimal digits")]
    specs = [Spec(f"{name}_{suffix}", f"{doc}: {form}", kind, source, nullable=nullable,
                  is_default=not short and suffix != "string") for suffix, kind, form in forms]
    plain = Spec(name, f"{doc}; LimitError from 2^64 on", "u256_u64", source, nullable=nullable,
                 wider=f"{name}_binary")
    return [plain, *specs] if short else specs
