"""Merkle roots of a block's lists, and whether its header has them: ext/trie for Python."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from libc.stdint cimport int64_t, uint8_t, uint64_t

from blockpack._native.keccak cimport Buffers
from blockpack._native.rlpc cimport bp_rlp_fault, bp_rlp_field_name
from blockpack._native.status cimport check

cdef extern from "trie/ordered.h" nogil:
    ctypedef int (*bp_trie_source)(void *context, uint64_t index, const uint8_t **value,
                                   uint64_t *size) noexcept nogil
    int bp_ordered_root(bp_trie_source source, void *context, uint64_t count, uint8_t *root)

cdef extern from "trie/roots.h" nogil:
    enum:
        BP_ROOTS
        BP_ROOT_BLOOM
        BP_ROOT_COUNT

    struct bp_block_records:
        const uint8_t *header
        uint64_t header_size
        const uint8_t *body
        uint64_t body_size
        const uint8_t *receipts
        uint64_t receipts_size

    struct bp_roots:
        unsigned wrong
        uint8_t found[4][32]
        uint64_t fields[5]
        uint64_t widths[5]
        uint64_t transactions
        uint64_t receipts
        int part

    uint64_t bp_roots_scratch(const bp_block_records *records)
    int bp_roots_check(const bp_block_records *records, uint8_t *scratch, bp_roots *roots,
                       bp_rlp_fault *fault)

# In the order of enum bp_root.
cdef tuple NAMES = ("uncles hash", "transactions root", "withdrawals root", "receipts root",
                    "logs bloom", "number of receipts")
cdef tuple PARTS = ("header", "body", "receipts")


cdef int buffer_value(void *context, uint64_t index, const uint8_t **value,
                      uint64_t *size) noexcept nogil:
    cdef const Py_buffer *view = <const Py_buffer *>context + index
    value[0] = <const uint8_t *>view.buf
    size[0] = view.len
    return 0


def ordered_root(values):
    """Return the root, 32 bytes, of the trie that maps RLP(index) to each buffer."""
    cdef Buffers buffers = Buffers(list(values))
    cdef bytes root = PyBytes_FromStringAndSize(NULL, 32)
    cdef uint8_t *target = <uint8_t *>PyBytes_AS_STRING(root)
    with nogil:
        bp_ordered_root(buffer_value, buffers.views, buffers.count, target)
    return root


@cython.internal
@cython.auto_pickle(False)
cdef class Scratch:
    """Memory that grows, for kernels that run without the GIL."""

    cdef uint8_t *data
    cdef uint64_t size

    def __dealloc__(self):
        PyMem_RawFree(self.data)

    cdef bint reserve(self, uint64_t size) noexcept nogil:
        if size > self.size:
            grown = <uint8_t *>PyMem_RawRealloc(self.data, size)
            if grown == NULL:
                return False
            self.data = grown
            self.size = size
        return True


cdef void take(bp_block_records *records, const Py_buffer *header, const Py_buffer *body,
               const Py_buffer *receipts) noexcept nogil:
    records.header = <const uint8_t *>header.buf
    records.header_size = header.len
    records.body = <const uint8_t *>body.buf
    records.body_size = body.len
    records.receipts = <const uint8_t *>receipts.buf
    records.receipts_size = receipts.len


# A block whose records are good costs no Python: the loop ends at the first that is not.
cdef Py_ssize_t next_wrong(Py_ssize_t index, Buffers headers, Buffers bodies, Buffers receipts,
                           Scratch scratch, bp_roots *roots, bp_rlp_fault *fault,
                           int *status) noexcept nogil:
    cdef bp_block_records records
    while index < headers.count:
        take(&records, &headers.views[index], &bodies.views[index], &receipts.views[index])
        if not scratch.reserve(bp_roots_scratch(&records)):
            return -1
        status[0] = bp_roots_check(&records, scratch.data, roots, fault)
        if status[0] < 0 or roots.wrong:
            break
        index += 1
    return index


cdef object field_of(Buffers headers, Py_ssize_t index, const bp_roots *roots, int root):
    cdef const char *header = <const char *>headers.views[index].buf
    return PyBytes_FromStringAndSize(header + roots.fields[root], roots.widths[root])


cdef list mismatches(Buffers headers, Py_ssize_t index, const bp_roots *roots):
    cdef list found = []
    cdef int root
    for root in range(BP_ROOTS):
        if not roots.wrong >> root & 1:
            continue
        if root == BP_ROOT_COUNT:
            found.append((index, NAMES[root], roots.transactions, roots.receipts))
        elif root == BP_ROOT_BLOOM:
            found.append((index, NAMES[root], None, None))
        else:
            found.append((index, NAMES[root], field_of(headers, index, roots, root),
                          PyBytes_FromStringAndSize(<const char *>roots.found[root], 32)))
    return found


cdef object failure(int status, const bp_roots *roots, const bp_rlp_fault *fault):
    try:
        check(status, f"{PARTS[roots.part]}: {bp_rlp_field_name(fault.field).decode()}",
              <int64_t>fault.offset)
    except Exception as error:
        return error


def check_roots(list headers, list bodies, list receipts):
    """Return what is wrong in blocks given as records, in one crossing, as a list of tuples.

    The lists are equally long; ``receipts`` has None for a block without. A tuple is (index of
    the block, name, expected, found): what the header has and what the records give, 32 bytes
    each; None for both of ``"logs bloom"``; two counts for ``"number of receipts"``. A record
    that cannot be read gives (index, "", None, CorruptError); the offset counts from its start.
    """
    if not len(headers) == len(bodies) == len(receipts):
        raise ValueError("three lists of one length")
    cdef Buffers header_views = Buffers(headers)
    cdef Buffers body_views = Buffers(bodies)
    cdef Buffers receipts_views = Buffers(receipts)
    cdef Scratch scratch = Scratch()
    cdef bp_roots roots
    cdef bp_rlp_fault fault
    cdef int status = 0
    cdef Py_ssize_t index = 0
    cdef list found = []
    while True:
        with nogil:
            index = next_wrong(index, header_views, body_views, receipts_views, scratch, &roots,
                               &fault, &status)
        if index < 0:
            raise MemoryError()
        if index == header_views.count:
            return found
        if status < 0:
            found.append((index, "", None, failure(status, &roots, &fault)))
        else:
            found += mismatches(header_views, index, &roots)
        index += 1
