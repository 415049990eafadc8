"""Writes the golden files anew. By hand only, after a change of the format that is meant:

    PYTHONPATH=src:tests python tests/golden/make.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from golden.annotate import annotate
from golden.cases import CASES
from segments import build

for name, (records, knobs) in CASES.items():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.seg"
        build(path, records, **knobs)
        target = Path(__file__).with_name(f"{name}.txt")
        target.write_text(annotate(path.read_bytes()))
        print(target)
