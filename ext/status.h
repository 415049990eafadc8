/* Result codes of every kernel. Zero or positive is success; each failure has its own code,
 * because what the caller must do differs. blockpack._native.status maps them to exceptions. */
#ifndef BLOCKPACK_STATUS_H
#define BLOCKPACK_STATUS_H

enum bp_status {
    BP_OK = 0,
    BP_TRUNCATED = -1,      /* the input ends before what it announces */
    BP_TRAILING = -2,       /* bytes are left over after a complete item */
    BP_MALFORMED = -3,      /* the input breaks the format's grammar */
    BP_NONCANONICAL = -4,   /* well formed, but not in the one encoding that the format allows */
    BP_TOO_LARGE = -5,      /* a declared size is above the caller's limit */
    BP_NO_SPACE = -6,       /* the caller's target is smaller than the result */
    BP_BAD_OFFSET = -7,     /* a back reference points before the start of the output */
    BP_OUT_OF_RANGE = -8,   /* an ordinal or position is outside of the structure */
    BP_NOT_A_LIST = -9,     /* a string where the format has a list */
    BP_NOT_A_STRING = -10,  /* a list where the format has a string */
    BP_TOO_FEW_ITEMS = -11, /* a list ends before an item that the format demands */
    BP_BAD_INTEGER = -12,   /* an integer with a leading zero, or wider than its field */
    BP_BAD_WIDTH = -13,     /* a fixed-width field of another width */
    BP_OVERRUN = -14        /* an item runs past the end of the list that holds it */
};

#endif
