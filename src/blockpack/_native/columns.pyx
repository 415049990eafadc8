"""Columns of a run of blocks: ext/columns over the groups that hold their records.

``Builder`` walks the records of a whole group in one call, without the GIL, and grows the columns'
buffers between chunks of rows. What its numbers stand for is in FIELDS, KINDS, ROWS and SOURCES.
"""

cimport cython
from cpython.buffer cimport PyBuffer_FillInfo
from libc.stdint cimport int8_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

from blockpack._native.group cimport Group
from blockpack._native.rlpc cimport bp_rlp_fault, bp_rlp_field_name
from blockpack._native.receiptc cimport BP_RECEIPTS_STORAGE
from blockpack._native.status cimport BP_NO_SPACE, BP_OUT_OF_RANGE, BP_TOO_LARGE, check

from blockpack.errors import LimitError, MissingError

cdef extern from "columns/columns.h" nogil:
    enum:
        BP_SLOTS_MAX
        BP_PARTS
        BP_CHILDREN
        BP_SOURCES
        BP_HEADERS
        BP_BODIES
        BP_RECEIPT_LISTS
        BP_DIFFICULTIES
        BP_ROWS_BLOCKS
        BP_ROWS_TRANSACTIONS
        BP_ROWS_WITHDRAWALS
        BP_ROWS_RECEIPTS
        BP_ROWS_LOGS
        BP_FIELD_BLOCK
        BP_FIELD_ROW
        BP_FIELD_CONSTANT
        BP_FIELD_HEADER
        BP_FIELD_HEADER_ITEM
        BP_FIELD_DIFFICULTY
        BP_FIELD_SIZE
        BP_FIELD_TX_COUNT
        BP_FIELD_UNCLE_COUNT
        BP_FIELD_WITHDRAWAL_COUNT
        BP_FIELD_TX
        BP_FIELD_TX_TYPE
        BP_FIELD_TX_ZEROS
        BP_FIELD_TX_BOUND
        BP_FIELD_TX_ITEM
        BP_FIELD_WITHDRAWAL_ITEM
        BP_FIELD_RECEIPT_INDEX
        BP_FIELD_RECEIPT_TYPE
        BP_FIELD_RECEIPT_STATUS
        BP_FIELD_RECEIPT_GAS
        BP_FIELD_RECEIPT_GAS_USED
        BP_FIELD_RECEIPT_LOG_COUNT
        BP_FIELD_RECEIPT_BLOOM
        BP_FIELD_RECEIPT_FORM
        BP_FIELD_LOG_ADDRESS
        BP_FIELD_LOG_DATA
        BP_FIELD_LOG_TOPIC
        BP_FIELDS
        BP_KIND_NUMBER
        BP_KIND_SIZE
        BP_KIND_NONZEROS
        BP_KIND_U64
        BP_KIND_U256_U64
        BP_KIND_U256
        BP_KIND_U256_F64
        BP_KIND_U256_DECIMAL
        BP_KIND_FIXED
        BP_KIND_FIXED_OR_NONE
        BP_KIND_BYTES
        BP_KIND_KECCAK
        BP_KIND_CHAIN_ID
        BP_KIND_Y_PARITY
        BP_KIND_STATUS
        BP_KIND_SUCCESS
        BP_KIND_ROOT
        BP_KIND_BLOOM
        BP_KIND_LITTLE_U256
        BP_KIND_HASHES
        BP_KIND_ACCESS_LIST
        BP_KIND_AUTHORIZATIONS

    const uint64_t BP_ABSENT

    struct bp_cell_span "bp_span":
        uint64_t start
        uint64_t end

    struct bp_cell_part:
        uint32_t start
        uint32_t size

    union bp_cell:
        uint64_t number
        bp_cell_part span

    struct bp_chunk:
        uint32_t rows
        uint32_t blocks[128]
        bp_cell cells[64][128]

    struct bp_wants:
        int rows
        int count
        unsigned sources
        uint64_t constant
        uint8_t fields[64]

    struct bp_records:
        const uint8_t *data
        uint64_t size
        const uint32_t *ends
        const uint32_t *starts
        uint32_t start
        uint32_t low

    struct bp_window:
        uint64_t first
        uint32_t blocks
        bp_records records[4]

    struct bp_walk:
        uint32_t block
        bp_cell_span records[4]
        int source
        bp_rlp_fault fault

    struct bp_buffer:
        uint8_t *data
        uint64_t size
        uint64_t capacity

    struct bp_column:
        int kind
        int slot
        int other
        uint32_t width
        int may_lack
        uint64_t rows
        bp_buffer parts[9]
        uint64_t needs[9]

    int bp_wants_make(int rows, const uint8_t *fields, int count, bp_wants *wants)
    int bp_field_source(int field)
    int bp_walk_open(const bp_wants *wants, const bp_window *window, bp_walk *walk)
    int bp_walk_next(bp_walk *walk, bp_chunk *chunk)
    int bp_column_gather(bp_column *column, const bp_chunk *chunk, const uint8_t *data,
                         uint32_t *row)

cdef enum:
    # A buffer that grows is made as large as the blocks to come let expect, but not above this
    # many times what is needed now.
    AHEAD_MAX = 256
    CAPACITY_MIN = 512

FIELDS = {
    "block": BP_FIELD_BLOCK, "row": BP_FIELD_ROW, "constant": BP_FIELD_CONSTANT,
    "header": BP_FIELD_HEADER, "header_item": BP_FIELD_HEADER_ITEM,
    "difficulty": BP_FIELD_DIFFICULTY, "size": BP_FIELD_SIZE, "tx_count": BP_FIELD_TX_COUNT,
    "uncle_count": BP_FIELD_UNCLE_COUNT, "withdrawal_count": BP_FIELD_WITHDRAWAL_COUNT,
    "tx": BP_FIELD_TX, "tx_type": BP_FIELD_TX_TYPE, "tx_zeros": BP_FIELD_TX_ZEROS,
    "tx_bound": BP_FIELD_TX_BOUND, "tx_item": BP_FIELD_TX_ITEM,
    "withdrawal_item": BP_FIELD_WITHDRAWAL_ITEM, "receipt_index": BP_FIELD_RECEIPT_INDEX,
    "receipt_type": BP_FIELD_RECEIPT_TYPE, "receipt_status": BP_FIELD_RECEIPT_STATUS,
    "receipt_gas": BP_FIELD_RECEIPT_GAS, "receipt_gas_used": BP_FIELD_RECEIPT_GAS_USED,
    "receipt_log_count": BP_FIELD_RECEIPT_LOG_COUNT, "receipt_bloom": BP_FIELD_RECEIPT_BLOOM,
    "receipt_form": BP_FIELD_RECEIPT_FORM, "log_address": BP_FIELD_LOG_ADDRESS,
    "log_data": BP_FIELD_LOG_DATA, "log_topic": BP_FIELD_LOG_TOPIC}
KINDS = {
    "number": BP_KIND_NUMBER, "size": BP_KIND_SIZE, "nonzeros": BP_KIND_NONZEROS,
    "u64": BP_KIND_U64, "u256_u64": BP_KIND_U256_U64, "u256": BP_KIND_U256,
    "u256_f64": BP_KIND_U256_F64, "u256_decimal": BP_KIND_U256_DECIMAL, "fixed": BP_KIND_FIXED,
    "fixed_or_none": BP_KIND_FIXED_OR_NONE, "bytes": BP_KIND_BYTES, "keccak": BP_KIND_KECCAK,
    "chain_id": BP_KIND_CHAIN_ID, "y_parity": BP_KIND_Y_PARITY, "status": BP_KIND_STATUS,
    "success": BP_KIND_SUCCESS, "root": BP_KIND_ROOT, "bloom": BP_KIND_BLOOM,
    "little_u256": BP_KIND_LITTLE_U256, "hashes": BP_KIND_HASHES,
    "access_list": BP_KIND_ACCESS_LIST, "authorizations": BP_KIND_AUTHORIZATIONS}
ROWS = {"blocks": BP_ROWS_BLOCKS, "transactions": BP_ROWS_TRANSACTIONS,
        "withdrawals": BP_ROWS_WITHDRAWALS, "receipts": BP_ROWS_RECEIPTS, "logs": BP_ROWS_LOGS}
# Names as those of the store's tables; their order is that of a window's groups.
SOURCES = ("headers", "bodies", "receipts", "difficulty")


@cython.final
@cython.internal
@cython.auto_pickle(False)
cdef class Memory:
    """Bytes that a column was written to, as a buffer; freed with the last array over them."""

    cdef uint8_t *c_data
    cdef Py_ssize_t size

    def __dealloc__(self):
        free(self.c_data)

    def __getbuffer__(self, Py_buffer *view, int flags):
        PyBuffer_FillInfo(view, self, self.c_data, self.size, False, flags)


cdef Memory memory_of(bp_buffer *part):
    """Takes the buffer over, cut to what is filled."""
    cdef Memory memory = Memory.__new__(Memory)
    cdef uint8_t *cut
    if part.size < part.capacity:
        cut = <uint8_t *>realloc(part.data, part.size if part.size else 1)
        part.data = cut if cut is not NULL else part.data
    memory.c_data = part.data
    memory.size = part.size
    part.data = NULL
    part.size = part.capacity = 0
    return memory


def has_storage_form(Group group not None, Py_ssize_t low, Py_ssize_t high):
    """Whether any receipts record low..high-1 of the group lacks the types of its receipts."""
    cdef Py_ssize_t i, start = 0, end = 0
    for i in range(low, high):
        if group.locate_here(i, &start, &end) and start < end:
            if (<const uint8_t *>group.c_buffer.buf)[start] == BP_RECEIPTS_STORAGE:
                return True
    return False


@cython.final
@cython.auto_pickle(False)
cdef class Builder:
    """Columns that grow by the rows of one window of blocks after the other.

    ``rows`` is of ROWS. ``columns`` are (name, kind, field, other field or -1, width, may lack,
    name of the wider column or None): of KINDS and FIELDS, as ext/columns/columns.h has them.
    ``constant`` is what the field of this name is, None for nothing; ``blocks`` how many blocks
    will come until it is finished, as a guess at sizes. After an error it is of no more use.
    """

    cdef bp_wants c_wants
    cdef bp_chunk *c_chunk
    cdef bp_column *c_columns
    cdef Py_ssize_t count
    cdef uint64_t blocks
    cdef uint64_t blocks_done
    cdef readonly uint64_t rows
    cdef bint needs_links   # a header's hash, or its parent's, which a group may lack until asked
    cdef list names         # (name, name of the wider column or None)

    def __cinit__(self, int rows, columns, *, constant=None, uint64_t blocks=0):
        cdef uint8_t fields[BP_SLOTS_MAX]
        cdef list wanted = []
        self.names = []
        columns = list(columns)
        for _, _, field, other, *_ in columns:
            for one in (field, other):
                if one >= 0 and one not in wanted:
                    wanted.append(one)
        if len(wanted) > BP_SLOTS_MAX:
            raise ValueError(f"{len(wanted)} fields, {BP_SLOTS_MAX} at once are the most")
        for slot, field in enumerate(wanted):
            fields[slot] = field
        check(bp_wants_make(rows, fields, <int>len(wanted), &self.c_wants), "field of such rows")
        self.needs_links = BP_FIELD_HEADER in wanted or BP_FIELD_HEADER_ITEM in wanted
        self.c_wants.constant = BP_ABSENT if constant is None else constant
        self.blocks = blocks
        self.c_chunk = <bp_chunk *>malloc(sizeof(bp_chunk))
        self.c_columns = <bp_column *>malloc((len(columns) + 1) * sizeof(bp_column))
        if self.c_chunk is NULL or self.c_columns is NULL:
            raise MemoryError()
        memset(self.c_columns, 0, (len(columns) + 1) * sizeof(bp_column))
        for name, kind, field, other, width, may_lack, wider in columns:
            self.c_columns[self.count].kind = kind
            self.c_columns[self.count].slot = wanted.index(field)
            self.c_columns[self.count].other = wanted.index(other) if other >= 0 else -1
            self.c_columns[self.count].width = width
            self.c_columns[self.count].may_lack = may_lack
            self.names.append((name, wider))
            self.count += 1

    def __dealloc__(self):
        cdef Py_ssize_t i
        cdef int part
        for i in range(self.count):
            for part in range(BP_PARTS):
                free(self.c_columns[i].parts[part].data)
        free(self.c_columns)
        free(self.c_chunk)

    @property
    def sources(self):
        """Which of SOURCES, by index, a window must have."""
        return tuple([i for i in range(BP_SOURCES) if self.c_wants.sources >> i & 1])

    @property
    def nbytes(self):
        """Bytes that the columns hold."""
        cdef Py_ssize_t i
        cdef int part
        cdef uint64_t total = 0
        for i in range(self.count):
            for part in range(BP_PARTS):
                total += self.c_columns[i].parts[part].size
        return total

    def use_bodies(self):
        """From now on windows have bodies too: receipts in the storage form lack their types."""
        self.c_wants.sources |= 1 << BP_BODIES

    def add(self, uint64_t first, uint32_t blocks, list groups not None):
        """Add the rows of blocks first, first + 1, ...: ``groups`` has for each of SOURCES None,
        or (group, position in it of the first block's record).

        MissingError where a record is absent; CorruptError where one is not what it must be, and
        LimitError for a number that its column cannot hold, naming the block.
        """
        cdef bp_window window
        cdef bp_walk walk
        cdef Group group
        cdef Py_ssize_t low
        cdef int i, status
        window.first, window.blocks = first, blocks
        memset(window.records, 0, sizeof(window.records))
        for i in range(BP_SOURCES):
            if not self.c_wants.sources >> i & 1:
                continue
            group, low = groups[i]
            if low < 0 or low + <Py_ssize_t>blocks > group.count:
                raise IndexError(f"records {low}..{low + blocks - 1} of a group of {group.count}")
            if i == BP_HEADERS and self.needs_links:
                group.link(low + blocks)
            window.records[i].data = <const uint8_t *>group.c_buffer.buf
            window.records[i].size = group.c_buffer.len
            window.records[i].ends = group.c_ends
            window.records[i].starts = group.c_starts
            window.records[i].start = group.table_size
            window.records[i].low = <uint32_t>low
        check(bp_walk_open(&self.c_wants, &window, &walk), "group")
        cdef Py_ssize_t column = -1
        cdef uint32_t row = 0
        with nogil:
            status = self.run(&window, &walk, &column, &row)
        if status < 0 and column < 0:
            self.refuse_record(status, first, &walk)
        elif status < 0:
            self.refuse_cell(status, &window, column, row)
        self.blocks_done += blocks

    cdef int run(self, const bp_window *window, bp_walk *walk, Py_ssize_t *column,
                 uint32_t *row) noexcept nogil:
        """All chunks; on failure of a gather *column says of which one."""
        cdef int status = 1
        cdef int gathered
        cdef Py_ssize_t i
        while status == 1:
            status = bp_walk_next(walk, self.c_chunk)
            if status < 0:
                return status
            if self.c_chunk.rows == 0:
                break
            for i in range(self.count):
                gathered = self.gather(window, walk, &self.c_columns[i], row)
                if gathered < 0:
                    column[0] = i
                    return gathered
            self.rows += self.c_chunk.rows
        return 0

    cdef int gather(self, const bp_window *window, const bp_walk *walk, bp_column *column,
                    uint32_t *row) noexcept nogil:
        cdef int source = bp_field_source(self.c_wants.fields[column.slot])
        cdef const uint8_t *data = window.records[source].data
        cdef int status = bp_column_gather(column, self.c_chunk, data, row)
        cdef uint64_t done = self.blocks_done + walk.block + 1
        cdef uint64_t blocks = self.blocks_done + window.blocks
        cdef int part
        if status != BP_NO_SPACE:
            return status
        if blocks < self.blocks:
            blocks = self.blocks
        for part in range(BP_PARTS):
            if column.parts[part].capacity < column.needs[part]:
                if not self.grow(&column.parts[part], column.needs[part], done, blocks):
                    return BP_NO_SPACE
        return bp_column_gather(column, self.c_chunk, data, row)

    cdef bint grow(self, bp_buffer *part, uint64_t needed, uint64_t done,
                   uint64_t blocks) noexcept nogil:
        """To what the blocks that are still to come let expect; False when memory is out."""
        cdef uint64_t ahead = blocks / done + 1
        cdef uint64_t capacity = needed + needed / 2
        cdef uint8_t *data
        if ahead > AHEAD_MAX:
            ahead = AHEAD_MAX
        if needed * ahead + needed * ahead / 8 > capacity:
            capacity = needed * ahead + needed * ahead / 8
        if capacity < CAPACITY_MIN:
            capacity = CAPACITY_MIN
        data = <uint8_t *>realloc(part.data, capacity)
        if data is NULL:
            capacity = needed
            data = <uint8_t *>realloc(part.data, capacity)
        if data is NULL:
            return False
        part.data = data
        part.capacity = capacity
        return True

    cdef int refuse_record(self, int status, uint64_t first, const bp_walk *walk) except -1:
        cdef uint64_t number = first + walk.block
        cdef uint64_t start = walk.records[walk.source].start
        cdef str table = SOURCES[walk.source]
        if status == BP_OUT_OF_RANGE:
            raise MissingError(f"the store has no {table} for block {number}")
        check(status, f"block {number}: {table}: "
              + bp_rlp_field_name(walk.fault.field).decode(),
              <int64_t>(walk.fault.offset - start))
        return 0

    cdef int refuse_cell(self, int status, const bp_window *window, Py_ssize_t column,
                         uint32_t row) except -1:
        cdef uint64_t number = window.first + self.c_chunk.blocks[row]
        cdef int slot = self.c_columns[column].slot
        cdef int source = bp_field_source(self.c_wants.fields[slot])
        cdef const bp_records *records = &window.records[source]
        cdef uint32_t i = records.low + self.c_chunk.blocks[row]
        cdef uint64_t start = records.start
        if records.starts is not NULL:
            start = records.starts[i]
        elif i:
            start = records.ends[i - 1] & 0x7fffffff
        name, wider = self.names[column]
        if status == BP_NO_SPACE:
            raise MemoryError(f"no memory for {self.c_columns[column].rows} rows of {name}")
        if status == BP_TOO_LARGE:
            raise LimitError(f"block {number}: {name} is above 64 bits; the column {wider} has it")
        check(status, f"block {number}: {SOURCES[source]}: {name}",
              <int64_t>(self.c_chunk.cells[slot][row].span.start - start))
        return 0

    def finish(self):
        """Hand out the columns: for each (rows, parts), a part being a buffer, in the order of
        values, valid, offsets and the children. The builder is then empty."""
        cdef Py_ssize_t i
        cdef int part
        cdef list found = []
        for i in range(self.count):
            found.append((self.c_columns[i].rows, tuple(
                [memory_of(&self.c_columns[i].parts[part]) for part in range(BP_PARTS)])))
            self.c_columns[i].rows = 0
        self.rows = 0
        self.blocks_done = 0
        return found
