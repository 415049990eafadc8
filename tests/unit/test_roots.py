"""Blocks against the roots in their headers: real ones of every era, and made-up lies."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from blocks import header, legacy, typed
from receiptmaker import ADDRESS, OTHER, SAMPLE, TOPICS, Made, bloom_of, log, receipts
from reference.rlp import Tree, encode

from blockpack._native.keccak import keccak256
from blockpack._native.roots import check_roots, ordered_root
from blockpack.chain.formats.source import open_sources
from blockpack.chain.records import FORM_IDS, split
from blockpack.chain.roots import body_matches, root_faults
from blockpack.errors import CorruptError

FILES = ["besu-50.blocks", "besu-mainnet-1000.blocks", "besu-ibft.blocks", "ethrex-chain.rlp",
         "besu-snap-testBlockchain.blocks", "execution-apis-chain.rlp",
         "mainnet-18090205-18090218.rlp", "mainnet-3510000-3510010.rlp",
         "linea-mainnet-28279135-28279249.rlp", "optimism-109279674-109279689.rlp",
         "sepolia-00098-40286059.era1"]
FORMS = list(FORM_IDS)


def real_blocks(source: Path) -> Iterator[tuple[bytes, bytes, bytes | None]]:
    for blocks in open_sources(io.BytesIO(source.read_bytes())):
        for block in blocks:
            head, body = split(block.rlp, block.spans)
            yield (bytes(head), bytes(body),
                   None if block.receipts is None else b"\1" + block.receipts)


def test_root_of_nothing() -> None:
    assert ordered_root([]).hex() == (
        "56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421")
    assert ordered_root([]) == keccak256(b"\x80")


@pytest.mark.parametrize("count", [1, 2, 16, 17, 127, 128, 129, 256, 257, 300])
def test_every_value_counts(count: int) -> None:
    values = [bytes((i % 251, i // 251)) * 9 for i in range(count)]
    root = ordered_root(values)
    for index in {0, count // 2, count - 1}:
        changed = [*values]
        changed[index] += b"!"
        assert ordered_root(changed) != root
    assert ordered_root(values[:-1]) != root


@pytest.mark.parametrize("name", FILES)
def test_real_chains(testdata: Path, name: str) -> None:
    rows = list(real_blocks(testdata / name))
    assert rows
    assert root_faults(0, rows) == []
    bodies = [body for _, body, _ in rows]
    others = [(head, other) for (head, body, _), other in zip(rows, bodies[1:], strict=False)
              if body != other]
    assert not any(body_matches(head, other) for head, other in others[:200])


def test_real_single_blocks(testdata: Path) -> None:
    rows = [row for path in sorted((testdata / "singles").glob("*.rlp"))
            for row in real_blocks(path)]
    assert len(rows) == 75
    assert root_faults(0, rows) == []


def test_real_slim_receipts(testdata: Path) -> None:
    files = sorted((testdata / "receipts").glob("*.rlp"))
    assert len(files) == 5
    for path in files:
        number = path.name.split("-")[1].split(".")[0]
        head, body, _ = next(real_blocks(next((testdata / "singles").glob(f"{number}_*"))))
        slim = b"\3" + path.read_bytes()
        assert root_faults(0, [(head, body, slim)]) == []
        for position in range(1, len(slim), len(slim) // 50):
            lie = bytearray(slim)
            lie[position] ^= 1
            assert str(root_faults(7, [(head, body, lie)])[0]).startswith("block 7: ")


def test_every_flipped_byte_of_a_real_body_is_seen(testdata: Path) -> None:
    data = (testdata / "besu-50.blocks").read_bytes()
    blocks = [block for source in open_sources(io.BytesIO(data)) for block in source]
    head, body = max((split(block.rlp, block.spans) for block in blocks),
                     key=lambda parts: len(parts[1]))
    for position in range(len(body)):
        hurt = bytearray(body)
        hurt[position] ^= 0x10
        assert not body_matches(head, hurt)


TRANSACTIONS: list[Tree] = [legacy(37), typed(2, 1), typed(3, 1), legacy(27), typed(0x7E, 1)]
UNCLES: list[Tree] = [header()]
WITHDRAWALS: list[Tree] = [[b"withdrawal"]]


def trie_values(made: list[Made]) -> list[bytes]:
    trees = [Made(one.type, one.status, one.gas, one.logs,
                  one.extras if len(one.extras) > 1 else [], bloom_of([one])).consensus()
             for one in made]
    return [tree if isinstance(tree, bytes) else encode(tree) for tree in trees]


def row_of(made: list[Made], form: str = "slim", transactions: list[Tree] | None = None,
           ) -> tuple[bytes, bytes, bytes]:
    """Records whose header has the roots of all the rest."""
    transactions = TRANSACTIONS if transactions is None else transactions
    fields = header(fields=17)
    fields[1] = keccak256(encode(UNCLES))
    fields[4] = ordered_root([one if isinstance(one, bytes) else encode(one)
                              for one in transactions])
    fields[5] = ordered_root(trie_values(made))
    fields[6] = bloom_of(made)
    fields[16] = ordered_root([encode(one) for one in WITHDRAWALS])
    body = encode(transactions) + encode(UNCLES) + encode(WITHDRAWALS)
    full = [Made(one.type, one.status, one.gas, one.logs, one.extras, bloom_of([one]))
            for one in made]
    return encode(fields), body, bytes((FORM_IDS[form],)) + receipts(full, form)


@pytest.mark.parametrize("form", FORMS)
def test_receipts_of_every_form(form: str) -> None:
    assert root_faults(0, [row_of(SAMPLE, form)]) == []


@pytest.mark.parametrize("form", FORMS)
def test_a_deposit_nonce_alone_is_outside_of_the_trie(form: str) -> None:
    made = [*SAMPLE[:4], Made(0x7E, b"\1", 100, [log()], [b"\x09"])]
    assert root_faults(0, [row_of(made, form)]) == []


def test_withdrawals_field_of_isthmus_is_no_root_of_the_list() -> None:
    for first, faults in ((typed(0x7E, 1), 0), (typed(2, 1), 1)):
        head, body, _ = row_of([], transactions=[first])
        body = body[:-len(encode(WITHDRAWALS))] + b"\xc0"
        assert len(root_faults(0, [(head, body, None)])) == faults


def test_a_body_without_its_withdrawals() -> None:
    head, body, _ = row_of([])
    assert "withdrawals root" in str(root_faults(
        3, [(head, body[:-len(encode(WITHDRAWALS))], None)])[0])


LIES = {
    "uncles hash": ("body", encode(UNCLES), encode([header(number=8)])),
    "transactions root": ("body", b"payload", b"pAyload"),
    "withdrawals root": ("body", b"withdrawal", b"withdrawaL"),
    "receipts root": ("receipts", b"data", b"dat4"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_named_with_both_roots(name: str) -> None:
    part, old, new = LIES[name]
    head, body, made = row_of(SAMPLE)
    hurt = {"body": body, "receipts": made}
    assert old in hurt[part]
    hurt[part] = hurt[part].replace(old, new)
    [fault] = root_faults(41, [(head, body, made), (head, hurt["body"], hurt["receipts"])])
    assert str(fault).startswith(f"block 42: the {name} in the header is not that of")
    assert bytes.fromhex(fault.expected) in head
    assert len(fault.found) == 64
    assert fault.found != fault.expected


def test_a_bloom_that_is_not_that_of_the_logs() -> None:
    head, body, made = row_of(SAMPLE)
    at = head.index(bloom_of(SAMPLE))
    hurt = bytearray(head)
    hurt[at + 5] ^= 1
    assert [str(fault) for fault in root_faults(0, [(hurt, body, made)])] == [
        "block 0: the header's bloom is not that of its receipts"]


@pytest.mark.parametrize("form", FORMS)
def test_more_or_fewer_receipts_than_transactions(form: str) -> None:
    for made in (SAMPLE[:4], [*SAMPLE, Made()]):
        [fault] = root_faults(5, [row_of(made, form)])
        assert str(fault) == ("block 5: another number of receipts than of transactions"
                              f" (expected 5, found {len(made)})")


def test_every_lie_of_many_blocks_is_listed() -> None:
    good, (head, body, made) = row_of(SAMPLE), row_of(SAMPLE[:4], transactions=TRANSACTIONS[:4])
    swapped = (head, good[1], made)
    rows = [good, swapped, good, (head, body, None), (None, body, None), (head, b"", None)]
    found = [str(fault).split(" (")[0] for fault in root_faults(0, rows)]
    assert found == [
        "block 1: the transactions root in the header is not that of the block's records",
        "block 1: another number of receipts than of transactions",
        "block 4 has no header",
        "block 5: body: block's list of transactions is missing: the list ends before it,"
        " at byte 0",
    ]


def bad_receipt(fields: Tree) -> bytes:
    return b"\2" + encode([fields])


def bad_log(entry: Tree) -> bytes:
    return bad_receipt([b"\1", b"\5", [entry]])


BAD = {
    "unknown form": (b"\4\xc0", "list of receipts breaks the format", 0),
    "no list": (b"\2", "list of receipts ends before", 1),
    "a string": (b"\2\x83abc", "list of receipts is a string", 1),
    "bytes after it": (b"\2\xc0\0", "list of receipts is followed by bytes", 2),
    "a length past the end": (b"\2\xc4\xc3\1\xf8\xff", "status of a receipt|gas of a receipt", 4),
    "receipt is a string": (bad_receipt(b"abc"), "receipt is a string", 2),
    "no status": (bad_receipt([]), "status of a receipt is missing", 3),
    "status 2": (bad_receipt([b"\2", b"\5", []]), "status of a receipt is not of the width", 3),
    "gas of 9 bytes": (bad_receipt([b"\1", b"\1" * 9, []]), "cumulative gas of a receipt", 4),
    "gas with a leading zero": (bad_receipt([b"\1", b"\0\1", []]), "gas of a receipt is an int", 4),
    "logs are a string": (bad_receipt([b"\1", b"\5", b""]), "receipt's logs is a string", 5),
    "extra is a list": (bad_receipt([b"\1", b"\5", [], []]), "after a receipt's logs is a list", 6),
    "log is a string": (bad_log(b"log"), "log is a string", 6),
    "log is empty": (bad_log([]), "address of a log is missing", 7),
    "address of 19": (bad_log([b"a" * 19, [], b""]), "address of a log is not of the width", 7),
    "topics are a string": (bad_log([ADDRESS, b"", b""]), "list of a log's topics is a str", 28),
    "topic of 31": (bad_log([ADDRESS, [b"t" * 31], b""]), "topic of a log is not of the w", None),
    "five topics": (bad_log(log(topics=[*TOPICS, OTHER + bytes(12)])), "topics is followed", None),
    "no data": (bad_log([ADDRESS, []]), "data of a log is missing", None),
    "data is a list": (bad_log([ADDRESS, [], []]), "data of a log is a list", None),
    "four items": (bad_log([ADDRESS, [], b"", b""]), "data of a log is followed by", None),
    "slim type 128": (b"\3" + encode([[b"\x80", b"\1", b"\5", []]]), "type of a receipt is an", 3),
    "slim bloom": (b"\3" + encode([[b"\1", b"\1", b"\5", [], b""]]), "logs is followed by", 7),
    "typed and empty": (b"\1" + encode([b""]), "type of a receipt is missing", 2),
    "type byte 0": (b"\1" + encode([b"\0\xc0"]), "type of a receipt is an integer", 3),
    "type alone": (b"\1" + encode([b"\2\xc0"])[:1] + b"\2", "receipt|type", None),
    "bytes after a typed one": (b"\1" + encode([b"\2\xc0\0"]), "receipt is followed by", 5),
    "bloom of 255": (b"\1" + encode([[b"\1", b"\5", bytes(255), []]]), "bloom of a receipt", 9),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_receipts_have_their_own_text_and_offset(name: str) -> None:
    record, text, offset = BAD[name]
    head, body, _ = row_of([], transactions=[legacy(37)])
    [fault] = root_faults(9, [(head, body, record)])
    assert isinstance(fault, CorruptError)
    assert fault.offset == offset or offset is None
    with pytest.raises(CorruptError, match=f"block 9: receipts: .*({text})"):
        raise fault


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="one length"):
        check_roots([b"\xc0"], [], [None])
