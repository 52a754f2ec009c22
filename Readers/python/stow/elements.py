"""Element types that have a size: those of packed arrays and of the columns of tables and matrices.

Elements are read all at once, whether they stand side by side, as in an array, or a row apart, as in a column.
"""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass
from functools import cache
from typing import Any, Callable

from . import floats, numeric
from .buffers import Bytes
from .errors import StowError
from .values import Date, SingleNaN

CONSTANT = 0x00
# Bools of a byte, and dates: the types that no array has.
COLUMN_ONLY = (0x0B, 0x0F)

_INTEGER_MARK = -128
# The byte that goes on with the sign of an integer, for each that may be its highest.
_SIGNS = bytes(0xFF if byte & 0x80 else 0x00 for byte in range(256))


@dataclass(frozen=True)
class Cells:
    """Where elements stand: the first, and each other so many bytes after the one before."""

    data: Bytes
    start: int
    stride: int
    count: int

    def inner(self, offset: int) -> Cells:
        """What begins so many bytes into each element."""
        return Cells(self.data, self.start + offset, self.stride, self.count)

    def plane(self, index: int) -> Bytes:
        """One byte of each element."""
        begin = self.start + index
        return self.data[begin : begin + self.stride * (self.count - 1) + 1 : self.stride] if self.count else b""

    def raw(self, size: int) -> Bytes:
        """So many bytes of each element, side by side."""
        if size == self.stride:
            return self.data[self.start : self.start + size * self.count]
        result = bytearray(size * self.count)
        for index in range(size):
            result[index::size] = self.plane(index)
        return bytes(result)

    def integers(self, width: int, is_signed: bool = True) -> array[int]:
        """Integers of up to 8 bytes, of which those without a sign have up to 7."""
        widened = bytearray(8 * self.count)
        for index in range(width):
            widened[index::8] = self.plane(index)
        if is_signed and width < 8:
            signs = bytes(self.plane(width - 1)).translate(_SIGNS)
            for index in range(width, 8):
                widened[index::8] = signs
        return _array("q", bytes(widened))


def little_endian(numbers: array[Any]) -> bytes:
    """The bytes of numbers of the machine."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def _array(code: str, raw: Bytes) -> array[Any]:
    """Numbers of the machine, of numbers that are little-endian."""
    result = array(code)
    result.frombytes(raw)
    if sys.byteorder == "big":
        result.byteswap()
    return result


@dataclass(frozen=True)
class Element:
    """A type of elements: their size, and how all of them are read, as values of Python and as an array of numpy."""

    size: int
    values: Callable[[Cells], list[Any]]
    array: Callable[[Cells], Any]
    has_base: bool = False

    def from_base(self, base: int) -> Element:
        """The elements as they are, where the cells hold them less the base."""
        return Element(
            self.size,
            lambda cells: [signed_64(base + offset) for offset in self.values(cells)],
            lambda cells: numeric.sums(self.array(cells), base),
        )

    def read(self, cells: Cells, with_numpy: bool) -> Any:
        return self.array(cells) if with_numpy else self.values(cells)


def signed_64(number: int) -> int:
    """A sum or difference, modulo 2^64."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


@cache
def sized_element(kind: int) -> Element | None:
    """The element of a type, unless the type is reserved or has no size of its own."""
    if kind in _OTHERS:
        return _OTHERS[kind]
    high, low = kind >> 4, kind & 0x0F
    if 0x01 <= kind <= 0x08:
        return _integer(low, is_signed=True)
    if 1 <= high <= 9 and 1 <= low <= 6:
        return _decimal(low, high)
    if 1 <= high <= 9 and 9 <= low <= 14:
        return _noisy(low - 8, high)
    if 0xA1 <= kind <= 0xA6:
        return _decimal(low, 0)
    if 0xC1 <= kind <= 0xC7:
        return _integer(low, is_signed=False)
    if 0xD1 <= kind <= 0xD7:
        return _integer(low, is_signed=False, has_base=True)
    return None


def _integer(width: int, is_signed: bool, has_base: bool = False) -> Element:
    return Element(
        width,
        lambda cells: cells.integers(width, is_signed).tolist(),
        lambda cells: numeric.integers(cells, width, is_signed),
        has_base,
    )


def _decimal(width: int, exponent: int) -> Element:
    scale = 10**exponent
    return Element(
        width,
        lambda cells: [n / scale for n in cells.integers(width)],
        lambda cells: numeric.quotients(cells, width, scale),
    )


def _noisy(width: int, exponent: int) -> Element:
    scale = 10**exponent

    def values(cells: Cells) -> list[Any]:
        residues = cells.inner(width).integers(1)
        return [_moved(n, scale, residue, cells) for n, residue in zip(cells.integers(width), residues)]

    def as_array(cells: Cells) -> Any:
        found = numeric.moved(cells, width, scale, _INTEGER_MARK)
        return values(cells) if found is None else found

    return Element(width + 1, values, as_array)


def _moved(n: int, scale: int, residue: int, cells: Cells) -> float | int:
    if residue == 0:
        return n / scale
    if residue != _INTEGER_MARK:
        return floats.moved(n / scale, residue)
    if n % scale:
        raise StowError("a fraction that is marked as an integer", cells.start)
    return n // scale


def _doubles(cells: Cells) -> list[float]:
    return _array("d", cells.raw(8)).tolist()


def _singles(cells: Cells) -> list[float]:
    raw = cells.raw(4)
    values = _array("f", raw).tolist()
    for index, value in enumerate(values):
        if value != value:
            values[index] = SingleNaN(int.from_bytes(raw[index * 4 : index * 4 + 4], "little"))
    return values


def _check_bools(cells: Cells) -> None:
    bad = bytes(cells.plane(0)).translate(None, b"\x00\x01")
    if bad:
        raise StowError("a Bool that is neither 0 nor 1", cells.start)


def _bools(cells: Cells) -> list[bool]:
    _check_bools(cells)
    return [byte == 1 for byte in cells.plane(0)]


def _bool_array(cells: Cells) -> Any:
    _check_bools(cells)
    return numeric.view(cells, "?", 1)


_OTHERS = {
    0x09: Element(4, _singles, lambda cells: numeric.view(cells, "<f4", 4)),
    0x0A: Element(8, _doubles, lambda cells: numeric.view(cells, "<f8", 8)),
    0x0B: Element(1, _bools, _bool_array),
    0x0F: Element(8, lambda cells: [Date(seconds) for seconds in _doubles(cells)], lambda cells: numeric.view(cells, "<f8", 8)),
}
