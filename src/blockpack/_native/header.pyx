"""A block header, read field by field as it is asked."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint32_t

from blockpack._native.nested import decode
from blockpack._native.rlpc cimport (
    BP_RLP_LENIENT,
    bp_rlp_cursor,
    bp_rlp_item,
    bp_rlp_read,
    bp_rlp_read_next,
)
from blockpack._native.status cimport BP_TOO_FEW_ITEMS, BP_TOO_LARGE, check
from blockpack._native.viewkit cimport (
    VIEW_SIZE_MAX,
    Source,
    data_hex,
    keccak,
    quantity,
    source_of,
)

cdef enum:
    REQUIRED = 15

# By position: name, name in JSON-RPC, width in bytes (0 for data of any size), whether an integer.
cdef tuple FIELDS = (
    ("parent_hash", "parentHash", 32, False),
    ("sha3_uncles", "sha3Uncles", 32, False),
    ("miner", "miner", 20, False),
    ("state_root", "stateRoot", 32, False),
    ("transactions_root", "transactionsRoot", 32, False),
    ("receipts_root", "receiptsRoot", 32, False),
    ("logs_bloom", "logsBloom", 256, False),
    ("difficulty", "difficulty", 32, True),
    ("number", "number", 8, True),
    ("gas_limit", "gasLimit", 32, True),
    ("gas_used", "gasUsed", 32, True),
    ("timestamp", "timestamp", 8, True),
    ("extra_data", "extraData", 0, False),
    ("mix_hash", "mixHash", 32, False),
    ("nonce", "nonce", 8, False),
    ("base_fee_per_gas", "baseFeePerGas", 32, True),
    ("withdrawals_root", "withdrawalsRoot", 32, False),
    ("blob_gas_used", "blobGasUsed", 8, True),
    ("excess_blob_gas", "excessBlobGas", 8, True),
    ("parent_beacon_block_root", "parentBeaconBlockRoot", 32, False),
    ("requests_hash", "requestsHash", 32, False),
)


@cython.final
@cython.no_gc
@cython.freelist(64)
@cython.auto_pickle(False)
cdef class Header:
    """A block header: ``Header(raw)``, or as a block or ``store.header(n)`` gives it.

    Fields that came with forks are None in headers before them. Those after the 21 that have names
    are in ``fields``. Hashes and addresses are bytes; numbers are int. Every touch reads the field
    anew: keep what you need twice. A field that is not what it must be raises CorruptError when
    it is touched. Headers are equal when their bytes are.
    """

    def __init__(self, raw):
        self.source = source_of(bytes(raw), None, 0)
        if len(self.source.data) > VIEW_SIZE_MAX:
            check(BP_TOO_LARGE, f"block header (of at most {VIEW_SIZE_MAX} bytes)", 0)
        self.start = 0
        self.end = <uint32_t>len(self.source.data)
        self.count = -1
        self.find()

    cdef int find(self) except -1:
        """Where the fields begin. The header is one list of at least 15 and nothing after it."""
        cdef bp_rlp_item item
        cdef bp_rlp_cursor cursor
        cdef int status, count = 0
        self.check()
        self.source.whole(self.start, self.end, &cursor, "block header")
        while True:
            if count < HEADER_FIELDS:
                self.starts[count] = <uint32_t>cursor.position
            status = bp_rlp_read_next(&cursor, BP_RLP_LENIENT, &item)
            if status <= 0:
                break
            count += 1
        if status < 0 or count < REQUIRED:
            self.source.fail(status if status < 0 else BP_TOO_FEW_ITEMS,
                             "field of the block header", cursor.position)
        self.count = count
        return 0

    cdef bint field(self, int position, bp_rlp_item *item) except -1:
        if self.count <= 0:
            self.find()
        if position >= self.count:
            return False
        bp_rlp_read(<const uint8_t *>PyBytes_AS_STRING(self.source.data), self.starts[position],
                    self.end, BP_RLP_LENIENT, item)
        return True

    cdef object integer(self, int position, int width):
        cdef bp_rlp_item item
        if not self.field(position, &item):
            return None
        return self.source.integer(&item, width, <str>FIELDS[position][0])

    cdef bytes fixed(self, int position, int width):
        cdef bp_rlp_item item
        if not self.field(position, &item):
            return None
        if width == 0:
            return self.source.string(&item, <str>FIELDS[position][0])
        return self.source.fixed(&item, width, <str>FIELDS[position][0])

    cdef int check(self) except -1:
        if self.source is None:
            raise TypeError("a Header that was made without its bytes")
        return 0

    cdef bytes bytes_in(self):
        self.check()
        if self.start == 0 and self.end == <uint32_t>len(self.source.data):
            return self.source.data
        return PyBytes_FromStringAndSize(PyBytes_AS_STRING(self.source.data) + self.start,
                                         self.end - self.start)

    @property
    def raw(self):
        """The header's RLP, bytes."""
        return self.bytes_in()

    @property
    def hash(self):
        """Keccak-256 of ``raw``, 32 bytes. Some chains (IBFT, Clique) define another hash."""
        if self.c_hash is None:
            self.check()
            self.c_hash = keccak(<const uint8_t *>PyBytes_AS_STRING(self.source.data) + self.start,
                                 self.end - self.start)
        return self.c_hash

    @property
    def fields(self):
        """All fields by position, bytes each: index 21 is the first that has no name here."""
        return tuple(decode(self.bytes_in(), strict=False))

    @property
    def parent_hash(self):
        """32 bytes."""
        return self.fixed(0, 32)

    @property
    def sha3_uncles(self):
        """32 bytes."""
        return self.fixed(1, 32)

    @property
    def miner(self):
        """20 bytes: who is paid, also called coinbase, beneficiary or fee recipient."""
        return self.fixed(2, 20)

    @property
    def state_root(self):
        """32 bytes."""
        return self.fixed(3, 32)

    @property
    def transactions_root(self):
        """32 bytes."""
        return self.fixed(4, 32)

    @property
    def receipts_root(self):
        """32 bytes."""
        return self.fixed(5, 32)

    @property
    def logs_bloom(self):
        """256 bytes."""
        return self.fixed(6, 256)

    @property
    def difficulty(self):
        """Of this block."""
        return self.integer(7, 32)

    @property
    def number(self):
        return self.integer(8, 8)

    @property
    def gas_limit(self):
        return self.integer(9, 32)

    @property
    def gas_used(self):
        return self.integer(10, 32)

    @property
    def timestamp(self):
        """Seconds since 1970, as the header has them."""
        return self.integer(11, 8)

    @property
    def extra_data(self):
        """Of any size."""
        return self.fixed(12, 0)

    @property
    def mix_hash(self):
        """32 bytes."""
        return self.fixed(13, 32)

    @property
    def nonce(self):
        """8 bytes, the proof of work's; not a number."""
        return self.fixed(14, 8)

    @property
    def base_fee_per_gas(self):
        """Wei."""
        return self.integer(15, 32)

    @property
    def withdrawals_root(self):
        """32 bytes."""
        return self.fixed(16, 32)

    @property
    def blob_gas_used(self):
        return self.integer(17, 8)

    @property
    def excess_blob_gas(self):
        return self.integer(18, 8)

    @property
    def parent_beacon_block_root(self):
        """32 bytes."""
        return self.fixed(19, 32)

    @property
    def requests_hash(self):
        """32 bytes."""
        return self.fixed(20, 32)

    def __bytes__(self):
        return self.bytes_in()

    def __len__(self):
        """How many fields the header has: 15 to 21, or more."""
        if self.count <= 0:
            self.find()
        return self.count

    def __eq__(self, other):
        if not isinstance(other, Header):
            return NotImplemented
        return self.bytes_in() == (<Header>other).bytes_in()

    def __hash__(self):
        return hash(self.bytes_in())

    def __repr__(self):
        return f"<Header {self.number} {self.hash.hex()[:16]} {self.end - self.start} bytes>"

    def __reduce__(self):
        return Header, (self.bytes_in(),)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def to_dict(self):
        """Hash and every named field that the header has, by name, as Python values."""
        values = {"hash": self.hash}
        for name, _, _, _ in FIELDS[:len(self)]:
            values[name] = getattr(self, name)
        return values

    def to_rpc(self):
        """The header as JSON-RPC has it: camelCase, numbers and data as hex strings."""
        values = {"hash": data_hex(self.hash)}
        for name, rpc, _, is_integer in FIELDS[:len(self)]:
            value = getattr(self, name)
            values[rpc] = quantity(value) if is_integer else data_hex(value)
        return values


cdef Header header_in(Source source, uint32_t start, uint32_t end):
    """A view of data[start..end), which is looked into when it is asked."""
    cdef Header header = Header.__new__(Header)
    header.source = source
    header.start = start
    header.end = end
    header.count = -1
    return header


def header_view(bytes raw):
    """Return the Header of a header record, which is looked into when it is asked."""
    return header_in(source_of(raw, raw, 0), 0, <uint32_t>len(raw))
