"""Receipts of a block in the three forms that are stored: ext/rlp/receipt for Python."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint64_t

from blockpack._native.logs cimport log_of
from blockpack._native.receiptc cimport (
    BP_BLOOM_BYTES,
    BP_RECEIPTS_CONSENSUS,
    BP_RECEIPTS_SLIM,
    BP_RECEIPTS_STORAGE,
    bp_log,
    bp_logs_next,
    bp_receipt,
    bp_receipt_bloom,
    bp_receipt_logs,
    bp_receipts_next,
    bp_receipts_open,
)
from blockpack._native.rlpc cimport (
    BP_RLP_STRICT,
    bp_rlp_cursor,
    bp_rlp_fault,
    bp_rlp_item,
    bp_rlp_read_next,
    bp_rlp_u64,
    check_fault,
)
from blockpack._native.status cimport BP_BAD_INTEGER, BP_TRAILING, BP_TRUNCATED, check
from blockpack._native.viewkit cimport data_hex, quantity
from blockpack.errors import CorruptError

cdef dict FORMS = {"consensus": BP_RECEIPTS_CONSENSUS, "storage": BP_RECEIPTS_STORAGE,
                   "slim": BP_RECEIPTS_SLIM}


cdef int refuse(origin, int status, const bp_rlp_fault *fault) except -1:
    """CorruptError with the block's number; the offset is in the list of receipts."""
    if status >= 0:
        return 0
    try:
        check_fault(status, fault)
    except CorruptError as found:
        raise CorruptError(f"block {origin.number}: receipts: {found.args[0]}",
                           offset=found.offset) from None
    return 0


cdef uint64_t number_in(const uint8_t *data, const bp_rlp_item *item) noexcept:
    # It is one, in at most 8 bytes: the strict reader saw to that.
    cdef uint64_t value = 0
    bp_rlp_u64(data, item, &value)
    return value


@cython.final
@cython.auto_pickle(False)
cdef class Receipt:
    """One receipt, as ``store.receipts(n)`` gives it.

    ``origin`` knows the block: its ``number`` and ``hash``, and the ``transaction_hash(index)`` and
    ``transaction_type(index)`` of each transaction. ``form`` is that of the source. Logs are read
    anew at every touch. Receipts are equal when their bytes and their places are.
    """

    cdef bytes bytes_in     # of all receipts of the block, or of this one if it was pickled
    cdef readonly str form
    cdef readonly object origin
    cdef readonly uint64_t transaction_index
    cdef uint64_t gas_before
    cdef uint64_t first_log
    cdef bp_receipt c_receipt

    def __init__(self):
        raise TypeError("made by BlockStore.receipts alone")

    cdef const uint8_t *data(self) except NULL:
        if self.bytes_in is None:
            raise TypeError("a Receipt that was made without its bytes")
        return <const uint8_t *>PyBytes_AS_STRING(self.bytes_in)

    cdef bytes part(self, uint64_t start, uint64_t end):
        return PyBytes_FromStringAndSize(<const char *>self.data() + start, end - start)

    @property
    def raw(self):
        """As the source had it, a typed one of the consensus form as type byte and list."""
        return self.part(self.c_receipt.payload, self.c_receipt.end)

    @property
    def type(self):
        """The transaction's type, 0 for legacy. The storage form asks the block's body for it."""
        self.data()
        if self.c_receipt.type < 0:
            return self.origin.transaction_type(self.transaction_index)
        return self.c_receipt.type

    @property
    def status(self):
        """1 for success, 0 for failure; None before Byzantium, see ``post_state``."""
        cdef const uint8_t *data = self.data()
        cdef bp_rlp_item item = self.c_receipt.status
        return None if item.end - item.payload == 32 else number_in(data, &item)

    @property
    def post_state(self):
        """State root after the transaction, 32 bytes; None from Byzantium on (EIP-658)."""
        cdef bytes value = self.part(self.c_receipt.status.payload, self.c_receipt.status.end)
        return value if len(value) == 32 else None

    @property
    def cumulative_gas_used(self):
        """Gas of the block's transactions up to and with this one."""
        return number_in(self.data(), &self.c_receipt.gas)

    @property
    def gas_used(self):
        """Gas of this transaction. CorruptError if the sums of the block fall."""
        cdef uint64_t gas = number_in(self.data(), &self.c_receipt.gas)
        if gas < self.gas_before:
            check(BP_BAD_INTEGER, f"block {self.origin.number}: gas of receipt"
                  f" {self.transaction_index}, below the {self.gas_before} of the one before it",
                  <int64_t>self.c_receipt.gas.start)
        return gas - self.gas_before

    @property
    def bloom(self):
        """256 bytes; made of the logs where the form has none."""
        if self.c_receipt.has_bloom:
            return self.part(self.c_receipt.bloom.payload, self.c_receipt.bloom.end)
        cdef bytes made = PyBytes_FromStringAndSize(NULL, BP_BLOOM_BYTES)
        cdef bp_rlp_fault fault
        refuse(self.origin, bp_receipt_bloom(self.data(), &self.c_receipt,
                                             <uint8_t *>PyBytes_AS_STRING(made), &fault), &fault)
        return made

    @property
    def logs(self):
        """A tuple of Log."""
        cdef const uint8_t *data = self.data()
        cdef bp_rlp_cursor cursor = bp_receipt_logs(data, &self.c_receipt)
        cdef bp_rlp_fault fault
        cdef bp_log log
        cdef list found = []
        cdef int status
        while True:
            status = bp_logs_next(&cursor, BP_RLP_STRICT, &log, &fault)
            refuse(self.origin, status, &fault)
            if status == 0:
                return tuple(found)
            found.append(log_of(data, &log, self.transaction_index,
                                self.first_log + <uint64_t>len(found), self.origin))

    @property
    def block_number(self):
        return self.origin.number

    @property
    def block_hash(self):
        """Keccak-256 of the block's header, 32 bytes."""
        return self.origin.hash

    @property
    def transaction_hash(self):
        """32 bytes. The first one of a block inflates its body, unless the receipt was pickled."""
        return self.origin.transaction_hash(self.transaction_index)

    def to_dict(self):
        """Every field by name, as Python values; each log as its own dict."""
        return {"block_number": self.block_number, "block_hash": self.block_hash,
                "transaction_index": self.transaction_index,
                "transaction_hash": self.transaction_hash, "type": self.type,
                "status": self.status, "post_state": self.post_state,
                "cumulative_gas_used": self.cumulative_gas_used, "gas_used": self.gas_used,
                "bloom": self.bloom, "logs": [log.to_dict() for log in self.logs]}

    def to_rpc(self):
        """The receipt as eth_getTransactionReceipt has it.

        Without what is the transaction's: from, to, contractAddress and effectiveGasPrice.
        """
        state = self.post_state
        return {"blockNumber": quantity(self.block_number), "blockHash": data_hex(self.block_hash),
                "transactionIndex": quantity(self.transaction_index),
                "transactionHash": data_hex(self.transaction_hash), "type": quantity(self.type),
                "cumulativeGasUsed": quantity(self.cumulative_gas_used),
                "gasUsed": quantity(self.gas_used), "logsBloom": data_hex(self.bloom),
                "logs": [log.to_rpc() for log in self.logs],
                **({"status": quantity(self.status)} if state is None
                   else {"root": data_hex(state)})}

    def __eq__(self, other):
        if not isinstance(other, Receipt):
            return NotImplemented
        cdef Receipt that = other
        return (self.raw == that.raw and self.form == that.form
                and self.transaction_index == that.transaction_index
                and self.gas_before == that.gas_before and self.first_log == that.first_log
                and self.block_number == that.block_number and self.block_hash == that.block_hash)

    def __hash__(self):
        return hash((self.raw, self.block_number, self.transaction_index))

    def __repr__(self):
        return (f"<Receipt {self.transaction_index} of block {self.block_number},"
                f" {self.cumulative_gas_used} gas so far>")

    def __reduce__(self):
        return rebuilt, (self.part(self.c_receipt.start, self.c_receipt.end), self.form,
                         self.origin, self.transaction_index, self.gas_before, self.first_log)


cdef Receipt next_in(bytes data, bp_rlp_cursor *cursor, str form, origin, uint64_t index):
    """The next receipt, or None at the end of the list."""
    cdef Receipt receipt = Receipt.__new__(Receipt)
    cdef bp_rlp_fault fault
    cdef int status = bp_receipts_next(cursor, FORMS[form], BP_RLP_STRICT, &receipt.c_receipt,
                                       &fault)
    refuse(origin, status, &fault)
    if status == 0:
        return None
    receipt.bytes_in = data
    receipt.form = form
    receipt.origin = origin
    receipt.transaction_index = index
    return receipt


def rebuilt(bytes item, str form, origin, uint64_t index, uint64_t gas_before, uint64_t first_log):
    """Return the Receipt that was pickled."""
    cdef bp_rlp_cursor cursor
    cursor.data = <const uint8_t *>PyBytes_AS_STRING(item)
    cursor.position, cursor.end = 0, len(item)
    cdef Receipt receipt = next_in(item, &cursor, form, origin, index)
    if receipt is None or cursor.position != cursor.end:
        check(BP_TRUNCATED if receipt is None else BP_TRAILING, "receipt",
              <int64_t>cursor.position)
    receipt.gas_before = gas_before
    receipt.first_log = first_log
    return receipt


cdef uint64_t count_logs(const uint8_t *data, const bp_receipt *receipt) noexcept:
    # What is no log raises when the logs are read.
    cdef bp_rlp_cursor cursor = bp_receipt_logs(data, receipt)
    cdef bp_rlp_item item
    cdef uint64_t count = 0
    while bp_rlp_read_next(&cursor, BP_RLP_STRICT, &item) == 1:
        count += 1
    return count


@cython.final
@cython.auto_pickle(False)
cdef class Receipts:
    """The receipts of one block, a sequence of Receipt: ``Receipts(raw, form, origin)``.

    ``raw`` is the RLP list as the source had it, and ``bytes(receipts)`` too. ``form`` is one of
    ``consensus``: [status or root, gas, bloom, logs], typed ones as strings type || payload;
    ``storage``: [status or root, gas, logs] (geth's freezer); ``slim``: [type, status or root, gas,
    logs] (eth/69, .ere). Read at the first touch of a receipt: CorruptError where one is not what
    it must be, with the offset in ``raw``. Equal when bytes, form and block are.
    """

    cdef readonly bytes raw
    cdef readonly str form
    cdef readonly object origin
    cdef tuple items

    def __init__(self, raw, form, origin):
        if form not in FORMS:
            raise ValueError(f"receipts form {form!r}: the forms are {', '.join(FORMS)}")
        self.raw = bytes(raw)
        self.form = form
        self.origin = origin

    cdef tuple all(self):
        if self.items is None:
            self.items = self.read()
        return self.items

    cdef tuple read(self):
        cdef bp_rlp_cursor cursor
        cdef bp_rlp_fault fault
        cdef Receipt receipt
        cdef uint64_t gas = 0, logs = 0
        cdef list found = []
        if self.raw is None:
            raise TypeError("Receipts that were made without their bytes")
        cdef const uint8_t *data = <const uint8_t *>PyBytes_AS_STRING(self.raw)
        refuse(self.origin, bp_receipts_open(data, 0, len(self.raw), BP_RLP_STRICT, &cursor,
                                             &fault), &fault)
        while True:
            receipt = next_in(self.raw, &cursor, self.form, self.origin, len(found))
            if receipt is None:
                return tuple(found)
            receipt.gas_before, receipt.first_log = gas, logs
            gas = number_in(data, &receipt.c_receipt.gas)
            logs += count_logs(data, &receipt.c_receipt)
            found.append(receipt)

    def __len__(self):
        return len(self.all())

    def __getitem__(self, index):
        return self.all()[index]

    def __iter__(self):
        return iter(self.all())

    def __bytes__(self):
        return self.raw

    def __eq__(self, other):
        if not isinstance(other, Receipts):
            return NotImplemented
        return (self.raw == other.raw and self.form == other.form
                and self.origin.number == other.origin.number
                and self.origin.hash == other.origin.hash)

    def __hash__(self):
        return hash((self.raw, self.form))

    def __repr__(self):
        return f"<Receipts of block {self.origin.number}, {self.form} form, {len(self.raw)} bytes>"

    def __reduce__(self):
        return Receipts, (self.raw, self.form, self.origin)
