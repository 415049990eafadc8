"""Logs, and the filter that finds them: ext/bloom and ext/rlp/receipt for Python."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from blockpack._native.keccak cimport Buffers
from blockpack._native.receiptc cimport (
    BP_ADDRESS_SIZE,
    BP_LOG_TOPICS_MAX,
    BP_TOPIC_SIZE,
    bp_log,
    bp_logs_next,
)
from blockpack._native.rlpc cimport BP_RLP_STRICT, bp_rlp_cursor, bp_rlp_fault, check_fault
from blockpack._native.status cimport BP_TRAILING, BP_TRUNCATED, check
from blockpack._native.viewkit cimport data_hex, quantity

cdef extern from "bloom/logfilter.h" nogil:
    struct bp_bloom_bits:
        uint16_t bits[3]

    struct bp_log_values:
        const uint8_t *values
        const bp_bloom_bits *bits
        uint64_t count

    struct bp_log_filter:
        bp_log_values addresses
        bp_log_values topics[4]
        int positions

    struct bp_log_hit:
        bp_log log
        uint64_t transaction
        uint64_t index

    struct bp_log_scan:
        uint64_t index

    bp_bloom_bits bp_bloom_bits_of(const uint8_t *value, uint64_t size)
    int bp_filter_header(const bp_log_filter *filter, const uint8_t *header, uint64_t size)
    int bp_log_scan_open(const uint8_t *record, uint64_t size, bp_log_scan *scan,
                         bp_rlp_fault *fault)
    int64_t bp_log_scan_next(bp_log_scan *scan, const bp_log_filter *filter, bp_log_hit *hits,
                             int64_t capacity, bp_rlp_fault *fault)

cdef enum:
    HITS = 128
    # A record of this size is scanned in about 20 us, without the GIL.
    GIL_FREE_SIZE_MIN = 64 << 10


@cython.final
@cython.freelist(256)
@cython.auto_pickle(False)
cdef class Log:
    """One log: ``address`` (20 bytes), ``topics`` (a tuple of 32 bytes each) and ``data``.

    ``log_index`` counts the block's logs. ``origin`` knows the block: its ``number`` and ``hash``,
    and the ``transaction_hash(index)`` of each transaction. Logs are equal when their bytes and
    their places are.
    """

    def __init__(self, raw, origin, transaction_index, log_index):
        cdef bp_rlp_fault fault
        cdef bp_rlp_cursor cursor
        cdef int status
        self.raw = bytes(raw)
        self.origin = origin
        self.transaction_index = transaction_index
        self.log_index = log_index
        cursor.data = <const uint8_t *>PyBytes_AS_STRING(self.raw)
        cursor.position, cursor.end = 0, len(self.raw)
        status = bp_logs_next(&cursor, BP_RLP_STRICT, &self.c_log, &fault)
        check_fault(status, &fault)
        if status == 0 or cursor.position != cursor.end:
            check(BP_TRAILING if status else BP_TRUNCATED, "log", <int64_t>cursor.position)

    cdef bytes part(self, uint64_t start, uint64_t end):
        if self.raw is None or end > <uint64_t>len(self.raw):
            raise ValueError("a Log that was made by __new__ alone has no fields")
        return PyBytes_FromStringAndSize(PyBytes_AS_STRING(self.raw) + start, end - start)

    @property
    def address(self):
        """The contract that logged, 20 bytes."""
        return self.part(self.c_log.address, self.c_log.address + BP_ADDRESS_SIZE)

    @property
    def topics(self):
        """None to four, 32 bytes each."""
        cdef int i
        return tuple([self.part(self.c_log.topics[i], self.c_log.topics[i] + BP_TOPIC_SIZE)
                      for i in range(self.c_log.topic_count)])

    @property
    def data(self):
        """What is not indexed, bytes."""
        return self.part(self.c_log.data, self.c_log.data_end)

    @property
    def block_number(self):
        return self.origin.number

    @property
    def block_hash(self):
        """Keccak-256 of the block's header, 32 bytes."""
        return self.origin.hash

    @property
    def transaction_hash(self):
        """32 bytes. The first one of a block inflates its body, unless the log was pickled."""
        return self.origin.transaction_hash(self.transaction_index)

    def to_dict(self):
        """Every field by name, as Python values."""
        return {"block_number": self.block_number, "block_hash": self.block_hash,
                "transaction_index": self.transaction_index, "log_index": self.log_index,
                "transaction_hash": self.transaction_hash, "address": self.address,
                "topics": self.topics, "data": self.data}

    def to_rpc(self):
        """The log as eth_getLogs has it."""
        return {"blockNumber": quantity(self.block_number), "blockHash": data_hex(self.block_hash),
                "transactionIndex": quantity(self.transaction_index),
                "logIndex": quantity(self.log_index),
                "transactionHash": data_hex(self.transaction_hash),
                "address": data_hex(self.address), "data": data_hex(self.data),
                "topics": [data_hex(topic) for topic in self.topics], "removed": False}

    def __eq__(self, other):
        if not isinstance(other, Log):
            return NotImplemented
        cdef Log that = other
        return (self.raw == that.raw and self.log_index == that.log_index
                and self.transaction_index == that.transaction_index
                and self.block_number == that.block_number and self.block_hash == that.block_hash)

    def __hash__(self):
        return hash((self.raw, self.block_number, self.log_index))

    def __repr__(self):
        return (f"<Log {self.log_index} of block {self.block_number},"
                f" {self.c_log.topic_count} topics, address 0x{self.address.hex()}>")

    def __reduce__(self):
        return Log, (self.raw, self.origin, self.transaction_index, self.log_index)


cdef Log log_of(const uint8_t *data, const bp_log *found, uint64_t transaction_index,
                uint64_t log_index, origin):
    """The Log that the kernel found in `data`, with a copy of its bytes."""
    cdef Log log = Log.__new__(Log)
    cdef uint64_t start = found.start
    cdef int i
    log.raw = PyBytes_FromStringAndSize(<const char *>data + start, found.end - start)
    log.origin = origin
    log.transaction_index = transaction_index
    log.log_index = log_index
    log.c_log = found[0]
    log.c_log.end -= start
    log.c_log.start = 0
    log.c_log.address -= start
    for i in range(log.c_log.topic_count):
        log.c_log.topics[i] -= start
    log.c_log.data -= start
    log.c_log.data_end -= start
    return log


@cython.final
@cython.auto_pickle(False)
cdef class LogFilter:
    """What logs are wanted: any of ``addresses``, and at each position any of its ``topics``.

    Empty stands for all. Addresses are 20 bytes and topics 32, at most four positions: ValueError.
    """

    cdef bp_log_filter c_filter
    cdef list held      # what c_filter points into

    def __init__(self, addresses, topics):
        cdef list positions = list(topics)
        cdef Py_ssize_t i
        if len(positions) > BP_LOG_TOPICS_MAX:
            raise ValueError(f"{len(positions)} topic positions:"
                             f" a log has at most {BP_LOG_TOPICS_MAX}")
        self.held = []
        self.take(&self.c_filter.addresses, addresses, BP_ADDRESS_SIZE, "address")
        for i in range(len(positions)):
            self.take(&self.c_filter.topics[i], positions[i], BP_TOPIC_SIZE, "topic")
        self.c_filter.positions = <int>len(positions)

    cdef int take(self, bp_log_values *target, values, int width, str what) except -1:
        cdef list distinct = sorted(set(map(bytes, values)))
        cdef Py_ssize_t i
        for value in distinct:
            if len(value) != width:
                raise ValueError(f"{what} of {len(value)} bytes, not {width}: {value.hex()}")
        cdef bytes joined = b"".join(distinct)
        cdef bytes bits = PyBytes_FromStringAndSize(NULL, len(distinct) * sizeof(bp_bloom_bits))
        cdef bp_bloom_bits *written = <bp_bloom_bits *>PyBytes_AS_STRING(bits)
        target.values = <const uint8_t *>PyBytes_AS_STRING(joined)
        target.count = len(distinct)
        for i in range(len(distinct)):
            written[i] = bp_bloom_bits_of(target.values + i * width, width)
        target.bits = written
        self.held += [joined, bits]
        return 0

    def candidates(self, list headers):
        """Return the indexes of the headers whose blocks may have such logs, in one crossing."""
        cdef Buffers buffers = Buffers(headers)
        cdef bytes answers = PyBytes_FromStringAndSize(NULL, buffers.count)
        cdef char *target = PyBytes_AS_STRING(answers)
        cdef Py_ssize_t i
        with nogil:
            for i in range(buffers.count):
                target[i] = <char>bp_filter_header(
                    &self.c_filter, <const uint8_t *>buffers.views[i].buf, buffers.views[i].len)
        return [i for i in range(buffers.count) if target[i]]

    def matches(self, record, origin):
        """Return the wanted Logs of one block's receipts record (form, then the list), in order.

        CorruptError where a receipt is not what it must be, with the offset in the record.
        """
        cdef Py_buffer view
        PyObject_GetBuffer(record, &view, PyBUF_SIMPLE)
        try:
            return self.scan(&view, origin)
        finally:
            PyBuffer_Release(&view)

    cdef list scan(self, const Py_buffer *view, origin):
        cdef const uint8_t *data = <const uint8_t *>view.buf
        cdef bp_log_hit hits[HITS]
        cdef bp_log_scan scan
        cdef bp_rlp_fault fault
        cdef list found = []
        cdef int64_t count = bp_log_scan_open(data, view.len, &scan, &fault)
        cdef int64_t i
        check_fault(count, &fault)
        count = HITS
        while count == HITS:
            if view.len < GIL_FREE_SIZE_MIN:
                count = bp_log_scan_next(&scan, &self.c_filter, hits, HITS, &fault)
            else:
                with nogil:
                    count = bp_log_scan_next(&scan, &self.c_filter, hits, HITS, &fault)
            check_fault(count, &fault)
            for i in range(count):
                found.append(log_of(data, &hits[i].log, hits[i].transaction, hits[i].index,
                                    origin))
        return found
