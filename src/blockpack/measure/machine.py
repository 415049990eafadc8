"""What a measurement ran on, in one line."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def describe() -> str:
    """Return processor, cores, system and Python, such as tables are captioned with."""
    return (f"{_processor()}, {cores()} cores, {platform.system()} {platform.machine()},"
            f" Python {platform.python_version()}")


def cores() -> int:
    """Return how many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.processor() or "unknown processor"
