"""Packed arrays: elements of one type, without tags."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from . import numeric
from .cursor import Cursor
from .elements import COLUMN_ONLY, Cells, signed_64, sized_element
from .errors import StowError
from .scalars import integer_of_64_bits

_PACKED_FLOATS, _FLOAT = 0x75, 0x09
_BITS, _OWN_WIDTHS, _OWN_WIDTH_DIFFERENCES = 0x0C, 0x0D, 0x0E
# Each byte as eight Bools, from the least significant bit on.
_BOOLS = [[bool(byte >> index & 1) for index in range(8)] for byte in range(256)]


def packed_array(tag: int, cursor: Cursor, with_numpy: bool = False) -> Any:
    """What stands after the tag of a packed array."""
    body = cursor.sized()
    start = body.position
    kind = _FLOAT if tag == _PACKED_FLOATS else body.byte()
    if kind == _BITS:
        return _bits(body, with_numpy)
    if kind in (_OWN_WIDTHS, _OWN_WIDTH_DIFFERENCES):
        elements = _own_widths(body)
        body.finish()
        return _as_asked(_sums(elements) if kind == _OWN_WIDTH_DIFFERENCES else elements, with_numpy)
    if 0xB1 <= kind <= 0xB8:
        return _as_asked(_sums(_differences(body, kind - 0xB0)), with_numpy)
    return _sized(body, kind, start, with_numpy)


def _as_asked(integers: list[int], with_numpy: bool) -> Any:
    return numeric.of(integers, "=i8") if with_numpy else integers


def _cells(body: Cursor, size: int) -> Cells:
    """All that is left, as elements of one size."""
    if body.left % size:
        raise body.error(f"{body.left} bytes of elements of {size} bytes")
    return Cells(body.data, body.position, size, body.left // size)


def _sized(body: Cursor, kind: int, start: int, with_numpy: bool) -> Any:
    element = None if kind in COLUMN_ONLY else sized_element(kind)
    if element is None:
        raise StowError(f"element type {kind:02X} in an array", start)
    if element.has_base:
        element = element.from_base(integer_of_64_bits(body))
    return element.read(_cells(body, element.size), with_numpy)


def _bits(body: Cursor, with_numpy: bool) -> Any:
    start = body.position
    unused = body.byte()
    count = body.left * 8 - unused
    if unused > 7 or count < 0:
        raise StowError(f"{unused} unused bits", start)
    raw = body.take(body.left)
    if unused and raw[-1] >> (8 - unused):
        raise StowError("unused bits that are not zero", start)
    if with_numpy:
        return numeric.bits(raw, count)
    bools = [each for byte in raw for each in _BOOLS[byte]]
    return bools[:count]


def _own_widths(body: Cursor) -> list[int]:
    count = body.uint()
    nibbles = body.take((count + 1) // 2)
    if count % 2 and nibbles[-1] >> 4:
        raise body.error("a width without an element")
    raw, position = body.take(body.left), 0
    elements = []
    for index in range(count):
        byte = nibbles[index // 2]
        width = byte >> 4 if index % 2 else byte & 0x0F
        end = position + width
        if width > 8 or end > len(raw):
            raise body.error(f"an element of {width} bytes, where {len(raw) - position} are left")
        elements.append(int.from_bytes(raw[position:end], "little", signed=True))
        position = end
    if position < len(raw):
        raise body.error(f"{len(raw) - position} bytes after the last element")
    return elements


def _differences(body: Cursor, width: int) -> list[int]:
    start = body.position
    first_width = body.byte()
    if not 1 <= first_width <= 8:
        raise StowError(f"a first element of {first_width} bytes", start)
    first = body.signed(first_width)
    return [first, *_cells(body, width).integers(width)]


def _sums(steps: list[int]) -> list[int]:
    return list(accumulate(steps, lambda total, step: signed_64(total + step)))
