"""A block that owns its bytes, and the views into it."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport uint8_t, uint32_t

from blockpack._native.header cimport Header, header_in
from blockpack._native.rlp import join_block
from blockpack._native.rlpc cimport (
    BP_RLP_EXTRA,
    BP_RLP_LENIENT,
    BP_RLP_LIST_BASE,
    BP_RLP_PREFIX_SIZE_MAX,
    BP_RLP_TRANSACTIONS,
    BP_RLP_UNCLES,
    bp_rlp_cursor,
    bp_rlp_field_name,
    bp_rlp_item,
    bp_rlp_prefix,
    bp_rlp_read_next,
)
from blockpack._native.status cimport BP_NOT_A_LIST, BP_TOO_FEW_ITEMS, BP_TOO_LARGE, check
from blockpack._native.transactions cimport Transactions, transactions_in
from blockpack._native.viewkit cimport VIEW_SIZE_MAX, Source, data_hex, quantity, source_of
from blockpack._native.withdrawal cimport withdrawals_in

cdef tuple LISTS = (BP_RLP_TRANSACTIONS, BP_RLP_UNCLES, BP_RLP_EXTRA)


@cython.final
@cython.no_gc
@cython.freelist(16)
@cython.auto_pickle(False)
cdef class Block:
    """A block that owns its bytes: it outlives the store, and decodes when it is asked.

    ``Block(header, body)`` takes its two parts: the header's RLP, and ``body``, the bytes after it
    in the outer list. Views of it keep those bytes. Blocks are equal when their bytes are.
    """

    cdef bytes c_header
    cdef readonly bytes body
    cdef Source source
    cdef Header view
    cdef Transactions c_transactions

    def __init__(self, header, body):
        self.c_header = bytes(header)
        self.body = bytes(body)
        if len(self.c_header) + len(self.body) > VIEW_SIZE_MAX:
            check(BP_TOO_LARGE, f"block (of at most {VIEW_SIZE_MAX} bytes)", 0)

    cdef Source bytes_of_body(self):
        if self.source is None:
            self.source = source_of(self.body, self.c_header,
                                    self.prefix_size() + len(self.c_header))
        return self.source

    cdef int prefix_size(self):
        cdef uint8_t prefix[BP_RLP_PREFIX_SIZE_MAX]
        return bp_rlp_prefix(len(self.c_header) + len(self.body), BP_RLP_LIST_BASE, prefix)

    cdef bint part(self, int position, bp_rlp_item *item) except -1:
        """The list at `position` of the body; 0 where the body ends before it."""
        cdef Source source = self.bytes_of_body()
        cdef bp_rlp_cursor cursor
        cdef int i, status = 1
        cursor.data = <const uint8_t *>PyBytes_AS_STRING(self.body)
        cursor.position, cursor.end = 0, len(self.body)
        for i in range(position + 1):
            status = bp_rlp_read_next(&cursor, BP_RLP_LENIENT, item)
            if status <= 0:
                break
        if status == 1 and not item.is_list:
            source.fail(BP_NOT_A_LIST, bp_rlp_field_name(LISTS[position]).decode(), item.start)
        if status < 0 or (status == 0 and position < 2):
            source.fail(status if status < 0 else BP_TOO_FEW_ITEMS,
                        bp_rlp_field_name(LISTS[position]).decode(), cursor.position)
        return status

    @property
    def header(self):
        """The Header: its fields by name."""
        if self.view is None:
            self.view = header_in(source_of(self.c_header, self.c_header, self.prefix_size()), 0,
                                  <uint32_t>len(self.c_header))
        return self.view

    @property
    def transactions(self):
        """A sequence of Transaction, which are made as they are asked for."""
        cdef bp_rlp_item item
        if self.c_transactions is None:
            self.part(0, &item)
            self.c_transactions = transactions_in(self.source, item.payload, item.end)
        return self.c_transactions

    @property
    def uncles(self):
        """A tuple of Header."""
        cdef bp_rlp_item item
        cdef bp_rlp_cursor cursor
        cdef list found = []
        self.part(1, &item)
        self.source.enter(&item, &cursor, "uncle")
        while self.source.step(&cursor, &item, "uncle"):
            found.append(header_in(self.source, <uint32_t>item.start, <uint32_t>item.end))
        return tuple(found)

    @property
    def withdrawals(self):
        """A tuple of Withdrawal; None before Shanghai."""
        cdef bp_rlp_item item
        return withdrawals_in(self.source, &item) if self.part(2, &item) else None

    @property
    def raw(self):
        """The block's RLP, byte for byte as it was appended."""
        return join_block(self.c_header, self.body)

    @property
    def size(self):
        """Bytes of ``raw``."""
        return self.prefix_size() + len(self.c_header) + len(self.body)

    @property
    def number(self):
        return self.header.number

    @property
    def parent_hash(self):
        """32 bytes."""
        return self.header.parent_hash

    @property
    def timestamp(self):
        """Seconds since 1970, as the header has them."""
        return self.header.timestamp

    @property
    def hash(self):
        """Keccak-256 of the header, 32 bytes. Some chains (IBFT, Clique) define another hash."""
        return self.header.hash

    def __bytes__(self):
        return self.raw

    def __eq__(self, other):
        cdef Block block
        if not isinstance(other, Block):
            return NotImplemented
        block = other
        return self.c_header == block.c_header and self.body == block.body

    def __hash__(self):
        return hash((self.c_header, len(self.body)))

    def __repr__(self):
        return f"<Block {self.number} {self.hash.hex()[:16]} {self.size} bytes>"

    def __reduce__(self):
        return Block, (self.c_header, self.body)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def to_dict(self):
        """The header's fields, ``size``, and transactions, uncles and withdrawals as dicts."""
        values = self.header.to_dict()
        values["size"] = self.size
        values["transactions"] = [one.to_dict() for one in self.transactions]
        values["uncles"] = [one.to_dict() for one in self.uncles]
        withdrawals = self.withdrawals
        if withdrawals is not None:
            values["withdrawals"] = [one.to_dict() for one in withdrawals]
        return values

    def to_rpc(self, *, bint full=True, bint sender=False):
        """Return the block as eth_getBlockByNumber gives it; ``full=False``: transaction hashes.

        Uncles are their hashes. ``from`` of the transactions costs 75 us each, and so is there
        only with ``sender=True``, which needs the extra blockpack[sender].
        """
        values = self.header.to_rpc()
        values["size"] = quantity(self.size)
        values["transactions"] = [one.to_rpc(sender=sender) if full else data_hex(one.hash)
                                  for one in self.transactions]
        values["uncles"] = [data_hex(one.hash) for one in self.uncles]
        withdrawals = self.withdrawals
        if withdrawals is not None:
            values["withdrawals"] = [one.to_rpc() for one in withdrawals]
        return values
