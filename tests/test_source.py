"""House rules that a machine can hold: the arrows between layers, lengths, and leftovers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "blockpack"

pytestmark = pytest.mark.skipif(not PACKAGE.is_dir(), reason="no source tree beside the tests")

# A layer may import itself and whatever stands before it here.
LAYERS = ("errors", "_native", "rlp", "s2", "segment", "store", "chain", "measure", "cli")
FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 450
COLUMNS_MAX = 100


def python_files() -> Iterator[Path]:
    for folder in (PACKAGE, ROOT / "tests", ROOT / "bench"):
        yield from sorted(folder.rglob("*.py"))


def kernel_files() -> list[Path]:
    return sorted(p for p in (ROOT / "ext").rglob("*") if p.suffix in {".c", ".h"})


def cython_files() -> list[Path]:
    return sorted([*PACKAGE.rglob("*.pyx"), *PACKAGE.rglob("*.pxd")])


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_layers(path: Path) -> Iterator[str]:
    for match in re.finditer(
        r"^\s*(?:from|import|cimport)\s+blockpack(?:\.(\w+))?(?:\s+c?import\s+([\w, ]+))?",
        path.read_text(), re.MULTILINE,
    ):
        first, names = match.groups()
        yield from [first] if first else (name.strip() for name in (names or "").split(","))


def test_imports_point_downward_only() -> None:
    wrong = []
    sources = [p for p in PACKAGE.rglob("*") if p.suffix in {".py", ".pyx", ".pxd", ".pyi"}]
    for path in sources:
        layer = layer_of(path)
        if layer in {"__init__", "__main__"}:
            continue
        wrong += [
            f"{path.relative_to(ROOT)} imports {target}"
            for target in imported_layers(path)
            if target in LAYERS and LAYERS.index(target) > LAYERS.index(layer)
        ]
    assert not wrong


def test_relative_imports_are_not_used() -> None:
    dotted = re.compile(r"^\s*from\s+\.", re.MULTILINE)
    assert not [str(p) for p in PACKAGE.rglob("*.py") if dotted.search(p.read_text())]


def test_functions_and_files_stay_short() -> None:
    wrong = []
    for path in python_files():
        text = path.read_text()
        if path.is_relative_to(PACKAGE) and text.count("\n") > FILE_LINES_MAX:
            wrong.append(f"{path.relative_to(ROOT)} has {text.count(chr(10))} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                if length > FUNCTION_LINES_MAX:
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name} {length}")
    assert not wrong


def test_lines_fit_in_the_columns() -> None:
    sources = [*python_files(), *kernel_files(), *cython_files()]
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > COLUMNS_MAX
    ]
    assert not wrong


def test_kernels_are_pure_c_without_heap_or_output() -> None:
    banned = re.compile(r"\b(Python\.h|malloc|calloc|realloc|free|printf|fprintf|alloca)\b")
    wrong = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in kernel_files()
        for match in banned.finditer(path.read_text())
    ]
    assert not wrong


def test_every_extension_has_a_stub() -> None:
    assert not [str(p) for p in PACKAGE.rglob("*.pyx") if not p.with_suffix(".pyi").exists()]


def test_only_the_file_system_module_changes_the_store() -> None:
    calls = re.compile(
        r"\bos\.(write|pwrite|writev|fsync|fdatasync|rename|replace|unlink|remove|truncate"
        r"|ftruncate|mkdir|makedirs|rmdir|link)\b|(?<!fs)\.(write_bytes|write_text|unlink|rename)\("
    )
    wrong = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for layer in ("segment", "store")
        for path in (PACKAGE / layer).rglob("*.py") if path.name != "fs.py"
        for match in calls.finditer(path.read_text())
    ]
    assert not wrong


def test_no_leftovers() -> None:
    marks = re.compile(r"\b(FIXME|XXX|TODO|HACK)\b|\bprint\(.*debug|breakpoint\(\)")
    sources = [*python_files(), *kernel_files(), *cython_files()]
    here = Path(__file__).resolve()
    assert not [str(p) for p in sources if p.resolve() != here and marks.search(p.read_text())]
