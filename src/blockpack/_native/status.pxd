"""The one map from ext/status.h to exceptions; see status.pyx.

Use it around every kernel call, with the GIL held again::

    size = check(bp_s2_decode(...), "S2 block")             # the size, or an exception
    check(bp_rlp_split(data, size, &block), "block", block.fault)
"""

from libc.stdint cimport int64_t

cdef extern from "status.h" nogil:
    cdef enum:
        BP_OK
        BP_TRUNCATED
        BP_TRAILING
        BP_MALFORMED
        BP_NONCANONICAL
        BP_TOO_LARGE
        BP_NO_SPACE
        BP_BAD_OFFSET
        BP_OUT_OF_RANGE
        BP_NOT_A_LIST
        BP_NOT_A_STRING
        BP_TOO_FEW_ITEMS
        BP_BAD_INTEGER
        BP_BAD_WIDTH
        BP_OVERRUN

# Always raises: what a failure code means, about `what`, at byte `offset` of the input (-1 when
# the kernel does not say where).
cdef int64_t fail(int64_t code, str what, int64_t offset) except -1

# Passes a result of zero or more through, so that success costs one comparison.
cdef inline int64_t check(int64_t code, str what, int64_t offset=-1) except -1:
    if code >= 0:
        return code
    return fail(code, what, offset)
