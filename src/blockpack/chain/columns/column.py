"""A column of values in NumPy arrays laid out as Arrow lays them out, and what describes one.

Nothing here knows a block or a table: what computes columns makes these, what hands them on
(``_native.arrow``, the exporter) reads these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# Kind -> the type of ``values``. u256 is 32 bytes, the most significant first: a number, where
# fixed is a string of bytes. Lists and structs have children in place of values.
DTYPES: dict[str, type[np.generic]] = {
    "u8": np.uint8, "u32": np.uint32, "u64": np.uint64, "i64": np.int64, "f64": np.float64,
    "bool": np.bool_, "binary": np.uint8, "string": np.uint8, "fixed": np.uint8, "u256": np.uint8,
}
NESTED = ("list", "struct")
WITH_OFFSETS = ("binary", "string", "list")
U256_BYTES = 32


@dataclass(frozen=True, slots=True)
class Field:
    """What a column is, without its values: enough for a schema before the first batch.

    ``width`` is that of a value of kind fixed, in bytes, and 0 for the others. ``nullable`` is a
    promise when False: no batch has a null.
    """

    name: str
    kind: str
    width: int = 0
    nullable: bool = True
    children: tuple[Field, ...] = ()

    def empty(self) -> Column:
        """The column of this field that has no rows."""
        values = None
        if self.kind not in NESTED:
            width = U256_BYTES if self.kind == "u256" else self.width
            shape = (0, width) if self.kind in {"fixed", "u256"} else (0,)
            values = np.empty(shape, DTYPES[self.kind])
        offsets = np.zeros(1, np.int64) if self.kind in WITH_OFFSETS else None
        return Column(self.name, self.kind, values, offsets, None,
                      tuple(child.empty() for child in self.children))


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The values of n rows.

    - ``values``: numbers and bool (n,); fixed (n, width) and u256 (n, 32) of uint8, most
      significant byte first; binary and string (bytes,) of uint8, a string's are UTF-8; list and
      struct None. C-contiguous, and not written to any more: Arrow consumers share it.
    - ``offsets``: binary, string and list (n + 1,) int64 into ``values`` or the child, ascending;
      else None.
    - ``valid``: (n,) bool, False where a row is null; None when no row is. What ``values`` has in
      a null row means nothing.
    - ``children``: of a list one, the items of all rows; of a struct at least one, n rows each.
    """

    name: str
    kind: str
    values: Array | None = None
    offsets: Array | None = None
    valid: Array | None = None
    children: tuple[Column, ...] = ()

    def __len__(self) -> int:
        """The rows, n."""
        if self.offsets is not None:
            return len(self.offsets) - 1
        return len(self.children[0]) if self.values is None else len(self.values)

    @property
    def nbytes(self) -> int:
        """The size of all arrays."""
        own = sum(array.nbytes for array in (self.values, self.offsets, self.valid)
                  if array is not None)
        return own + sum(child.nbytes for child in self.children)

    @property
    def field(self) -> Field:
        """What describes it; of a column without nulls as of one with them."""
        width = 0
        if self.kind == "fixed" and self.values is not None:
            width = self.values.shape[1]
        return Field(self.name, self.kind, width, True, tuple(c.field for c in self.children))

    def __getitem__(self, rows: slice) -> Column:
        """The rows of a slice of step 1, without copying values."""
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise ValueError(f"a column is cut in steps of 1, not {step}")
        stop = max(start, stop)
        cut = slice(start, stop)
        valid = None if self.valid is None else self.valid[cut]
        if self.offsets is not None:
            return Column(self.name, self.kind, self.values, self.offsets[start:stop + 1], valid,
                          self.children)
        values = None if self.values is None else self.values[cut]
        return Column(self.name, self.kind, values, None, valid,
                      tuple(child[cut] for child in self.children))
