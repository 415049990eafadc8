"""What blocks repeat, and how far they compress: the figures that a synthetic chain is fitted to.

Plain Python, about 1 MB/s: it judges a few hundred blocks, not a store.

Definitions, chosen so that the published columns for real runs come out (see tests):

- A *recurrence* is the share of items that were seen before: earlier in the same block, or also
  in the one block before, or also in the ten blocks before. The first ten blocks of a run serve
  only as that past, for all three shares.
- *Recipients* are the addresses that transactions are sent to, *selectors* the first four bytes of
  calldata of at least four.
- *Words* are the 32-byte words after the selector, of calldata that is a selector and whole words.
  An *address word* starts with exactly twelve zero bytes; *other words* are those that are longer
  than eight bytes without their leading zeros and are no address words.
- Compressed sizes are those of zstd with a window that covers everything at hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import zstandard

QUANTILES = (0.25, 0.5, 0.9, 0.99, 1.0)
WINDOWS = (0, 1, 10)  # blocks before
PAST_BLOCKS = max(WINDOWS)

# Transaction type -> the fields that hold recipient, value and calldata.
# Source: EIP-155, EIP-2930, EIP-1559, EIP-4844, EIP-7702.
FIELDS = {0: (3, 4, 5), 1: (4, 5, 6), 2: (5, 6, 7), 3: (5, 6, 7), 4: (5, 6, 7)}

Recurrence = tuple[float, float, float]


class Call(NamedTuple):
    """What the statistics need of one transaction; ``recipient`` is empty where it creates."""

    type: int
    recipient: bytes
    value: bytes
    calldata: bytes


@dataclass(frozen=True)
class Statistics:
    """Figures of one run of blocks; sizes in bytes, shares and ratios between 0 and 1."""

    blocks: int
    block_bytes: float
    transactions: float
    types: dict[int, float]
    value_zero: float
    calldata_quantiles: tuple[int, ...]
    calldata_zero_bytes: float
    recipients: Recurrence
    selectors: Recurrence
    address_words: Recurrence
    other_words: Recurrence
    ratio_alone: float
    ratio_grouped: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values, for JSON."""
        return asdict(self)


def measure(blocks: Sequence[bytes], *, bodies: bool = False, level: int = 3) -> Statistics:
    """Return the statistics of a run of consecutive blocks.

    ``blocks`` are block RLP, or with ``bodies`` lists without a header, transactions first.
    ``level`` is the zstd level of the two ratios: each block alone, and the run as one group.
    Runs of ten blocks or fewer have no past to recur from and are refused with ValueError.
    """
    if len(blocks) <= PAST_BLOCKS:
        raise ValueError(f"a run needs more than {PAST_BLOCKS} blocks, got {len(blocks)}")
    calls = [list(block_calls(block, bodies=bodies)) for block in blocks]
    every = [call for block in calls for call in block]
    calldata = [call.calldata for call in every]
    words = [[w for call in block for w in abi_words(call.calldata)] for block in calls]
    return Statistics(
        blocks=len(blocks),
        block_bytes=sum(map(len, blocks)) / len(blocks),
        transactions=len(every) / len(blocks),
        types=shares(call.type for call in every),
        value_zero=sum(not call.value for call in every) / len(every),
        calldata_quantiles=quantiles([len(data) for data in calldata]),
        calldata_zero_bytes=sum(data.count(0) for data in calldata) / sum(map(len, calldata)),
        recipients=recurrence([[c.recipient for c in block if c.recipient] for block in calls]),
        selectors=recurrence([[c.calldata[:4] for c in block if len(c.calldata) >= 4]
                              for block in calls]),
        address_words=recurrence([list(filter(is_address_word, block)) for block in words]),
        other_words=recurrence([list(filter(is_other_word, block)) for block in words]),
        ratio_alone=group_ratio(blocks, 1, level),
        ratio_grouped=group_ratio(blocks, len(blocks), level),
    )


def group_ratio(records: Sequence[bytes], size: int, level: int = 3) -> float:
    """Return compressed / raw size of records compressed ``size`` at a time by zstd."""
    raw = packed = 0
    for start in range(0, len(records), size):
        group = b"".join(records[start:start + size])
        raw += len(group)
        packed += len(compressor(len(group), level).compress(group))
    return packed / raw


def compressor(size: int, level: int) -> zstandard.ZstdCompressor:
    """Return a compressor whose window covers ``size`` bytes, up to 128 MiB."""
    window = min(max(size - 1, 1).bit_length(), 27)
    base = zstandard.ZstdCompressionParameters.from_level(level, source_size=size)
    return zstandard.ZstdCompressor(
        compression_params=zstandard.ZstdCompressionParameters.from_level(
            level, source_size=size, window_log=max(base.window_log, window)))


def recurrence(blocks: Sequence[Sequence[bytes]]) -> Recurrence:
    """Return the shares of items seen before, for each of WINDOWS; blocks are lists of items."""
    same, one, ten = (_seen_share(blocks, window) for window in WINDOWS)
    return same, one, ten


def _seen_share(blocks: Sequence[Sequence[bytes]], window: int) -> float:
    total = hits = 0
    for index in range(PAST_BLOCKS, len(blocks)):
        seen = {item for block in blocks[index - window:index] for item in block}
        for item in blocks[index]:
            hits += item in seen
            seen.add(item)
        total += len(blocks[index])
    return hits / total if total else 0.0


def quantiles(values: list[int]) -> tuple[int, ...]:
    """Return the values at QUANTILES (nearest rank below)."""
    values = sorted(values)
    return tuple(values[int(share * (len(values) - 1))] for share in QUANTILES)


def shares(items: Iterable[int]) -> dict[int, float]:
    """Return each distinct item's share of all, by item."""
    counts = Counter(items)
    return {item: counts[item] / counts.total() for item in sorted(counts)}


def abi_words(calldata: bytes) -> Iterator[bytes]:
    """Yield the 32-byte words of calldata that is a selector and whole words."""
    if len(calldata) % 32 == 4:
        for start in range(4, len(calldata), 32):
            yield calldata[start:start + 32]


def is_address_word(word: bytes) -> bool:
    """Tell whether exactly twelve leading zero bytes make the word look like an address."""
    return word[12] != 0 and not any(word[:12])


def is_other_word(word: bytes) -> bool:
    """Tell whether the word is longer than eight bytes and no address word."""
    return any(word[:24]) and not is_address_word(word)


def block_calls(block: bytes, *, bodies: bool = False) -> Iterator[Call]:
    """Yield the transactions of a block's RLP; types without a recipient are skipped."""
    start, end, _ = _item(block, 0)
    _, start, end, _ = list(_items(block, start, end))[0 if bodies else 1]
    for whole, payload, _, is_list in _items(block, start, end):
        kind, body = (0, whole) if is_list else (block[payload], payload + 1)
        if kind in FIELDS:
            first, last, _ = _item(block, body)
            values = [block[a:b] for _, a, b, _ in _items(block, first, last)]
            yield Call(kind, *(values[index] for index in FIELDS[kind]))


def _items(data: bytes, offset: int, end: int) -> Iterator[tuple[int, int, int, bool]]:
    while offset < end:
        payload, stop, is_list = _item(data, offset)
        yield offset, payload, stop, is_list
        offset = stop


def _item(data: bytes, offset: int) -> tuple[int, int, bool]:
    """Return payload start, payload end and whether it is a list, of the item at ``offset``."""
    head = data[offset]
    if head < 0x80:
        return offset, offset + 1, False
    base = 0xC0 if head >= 0xC0 else 0x80
    length, payload = head - base, offset + 1
    if length > 55:
        payload += length - 55
        length = int.from_bytes(data[offset + 1:payload], "big")
    return payload, payload + length, base == 0xC0
