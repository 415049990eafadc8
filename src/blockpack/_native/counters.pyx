"""What a store did, counted where Python costs least: plain C adds under the GIL."""

cimport cython
from libc.stdint cimport uint64_t


@cython.final
cdef class Counters:
    """Counts since the start or the last ``reset``; bytes and nanoseconds where named so.

    One object serves all threads: each method is one uninterrupted step under the GIL. Times of
    several threads add up, so they can exceed the wall clock.
    """

    def __cinit__(self):
        self.reset()

    cpdef object inflated(self, uint64_t bytes_in, uint64_t bytes_out, uint64_t ns,
                          bint partial=False):
        """A frame was inflated, or with ``partial`` its first ``bytes_out`` bytes."""
        self.frames_inflated += 1
        self.frames_partial += partial
        self.bytes_in += bytes_in
        self.bytes_out += bytes_out
        self.inflate_ns += ns

    def hit(self):
        """A record came from a cached group."""
        self.cache_hits += 1

    def missed(self):
        """A record's group was not cached."""
        self.cache_misses += 1

    def decoded(self, uint64_t ns):
        """Records were decoded."""
        self.decode_ns += ns

    def waited(self, uint64_t ns):
        """An append waited for the sealer's backlog."""
        self.backlog_waits += 1
        self.backlog_wait_ns += ns

    def snapshot(self):
        """All counts, by name."""
        return {
            "frames_inflated": self.frames_inflated,
            "frames_partial": self.frames_partial,
            "bytes_in": self.bytes_in,
            "bytes_out": self.bytes_out,
            "inflate_ns": self.inflate_ns,
            "cache_hits": self.cache_hits,
            "cache_misses": self.cache_misses,
            "decode_ns": self.decode_ns,
            "backlog_waits": self.backlog_waits,
            "backlog_wait_ns": self.backlog_wait_ns,
        }

    def reset(self):
        """Set every count to zero."""
        self.frames_inflated = self.frames_partial = 0
        self.bytes_in = self.bytes_out = self.inflate_ns = 0
        self.cache_hits = self.cache_misses = 0
        self.decode_ns = 0
        self.backlog_waits = self.backlog_wait_ns = 0

    def __repr__(self):
        counts = ", ".join(f"{name}={value}" for name, value in self.snapshot().items())
        return f"Counters({counts})"
