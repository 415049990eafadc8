"""What transactions of the synthetic chain look like: the fitted numbers, in one place.

Fitted to two real dense runs of mainnet, 18090205-18090218 and the bodies of 19808000-19808024,
measured by kind of call; tests hold the result beside them. Shares are of all transactions.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """Calls of one size. ``words`` is a range of 32-byte words after the selector, ``tail`` the
    most bytes of packed data after them; 0 keeps calldata to whole words.

    ``popular``, ``burst``, ``recent``, ``count`` and ``flat`` describe the pool of contracts
    called, those that start with ``function_`` the pool of functions.
    """

    name: str
    share: float
    words: tuple[int, int]
    tail: int = 0
    value_zero: float = 0.5
    popular: float = 0.39
    burst: float = 0.24
    recent: float = 0.25
    count: int = 80
    flat: float = 0.4
    function_popular: float = 0.50
    function_recent: float = 0.30
    function_count: int = 80
    function_flat: float = 0.5
    once: bool = False  # every call has its own layout
    dense: bool = False  # words of the mix of long calls


TRANSFER = Shape("transfer", 0.346, (0, 0), value_zero=0.01, popular=0.09, burst=0.03,
                 recent=0.12, count=200, flat=1.5)
SHAPES = (
    Shape("bare", 0.022, (0, 0), value_zero=0.4),
    Shape("one word", 0.023, (1, 1), value_zero=0.4),
    Shape("packed", 0.006, (0, 0), tail=60, value_zero=0.5),
    Shape("token", 0.240, (2, 2), value_zero=0.93, popular=0.60, burst=0.08, recent=0.18,
          count=400, flat=0.2, function_popular=0.97, function_recent=0.02, function_count=12,
          function_flat=0.12),
    Shape("to 200", 0.057, (3, 6), value_zero=0.5),
    Shape("to 200 packed", 0.018, (2, 5), tail=31, value_zero=0.6),
    Shape("to 400", 0.075, (7, 12), value_zero=0.45, popular=0.49, recent=0.20, flat=0.12),
    Shape("to 400 packed", 0.011, (6, 12), tail=31, value_zero=0.5),
    Shape("to 700", 0.093, (13, 21), value_zero=0.68, popular=0.57, recent=0.14, flat=0.10),
    Shape("to 700 packed", 0.008, (13, 21), tail=31, value_zero=0.4),
    Shape("to 1100", 0.046, (22, 34), value_zero=0.68, popular=0.57, recent=0.14, flat=0.10),
    Shape("to 1100 packed", 0.012, (22, 34), tail=31, value_zero=0.5),
    Shape("to 2000", 0.021, (35, 62), value_zero=0.92, popular=0.55, recent=0.16, flat=0.10),
    Shape("to 2000 packed", 0.0035, (35, 62), tail=31, value_zero=0.6),
    Shape("to 4000", 0.0065, (63, 124), value_zero=0.72, once=True, dense=True),
    Shape("to 4000 packed", 0.0030, (63, 124), tail=31, value_zero=0.7, once=True),
    Shape("to 10000", 0.0012, (125, 310), value_zero=0.8, once=True, dense=True),
    Shape("to 50000", 0.0004, (320, 900), value_zero=0.8, once=True, dense=True),
)
# How far back things recur, in transactions: some 130 blocks.
REACH = 20_000
# Mean transactions from one to the next: rollup batches of near-random bytes, rollup batches of
# state differences (words half zero), and creations. They come at even gaps, as real ones do.
RARE_GAPS = (850, 850, 1600)
BATCH_BYTES = (70_000, 119_800)

# Kind of word in whole-word calldata -> share in most calls, and in dense ones.
# Numbers are lengths without leading zeros.
WORD_KINDS = (
    ("zero", 0.100, 0.060), ("1", 0.280, 0.210), ("2", 0.080, 0.070), ("3-4", 0.060, 0.065),
    ("5-8", 0.075, 0.070), ("9-11", 0.050, 0.035), ("12-19", 0.015, 0.015),
    ("address", 0.210, 0.170), ("right", 0.060, 0.075), ("ones", 0.005, 0.005),
    ("32", 0.055, 0.210),
)

# Transactions a block, one of sixteen equally likely; their mean is 146.8.
BLOCK_TRANSACTIONS = (24, 60, 85, 95, 105, 115, 122, 130, 138, 145, 155, 165, 185, 215, 265, 345)

TYPE_SHARES = ((0, 0.160), (1, 0.003), (2, 0.835), (3, 0.002))

# Shares as limits of a 16-bit draw: type-2 transactions with an access list, calls with the gas
# limit and the function that is usual for their contract, plain transfers with 21,000 gas and
# with value zero.
ACCESS_BELOW = 1_700
GAS_OF_CONTRACT_BELOW = 16_000
MAIN_FUNCTION_BELOW = 60_000
PLAIN_GAS_BELOW = 45_000
PLAIN_ZERO_BELOW = 655
