"""Element types that have a size: those of packed arrays and of the columns of tables and matrices."""

from collections.abc import Callable
from dataclasses import dataclass

from . import floats
from .cursor import Cursor
from .values import Date

CONSTANT = 0x00
# Bools of a byte, and dates: the types that no array has.
COLUMN_ONLY = (0x0B, 0x0F)

_INTEGER_MARK = -128


@dataclass(frozen=True)
class Element:
    size: int
    read: Callable[[Cursor], object]
    has_base: bool = False

    def from_base(self, base: int) -> "Element":
        """The elements as they are, where the cells hold them less the base."""
        return Element(self.size, lambda cursor: signed_64(base + self.read(cursor)))


def signed_64(number: int) -> int:
    """A sum or difference, modulo 2^64."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def sized_element(kind: int) -> Element | None:
    """The element of a type, unless the type is reserved or has no size of its own."""
    if kind in _OTHERS:
        return _OTHERS[kind]
    high, low = kind >> 4, kind & 0x0F
    if 0x01 <= kind <= 0x08:
        return Element(low, lambda cursor: cursor.signed(low))
    if 1 <= high <= 9 and 1 <= low <= 6:
        return Element(low, lambda cursor: floats.quotient(cursor.signed(low), high))
    if 1 <= high <= 9 and 9 <= low <= 14:
        return Element(low - 7, lambda cursor: _noisy(cursor, low - 8, high))
    if 0xA1 <= kind <= 0xA6:
        return Element(low, lambda cursor: floats.quotient(cursor.signed(low), 0))
    if 0xC1 <= kind <= 0xC7:
        return Element(low, lambda cursor: cursor.unsigned(low))
    if 0xD1 <= kind <= 0xD7:
        return Element(low, lambda cursor: cursor.unsigned(low), has_base=True)
    return None


_OTHERS = {
    0x09: Element(4, floats.single),
    0x0A: Element(8, floats.double),
    0x0B: Element(1, lambda cursor: _bool(cursor)),
    0x0F: Element(8, lambda cursor: Date(floats.double(cursor))),
}


def _bool(cursor: Cursor) -> bool:
    byte = cursor.byte()
    if byte > 1:
        raise cursor.error("a Bool that is neither 0 nor 1")
    return byte == 1


def _noisy(cursor: Cursor, width: int, exponent: int) -> object:
    n = cursor.signed(width)
    residue = cursor.signed(1)
    if residue != _INTEGER_MARK:
        return floats.moved(floats.quotient(n, exponent), residue)
    if n % 10**exponent:
        raise cursor.error("a fraction that is marked as an integer")
    return n // 10**exponent
