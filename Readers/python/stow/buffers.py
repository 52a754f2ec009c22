"""Bytes that are read where they are: in a `bytes`, or in whatever else has a buffer."""

from __future__ import annotations

from typing import Any, Union

#: What is read inside of this package. Slices of a memoryview copy nothing.
Bytes = Union[bytes, memoryview]


def readable(source: Any) -> Bytes:
    """The bytes of a `bytes`, `bytearray`, `memoryview`, `mmap` or array, one after the other."""
    if isinstance(source, bytes):
        return source
    try:
        view = memoryview(source)
    except TypeError:
        raise TypeError(f"bytes are wanted, and not {type(source).__name__}") from None
    if not view.c_contiguous or not view.nbytes:
        return view.tobytes()
    return view.toreadonly().cast("B")
