/* See ordered.h. Leaves are hashed as a head (path and prefixes) and the value where it stands. */
#include "trie/ordered.h"

#include <string.h>

#include "rlp/rlp.h"
#include "status.h"

#define KEY_SIZE_MAX 9              /* RLP of a 64-bit index */
#define LOW_INDEXES 128             /* those that are one byte in RLP, and 0, which is 0x80 */
#define REFERENCE_SIZE_MAX 33       /* 0xa0 and a hash, or a node of less than 32 bytes */
#define HEAD_SIZE_MAX (2 * BP_RLP_PREFIX_SIZE_MAX + 2 + KEY_SIZE_MAX)
#define BRANCH_SIZE_MAX (16 * REFERENCE_SIZE_MAX + 1)
#define LEAF_FLAG 0x20u

struct trie {
    bp_trie_source source;
    void *context;
    uint64_t count;
};

struct key {
    uint8_t bytes[KEY_SIZE_MAX];
    unsigned nibbles;
};

/* How a parent names a node. The root is never named: `hash` is set and size is 33. */
struct reference {
    uint8_t bytes[REFERENCE_SIZE_MAX];
    unsigned size;
};

/* The index of the key that is at this place among all keys in order. */
static uint64_t index_at(const struct trie *trie, uint64_t position) {
    uint64_t low = trie->count < LOW_INDEXES ? trie->count : LOW_INDEXES;
    return position >= low ? position : position == low - 1 ? 0 : position + 1;
}

static struct key key_at(const struct trie *trie, uint64_t position) {
    uint64_t index = index_at(trie, position);
    struct key key = {{0}, 2};
    if (index < LOW_INDEXES) {
        key.bytes[0] = index == 0 ? 0x80 : (uint8_t)index;
        return key;
    }
    unsigned width = 1;
    while (width < 8 && index >> (8 * width) != 0) {
        width++;
    }
    key.bytes[0] = (uint8_t)(0x80 + width);
    for (unsigned i = 0; i < width; i++) {
        key.bytes[1 + i] = (uint8_t)(index >> (8 * (width - 1 - i)));
    }
    key.nibbles = 2 * (1 + width);
    return key;
}

static unsigned nibble(const struct key *key, unsigned depth) {
    unsigned byte = key->bytes[depth / 2];
    return depth % 2 == 0 ? byte >> 4 : byte & 15;
}

/* The RLP string of the hex-prefix encoding of nibbles from..to; returns its size, at most 11. */
static unsigned put_path(uint8_t *target, const struct key *key, unsigned from, unsigned to,
                         unsigned flag) {
    unsigned count = to - from;
    unsigned size = 1 + count / 2;
    unsigned at = size > 1;
    if (size > 1) {
        target[0] = (uint8_t)(0x80 + size);
    }
    target[at++] = (uint8_t)(count % 2 == 0 ? flag : flag | 0x10u | nibble(key, from++));
    for (; from < to; from += 2) {
        target[at++] = (uint8_t)(nibble(key, from) << 4 | nibble(key, from + 1));
    }
    return at;
}

/* The prefix of a string with this content; a byte below 0x80 has none. */
static unsigned put_string_prefix(uint8_t *target, const uint8_t *value, uint64_t size) {
    if (size == 1 && value[0] < 0x80) {
        return 0;
    }
    unsigned prefix = (unsigned)bp_rlp_list_prefix(size, target);
    target[0] = (uint8_t)(target[0] - 0x40);    /* strings lie 0x40 below lists */
    return prefix;
}

/* Names the node head + tail. */
static void name_node(const uint8_t *head, unsigned head_size, const uint8_t *tail, uint64_t size,
                      int root, struct reference *name) {
    if (!root && head_size + size < BP_KECCAK256_SIZE) {
        memcpy(name->bytes, head, head_size);
        if (size > 0) {
            memcpy(name->bytes + head_size, tail, (size_t)size);
        }
        name->size = head_size + (unsigned)size;
        return;
    }
    name->bytes[0] = 0xa0;
    bp_keccak256_joined(head, head_size, tail, size, name->bytes + 1);
    name->size = REFERENCE_SIZE_MAX;
}

/* Puts the prefix of a list before head[0..size): the list goes on for `tail_size` bytes. */
static unsigned put_list_prefix(uint8_t *head, unsigned size, uint64_t tail_size) {
    uint8_t prefix[BP_RLP_PREFIX_SIZE_MAX];
    unsigned prefix_size = (unsigned)bp_rlp_list_prefix(size + tail_size, prefix);
    memmove(head + prefix_size, head, size);
    memcpy(head, prefix, prefix_size);
    return prefix_size + size;
}

static int leaf(const struct trie *trie, uint64_t position, unsigned depth,
                struct reference *name) {
    uint8_t head[HEAD_SIZE_MAX];
    struct key key = key_at(trie, position);
    const uint8_t *value;
    uint64_t size;
    int status = trie->source(trie->context, index_at(trie, position), &value, &size);
    if (status < 0) {
        return status;
    }
    unsigned head_size = put_path(head, &key, depth, key.nibbles, LEAF_FLAG);
    head_size += put_string_prefix(head + head_size, value, size);
    head_size = put_list_prefix(head, head_size, size);
    name_node(head, head_size, value, size, depth == 0, name);
    return BP_OK;
}

static int node(const struct trie *trie, uint64_t low, uint64_t high, unsigned depth,
                struct reference *name);

/* The branch over keys low..high, which part ways at nibble `depth`. No key is a prefix of
 * another, because RLP is not: the branch's own value is empty. */
static int branch(const struct trie *trie, uint64_t low, uint64_t high, unsigned depth, int root,
                  struct reference *name) {
    uint8_t items[BP_RLP_PREFIX_SIZE_MAX + BRANCH_SIZE_MAX];
    unsigned size = 0;
    for (unsigned slot = 0; slot < 16; slot++) {
        uint64_t end = low;
        for (; end < high; end++) {
            struct key key = key_at(trie, end);
            if (nibble(&key, depth) != slot) {
                break;
            }
        }
        if (end == low) {
            items[size++] = 0x80;
            continue;
        }
        struct reference child;
        int status = node(trie, low, end, depth + 1, &child);
        if (status < 0) {
            return status;
        }
        memcpy(items + size, child.bytes, child.size);
        size += child.size;
        low = end;
    }
    items[size++] = 0x80;
    size = put_list_prefix(items, size, 0);
    name_node(items, size, NULL, 0, root, name);
    return BP_OK;
}

/* The node of keys low..high, which agree on their first `depth` nibbles. Calls itself once for
 * each nibble of a key at most. */
static int node(const struct trie *trie, uint64_t low, uint64_t high, unsigned depth,
                struct reference *name) {
    if (high - low == 1) {
        return leaf(trie, low, depth, name);
    }
    struct key first = key_at(trie, low), last = key_at(trie, high - 1);
    unsigned common = depth;
    while (nibble(&first, common) == nibble(&last, common)) {
        common++;
    }
    struct reference child;
    int status = branch(trie, low, high, common, common == 0, &child);
    if (status < 0 || common == depth) {
        *name = child;
        return status;
    }
    uint8_t head[HEAD_SIZE_MAX + REFERENCE_SIZE_MAX];
    unsigned size = put_path(head, &first, depth, common, 0);
    memcpy(head + size, child.bytes, child.size);
    size = put_list_prefix(head, size + child.size, 0);
    name_node(head, size, NULL, 0, depth == 0, name);
    return BP_OK;
}

int bp_ordered_root(bp_trie_source source, void *context, uint64_t count,
                    uint8_t root[BP_KECCAK256_SIZE]) {
    static const uint8_t nothing[1] = {0x80};
    struct trie trie = {source, context, count};
    struct reference name = {{0}, 0};
    if (count == 0) {
        bp_keccak256(nothing, 1, root);
        return BP_OK;
    }
    int status = node(&trie, 0, count, 0, &name);
    memcpy(root, name.bytes + 1, BP_KECCAK256_SIZE);
    return status;
}
