"""Withdrawals from the beacon chain (EIP-4895), read field by field as they are asked."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint32_t

from blockpack._native.rlpc cimport bp_rlp_cursor, bp_rlp_item
from blockpack._native.status cimport BP_TOO_FEW_ITEMS, BP_TOO_LARGE, BP_TRAILING, check
from blockpack._native.viewkit cimport Source, data_hex, quantity, source_of

cdef enum:
    SIZE_MAX = 1 << 20


@cython.final
@cython.no_gc
@cython.freelist(64)
@cython.auto_pickle(False)
cdef class Withdrawal:
    """A withdrawal: ``Withdrawal(raw)``, or as ``block.withdrawals`` gives it.

    ``amount`` is in Gwei, as the header's root commits to it. Withdrawals are equal when their
    bytes are.
    """

    def __init__(self, raw):
        cdef bytes data = bytes(raw)
        if len(data) > SIZE_MAX:
            check(BP_TOO_LARGE, f"withdrawal (of at most {SIZE_MAX} bytes)", 0)
        self.source = source_of(data, None, 0)
        self.start = 0
        self.end = <uint32_t>len(data)
        self.field(3)

    cdef int check(self) except -1:
        if self.source is None:
            raise TypeError("a Withdrawal that was made without its bytes")
        return 0

    cdef bp_rlp_item field(self, int position) except *:
        """The field, or the error of the first item that is not what it must be."""
        cdef bp_rlp_cursor cursor
        cdef bp_rlp_item item
        cdef bp_rlp_item found = bp_rlp_item(0, 0, 0, 0)    # of a list of four it is set
        cdef int count = 0
        self.check()
        self.source.whole(self.start, self.end, &cursor, "withdrawal")
        while self.source.step(&cursor, &item, "field of a withdrawal"):
            if count == position:
                found = item
            count += 1
        if count != 4:
            self.source.fail(BP_TRAILING if count > 4 else BP_TOO_FEW_ITEMS,
                             "field of a withdrawal", cursor.position)
        return found

    @property
    def raw(self):
        """The withdrawal's RLP, bytes."""
        self.check()
        return PyBytes_FromStringAndSize(PyBytes_AS_STRING(self.source.data) + self.start,
                                         self.end - self.start)

    @property
    def index(self):
        """Of all withdrawals of the chain."""
        cdef bp_rlp_item item = self.field(0)
        return self.source.integer(&item, 8, "index of a withdrawal")

    @property
    def validator_index(self):
        cdef bp_rlp_item item = self.field(1)
        return self.source.integer(&item, 8, "validator index of a withdrawal")

    @property
    def address(self):
        """20 bytes."""
        cdef bp_rlp_item item = self.field(2)
        return self.source.fixed(&item, 20, "address of a withdrawal")

    @property
    def amount(self):
        """Gwei."""
        cdef bp_rlp_item item = self.field(3)
        return self.source.integer(&item, 8, "amount of a withdrawal")

    def __bytes__(self):
        return self.raw

    def __eq__(self, other):
        if not isinstance(other, Withdrawal):
            return NotImplemented
        return self.raw == other.raw

    def __hash__(self):
        return hash(self.raw)

    def __repr__(self):
        return (f"<Withdrawal {self.index} of validator {self.validator_index}, "
                f"{self.amount} Gwei>")

    def __reduce__(self):
        return Withdrawal, (self.raw,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def to_dict(self):
        """Every field by name, as Python values."""
        return {"index": self.index, "validator_index": self.validator_index,
                "address": self.address, "amount": self.amount}

    def to_rpc(self):
        """The withdrawal as JSON-RPC has it."""
        return {"index": quantity(self.index), "validatorIndex": quantity(self.validator_index),
                "address": data_hex(self.address), "amount": quantity(self.amount)}


cdef tuple withdrawals_in(Source source, const bp_rlp_item *item):
    """A view of each item of a block's list of withdrawals."""
    cdef Withdrawal withdrawal
    cdef bp_rlp_cursor cursor
    cdef bp_rlp_item one
    cdef list found = []
    source.enter(item, &cursor, "block's list of withdrawals")
    while source.step(&cursor, &one, "withdrawal"):
        withdrawal = Withdrawal.__new__(Withdrawal)
        withdrawal.source = source
        withdrawal.start = <uint32_t>one.start
        withdrawal.end = <uint32_t>one.end
        found.append(withdrawal)
    return tuple(found)
