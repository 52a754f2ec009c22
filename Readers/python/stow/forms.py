"""The forms of numbers that a canonical writer chooses, one by one and side by side.

Each function is a step of Format/Canonical.md.
"""

from __future__ import annotations

import math
import struct
from array import array
from dataclasses import dataclass
from typing import Any, Callable, Sequence

from .elements import little_endian, signed_64
from .uints import uint_bytes, uint_size
from .values import bits_of

_NUMERATOR_LIMIT = 1 << 47
INTEGER_MARK = -128
# So many elements are measured to learn what floats take with their tags, or whether differences may pay.
_SAMPLE = 64
_LONG = 1 << 63


def width_of(integer: int) -> int:
    """The fewest bytes of a signed integer, at least one."""
    return ((integer if integer >= 0 else ~integer).bit_length() + 8) // 8


def unsigned_width(integer: int) -> int:
    """The same without a sign."""
    return max(1, (integer.bit_length() + 7) // 8)


def integer_size(integer: int) -> int:
    """With its tag."""
    if -16 <= integer <= 47:
        return 1
    width = width_of(integer)
    return 1 + (width if width <= 8 else 8 if 0 <= integer < 1 << 64 else 16)


def integer_bytes(integer: int) -> bytes:
    if -16 <= integer <= 47:
        return bytes([0x90 + integer])
    width = width_of(integer)
    if width <= 8:
        return bytes([width + 2]) + integer.to_bytes(width, "little", signed=True)
    if 0 <= integer < 1 << 64:
        return b"\x0b" + integer.to_bytes(8, "little")
    if integer < 1 << 127:
        return b"\x0c" + integer.to_bytes(16, "little", signed=True)
    return b"\x0d" + integer.to_bytes(16, "little")


# One float.


@dataclass(frozen=True)
class FloatForm:
    """The canonical form of a float."""

    kind: str
    #: With the tag.
    size: int
    numerator: int = 0
    exponent: int = 0
    residue: int = 0

    @property
    def width(self) -> int:
        return width_of(self.numerator)


def widest_exponent(value: float) -> int | None:
    """The exponent to begin with; None if there is no decimal."""
    magnitude = abs(value)
    return 9 if magnitude < 1e5 else 6 if magnitude < 1e8 else 4 if magnitude < 1e10 else 0 if magnitude < 1e14 else None


def numerator_of(value: float, exponent: int) -> tuple[int, int] | None:
    """The numerator over 10^exponent nearest to a float, and the residue; None if there is none."""
    scaled = value * 10.0**exponent
    if not abs(scaled) < _NUMERATOR_LIMIT:
        return None
    numerator = round(scaled)
    quotient = numerator / 10**exponent
    if quotient == value and (value or math.copysign(1, value) > 0):
        return numerator, 0
    residue = bits_of(value) - bits_of(quotient)
    return (numerator, residue) if -127 <= residue <= 127 else None


def is_single(value: float) -> bool:
    """Whether a Float has exactly this value."""
    try:
        return bool(struct.unpack("<f", struct.pack("<f", value))[0] == value)
    except OverflowError:
        return False


def is_integral(value: float) -> bool:
    return value.is_integer() and bool(value or math.copysign(1, value) > 0)


def float_form(value: float) -> FloatForm:
    if abs(value) < 1 << 31 and is_integral(value):
        return FloatForm("integral", 1 + width_of(int(value)), int(value))
    plain = FloatForm("single", 5) if is_single(value) else FloatForm("double", 9)
    exponent = widest_exponent(value)
    found = None if exponent is None else numerator_of(value, exponent)
    if exponent is None or found is None:
        return plain
    numerator, residue = found
    while exponent > 0 and numerator % 10 == 0:
        numerator //= 10
        exponent -= 1
    width = width_of(numerator)
    if residue:
        decimal = FloatForm("noisy", 3 + width, numerator, exponent, residue)
    elif 1 <= exponent <= 4 and width <= 4:
        return FloatForm("short", 1 + width, numerator, exponent)
    else:
        decimal = FloatForm("decimal", 2 + width, numerator, exponent)
    return decimal if decimal.size < plain.size else plain


def float_bytes(value: float) -> bytes:
    form = float_form(value)
    if form.kind == "double":
        return b"\x0e" + struct.pack("<d", value)
    if form.kind == "single":
        return b"\x0f" + struct.pack("<f", value)
    numerator = form.numerator.to_bytes(form.width, "little", signed=True)
    if form.kind == "integral":
        return bytes([0x0F + form.width]) + numerator
    if form.kind == "short":
        return bytes([0x20 + (form.exponent - 1) * 4 + form.width - 1]) + numerator
    scale = form.exponent << 4 | form.width
    if form.kind == "decimal":
        return bytes([0x14, scale]) + numerator
    return bytes([0x15, scale]) + numerator + bytes([form.residue & 0xFF])


def date_size(seconds: float) -> int:
    form = float_form(seconds)
    return {"integral": form.size + 1, "short": form.size + 1, "decimal": form.size}.get(form.kind, 9)


def date_bytes(seconds: float) -> bytes:
    form = float_form(seconds)
    if form.kind not in ("integral", "short", "decimal"):
        return b"\x16" + struct.pack("<d", seconds)
    numerator = form.numerator.to_bytes(form.width, "little", signed=True)
    return bytes([0x17, form.exponent << 4 | form.width]) + numerator


# Numbers side by side.


@dataclass
class Column:
    """How numbers stand side by side, or in a column: a type, and cells of one size."""

    type: int
    size: int
    #: Integers, or numerators, of so many bytes.
    width: int
    integers: Sequence[int] = ()
    residues: Sequence[int] | None = None
    base: int | None = None
    #: The cells, where they are no integers.
    raw: bytes | None = None

    def planes(self) -> list[bytes]:
        """One byte of each cell, for each byte that cells have."""
        if self.raw is not None:
            return [self.raw[index :: self.size] for index in range(self.size)]
        base = self.base or 0
        numbers = [integer - base for integer in self.integers] if base else self.integers
        raw = little_endian(array("q", numbers))
        planes = [raw[index::8] for index in range(self.width)]
        if self.residues is not None:
            planes.append(bytes(residue & 0xFF for residue in self.residues))
        return planes

    def cells(self) -> bytes:
        planes = self.planes()
        if len(planes) == 1:
            return planes[0]
        result = bytearray(self.size * len(planes[0]))
        for index, plane in enumerate(planes):
            result[index :: self.size] = plane
        return bytes(result)


def are_long(integers: Sequence[int]) -> bool:
    """Whether one of them has more than 64 bits with its sign."""
    return min(integers) < -_LONG or max(integers) >= _LONG


def fixed_column(integers: Sequence[int]) -> Column:
    """Integers of one width: signed, without a sign, or offsets from the least; the first of equals in this order."""
    least, greatest = min(integers), max(integers)
    width = max(width_of(least), width_of(greatest))
    column = Column(width, width, width, integers)
    plain = unsigned_width(greatest) if least >= 0 else 8
    if plain < width:
        column = Column(0xC0 + plain, plain, plain, integers)
    offset = unsigned_width(greatest - least)
    if offset <= 7 and integer_size(least) + len(integers) * offset < len(integers) * column.size:
        column = Column(0xD0 + offset, offset, offset, integers, base=least)
    return column


def integers_body(integers: Sequence[int]) -> bytes:
    """The smallest element type and body of an array of integers."""
    fixed = fixed_column(integers)
    base = b"" if fixed.base is None else integer_bytes(fixed.base)
    count = len(integers)
    best, form = len(base) + fixed.size * count, "fixed"
    widths = _own_widths_size(integers)
    if widths < best:
        best, form = widths, "widths"
    steps = [integers[0], *(signed_64(after - before) for before, after in zip(integers, integers[1:]))]
    width = 0
    if _differences_look_smaller(integers, steps):
        width = max(width_of(min(steps[1:])), width_of(max(steps[1:])))
        size = 1 + width_of(steps[0]) + (count - 1) * width
        if size < best:
            best, form = size, "differences"
        if _own_widths_size(steps) < best:
            form = "differences of own widths"
    if form == "fixed":
        return bytes([fixed.type]) + base + fixed.cells()
    if form == "widths":
        return b"\x0d" + _own_widths(integers)
    if form == "differences of own widths":
        return b"\x0e" + _own_widths(steps)
    first = width_of(steps[0])
    cells = Column(0, width, width, steps[1:]).cells()
    return bytes([0xB0 + width, first]) + steps[0].to_bytes(first, "little", signed=True) + cells


def _own_width(integer: int) -> int:
    return width_of(integer) if integer else 0


def _own_widths_size(integers: Sequence[int]) -> int:
    count = len(integers)
    return uint_size(count) + (count + 1) // 2 + sum(map(_own_width, integers))


def _own_widths(integers: Sequence[int]) -> bytes:
    widths = [_own_width(integer) for integer in integers]
    halves = [*widths, 0]
    nibbles = bytes(halves[index] | halves[index + 1] << 4 for index in range(0, len(widths), 2))
    elements = b"".join(integer.to_bytes(width, "little", signed=True) for integer, width in zip(integers, widths))
    return uint_bytes(len(integers)) + nibbles + elements


def _differences_look_smaller(integers: Sequence[int], steps: Sequence[int]) -> bool:
    first = slice(1, _SAMPLE + 1)
    return sum(map(_own_width, steps[first])) < sum(map(_own_width, integers[first]))


def floats_column(numbers: Sequence[float | int]) -> Column | None:
    """The smallest form of floats, perhaps with integers among them; None if there is none."""
    plain = None
    is_mixed = any(type(number) is int for number in numbers)
    if not is_mixed:
        code, kind, size = ("f", 0x09, 4) if all(map(is_single, numbers)) else ("d", 0x0A, 8)
        plain = Column(kind, size, size, raw=little_endian(array(code, numbers)))
    decimals = _decimals_column(numbers, is_mixed)
    return decimals if plain is None or (decimals is not None and decimals.size < plain.size) else plain


def _decimals_column(numbers: Sequence[float | int], is_mixed: bool) -> Column | None:
    exponent = _common_exponent(numbers)
    if exponent is None:
        return None
    cells = _decimal_cells(numbers, exponent)
    if cells is None:
        return None
    is_noisy = is_mixed or any(cells[1])
    if is_noisy and exponent == 0:
        exponent = 1
        cells = _decimal_cells(numbers, exponent)
        if cells is None:
            return None
    numerators, residues = cells
    width = max(width_of(min(numerators)), width_of(max(numerators)))
    if is_noisy:
        return Column(exponent << 4 | width + 8, width + 1, width, numerators, residues)
    return Column(exponent << 4 | width if exponent else 0xA0 + width, width, width, numerators)


def _common_exponent(numbers: Sequence[float | int]) -> int | None:
    """The fewest decimals with which all floats are written; None if one is no decimal."""
    common = 0
    for number in numbers:
        if type(number) is int:
            continue
        exponent = widest_exponent(number)
        found = None if exponent is None else numerator_of(number, exponent)
        if exponent is None or found is None:
            return None
        numerator = found[0]
        if numerator == 0:
            continue
        while exponent > common and numerator % 10 == 0:
            numerator //= 10
            exponent -= 1
        common = max(common, exponent)
    return common


def _decimal_cells(numbers: Sequence[float | int], exponent: int) -> tuple[list[int], list[int]] | None:
    numerators, residues = [], []
    for number in numbers:
        found = (number * 10**exponent, INTEGER_MARK) if type(number) is int else numerator_of(number, exponent)
        if found is None or abs(found[0]) >= _NUMERATOR_LIMIT:
            return None
        numerators.append(found[0])
        residues.append(found[1])
    return numerators, residues


def number_size(number: float | int) -> int:
    return integer_size(number) if type(number) is int else float_form(number).size


def estimate(values: Sequence[Any], size_of: Callable[[Any], int]) -> int:
    """What all of them take with their tags, by the look of the first."""
    count = min(len(values), _SAMPLE)
    return sum(map(size_of, values[:count])) * len(values) // count
