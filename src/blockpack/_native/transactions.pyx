"""The transactions of a block, as a sequence."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from blockpack._native.rlpc cimport (
    BP_RLP_LENIENT,
    bp_rlp_cursor,
    bp_rlp_fault,
    bp_rlp_item,
    bp_rlp_read_next,
    bp_tx,
    bp_tx_at,
)
from blockpack._native.transaction cimport Transaction
from blockpack._native.viewkit cimport Source, bp_keccak256

cdef enum:
    HASH_BYTES = 32


cdef Py_ssize_t hash_all(const uint8_t *data, const uint32_t *starts, Py_ssize_t count,
                         uint8_t *digests) noexcept nogil:
    """The hashes of items starts[i] to starts[i + 1]; how many there are before a bad one."""
    cdef bp_tx tx
    cdef bp_rlp_fault fault
    cdef Py_ssize_t i
    for i in range(count):
        if (bp_tx_at(data, starts[i], starts[i + 1], BP_RLP_LENIENT, &tx, &fault) < 0
                or tx.end != starts[i + 1]):
            return i
        bp_keccak256(data + tx.payload, tx.end - tx.payload, digests + HASH_BYTES * i)
    return count


cdef Transactions transactions_in(Source source, uint64_t start, uint64_t end):
    cdef Transactions found = Transactions.__new__(Transactions)
    found.source = source
    found.find(start, end)
    return found


@cython.final
@cython.no_gc
@cython.auto_pickle(False)
cdef class Transactions:
    """A block's transactions: a sequence that makes its Transaction objects as they are asked.

    A slice is a list. Equal to another sequence of the same transactions.
    """

    def __cinit__(self):
        self.starts = NULL
        self.count = 0

    def __init__(self):
        raise TypeError("made by Block.transactions alone")

    def __dealloc__(self):
        PyMem_Free(self.starts)

    cdef int find(self, uint64_t start, uint64_t end) except -1:
        """Where they begin: counted first, then noted."""
        cdef bp_rlp_cursor cursor
        cdef bp_rlp_item item
        cdef Py_ssize_t count = 0
        cdef int status
        cursor.data = <const uint8_t *>PyBytes_AS_STRING(self.source.data)
        cursor.position = start
        cursor.end = end
        while True:
            status = bp_rlp_read_next(&cursor, BP_RLP_LENIENT, &item)
            if status <= 0:
                break
            count += 1
        if status < 0:
            self.source.fail(status, "transaction", cursor.position)
        self.starts = <uint32_t *>PyMem_Malloc((count + 1) * sizeof(uint32_t))
        if self.starts == NULL:
            raise MemoryError()
        cursor.position = start
        for i in range(count):
            self.starts[i] = <uint32_t>cursor.position
            bp_rlp_read_next(&cursor, BP_RLP_LENIENT, &item)
        self.starts[count] = <uint32_t>end
        self.count = count
        return 0

    cdef Transaction at(self, Py_ssize_t index):
        cdef Transaction transaction = Transaction.__new__(Transaction)
        transaction.source = self.source
        transaction.start = self.starts[index]
        transaction.end = self.starts[index + 1]
        transaction.position = index
        transaction.state = 0
        return transaction

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self.at(i) for i in range(*index.indices(self.count))]
        cdef Py_ssize_t i = index
        if i < 0:
            i += self.count
        if not 0 <= i < self.count:
            raise IndexError(f"the block has {self.count} transactions, no number {index}")
        return self.at(i)

    def __iter__(self):
        cdef TransactionIterator iterator = TransactionIterator.__new__(TransactionIterator)
        iterator.transactions = self
        iterator.position = 0
        return iterator

    def __eq__(self, other):
        if isinstance(other, (Transactions, list, tuple)):
            return list(self) == list(other)
        return NotImplemented

    __hash__ = None

    def __repr__(self):
        return f"<Transactions {self.count}>"

    def __reduce__(self):
        return list, (list(self),)

    def hashes(self):
        """Return the hashes of all, 32 bytes each, in order. Other threads run meanwhile."""
        cdef bytes digests = PyBytes_FromStringAndSize(NULL, self.count * HASH_BYTES)
        cdef char *target = PyBytes_AS_STRING(digests)
        cdef const uint8_t *data = <const uint8_t *>PyBytes_AS_STRING(self.source.data)
        cdef Py_ssize_t done
        with nogil:
            done = hash_all(data, self.starts, self.count, <uint8_t *>target)
        if done < self.count:
            self.at(done).hash    # raises what is wrong with it
        return [PyBytes_FromStringAndSize(target + HASH_BYTES * i, HASH_BYTES)
                for i in range(self.count)]


@cython.final
@cython.internal
@cython.no_gc
@cython.auto_pickle(False)
cdef class TransactionIterator:
    cdef Transactions transactions
    cdef Py_ssize_t position

    def __iter__(self):
        return self

    def __next__(self):
        if self.position >= self.transactions.count:
            raise StopIteration
        self.position += 1
        return self.transactions.at(self.position - 1)
