"""The tables that a range of blocks has, and their columns.

Names are cryo's; what cryo lacks has its JSON-RPC name in snake case. Hashes that have to be
computed, senders, decimal digits and what needs records of another table than the rows are of are
given only where they are named.
"""

from __future__ import annotations

from typing import Final

from blockpack._native.columns import FIELDS
from blockpack.chain.columns.aliases import ALIASES
from blockpack.chain.columns.spec import (
    ADDRESS_BYTES,
    BLOOM_BYTES,
    HASH_BYTES,
    SENDER,
    Spec,
    Table,
    binary,
    fixed,
    integer,
    keccak,
    named,
    number,
    wide,
)

_HEADER: Final = FIELDS["header_item"]
_TX: Final = FIELDS["tx_item"]
# By position in a transaction's fields, as enum bp_tx_field of ext/rlp/transaction.h has them.
(_CHAIN_ID, _NONCE, _GAS_PRICE, _PRIORITY_FEE, _MAX_FEE, _GAS_LIMIT, _TO, _VALUE, _INPUT,
 _ACCESS_LIST, _BLOB_FEE, _BLOB_HASHES, _AUTHORIZATIONS, _V, _R, _S) = range(_TX, _TX + 16)
_TYPE: Final = FIELDS["tx_type"]
_LOG_TOPIC: Final = FIELDS["log_topic"]
_WITHDRAWAL: Final = FIELDS["withdrawal_item"]
_STATUS: Final = FIELDS["receipt_status"]

BLOCK_NUMBER: Final = number("block_number", "block", "number of the block")
_TIMESTAMP: Final = integer("timestamp", _HEADER + 11, "seconds since 1970 of the block")
_BLOCK_HASH: Final = keccak("block_hash", "header", "Keccak-256 of the block's header")
_STORE_CHAIN_ID: Final = number("chain_id", "constant", "the store's chain id; null if it has none",
                                nullable=True)
_TX_HASH: Final = keccak("transaction_hash", "tx", "Keccak-256 of the transaction")
_SUCCESS: Final = Spec("success", "whether the transaction succeeded; null before Byzantium",
                       "success", _STATUS, nullable=True)
_GAS_USED: Final = number("gas_used", "receipt_gas_used", "gas of this transaction alone")

BLOCKS: Final = Table("blocks", "One row a block.", named(
    BLOCK_NUMBER,
    _BLOCK_HASH,
    fixed("parent_hash", _HEADER, HASH_BYTES, "hash of the block before"),
    fixed("uncles_hash", _HEADER + 1, HASH_BYTES, "Keccak-256 of the list of uncles"),
    fixed("author", _HEADER + 2, ADDRESS_BYTES, "who is paid the fees"),
    fixed("state_root", _HEADER + 3, HASH_BYTES, "root of the state after the block"),
    fixed("transactions_root", _HEADER + 4, HASH_BYTES, "root of the transactions"),
    fixed("receipts_root", _HEADER + 5, HASH_BYTES, "root of the receipts"),
    fixed("logs_bloom", _HEADER + 6, BLOOM_BYTES, "bloom filter of the logs"),
    wide("difficulty", _HEADER + 7, "difficulty of the block's proof of work"),
    wide("gas_limit", _HEADER + 9, "gas that the block may use"),
    wide("gas_used", _HEADER + 10, "gas that the block used"),
    _TIMESTAMP,
    binary("extra_data", _HEADER + 12, "what the author added"),
    fixed("mix_hash", _HEADER + 13, HASH_BYTES, "of the proof of work; prevRandao after the merge"),
    fixed("nonce", _HEADER + 14, 8, "of the proof of work"),
    wide("base_fee_per_gas", _HEADER + 15, "wei burnt a unit of gas; null before London",
         nullable=True),
    fixed("withdrawals_root", _HEADER + 16, HASH_BYTES, "null before Shanghai", nullable=True),
    integer("blob_gas_used", _HEADER + 17, "null before Cancun", nullable=True),
    integer("excess_blob_gas", _HEADER + 18, "null before Cancun", nullable=True),
    fixed("parent_beacon_block_root", _HEADER + 19, HASH_BYTES, "null before Cancun",
          nullable=True),
    fixed("requests_hash", _HEADER + 20, HASH_BYTES, "null before Prague", nullable=True),
    _STORE_CHAIN_ID,
    number("size", "size", "bytes of the block's RLP; inflates bodies").hidden(),
    number("transaction_count", "tx_count", "inflates bodies").hidden(),
    number("uncle_count", "uncle_count", "inflates bodies").hidden(),
    number("withdrawal_count", "withdrawal_count", "null before Shanghai; inflates bodies",
           nullable=True).hidden(),
    Spec("total_difficulty_binary", "sum up to and with the block: 32 bytes, big-endian; refused"
         " where the store lacks it", "little_u256", FIELDS["difficulty"], is_default=False),
), ALIASES["blocks"])

TRANSACTIONS: Final = Table("transactions", (
    "One row a transaction. Of a type that is not known (0x7e of the optimism chains), and of a"
    " list of another number of fields, columns of its own fields are null."), named(
    BLOCK_NUMBER,
    number("transaction_index", "row", "place in the block"),
    _TX_HASH,
    integer("nonce", _NONCE, "transactions of the sender before", nullable=True),
    Spec("from_address", "who signed it, about 75 us a row: needs blockpack[sender]; null where the"
         " signature is of nobody", SENDER, FIELDS["tx"], width=ADDRESS_BYTES, nullable=True,
         is_default=False),
    Spec("to_address", "null where a contract is created", "fixed_or_none", _TO,
         width=ADDRESS_BYTES, nullable=True),
    wide("value", _VALUE, "wei", nullable=True, short=False),
    binary("input", _INPUT, "data of the call, or code that creates", nullable=True),
    wide("gas_limit", _GAS_LIMIT, "gas that it may use", nullable=True),
    wide("gas_price", _GAS_PRICE, "wei a unit of gas; null from type 2 on", nullable=True),
    number("transaction_type", "tx_type", "0 for a legacy one, else the type byte"),
    wide("max_priority_fee_per_gas", _PRIORITY_FEE, "wei; null before type 2", nullable=True),
    wide("max_fee_per_gas", _MAX_FEE, "wei; null before type 2", nullable=True),
    Spec("n_input_bytes", "size of the input", "size", _INPUT, nullable=True),
    number("n_input_zero_bytes", "tx_zeros", "bytes of the input that are zero", nullable=True),
    Spec("n_input_nonzero_bytes", "bytes of the input that are not", "nonzeros", _INPUT,
         FIELDS["tx_zeros"], nullable=True),
    Spec("n_rlp_bytes", "size as it is hashed", "size", FIELDS["tx"]),
    Spec("chain_id", "of a legacy one from v; null where it is bound to no chain", "chain_id",
         FIELDS["tx_bound"], _TYPE, nullable=True, wider="v_binary"),
    _TIMESTAMP,
    Spec("r", "of the signature: 32 bytes, big-endian", "u256", _R, nullable=True),
    Spec("s", "of the signature: 32 bytes, big-endian", "u256", _S, nullable=True),
    wide("v", _V, "of the signature; of typed ones the parity of y", nullable=True),
    Spec("y_parity", "0 or 1; null for a v that no signature has", "y_parity", _V, _TYPE,
         nullable=True, wider="v_binary"),
    Spec("access_list", "addresses with their storage keys; null of legacy ones", "access_list",
         _ACCESS_LIST, nullable=True),
    Spec("blob_versioned_hashes", "null but of type 3", "hashes", _BLOB_HASHES, nullable=True),
    wide("max_fee_per_blob_gas", _BLOB_FEE, "wei; null but of type 3", nullable=True),
    Spec("authorization_list", "null but of type 4", "authorizations", _AUTHORIZATIONS,
         nullable=True),
    _BLOCK_HASH,
    binary("raw", FIELDS["tx"], "the transaction as it is hashed").hidden(),
    _GAS_USED.hidden(),
    _SUCCESS.hidden(),
), ALIASES["transactions"])

WITHDRAWALS: Final = Table("withdrawals", "One row a withdrawal; none before Shanghai.", named(
    BLOCK_NUMBER,
    number("withdrawal_index", "row", "place in the block"),
    integer("index", _WITHDRAWAL, "of all withdrawals of the chain"),
    integer("validator_index", _WITHDRAWAL + 1, "whose it is"),
    fixed("address", _WITHDRAWAL + 2, ADDRESS_BYTES, "who gets it"),
    integer("amount", _WITHDRAWAL + 3, "Gwei"),
    _TIMESTAMP,
    _STORE_CHAIN_ID,
    _BLOCK_HASH,
), ALIASES["withdrawals"])

RECEIPTS: Final = Table("receipts", (
    "One row a transaction. A column of the transaction inflates bodies, and so does the type"
    " where the receipts are in the storage form."), named(
    BLOCK_NUMBER,
    number("transaction_index", "row", "place in the block"),
    _TX_HASH,
    number("transaction_type", "receipt_type", "0 for a legacy one, else the type byte"),
    Spec("status", "1 for success, 0 for failure; null before Byzantium", "status", _STATUS,
         nullable=True),
    _SUCCESS,
    Spec("root", "state root after the transaction; null from Byzantium on", "root", _STATUS,
         width=HASH_BYTES, nullable=True),
    integer("cumulative_gas_used", FIELDS["receipt_gas"], "gas up to and with this one"),
    _GAS_USED,
    number("n_logs", "receipt_log_count", "how many logs it has"),
    Spec("logs_bloom", "bloom filter of the logs, made of them where the form has none", "bloom",
         FIELDS["receipt_bloom"], FIELDS["receipt_form"], width=BLOOM_BYTES, is_default=False),
    _TIMESTAMP,
    _STORE_CHAIN_ID,
    _BLOCK_HASH,
), ALIASES["receipts"])

LOGS: Final = Table("logs", "One row a log.", named(
    BLOCK_NUMBER,
    number("transaction_index", "receipt_index", "place of the transaction in the block"),
    number("log_index", "row", "place among the block's logs"),
    _TX_HASH,
    fixed("address", FIELDS["log_address"], ADDRESS_BYTES, "the contract that logged"),
    [fixed(f"topic{i}", _LOG_TOPIC + i, HASH_BYTES, "null where there are fewer", nullable=True)
     for i in range(4)],
    binary("data", FIELDS["log_data"], "what is not indexed"),
    Spec("n_data_bytes", "size of the data", "size", FIELDS["log_data"]),
    _TIMESTAMP,
    _STORE_CHAIN_ID,
    _BLOCK_HASH,
), ALIASES["logs"])

TABLES: Final = {table.name: table
                 for table in (BLOCKS, TRANSACTIONS, WITHDRAWALS, RECEIPTS, LOGS)}
