"""The columns kernel against the reference, on blocks of every kind of transaction and receipt."""

from __future__ import annotations

from typing import Any

import pytest
import receiptmaker
from columnkit import (
    FORMS,
    built,
    check,
    expected_rows,
    listed,
    made_block,
    names_of,
    receipts_of,
)
from receiptmaker import SAMPLE
from reference.rlp import encode, integer
from txkit import KINDS, made

from blockpack import Block
from blockpack._native.columns import FIELDS, ROWS, SOURCES, Builder
from blockpack._native.columns import KINDS as CELL_KINDS
from blockpack._native.group import Group, pack
from blockpack.errors import CorruptError, LimitError, MissingError

UNKNOWN = b"\x7e\xc3\1\2\3"
SHORT_LIST = encode([integer(1), integer(2)])


def body_of(*transactions: bytes, withdrawals: list[Any] | None = None) -> bytes:
    items = b"".join(encode(raw) if raw[0] < 0xC0 else raw for raw in transactions)
    size = len(items).to_bytes(4, "big").lstrip(b"\0")
    prefix = bytes((0xC0 + len(items),)) if len(items) < 56 else bytes((0xF7 + len(size),)) + size
    return prefix + items + b"\xc0" + (b"" if withdrawals is None else encode(withdrawals))


def withdrawal(index: int) -> list[bytes]:
    return [integer(index), integer(2**63 + index), bytes((index,)) * 20, integer(0)]


@pytest.fixture(scope="module")
def blocks() -> list[Block]:
    every = [made(kind) for kind in KINDS]
    others = [made(0, to=None, v=27, input=b"\0" * 70 + b"x" * 30), made(0, v=37, value=0),
              made(0, v=2**64 - 1), made(2, access_list=(), input=b""), made(0, v=0),
              made(1, to=None), UNKNOWN, made(3, blob_versioned_hashes=())]
    bodies = [body_of(*every), body_of(), body_of(*others, withdrawals=[withdrawal(1)]),
              body_of(made(0), SHORT_LIST, withdrawals=[]),
              body_of(*(every * 60), withdrawals=[withdrawal(i) for i in range(200)])]
    return [made_block(7 + i, body, fields=15 + i) for i, body in enumerate(bodies)]


def test_transactions(blocks: list[Block]) -> None:
    names = names_of("transactions")
    check(built("transactions", names, blocks), expected_rows("transactions", blocks), names)


def test_one_column_alone_is_what_it_is_among_others(blocks: list[Block]) -> None:
    expected = expected_rows("transactions", blocks)
    for name in names_of("transactions"):
        check(built("transactions", [name], blocks), expected, [name])


def test_blocks(blocks: list[Block]) -> None:
    names = names_of("blocks")
    expected = expected_rows("blocks", blocks)
    check(built("blocks", names, blocks), expected, names)
    for name in names:
        check(built("blocks", [name], blocks), expected, [name])


def test_withdrawals(blocks: list[Block]) -> None:
    names = names_of("withdrawals")
    expected = expected_rows("withdrawals", blocks)
    assert len(expected) == 201
    check(built("withdrawals", names, blocks), expected, names)


def test_total_difficulty_and_no_chain_id(blocks: list[Block]) -> None:
    sums = [(2**200 + i).to_bytes(32, "little") for i in range(len(blocks))]
    found = built("blocks", ["total_difficulty", "chain_id"], blocks, difficulties=sums,
                  chain_id=None)
    assert listed(found.column("total_difficulty")) == [one[::-1] for one in sums]
    assert listed(found.column("chain_id")) == [None] * len(blocks)


@pytest.mark.parametrize("form", FORMS)
def test_receipts_and_logs(form: str) -> None:
    kinds = [made(0), made(2), made(3), made(0), UNKNOWN]
    # The kernel's gas sums must not fall; the sample's do from receipt to receipt.
    rising = [receiptmaker.Made(one.type, one.status, 10**6 * (i + 1), one.logs, one.extras)
              for i, one in enumerate(SAMPLE)]
    blocks = [made_block(7, body_of(*kinds)), made_block(8, body_of()),
              made_block(9, body_of(*kinds * 40))]
    raws = [receiptmaker.receipts(some, form) for some in (
        rising, [], [receiptmaker.Made(one.type, one.status, 10**6 + i, one.logs, one.extras)
                     for i, one in enumerate(rising * 40)])]
    receipts = [receipts_of(block, raw, form) for block, raw in zip(blocks, raws, strict=True)]
    records = [FORMS[form] + raw for raw in raws]
    for table in ("receipts", "logs", "transactions"):
        names = names_of(table, receipts=True)
        expected = expected_rows(table, blocks, receipts)
        check(built(table, names, blocks, records), expected, names)
        for name in names:
            if (form, name) != ("storage", "transaction_type"):
                check(built(table, [name], blocks, records), expected, [name])


def test_the_storage_form_has_no_types_of_its_own() -> None:
    blocks = [made_block(7, body_of(made(2)))]
    records = [FORMS["storage"] + receiptmaker.receipts([receiptmaker.Made(2)], "storage")]
    names = ["transaction_type"]
    with pytest.raises(CorruptError, match="block 7: receipts: type of a receipt is missing"):
        built("receipts", names, blocks, records)
    both = [*names, "transaction_hash"]
    assert listed(built("receipts", both, blocks, records).column(names[0])) == [2]


@pytest.mark.parametrize(("name", "wider", "changes"), [
    ("gas_price", "gas_price_binary", {"gas_price": 2**64}),
    ("v", "v_binary", {"v": 2**64}), ("chain_id", "v_binary", {"v": 2**65 + 35}),
    ("chain_id", "v_binary", {"v": 2**256 - 1}),
    ("gas_limit", "gas_limit_binary", {"gas_limit": 2**64})])
def test_a_number_above_64_bits_is_refused_and_its_wide_column_named(
        name: str, wider: str, changes: dict[str, int]) -> None:
    blocks = [made_block(7, body_of(made(0), made(0))),
              made_block(8, body_of(made(0), made(0, **changes)))]
    with pytest.raises(LimitError, match=f"block 8: {name} is above 64 bits; .* {wider} has it"):
        built("transactions", [name], blocks)
    found = built("transactions", [wider], blocks).column(wider)
    assert int.from_bytes(listed(found)[3], "big") == next(iter(changes.values()))


def test_the_largest_chain_id_of_a_legacy_transaction() -> None:
    blocks = [made_block(7, body_of(made(0, v=2**65 + 34), made(0, v=34), made(0, v=35)))]
    found = built("transactions", ["chain_id", "y_parity"], blocks)
    assert listed(found.column("chain_id")) == [2**64 - 1, None, 0]
    assert listed(found.column("y_parity")) == [1, None, 0]


@pytest.mark.parametrize("value", [0, 1, 2**53 + 1, 2**64 - 1, 2**64, 10**19, 10**38 - 1, 10**57,
                                   2**255, 2**256 - 1, 2**192 + 2**139, 2**192 + 2**139 + 1])
def test_forms_of_256_bits(value: int) -> None:
    blocks = [made_block(7, body_of(made(0, value=value)))]
    names = ["value_binary", "value_f64", "value_string"]
    check(built("transactions", names, blocks), expected_rows("transactions", blocks), names)


def test_a_missing_record_is_named() -> None:
    block = made_block(7, body_of())
    plain = [(Group(pack([block.header.raw, None]), 2), 0), None, None, None]
    builder = Builder(ROWS["blocks"], [("h", CELL_KINDS["size"], FIELDS["header"], -1, 0, False,
                                        None)])
    assert builder.sources == (SOURCES.index("headers"),)
    with pytest.raises(MissingError, match="the store has no headers for block 8"):
        builder.add(7, 2, plain)


def test_windows_begin_anywhere_in_a_group(blocks: list[Block]) -> None:
    group = Group(pack([None, *(block.body for block in blocks)]), len(blocks) + 1)
    builder = Builder(ROWS["transactions"], [
        ("n", CELL_KINDS["number"], FIELDS["row"], -1, 0, False, None)])
    builder.add(9, 1, [None, (group, 3), None, None])
    builder.add(10, 2, [None, (group, 4), None, None])
    expected = [row["transaction_index"] for row in expected_rows("transactions", blocks[2:])]
    assert builder.rows == len(expected)
    assert builder.nbytes == 8 * len(expected)
    (rows, parts), = builder.finish()
    assert memoryview(parts[0]).cast("Q").tolist() == expected
    assert rows == len(expected)
    assert builder.rows == 0
    with pytest.raises(IndexError, match=r"records 5\.\.6 of a group of 6"):
        builder.add(11, 2, [None, (group, 5), None, None])


def test_wrong_fields_are_refused() -> None:
    tx = ("x", CELL_KINDS["number"], FIELDS["tx_type"], -1, 0, False, None)
    with pytest.raises(IndexError, match="field of such rows"):
        Builder(ROWS["blocks"], [tx])
    with pytest.raises(IndexError, match="field of such rows"):
        Builder(99, [tx])


BROKEN = [
    (made(0, nonce=2**64), "nonce", "nonce is an integer with a leading zero, or wider", True),
    (b"\x02\xc1\x80", "nonce", "", False),
    (b"\x02\xc1\x80\x80", "nonce", "field of a transaction is followed by bytes", True),
    (b"\x02", "nonce", "field of a transaction is missing", True),
]


@pytest.mark.parametrize(("raw", "name", "text", "is_refused"), BROKEN)
def test_broken_transactions_name_block_and_offset(raw: bytes, name: str, text: str,
                                                   is_refused: bool) -> None:
    blocks = [made_block(7, body_of(made(2))), made_block(8, body_of(made(2), raw))]
    if not is_refused:
        assert listed(built("transactions", [name], blocks).column(name)) == [9, 9, None]
        return
    with pytest.raises(CorruptError, match=f"block 8: bodies: {text}") as caught:
        built("transactions", [name], blocks)
    at = caught.value.offset
    assert at is not None
    assert blocks[1].body.index(encode(raw) if raw[0] < 0xC0 else raw) <= at <= len(blocks[1].body)


def test_receipts_that_are_not_as_many_as_transactions() -> None:
    one, two = [FORMS["slim"] + receiptmaker.receipts([receiptmaker.Made()] * n, "slim")
                for n in (1, 2)]
    block = [made_block(7, body_of(made(2)))]
    for table in ("transactions", "receipts", "logs"):
        names = ["transaction_hash", *(["gas_used"] if table == "transactions" else [])]
        assert built(table, names, block, [one]).rows == (0 if table == "logs" else 1)
        with pytest.raises(CorruptError, match="block 7: "):
            built(table, names, block, [two])
        with pytest.raises(CorruptError, match="block 7: "):
            built(table, names, [made_block(7, body_of(made(2), made(2)))], [one])


def test_gas_sums_that_fall_are_refused_where_differences_are_wanted() -> None:
    falling = [receiptmaker.Made(gas=5), receiptmaker.Made(gas=4)]
    record = [FORMS["slim"] + receiptmaker.receipts(falling, "slim")]
    block = [made_block(7, body_of(made(2), made(2)))]
    found = built("receipts", ["cumulative_gas_used"], block, record)
    assert listed(found.column("cumulative_gas_used")) == [5, 4]
    with pytest.raises(CorruptError, match="block 7: receipts: cumulative gas of a receipt"):
        built("receipts", ["gas_used"], block, record)
