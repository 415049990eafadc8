"""FORMAT.md, section Store: its tables are the struct formats that the code uses."""

from __future__ import annotations

import re
import struct
from importlib.resources import files

import pytest

from blockpack.store import logformat, logindex, tables

TEXT = files("blockpack").joinpath("FORMAT.md").read_text().split("\n# Store\n", 1)[1]
CODES = {"B": 1, "I": 4, "Q": 8, "8s": 8, "16s": 16}


def table_after(heading: str) -> list[tuple[int, int]]:
    """(offset, size) of the rows of the first offset table after a line that starts so."""
    lines = TEXT[TEXT.index(heading):].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| offset"))
    rows = []
    for line in lines[start + 2:]:
        if not line.startswith("|"):
            break
        rows.append((int(line.split("|")[1]), int(line.split("|")[2])))
    return rows


def layout(form: struct.Struct) -> list[tuple[int, int]]:
    """(offset, size) of a struct's fields and of the checksum that follows it."""
    sizes = [CODES[code] for code in re.findall(r"\d*[a-zA-Z]", form.format[1:])] + [8]
    return [(sum(sizes[:i]), size) for i, size in enumerate(sizes)]


@pytest.mark.parametrize(("heading", "form", "size"), [
    ("File header:", logformat.FILE_HEADER, logformat.FILE_HEADER_SIZE),
    ("Record header:", logformat.RECORD, logformat.RECORD_SIZE),
    ("## Sidecar", logindex.CHUNK, logindex.CHUNK_SIZE),
])
def test_tables_are_the_code(heading: str, form: struct.Struct, size: int) -> None:
    assert table_after(heading) == layout(form)
    assert sum(table_after(heading)[-1]) == size


def test_constants_in_the_text() -> None:
    for magic in (logformat.LOG_MAGIC, logformat.SIDECAR_MAGIC):
        assert magic.hex(" ") in TEXT
    for number, name in tables.NAMES.items():
        assert f"{number} `{name}`" in TEXT
    assert f"table; {logformat.COMMIT} = commit record" in TEXT
    assert logindex.ROW_SIZE == 16 * tables.COUNT
