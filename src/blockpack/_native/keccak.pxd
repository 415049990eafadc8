"""Buffers of many Python objects at once, for modules that go over them without the GIL."""

cdef class Buffers:
    cdef Py_buffer *views
    cdef Py_ssize_t count
