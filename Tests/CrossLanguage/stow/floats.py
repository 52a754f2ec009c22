"""Floats and dates as decimals: an integer, an exponent, and sometimes a residue."""

import struct

from .cursor import Cursor
from .values import Float, SingleNaN


def quotient(n: int, exponent: int) -> Float:
    """The Double nearest to n / 10^exponent, ties to even, which is how Python divides integers."""
    return Float.of(n / 10**exponent)


def moved(value: Float, residue: int) -> Float:
    """The float that is the residue away, counted in representable numbers."""
    return Float((value.bits + residue) % (1 << 64))


def scaled(cursor: Cursor) -> Float:
    """A decimal behind its tag: scale byte, integer."""
    start = cursor.position
    scale = cursor.byte()
    exponent, width = scale >> 4, scale & 0x0F
    if exponent > 9 or not 1 <= width <= 6:
        cursor.position = start
        raise cursor.error(f"a scale of exponent {exponent} and width {width}")
    return quotient(cursor.signed(width), exponent)


def noisy(cursor: Cursor) -> Float:
    value = scaled(cursor)
    return moved(value, cursor.signed(1))


def single(cursor: Cursor) -> Float | SingleNaN:
    """A Float, as the Double of the same value."""
    bits = cursor.unsigned(4)
    if bits & 0x7F80_0000 == 0x7F80_0000 and bits & 0x007F_FFFF:
        return SingleNaN(bits)
    return Float.of(struct.unpack("<f", struct.pack("<I", bits))[0])


def double(cursor: Cursor) -> Float:
    return Float(cursor.unsigned(8))
