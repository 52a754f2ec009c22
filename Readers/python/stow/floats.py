"""Floats and dates as decimals: an integer, an exponent, and sometimes a residue."""

from __future__ import annotations

import struct

from .cursor import Cursor
from .values import SingleNaN, bits_of, float_of


def quotient(n: int, exponent: int) -> float:
    """The Double nearest to n / 10^exponent, ties to even, which is how Python divides integers."""
    return n / int(10**exponent)


def moved(value: float, residue: int) -> float:
    """The float that is the residue away, counted in representable numbers."""
    return float_of((bits_of(value) + residue) % (1 << 64))


def scaled(cursor: Cursor) -> float:
    """A decimal after its tag: scale byte, integer."""
    start = cursor.position
    scale = cursor.byte()
    exponent, width = scale >> 4, scale & 0x0F
    if exponent > 9 or not 1 <= width <= 6:
        cursor.position = start
        raise cursor.error(f"a scale of exponent {exponent} and width {width}")
    return quotient(cursor.signed(width), exponent)


def noisy(cursor: Cursor) -> float:
    value = scaled(cursor)
    return moved(value, cursor.signed(1))


def single(cursor: Cursor) -> float:
    """A Float, as the Double of the same value."""
    raw = cursor.take(4)
    value = float(struct.unpack("<f", raw)[0])
    return value if value == value else SingleNaN(int.from_bytes(raw, "little"))


def double(cursor: Cursor) -> float:
    return float(struct.unpack("<d", cursor.take(8))[0])
