/* The Arrow C data and C stream interface: three structs, whose layout is frozen.
 *
 * As https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html give them,
 * guards included, so that another header's copy in the same file does no harm.
 */
#ifndef BP_ARROW_ABI_H
#define BP_ARROW_ABI_H

#include <stdint.h>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;     /* the type, as a short string */
    const char *name;       /* UTF-8, may be NULL */
    const char *metadata;   /* may be NULL */
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);      /* NULL: released, or moved elsewhere */
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;   /* the validity bit map first; NULL where nothing is null */
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    /* 0 or an errno; the released struct handed out by get_next is the end. */
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

_Static_assert(sizeof(void *) != 8 || sizeof(struct ArrowSchema) == 72, "ArrowSchema");
_Static_assert(sizeof(void *) != 8 || sizeof(struct ArrowArray) == 80, "ArrowArray");
_Static_assert(sizeof(void *) != 8 || sizeof(struct ArrowArrayStream) == 40, "ArrowArrayStream");

#endif
