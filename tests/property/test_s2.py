"""S2 on generated input: every tier round-trips, and the kernel decides as the reference does."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference import s2 as reference

from blockpack._native import s2, status
from blockpack.errors import CorruptError, LimitError

LIMIT = 1 << 22
# The text that each refusal's code becomes.
CODES = {}
for name in ("TRUNCATED", "TRAILING", "MALFORMED", "BAD_OFFSET"):
    try:
        status.check_code(status.NAMES[name], "S2 block")
    except CorruptError as error:
        CODES[str(error)] = name


@st.composite
def data(draw: st.DrawFn) -> bytes:
    """Pieces of new bytes, and of what came before at any distance."""
    output = bytearray()
    for new in draw(st.lists(st.booleans(), max_size=60)):
        if new or not output:
            output += draw(st.binary(max_size=70))
        else:
            start = draw(st.integers(0, len(output) - 1))
            length = draw(st.integers(1, 90) | st.sampled_from([263, 264, 300, 70_000]))
            piece = output[start:start + length]
            output += (piece * (length // len(piece) + 1))[:length]
    return bytes(output)


def literal(content: bytes, extra: int) -> bytes:
    """A literal; ``extra`` (0..4) bytes for its size, more than needed if asked."""
    size = len(content) - 1
    if extra == 0 and size < 60:
        return bytes([size << 2]) + content
    extra = max(extra, 1, (size.bit_length() + 7) // 8)
    return bytes([(59 + extra) << 2]) + size.to_bytes(extra, "little") + content


def copy(kind: int, length: int, offset: int) -> bytes:
    if kind == 1:
        return bytes([(offset >> 8 & 7) << 5 | (length & 7) << 2 | 1, offset & 0xFF])
    return bytes([(length & 63) << 2 | kind]) + offset.to_bytes(4, "little")[:2 * (kind - 1)]


def repeat(code: int, extra: bytes) -> bytes:
    return bytes([code << 2 | 1, 0]) + extra[:max(code - 4, 0)]


offsets = st.integers(0, 40) | st.integers(0, 3000) | st.sampled_from([65535, 65536, 1 << 24])
operations = st.one_of(
    st.builds(literal, st.binary(min_size=1, max_size=90), st.integers(0, 4)),
    st.builds(copy, st.integers(1, 3), st.integers(0, 63), offsets),
    st.builds(repeat, st.integers(0, 6), st.binary(min_size=3, max_size=3)),
)


def varint(value: int) -> bytes:
    parts = []
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def decoded_size(body: bytes) -> int:
    """Of the operations up to one that is cut: a copy1 with offset 0 is the start of a repeat."""
    size = 0
    try:
        for operation in reference.operations(b"\x00" + body):
            size += operation.length
    except reference.Refused:
        pass
    return size


@st.composite
def blocks(draw: st.DrawFn) -> bytes:
    """Operations behind a header that mostly tells the truth; one in a few copies is bad."""
    start = literal(draw(st.binary(min_size=1, max_size=300)), 0)
    body = start + b"".join(draw(st.lists(operations, max_size=30)))
    return varint(max(0, decoded_size(body) + draw(st.sampled_from([0, 0, 0, 1, -1, 700])))) + body


@st.composite
def valid_after(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A prefix, and a block after it in which every copy is good; many reach into the prefix."""
    prefix = draw(st.binary(min_size=1, max_size=300)) * draw(st.integers(1, 30))
    body, size = bytearray(), 0
    for new in draw(st.lists(st.booleans(), max_size=40)):
        if new:
            content = draw(st.binary(min_size=1, max_size=70))
            body += literal(content, 0)
            size += len(content)
            continue
        reach = len(prefix) + size
        length = draw(st.integers(1, 64))
        offset = draw(st.integers(1, reach) | st.integers(min(size, reach - 1) + 1, reach)
                      | st.integers(min(size + 1, reach), min(size + 70, reach)))
        body += copy(2 if offset < 1 << 16 else 3, length - 1, offset)
        size += length
        if draw(st.booleans()):
            body += repeat(5, bytes([again := draw(st.integers(0, 90)), 0, 0]))
            size += 8 + again
    return prefix, varint(size) + bytes(body)


def outcome_of_kernel(block: bytes, prefix: bytes | None = None) -> bytes | str:
    try:
        return s2.decompress(block, LIMIT, prefix)
    except LimitError:
        return "TOO_LARGE"
    except CorruptError as error:
        return CODES[str(error).split(", at byte")[0]]


def outcome_of_reference(block: bytes, prefix: bytes = b"") -> bytes | str:
    try:
        return reference.decompress(block, LIMIT, prefix)
    except reference.Refused as error:
        return str(error)


@pytest.mark.parametrize("tier", s2.TIERS)
@given(source=data())
@example(source=b"")
def test_round_trip(tier: str, source: bytes) -> None:
    block = s2.compress(source, tier)
    assert len(block) <= len(source) + 10
    assert reference.decompress(block) == source
    assert s2.decompress(block, len(source)) == source


@pytest.mark.parametrize("tier", s2.TIERS)
@given(stream=data(), cut=st.floats(0, 1), source=data())
@example(stream=b"", cut=0, source=b"")
def test_round_trip_after_a_prefix(tier: str, stream: bytes, cut: float, source: bytes) -> None:
    """The source goes on where the prefix ends, so that much of it is there; and another one."""
    at = int(cut * len(stream))
    prefix = s2.Prefix(stream[:at], tier)
    for rest in (stream[at:], source, stream[at:]):
        block = prefix.compress(rest)
        assert len(block) <= len(rest) + 10
        assert reference.decompress(block, prefix=prefix.content) == rest
        assert prefix.decompress(block, len(rest)) == rest
    assert prefix.compress(stream[at:]) == s2.Prefix(stream[:at], tier).compress(stream[at:])


@given(block=blocks())
def test_kernel_decides_as_the_reference(block: bytes) -> None:
    assert outcome_of_kernel(block) == outcome_of_reference(block)


@given(source=data(), edits=st.lists(st.tuples(st.integers(0), st.integers(0, 255)), min_size=1,
                                     max_size=3), cut=st.integers(0, 20))
def test_kernel_decides_as_the_reference_on_mutations(
    source: bytes, edits: list[tuple[int, int]], cut: int
) -> None:
    block = bytearray(s2.compress(source))
    for at, value in edits:
        block[at % len(block)] = value
    mutation = bytes(block[:max(1, len(block) - max(0, cut - 10))])
    assert outcome_of_kernel(mutation) == outcome_of_reference(mutation)


@given(block=blocks(), prefix=st.binary(max_size=200))
def test_kernel_decides_as_the_reference_after_a_prefix(block: bytes, prefix: bytes) -> None:
    assert outcome_of_kernel(block, prefix) == outcome_of_reference(block, prefix)


@given(pair=valid_after(), stop=st.integers(0, 5000),
       edits=st.lists(st.tuples(st.integers(0), st.integers(0, 255)), min_size=1, max_size=3))
def test_blocks_after_a_prefix_whole_cut_and_mutated(
    pair: tuple[bytes, bytes], stop: int, edits: list[tuple[int, int]]
) -> None:
    prefix, block = pair
    expected = reference.decompress(block, prefix=prefix)
    assert s2.decompress(block, LIMIT, prefix) == expected
    assert s2.decompress_until(block, stop, LIMIT, prefix) == expected[:stop]
    mutation = bytearray(block)
    for at, value in edits:
        mutation[at % len(mutation)] = value
    changed = bytes(mutation)
    assert outcome_of_kernel(changed, prefix) == outcome_of_reference(changed, prefix)


@given(source=data(), stop=st.integers(0, 5000))
def test_stops_early(source: bytes, stop: int) -> None:
    assert s2.decompress_until(s2.compress(source), stop, LIMIT) == source[:stop]
