"""Transactions of every type, read field by field as they are asked."""

from collections import namedtuple

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from blockpack._native import rpc
from blockpack._native.header import header_view
from blockpack._native.nested import encode
from blockpack._native.rlp import outer_prefix
from blockpack._native.rlpc cimport (
    BP_RLP_LENIENT,
    BP_TX_ACCESS_LIST,
    BP_TX_AUTHORIZATION_LIST,
    BP_TX_BLOB_HASHES,
    BP_TX_CHAIN_ID,
    BP_TX_FAULT,
    BP_TX_FIELDS,
    BP_TX_GAS_LIMIT,
    BP_TX_GAS_PRICE,
    BP_TX_INPUT,
    BP_TX_MAX_FEE_PER_BLOB_GAS,
    BP_TX_MAX_FEE_PER_GAS,
    BP_TX_MAX_PRIORITY_FEE_PER_GAS,
    BP_TX_NONCE,
    BP_TX_R,
    BP_TX_S,
    BP_TX_TO,
    BP_TX_V,
    BP_TX_VALUE,
    bp_rlp_cursor,
    bp_rlp_fault,
    bp_rlp_field_name,
    bp_rlp_item,
    bp_rlp_read,
    bp_rlp_read_next,
    bp_tx,
    bp_tx_at,
    bp_tx_positions,
)
from blockpack._native.status cimport BP_TOO_FEW_ITEMS, BP_TOO_LARGE, BP_TRAILING, check
from blockpack._native.viewkit cimport VIEW_SIZE_MAX, Source, keccak, source_of

Authorization = namedtuple("Authorization", "chain_id address nonce y_parity r s",
                           module=__name__)

cdef enum:
    PROTECTED_V = 35    # EIP-155: v = 35 + 2 * chain id + parity


# What errors call the fields, made once: decoding a name costs as much as reading a field.
cdef tuple TITLES = tuple(bp_rlp_field_name(BP_TX_FAULT + i).decode() for i in range(BP_TX_FIELDS))


cdef inline str name_of(int field):
    return <str>TITLES[field]


cdef bytes as_item(bytes payload):
    """The transaction as it stands in a block's list: typed ones are strings."""
    return encode(payload) if payload and payload[0] < 0xC0 else payload


@cython.final
@cython.no_gc
@cython.freelist(256)
@cython.auto_pickle(False)
cdef class Transaction:
    """A transaction: ``Transaction(raw)``, or as ``block.transactions`` gives it.

    ``type`` is 0 for a legacy one. Fields that its type does not have are None; so is ``to`` where
    a contract is created. Numbers are int, hashes and addresses bytes. Every touch reads the field
    anew: keep what you need twice. A field that is not what it must be raises CorruptError when it
    is touched. Of a type that is not known (0x7e of the optimism chains), and of a list of another
    number of fields, ``type``, ``raw`` and ``hash`` are all there is; other fields raise
    AttributeError. Transactions are equal when their bytes are.
    """

    def __init__(self, raw):
        cdef bytes payload = bytes(raw)
        if len(payload) > VIEW_SIZE_MAX:
            check(BP_TOO_LARGE, f"transaction (of at most {VIEW_SIZE_MAX} bytes)", 0)
        self.source = source_of(as_item(payload), None, len(payload) - len(as_item(payload)))
        self.start = 0
        self.end = <uint32_t>len(self.source.data)
        self.position = -1
        self.state = 0
        self.find()

    cdef int find(self) except -1:
        cdef bp_tx tx
        cdef bp_rlp_fault fault
        cdef int i, status
        if self.source is None:
            raise TypeError("a Transaction that was made without its bytes")
        status = bp_tx_at(<const uint8_t *>PyBytes_AS_STRING(self.source.data), self.start,
                          self.end, BP_RLP_LENIENT, &tx, &fault)
        if status < 0:
            self.source.fail(status, bp_rlp_field_name(fault.field).decode(), fault.offset)
        if tx.end != self.end:
            self.source.fail(BP_TRAILING, "transaction", tx.end)
        self.payload = <uint32_t>tx.payload
        self.kind = tx.type
        if tx.known:
            for i in range(tx.count):
                self.starts[i] = <uint32_t>tx.fields[i].start
        self.state = 1 if tx.known else -1
        return 0

    cdef int unknown(self) except -1:
        raise AttributeError(f"a transaction of type {self.kind:#04x} that is not known here, or "
                             "a list of another number of fields, has type, raw and hash alone")

    cdef bint field(self, int name, bp_rlp_item *item) except -1:
        cdef int position
        if self.state == 0:
            self.find()
        if self.state < 0:
            self.unknown()
        position = bp_tx_positions[self.kind][name]
        if position < 0:
            return False
        bp_rlp_read(<const uint8_t *>PyBytes_AS_STRING(self.source.data), self.starts[position],
                    self.end, BP_RLP_LENIENT, item)
        return True

    cdef object integer(self, int name, int width):
        cdef bp_rlp_item item
        if not self.field(name, &item):
            return None
        return self.source.integer(&item, width, name_of(name))

    cdef bytes payload_bytes(self):
        if self.state == 0:
            self.find()
        return PyBytes_FromStringAndSize(PyBytes_AS_STRING(self.source.data) + self.payload,
                                         self.end - self.payload)

    @property
    def raw(self):
        """What is hashed and sent: the RLP list of a legacy one, else type byte and payload."""
        return self.payload_bytes()

    @property
    def hash(self):
        """Keccak-256 of ``raw``, 32 bytes."""
        if self.c_hash is None:
            if self.state == 0:
                self.find()
            self.c_hash = keccak(<const uint8_t *>PyBytes_AS_STRING(self.source.data)
                                 + self.payload, self.end - self.payload)
        return self.c_hash

    @property
    def index(self):
        """Place in its block, None for one that was made alone."""
        return None if self.position < 0 else self.position

    @property
    def type(self):
        """0 for a legacy transaction, else the type byte (EIP-2718)."""
        if self.state == 0:
            self.find()
        return self.kind

    @property
    def known(self):
        """Whether its type is one of 0 to 4, so that it has fields."""
        if self.state == 0:
            self.find()
        return self.state > 0

    @property
    def chain_id(self):
        """None in a legacy transaction that is not bound to a chain (EIP-155)."""
        cdef bp_rlp_item item
        if self.field(BP_TX_CHAIN_ID, &item):
            return self.source.integer(&item, 32, name_of(BP_TX_CHAIN_ID))
        v = self.legacy_v()
        return (v - PROTECTED_V) // 2 if v >= PROTECTED_V else None

    @property
    def nonce(self):
        return self.integer(BP_TX_NONCE, 8)

    @property
    def gas_price(self):
        """Wei; of types 0 and 1."""
        return self.integer(BP_TX_GAS_PRICE, 32)

    @property
    def max_priority_fee_per_gas(self):
        """Wei; from type 2 on."""
        return self.integer(BP_TX_MAX_PRIORITY_FEE_PER_GAS, 32)

    @property
    def max_fee_per_gas(self):
        """Wei; from type 2 on."""
        return self.integer(BP_TX_MAX_FEE_PER_GAS, 32)

    @property
    def max_fee_per_blob_gas(self):
        """Wei; of type 3."""
        return self.integer(BP_TX_MAX_FEE_PER_BLOB_GAS, 32)

    @property
    def gas_limit(self):
        return self.integer(BP_TX_GAS_LIMIT, 32)

    @property
    def to(self):
        """20 bytes, None where a contract is created."""
        cdef bp_rlp_item item
        self.field(BP_TX_TO, &item)
        if not item.is_list and item.end == item.payload:
            return None
        return self.source.fixed(&item, 20, name_of(BP_TX_TO))

    @property
    def value(self):
        """Wei."""
        return self.integer(BP_TX_VALUE, 32)

    @property
    def input(self):
        """The call's data, or the code that creates a contract."""
        cdef bp_rlp_item item
        self.field(BP_TX_INPUT, &item)
        return self.source.string(&item, name_of(BP_TX_INPUT))

    @property
    def access_list(self):
        """((address, storage_keys), ...) of typed ones: 20 bytes, and a tuple of 32 bytes each."""
        cdef bp_rlp_item item
        if not self.field(BP_TX_ACCESS_LIST, &item):
            return None
        return access_list(self.source, &item)

    @property
    def blob_versioned_hashes(self):
        """A tuple of 32 bytes each, of type 3."""
        cdef bp_rlp_item item
        if not self.field(BP_TX_BLOB_HASHES, &item):
            return None
        return hashes(self.source, &item, name_of(BP_TX_BLOB_HASHES))

    @property
    def authorization_list(self):
        """((chain_id, address, nonce, y_parity, r, s), ...) of type 4."""
        cdef bp_rlp_item item
        if not self.field(BP_TX_AUTHORIZATION_LIST, &item):
            return None
        return authorizations(self.source, &item)

    @property
    def v(self):
        """The signature's v; of typed transactions the same as ``y_parity``."""
        return self.integer(BP_TX_V, 32)

    @property
    def y_parity(self):
        """0 or 1; None for the v of a legacy transaction that no signature has."""
        v = self.integer(BP_TX_V, 32)
        if self.kind > 0:
            return v
        return (v - PROTECTED_V) % 2 if v >= PROTECTED_V else v - 27 if 27 <= v <= 28 else None

    @property
    def r(self):
        return self.integer(BP_TX_R, 32)

    @property
    def s(self):
        return self.integer(BP_TX_S, 32)

    @property
    def sender(self):
        """Who signed it, 20 bytes: about 75 us, once. Needs the extra: blockpack[sender].

        ValueError where the signature is of nobody, as in transactions that a chain itself makes.
        """
        if self.c_sender is None:
            self.c_sender = recover(self.signing_hash(), self.r, self.s, self.y_parity)
        return self.c_sender

    cdef object legacy_v(self):
        return self.integer(BP_TX_V, 32)

    cdef bytes signing_hash(self):
        """Keccak-256 of what was signed: all fields before the signature, and with EIP-155 the
        chain id and two zeros after them."""
        cdef bp_rlp_item v
        cdef bytes fields, signed
        self.field(BP_TX_V, &v)
        fields = self.source.data[self.starts[0]:v.start]
        if self.kind == 0 and self.chain_id is not None:
            fields += encode(self.chain_id) + b"\x80\x80"
        signed = outer_prefix(len(fields)) + fields
        if self.kind > 0:
            signed = bytes((self.kind,)) + signed
        return keccak(<const uint8_t *>PyBytes_AS_STRING(signed), len(signed))

    def __bytes__(self):
        return self.payload_bytes()

    def __eq__(self, other):
        if not isinstance(other, Transaction):
            return NotImplemented
        return self.payload_bytes() == (<Transaction>other).payload_bytes()

    def __hash__(self):
        return hash(self.payload_bytes())

    def __repr__(self):
        size = self.end - self.payload if self.state else len(self.payload_bytes())
        return f"<Transaction {self.hash.hex()[:16]} type {self.type} {size} bytes>"

    def __reduce__(self):
        return rebuilt, (self.payload_bytes(), self.position)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def to_dict(self):
        """Every field that the type has, by name, as Python values; ``raw`` of unknown types."""
        names = NAMES if self.known else ("raw",)
        values = {"hash": self.hash, "type": self.kind}
        for name in names:
            value = getattr(self, name)
            if value is not None or name == "to":
                values[name] = value
        return values

    def to_rpc(self, *, bint sender=False):
        """Return the transaction as eth_getTransactionByHash gives it, hex strings in camelCase.

        ``gasPrice`` is what was paid: of types 2 to 4 by the block's base fee. ``from`` is there
        with ``sender=True`` alone; it costs 75 us, and needs the extra blockpack[sender].
        """
        header = self.source.header
        return rpc.transaction(self, None if header is None else header_view(header),
                               sender=sender)


NAMES = ("chain_id", "nonce", "gas_price", "max_priority_fee_per_gas", "max_fee_per_gas",
         "gas_limit", "to", "value", "input", "access_list", "max_fee_per_blob_gas",
         "blob_versioned_hashes", "authorization_list", "v", "y_parity", "r", "s")


cdef tuple hashes(Source source, const bp_rlp_item *item, str what):
    cdef bp_rlp_cursor cursor
    cdef bp_rlp_item one
    cdef list found
    if item.payload == item.end and item.is_list:
        return ()
    found = []
    source.enter(item, &cursor, what)
    while source.step(&cursor, &one, what):
        found.append(source.fixed(&one, 32, what))
    return tuple(found)


cdef int demand(Source source, bp_rlp_cursor *cursor, bp_rlp_item *item, str what) except -1:
    if not source.step(cursor, item, what):
        source.fail(BP_TOO_FEW_ITEMS, what, cursor.position)
    return 0


cdef int filled(Source source, const bp_rlp_cursor *cursor, str what) except -1:
    if cursor.position != cursor.end:
        source.fail(BP_TRAILING, what, cursor.position)
    return 0


cdef tuple access_list(Source source, const bp_rlp_item *item):
    cdef str what = name_of(BP_TX_ACCESS_LIST)
    cdef bp_rlp_cursor cursor, inner
    cdef bp_rlp_item entry, address, keys
    cdef list found
    if item.payload == item.end and item.is_list:
        return ()
    found = []
    source.enter(item, &cursor, what)
    while source.step(&cursor, &entry, what):
        source.enter(&entry, &inner, what)
        demand(source, &inner, &address, what)
        demand(source, &inner, &keys, what)
        filled(source, &inner, what)
        found.append((source.fixed(&address, 20, what), hashes(source, &keys, what)))
    return tuple(found)


cdef tuple authorizations(Source source, const bp_rlp_item *item):
    cdef str what = name_of(BP_TX_AUTHORIZATION_LIST)
    cdef bp_rlp_cursor cursor, inner
    cdef bp_rlp_item entry, one
    cdef list found = []
    source.enter(item, &cursor, what)
    while source.step(&cursor, &entry, what):
        source.enter(&entry, &inner, what)
        values = []
        for width in (32, 0, 8, 1, 32, 32):
            demand(source, &inner, &one, what)
            values.append(source.integer(&one, width, what) if width
                          else source.fixed(&one, 20, what))
        filled(source, &inner, what)
        found.append(Authorization(*values))
    return tuple(found)


cdef bytes recover(bytes digest, r, s, y_parity):
    try:
        from coincurve import PublicKey
    except ImportError as error:
        raise ImportError("senders need coincurve: pip install blockpack[sender]") from error
    if y_parity not in (0, 1):
        raise ValueError("this transaction's signature is of nobody: no v of a signature")
    signature = r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes((y_parity,))
    try:
        key = PublicKey.from_signature_and_message(signature, digest, hasher=None)
    except Exception as error:  # coincurve raises bare Exception
        raise ValueError(f"this transaction's signature is of nobody: {error}") from error
    cdef bytes point = key.format(compressed=False)
    return keccak(<const uint8_t *>PyBytes_AS_STRING(point) + 1, 64)[12:]


def rebuilt(bytes raw, int64_t position):
    """Undo pickle."""
    cdef Transaction transaction = Transaction(raw)
    transaction.position = position
    return transaction
