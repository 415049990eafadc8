"""The native extensions; everything else about the package is in pyproject.toml.

Environment switches, used by CI and by people working on the kernels:

- ``BLOCKPACK_WERROR=1``: compiler warnings are errors.
- ``BLOCKPACK_SANITIZE=1``: AddressSanitizer and UndefinedBehaviorSanitizer.

One wheel per Python version, not one for the stable ABI: built for the stable ABI, a ``header(n)``
takes 14 % more instructions (28,046 against 31,965, callgrind) and a 90 KB ``view(n)`` 2 %; what
we would accept is 3 %.
"""

import os
from collections.abc import Callable, Sequence
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext as build_ext_serial

# Extension name -> the C files of ext/ that it compiles beside its .pyx.
EXTENSIONS: dict[str, list[str]] = {
    "arrow": [],
    "crc32c": ["ext/hash/crc32c.c"],
    "keccak": ["ext/hash/keccak.c"],
    "rlp": ["ext/rlp/rlp.c", "ext/rlp/names.c"],
    "viewkit": ["ext/rlp/rlp.c", "ext/hash/keccak.c"],
    "header": [],
    "transaction": ["ext/rlp/names.c", "ext/rlp/transaction.c"],
    "transactions": ["ext/rlp/names.c", "ext/rlp/transaction.c", "ext/hash/keccak.c"],
    "withdrawal": [],
    "block": ["ext/rlp/rlp.c", "ext/rlp/names.c"],
    "nested": ["ext/rlp/rlp.c", "ext/rlp/names.c", "ext/rlp/transaction.c"],
    "s2": ["ext/s2/s2_decode.c", "ext/s2/s2_encode.c", "ext/s2/s2_fastest.c",
           "ext/s2/s2_better.c", "ext/s2/s2_best.c"],
    "logs": ["ext/bloom/logfilter.c", "ext/bloom/bloom.c", "ext/rlp/receipt.c", "ext/rlp/rlp.c",
             "ext/rlp/names.c", "ext/hash/keccak.c"],
    "receipt": ["ext/rlp/receipt.c", "ext/rlp/rlp.c", "ext/rlp/names.c", "ext/bloom/bloom.c",
                "ext/hash/keccak.c"],
    "roots": ["ext/trie/roots.c", "ext/trie/ordered.c", "ext/rlp/rlp.c", "ext/rlp/names.c",
              "ext/rlp/receipt.c", "ext/rlp/receipt_value.c", "ext/bloom/bloom.c",
              "ext/hash/keccak.c"],
    "columns": ["ext/columns/walk.c", "ext/columns/walk_receipts.c", "ext/columns/wants.c",
                "ext/columns/gather.c", "ext/columns/gather_lists.c", "ext/columns/u256.c",
                "ext/columns/zeros.c", "ext/rlp/transaction.c", "ext/rlp/receipt.c",
                "ext/rlp/rlp.c", "ext/rlp/names.c", "ext/bloom/bloom.c", "ext/hash/keccak.c"],
    "status": [],
    "cache": [],
    "counters": [],
    "frames": ["ext/index/index.c"],
    "group": ["ext/group/group.c", "ext/links/links.c", "ext/hash/keccak.c"],
    "hashes": ["ext/hashes/hashes.c", "ext/hash/keccak.c"],
    "index": ["ext/index/index.c"],
    "rows": [],
    "sealed": [],
    "strided": [],
    "zstd": [],
}

HEADERS = sorted(
    str(path) for folder, pattern in (("ext", "**/*.h"), ("src", "**/*.pxd"))
    for path in Path(folder).glob(pattern)
)


def compile_args() -> list[str]:
    args = ["-std=c11", "-O3", "-Wall", "-Wextra", "-fvisibility=hidden"]
    # What Cython's own generated code trips over; our kernels compile clean with both on.
    args += ["-Wno-unused-parameter", "-Wno-missing-field-initializers"]
    if os.environ.get("BLOCKPACK_WERROR"):
        args.append("-Werror")
    return args + (sanitize_args() or ["-g0"])


def sanitize_args() -> list[str]:
    if not os.environ.get("BLOCKPACK_SANITIZE"):
        return []
    return ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined",
            "-fno-omit-frame-pointer", "-g"]


def extension(name: str, kernels: list[str]) -> Extension:
    return Extension(
        f"blockpack._native.{name}",
        [f"src/blockpack/_native/{name}.pyx", *kernels],
        include_dirs=["ext"],
        depends=HEADERS,
        extra_compile_args=compile_args(),
        extra_link_args=sanitize_args(),
    )



def in_processes(work: Callable[..., object], items: Sequence[object]) -> None:
    """Calls work(item) for each item: a forked process a core, or here where there is no fork."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if "fork" not in get_all_start_methods():
        for item in items:
            work(item)
        return
    fork = get_context("fork")
    place = fork.Value("L", 0)
    workers = [fork.Process(target=share, args=(work, items, place)) for _ in range(cores)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise SystemExit("building an extension failed; its compiler's message is above")


def share(work: Callable[..., object], items: Sequence[object], place: Any) -> None:
    """Works on the next item that no process has taken, until there is none."""
    while True:
        with place.get_lock():
            mine = place.value
            place.value += 1
        if mine >= len(items):
            return
        work(items[mine])


class build_ext(build_ext_serial):    # setuptools finds its options by this name
    """One process a core, and each kernel compiled once for all the extensions that link it.

    One extension after the other, each compiling its own copies, takes 2.3 times as long on two
    cores.
    Processes, not setuptools' threads: Cython's compiler is neither safe in threads nor free of
    the GIL.
    """

    def build_extensions(self) -> None:
        self.check_extensions_list(self.extensions)
        kernels = sorted({source for ext in self.extensions for source in ext.sources[1:]})
        in_processes(self.compile_kernel, kernels)
        for ext in self.extensions:
            ext.extra_objects = self.objects_of(ext.sources[1:])
            ext.depends = [*ext.depends, *ext.sources[1:]]
            del ext.sources[1:]
        # The largest sources first, so that the processes end together.
        size = {ext.name: Path(ext.sources[0]).stat().st_size for ext in self.extensions}
        in_processes(self.build_extension, sorted(self.extensions, key=lambda ext: -size[ext.name]))

    def compile_kernel(self, source: str) -> None:
        (built,) = self.objects_of([source])
        newest = max(Path(path).stat().st_mtime for path in [source, *HEADERS])
        if not self.force and Path(built).exists() and Path(built).stat().st_mtime > newest:
            return
        self.compiler.compile([source], output_dir=self.build_temp, include_dirs=["ext"],
                              extra_postargs=compile_args())

    def objects_of(self, sources: list[str]) -> list[str]:
        names: list[str] = self.compiler.object_filenames(sources, output_dir=self.build_temp)
        return names


setup(
    cmdclass={"build_ext": build_ext},
    ext_modules=[extension(name, kernels) for name, kernels in EXTENSIONS.items()],
    options={
        "build_ext": {
            "cython_c_in_temp": True,
            "cython_directives": {
                "language_level": "3",
                "boundscheck": False,
                "wraparound": False,
                "cdivision": True,
                "embedsignature": True,
            },
        }
    },
)
