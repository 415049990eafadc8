"""Calldata: contracts, their functions, and calls that fill a function's layout.

A function's calldata is constants with holes in between, so a call is one join. What a hole takes
decides what recurs: addresses and words come from pools, amounts are new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from blockpack.measure.synthetic.entropy import DRAW_RANGE, Entropy, weighted
from blockpack.measure.synthetic.population import Pool
from blockpack.measure.synthetic.rlp import prefix
from blockpack.measure.synthetic.shapes import (
    BATCH_BYTES,
    REACH,
    WORD_KINDS,
    Shape,
)

# Holes: a positive number is that many new random bytes, the others are these.
USER, TOKEN, DEADLINE, ROUND, WORD, SMALL = -1, -2, -3, -4, -5, -6
HOLE_BYTES = {USER: 20, TOKEN: 20, DEADLINE: 4, ROUND: 8, WORD: 32, SMALL: 1}

Maker = Callable[[], "list[bytes | int]"]
DECK_CARDS = 200
# Lengths of a state difference's words; 0 stands for one that was seen before.
STATE_BYTES = (0, 0, 1, 1, 1, 2, 2, 3, 3, 4, *range(5, 27))

ADDRESS_PAD = bytes(12)
# Amounts that people type: 1 to 9 and some fractions of 10^18, in 8 bytes.
ROUND_AMOUNTS = [(digit * 10**power).to_bytes(8, "big")
                 for power in (16, 17, 18) for digit in range(1, 10)]


class Function:
    """A selector and a layout; ``parts`` are (constant, hole) and ``tail`` the last constant."""

    __slots__ = ("head", "parts", "tail")

    def __init__(self, selector: bytes, pieces: list[bytes | int]) -> None:
        self.parts: list[tuple[bytes, int]] = []
        size, constant = len(selector), selector
        for piece in pieces:
            if isinstance(piece, bytes):
                size += len(piece)
                constant += piece
            else:
                size += piece if piece > 0 else HOLE_BYTES[piece]
                self.parts.append((constant, piece))
                constant = b""
        self.tail = constant
        self.head = prefix(0x80, size)


class Contract:
    """A recipient of calls; ``to`` is its address as RLP, ``gas`` the limit most calls use."""

    __slots__ = ("function", "gas", "to")

    def __init__(self, to: bytes, function: Function, gas: bytes) -> None:
        self.to = to
        self.function = function
        self.gas = gas


class Layouts:
    """Makes layouts of words in the mix that real calldata has."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        makers = {"zero": self._zero, "1": self._one, "2": self._two, "3-4": self._four,
                  "5-8": self._eight, "9-11": self._eleven, "12-19": self._nineteen,
                  "address": self._address, "right": self._right, "ones": self._ones,
                  "32": self._full}
        self._decks = [
            self._deck(weighted([(makers[kind], shares[dense]) for kind, *shares in WORD_KINDS],
                                DECK_CARDS))
            for dense in (0, 1)]

    def _deck(self, cards: list[Maker]) -> Iterator[Maker]:
        # Dealing a shuffled deck keeps the mix even in the few layouts that most calls have.
        while True:
            for last in range(len(cards) - 1, 0, -1):
                other = self._entropy.below(last + 1)
                cards[last], cards[other] = cards[other], cards[last]
            yield from cards

    def words(self, count: int, tail: int = 0, *, dense: bool = False) -> list[bytes | int]:
        """Return the pieces of ``count`` words and a packed tail of up to ``tail`` bytes."""
        deck = self._decks[dense]
        pieces: list[bytes | int] = []
        for _ in range(count):
            pieces += next(deck)()
        if tail:
            pieces += self._packed(1 + self._entropy.below(tail))
        return pieces

    def amount(self) -> list[bytes | int]:
        """Return the pieces of an amount of tokens: everything, a round one, or any."""
        choice = self._entropy.below(10)
        if choice < 2:
            return self._ones()
        return self._eight()

    def _packed(self, size: int) -> list[bytes | int]:
        fixed = self._entropy.below(size)
        return [self._entropy.take(fixed), size - fixed]

    def _zero(self) -> list[bytes | int]:
        return [bytes(32)]

    def _one(self) -> list[bytes | int]:
        if self._entropy.chance(0.06):
            return [bytes(31), SMALL]
        small = self._entropy.below(12)
        return [bytes(31) + bytes((32 * small if 0 < small < 8 else small or 1,))]

    def _two(self) -> list[bytes | int]:
        if self._entropy.chance(0.2):
            return [bytes(30), 2]
        return [(32 * (8 + self._entropy.below(24))).to_bytes(32, "big")]

    def _four(self) -> list[bytes | int]:
        choice = self._entropy.below(10)
        if choice < 3:
            return [bytes(28), DEADLINE]
        return [bytes(29), self._entropy.take(3)] if choice < 5 else [bytes(29), 3]

    def _eight(self) -> list[bytes | int]:
        if self._entropy.chance(0.25):
            return [bytes(24), ROUND]
        size = 5 + self._entropy.below(4)
        return [bytes(32 - size), size]

    def _eleven(self) -> list[bytes | int]:
        size = 9 + self._entropy.below(3)
        return [bytes(32 - size), size]

    def _nineteen(self) -> list[bytes | int]:
        size = 12 + self._entropy.below(8)
        return [bytes(32 - size), size]

    def _address(self) -> list[bytes | int]:
        choice = self._entropy.below(100)
        if choice < 15:
            return [ADDRESS_PAD + self._entropy.take(20)]
        return [ADDRESS_PAD, USER if choice < 55 else TOKEN]

    def _right(self) -> list[bytes | int]:
        choice = self._entropy.below(10)
        if choice < 6:
            size = 4 + self._entropy.below(17)
            return [self._entropy.take(size) + bytes(32 - size)]
        return [TOKEN, bytes(12)] if choice < 9 else [16, bytes(16)]

    def _ones(self) -> list[bytes | int]:
        return [b"\xff" * 32]

    def _full(self) -> list[bytes | int]:
        choice = self._entropy.below(100)
        if choice < 15:
            return [self._entropy.take(32)]
        return [WORD if choice < 75 else 32]


class Sources(NamedTuple):
    """Where the books of all shapes take their parts from."""

    layouts: Layouts
    address: Callable[[], bytes]
    selector: Callable[[], bytes]
    gas: Callable[[], bytes]


class Book:
    """The contracts and functions of one shape."""

    def __init__(self, shape: Shape, entropy: Entropy, sources: Sources) -> None:
        self.shape = shape
        self._entropy = entropy
        self._sources = sources
        self.free_below = int(shape.value_zero * DRAW_RANGE)
        reach = int(shape.share * REACH)
        self.functions = Pool(entropy, self._function, popular=shape.function_popular,
                              recent=shape.function_recent, count=shape.function_count,
                              flat=shape.function_flat, reach=max(reach // 4, 64))
        self.contracts = Pool(entropy, self._contract, popular=shape.popular, burst=shape.burst,
                              recent=shape.recent, count=shape.count, flat=shape.flat,
                              reach=max(reach, 64))

    def _function(self) -> Function:
        return self.layout(self._sources.selector())

    def layout(self, selector: bytes) -> Function:
        """Return a new layout of this shape behind ``selector``."""
        low, high = self.shape.words
        if self.shape.name == "token":
            target = USER if self._entropy.chance(0.75) else TOKEN
            return Function(selector, [ADDRESS_PAD, target, *self._sources.layouts.amount()])
        count = low + self._entropy.below(high - low + 1)
        return Function(selector, self._sources.layouts.words(
            count, self.shape.tail, dense=self.shape.dense))

    def _contract(self) -> Contract:
        return Contract(self._sources.address(), self.functions.pick(), self._sources.gas())


class Calls:
    """Fills layouts: what the holes of a call take."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._draw = entropy.draw
        self._take = entropy.take
        self.users = Pool(entropy, self._address, popular=0.05, burst=0.08, recent=0.30,
                          count=300, flat=1.0, reach=8000)
        self.tokens = Pool(entropy, self._address, popular=0.34, burst=0.12, recent=0.26,
                           count=600, flat=0.4, reach=16_000)
        self.words = Pool(entropy, self._word, popular=0.17, burst=0.33, recent=0.3, count=100,
                          flat=1.0, reach=6000)
        self.deadlines = [bytes(4)]

    def _address(self) -> bytes:
        # Never a leading zero byte, so that an address word is told by its twelve.
        return bytes((1 + self._entropy.below(255),)) + self._take(19)

    def _word(self) -> bytes:
        return self._take(32)

    def start_block(self, timestamp: int) -> None:
        """Set the deadlines that this block's calls name."""
        self.deadlines = [(timestamp + wait).to_bytes(4, "big")
                          for wait in (1200, 1800, 300, 600, 1195, 1212, 86400, 3600)]

    def fill(self, function: Function) -> bytes:
        """Return the RLP of calldata for one call."""
        out = [function.head]
        add, take = out.append, self._take
        user = b""
        for constant, hole in function.parts:
            add(constant)
            if hole > 0:
                add(take(hole))
            elif hole == USER:
                user = user or self.users.pick()
                add(user)
            elif hole == TOKEN:
                add(self.tokens.pick())
            else:
                add(self._other(hole))
        add(function.tail)
        return b"".join(out)

    def _other(self, hole: int) -> bytes:
        if hole == WORD:
            return self.words.pick()
        if hole == ROUND:
            return ROUND_AMOUNTS[self._entropy.below(len(ROUND_AMOUNTS))]
        if hole == DEADLINE:
            return self.deadlines[self._draw() & 7]
        return self._take(1)

    def batch(self, selector: bytes) -> bytes:
        """Return the RLP of a near-random rollup batch."""
        low, high = BATCH_BYTES
        size = low + (self._entropy.below(high - low) & -32) + 4 + 9
        head = selector + bytes(29) + self._take(3) + bytes(31) + b"\x20" + bytes(29)
        data = head + self._take(size - len(head))
        return prefix(0x80, len(data)) + data

    def state(self, selector: bytes) -> bytes:
        """Return the RLP of a batch of state differences: words of which half the bytes are 0."""
        low, high = BATCH_BYTES
        count = (low + self._entropy.below(high - low)) // 32
        data = self._take(count * max(STATE_BYTES))
        out = [prefix(0x80, 4 + 32 * count), selector]
        start = 0
        for code in self._take(count):
            size = STATE_BYTES[code & 31]
            if size:
                end = start + size
                word = data[start:end]
                out.append(word.rjust(32, b"\0") if code & 32 else word.ljust(32, b"\0"))
                start = end
            else:
                out.append(self.words.pick())
        return b"".join(out)
