"""Our S2 against Go's, which defines the format: each decodes the other's, both refuse the same."""

from __future__ import annotations

import io
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from reference import s2 as reference
from s2go import GO_TIERS, Oracle, build, missing

from blockpack import s2 as public_s2
from blockpack._native import s2
from blockpack.errors import CorruptError, LimitError

DECODED_MAX = 64 << 20
MUTATIONS = int(os.environ.get("BLOCKPACK_S2_MUTATIONS", "20000"))
CASES = int(os.environ.get("BLOCKPACK_S2_CASES", "1000"))
CASES_SEED = int(os.environ.get("BLOCKPACK_S2_SEED", "7"))
STREAM_MUTATIONS = MUTATIONS // 10


@pytest.fixture(scope="session")
def go(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    if (reason := missing()) is not None:
        pytest.skip(reason)
    with Oracle(build(tmp_path_factory.mktemp("gopath"))) as oracle:
        yield oracle


def inputs() -> Iterator[tuple[str, bytes]]:
    """Sizes one by one, borders of sizes and offsets, and data from random to constant."""
    text = random.Random(1).choices(b"abcdefgh", k=1 << 20)
    noise = random.Random(2).randbytes((1 << 24) + 300)
    for size in [*range(301), *(2**k + d for k in range(9, 21) for d in (-1, 0, 1))]:
        yield f"text {size}", bytes(text[:size])
    for size in (31, 32, 33, 100, 65536, 1 << 20):
        yield f"random {size}", noise[:size]
        yield f"zeros {size}", bytes(size)
    for length in (263, 264, 65795, 65796, 16842755, 16842764, 33685510):
        yield f"run {length}", noise[:40] + bytes(length) + noise[:40]
    for distance in (2047, 2048, 65535, 65536, (1 << 24) - 1, 1 << 24):
        yield f"again after {distance}", noise[:distance] + noise[:300]


def check_both_ways(go: Oracle, name: str, data: bytes, tiers: tuple[str, ...]) -> None:
    for tier in tiers:
        assert go.ask("d", s2.compress(data, tier)) == data, f"{name}: Go reads our {tier}"
        theirs = go.ask(GO_TIERS[tier], data)
        assert theirs is not None
        assert s2.decompress(theirs, DECODED_MAX) == data, f"{name}: we read Go's {tier}"


def test_each_decodes_the_other(go: Oracle) -> None:
    for name, data in inputs():
        # Go's best tier takes seconds on the largest of these.
        check_both_ways(go, name, data, s2.TIERS if len(data) < 2**20 else s2.TIERS[:2])
        snappy = go.ask("s", data)
        assert snappy is not None
        assert s2.decompress(snappy, DECODED_MAX) == data, f"{name}: we read Go's Snappy"


def test_each_decodes_the_other_on_real_blocks(go: Oracle, testdata: Path) -> None:
    for path in sorted((testdata / "singles").glob("*.rlp")):
        check_both_ways(go, path.name, path.read_bytes(), s2.TIERS)


@pytest.mark.parametrize(("tier", "ratio"), [("fastest", 1.005), ("better", 1.0), ("best", 1.0)])
def test_size_on_real_blocks(go: Oracle, testdata: Path, tier: str, ratio: float) -> None:
    run = (testdata / "mainnet-18090205-18090218.rlp").read_bytes()
    singles = [path.read_bytes() for path in sorted((testdata / "singles").glob("*.rlp"))]
    for sources in ([run], singles):
        ours = sum(len(s2.compress(data, tier)) for data in sources)
        theirs = sum(len(go.ask(GO_TIERS[tier], data) or b"") for data in sources)
        assert ours <= theirs * ratio


def seeds(go: Oracle) -> list[bytes]:
    """Small blocks with every kind of operation in them, by both encoders."""
    generator = random.Random(3)
    blocks = []
    for _ in range(40):
        words = [generator.randbytes(generator.randint(1, 40)) for _ in range(8)]
        data = b"".join(generator.choices([*words, bytes(32), b"\x01"], k=generator.randint(5, 60)))
        blocks += [s2.compress(data), go.ask("f", data), go.ask("b", data), go.ask("B", data)]
    far = generator.randbytes(66_000)
    blocks.append(s2.compress(far + far[:100] + far[9:80]))
    return [block for block in blocks if block]


def mutated(generator: random.Random, block: bytes) -> bytes:
    changed = bytearray(block)
    for _ in range(generator.randint(1, 3)):
        at = generator.randrange(len(changed))
        match generator.randrange(4):
            case 0:
                changed[at] ^= 1 << generator.randrange(8)
            case 1:
                changed[at] = generator.randrange(256)
            case 2:
                del changed[at:at + generator.randint(1, 4)]
            case 3:
                changed[at:at] = generator.randbytes(generator.randint(1, 4))
        if not changed:
            break
    return bytes(changed)


def ours(block: bytes) -> bytes | None:
    try:
        return s2.decompress(block, DECODED_MAX)
    except (CorruptError, LimitError):
        return None


def header_is_over_long(block: bytes) -> bool:
    """Go 1.15's s2 takes up to 10 bytes, later versions five, as we do."""
    return all(byte & 0x80 for byte in block[:reference.HEADER_SIZE_MAX])


def test_both_accept_and_refuse_the_same(go: Oracle) -> None:
    generator = random.Random(4)
    blocks = seeds(go)
    counts = {True: 0, False: 0}
    for _ in range(MUTATIONS):
        block = mutated(generator, generator.choice(blocks))
        if header_is_over_long(block):
            continue
        answer = ours(block)
        assert answer == go.ask("d", block), block.hex()
        counts[answer is None] += 1
    # The mutations are worth something only if both outcomes are frequent.
    assert min(counts.values()) > MUTATIONS / 20


def streams() -> Iterator[tuple[str, bytes]]:
    yield from ((name, data) for name, data in inputs() if len(data) < 300)
    generator = random.Random(5)
    words = [generator.randbytes(generator.randint(3, 50)) for _ in range(200)]
    for size in (4096, 65_536, 1 << 20, 4 << 20):
        text = b"".join(generator.choices(words, k=size // 25))
        for change in (-1, 0, 1):
            yield f"text {size}{change:+}", text[:size + change]
    yield "random", generator.randbytes(300_000)
    yield "zeros", bytes(5 << 20)


def test_each_reads_the_others_streams(go: Oracle) -> None:
    for name, data in streams():
        for block_size in (4 << 10, 1 << 20, 4 << 20):
            stream = public_s2.compress_stream(data, block_size=block_size)
            assert go.ask("D", stream) == data, f"{name}: Go reads ours of {block_size}"
        for command in "wWi":
            theirs = go.ask(command, data)
            assert theirs is not None
            if command == "i" and not data:     # padding alone, which Go itself does not read
                assert go.ask("D", theirs) is None
                continue
            read = public_s2.decompress_stream(theirs, DECODED_MAX)
            assert read == data, f"{name}: we read Go's by {command!r}"
            with public_s2.open(io.BytesIO(theirs)) as file:
                file.seek(len(data) // 2)
                assert file.read() == data[len(data) // 2:]


def test_both_accept_and_refuse_the_same_streams(go: Oracle) -> None:
    """Where Go's and ours both read a damaged stream, they read the same."""
    generator, counts = random.Random(6), {True: 0, False: 0}
    words = [generator.randbytes(30) for _ in range(30)]
    data = b"".join(generator.choices(words, k=300))
    seeds = [public_s2.compress_stream(data, block_size=4096),
             public_s2.compress_stream(data[:300]) * 3, go.ask("w", data), go.ask("i", data)]
    for _ in range(STREAM_MUTATIONS):
        stream = mutated(generator, generator.choice([seed for seed in seeds if seed]))
        try:
            answer: bytes | None = public_s2.decompress_stream(stream, DECODED_MAX)
        except (CorruptError, LimitError):
            answer = None
        assert answer == go.ask("D", stream), stream.hex()
        counts[answer is None] += 1
    assert min(counts.values()) > STREAM_MUTATIONS / 100


def case(generator: random.Random) -> bytes:
    """Up to a few KB, of new bytes and of what came before: near, far, long, nearly the same."""
    output = bytearray()
    for _ in range(generator.randint(0, 40)):
        if not output or generator.random() < 0.5:
            output += generator.randbytes(generator.randint(1, 80))
            continue
        start = generator.randrange(len(output))
        piece = output[start:start + generator.choice([4, 8, 11, 12, 20, 60, 64, 65, 68, 300])]
        output += piece * generator.choice([1, 1, 1, 2, 30])
        if generator.random() < 0.3:
            output[-1] ^= 1
    return bytes(output)


def test_each_decodes_the_other_on_made_up_cases(go: Oracle) -> None:
    generator = random.Random(CASES_SEED)
    for number in range(CASES):
        check_both_ways(go, f"case {number} of seed {CASES_SEED}", case(generator), s2.TIERS)
