"""The one map from the kernels' result codes (ext/status.h) to exceptions."""

from blockpack.errors import CorruptError, LimitError

cdef dict CODES = {
    BP_TRUNCATED: ("TRUNCATED", CorruptError, "ends before the length that it announces"),
    BP_TRAILING: ("TRAILING", CorruptError, "is followed by bytes that do not belong to it"),
    BP_MALFORMED: ("MALFORMED", CorruptError, "breaks the format's grammar"),
    BP_NONCANONICAL: ("NONCANONICAL", CorruptError,
                      "is not in the canonical encoding, so its bytes could not be given back"),
    BP_TOO_LARGE: ("TOO_LARGE", LimitError, "declares a size above the limit"),
    BP_NO_SPACE: ("NO_SPACE", ValueError, "does not fit into the target buffer"),
    BP_BAD_OFFSET: ("BAD_OFFSET", CorruptError, "refers back past the start of the output"),
    BP_OUT_OF_RANGE: ("OUT_OF_RANGE", IndexError, "has no such position"),
    BP_NOT_A_LIST: ("NOT_A_LIST", CorruptError, "is a string where a list must be"),
    BP_NOT_A_STRING: ("NOT_A_STRING", CorruptError, "is a list where a string must be"),
    BP_TOO_FEW_ITEMS: ("TOO_FEW_ITEMS", CorruptError, "is missing: the list ends before it"),
    BP_BAD_INTEGER: ("BAD_INTEGER", CorruptError,
                     "is an integer with a leading zero, or wider than its field"),
    BP_BAD_WIDTH: ("BAD_WIDTH", CorruptError, "is not of the width that its field must have"),
    BP_OVERRUN: ("OVERRUN", CorruptError, "runs past the end of the list that holds it"),
}

# Name of each failure code in ext/status.h, without its prefix -> its value.
NAMES = {name: code for code, (name, _, _) in CODES.items()}


cdef int64_t fail(int64_t code, str what, int64_t offset) except -1:
    if code not in CODES:
        raise SystemError(f"{what}: a kernel returned the unknown code {code}")
    _, kind, text = CODES[code]
    message = f"{what} {text}"
    if kind is CorruptError:
        raise CorruptError(message, offset=None if offset < 0 else offset)
    raise kind(message if offset < 0 else f"{message}, at byte {offset}")


def check_code(code, str what, offset=None):
    """Return a result of zero or more; raise what a failure code stands for.

    ``what`` names the input in the message and ``offset`` is the byte in it, if known. The
    Cython modules use the C-level ``check``, which is the same map.
    """
    return check(code, what, -1 if offset is None else offset)
