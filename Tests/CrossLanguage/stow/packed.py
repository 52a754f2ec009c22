"""Packed arrays: elements of one type, without tags."""

from .cursor import Cursor
from .elements import COLUMN_ONLY, signed_64, sized_element
from .errors import StowError
from .scalars import integer_of_64_bits

_PACKED_FLOATS, _FLOAT = 0x75, 0x09


def packed_array(tag: int, cursor: Cursor) -> list:
    """What stands behind the tag of a packed array."""
    body = cursor.sized()
    start = body.position
    kind = _FLOAT if tag == _PACKED_FLOATS else body.byte()
    if kind in _UNSIZED:
        elements = _UNSIZED[kind](body)
    elif 0xB1 <= kind <= 0xB8:
        elements = _differences(body, kind - 0xB0)
    else:
        elements = _sized(body, kind, start)
    body.finish()
    return elements


def _sized(body: Cursor, kind: int, start: int) -> list:
    element = None if kind in COLUMN_ONLY else sized_element(kind)
    if element is None:
        raise StowError(f"element type {kind:02X} in an array", start)
    if element.has_base:
        element = element.from_base(integer_of_64_bits(body))
    elements = []
    while body.left:
        elements.append(element.read(body))
    return elements


def _bits(body: Cursor) -> list[bool]:
    start = body.position
    unused = body.byte()
    count = body.left * 8 - unused
    if unused > 7 or count < 0:
        raise StowError(f"{unused} unused bits", start)
    bits = body.bits(body.left)
    if any(bits[count:]):
        raise StowError("unused bits that are not zero", start)
    return bits[:count]


def _own_widths(body: Cursor) -> list[int]:
    count = body.uint()
    nibbles = body.take((count + 1) // 2)
    widths = [nibble for byte in nibbles for nibble in (byte & 0x0F, byte >> 4)]
    if any(widths[count:]):
        raise body.error("a width without an element")
    if any(width > 8 for width in widths):
        raise body.error("a width of more than 8")
    return [body.signed(width) for width in widths[:count]]


def _differences(body: Cursor, width: int) -> list[int]:
    start = body.position
    first_width = body.byte()
    if not 1 <= first_width <= 8:
        raise StowError(f"a first element of {first_width} bytes", start)
    steps = [body.signed(first_width)]
    while body.left:
        steps.append(body.signed(width))
    return _sums(steps)


def _sums(steps: list[int]) -> list[int]:
    sums = []
    total = 0
    for step in steps:
        total = signed_64(total + step)
        sums.append(total)
    return sums


_UNSIZED = {0x0C: _bits, 0x0D: _own_widths, 0x0E: lambda body: _sums(_own_widths(body))}
