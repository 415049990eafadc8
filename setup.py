"""The native extensions; everything else about the package is in pyproject.toml.

Environment switches, used by CI and by people working on the kernels:

- ``BLOCKPACK_WERROR=1``: compiler warnings are errors.
- ``BLOCKPACK_SANITIZE=1``: AddressSanitizer and UndefinedBehaviorSanitizer.

One wheel per Python version, not one for the stable ABI: built for the stable ABI, a ``header(n)``
takes 14 % more instructions (28,046 against 31,965, callgrind) and a 90 KB ``view(n)`` 2 %; what
we would accept is 3 %.
"""

import os
from pathlib import Path

from setuptools import Extension, setup

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
    return args + sanitize_args()


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


setup(
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
