"""Peak of anonymous memory (RssAnon) of processes that read, and that import and seal."""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

from against import frames
from against.pairs import Line
from against.stores import Bench, remove
from blockpack.measure.synthetic import SyntheticChain

READING_MEGABYTES, IMPORT_MEGABYTES = 30.0, 400.0
SAMPLE_SECONDS = 0.002
CHILD = Path(__file__).with_name("child.py")


def lines(bench: Bench) -> list[Line]:
    return [*reading(bench), *importing(bench)]


def peak(*arguments: str) -> float:
    """Run child.py and return the highest RssAnon that was seen, in MB."""
    child = subprocess.Popen([sys.executable, str(CHILD), *arguments])
    status = Path(f"/proc/{child.pid}/status")
    highest = 0
    while child.poll() is None:
        highest = max(highest, anonymous_kilobytes(status))
        time.sleep(SAMPLE_SECONDS)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, child.args)
    return highest / 1e3


def anonymous_kilobytes(status: Path) -> int:
    """0 when the process has just ended, or where the system does not say."""
    try:
        text = status.read_text()
    except OSError:
        return 0
    return int((text.partition("RssAnon:")[2].split() or ["0"])[0])


def reading(bench: Bench) -> list[Line]:
    """Random reads, then a scan; the default cache holds the largest group of each table."""
    found = []
    empty = peak("nothing")
    for codec in ("s2", "zstd"):
        path = bench.sealed(codec, bench.sizes.group_blocks)
        cache = sum(max(frame.decoded_size for frame in frames.table_frames(path, table))
                    for table in ("headers", "bodies")) / 1e6
        found.append(Line(
            "memory", f"reading, {codec}, group {bench.sizes.group_blocks}",
            peak("read", str(path)), "MB", target=READING_MEGABYTES + cache,
            note=f"{cache:.1f} MB of it may be cache; importing the package takes {empty:.1f}"))
    return found


def importing(bench: Bench) -> list[Line]:
    """An import from a file, then the seal, through the open log and directly."""
    count = bench.sizes.memory_blocks
    source = bench.new_path()
    with source.open("wb") as file:
        for block in islice(iter(SyntheticChain(seed=2)), count):
            file.write(block)
    found = []
    for codec, how in (("s2", "log"), ("s2", "direct"), ("zstd", "log")):
        path = bench.new_path()
        start = time.perf_counter()
        megabytes = peak("import", str(source), str(path), codec, how)
        seconds = time.perf_counter() - start
        found.append(Line("memory", f"import and seal of {count} blocks, {codec}, {how}",
                          megabytes, "MB", target=IMPORT_MEGABYTES,
                          note=f"{source.stat().st_size / 1e6:,.0f} MB in {seconds:.0f} s"))
        remove(path)
    source.unlink()
    return found
