"""Texts: the packed strings of the prelude and of keys."""

from __future__ import annotations

from .cursor import Cursor
from .uints import uint_bytes
from .errors import StowError

_LOWER = "abcdefghijklmnopqrstuvwxyz"
_UPPER = _LOWER.upper()
_DIGITS = "0123456789"

_SIX_BITS = _LOWER + _UPPER + _DIGITS + "_-"
_FIVE_BITS = _LOWER + "_-.$"
_UPPER_SHIFT, _DIGIT_SHIFT = 30, 31

_LONGEST = 63


def text(cursor: Cursor) -> str:
    """A text with its header; a reference to a symbol is none."""
    start = cursor.position
    header = cursor.byte()
    if 0x01 <= header <= 0x3F:
        form, string = "6-bit", _six_bit(cursor, header)
    elif 0x41 <= header <= 0x7F:
        form, string = "5-bit", _five_bit(cursor, header - 0x40)
    elif 0x80 <= header <= 0xBF:
        form, string = "plain", cursor.text(header - 0x80)
    elif header == 0xE1:
        form, string = "plain", _long(cursor, start)
    elif 0xC0 <= header <= 0xE0:
        raise StowError("a reference in place of a text", start)
    else:
        raise StowError("a reserved text header", start)
    if form != _shortest_form(string):
        raise StowError("a text that is not in its shortest form", start)
    return string


def _long(cursor: Cursor, start: int) -> str:
    length = cursor.shortest_uint()
    if length <= _LONGEST:
        raise StowError("a text whose length fits in its header", start)
    return cursor.text(length)


def _six_bit(cursor: Cursor, count: int) -> str:
    return "".join(_SIX_BITS[code] for code in _codes(cursor, count, 6))


def _five_bit(cursor: Cursor, count: int) -> str:
    start = cursor.position
    characters = []
    units = iter(_codes(cursor, count, 5))
    for unit in units:
        alphabet = _FIVE_BITS
        if unit in (_UPPER_SHIFT, _DIGIT_SHIFT):
            alphabet = _UPPER if unit == _UPPER_SHIFT else _DIGITS
            unit = next(units, len(alphabet))
        if unit >= len(alphabet):
            raise StowError("a shift without its character", start)
        characters.append(alphabet[unit])
    return "".join(characters)


def _codes(cursor: Cursor, count: int, bits: int) -> list[int]:
    """Codes of so many bits, from the least significant bit of the first byte on."""
    start = cursor.position
    packed = cursor.unsigned((count * bits + 7) // 8)
    if packed >> (count * bits):
        raise StowError("bits left over that are not zero", start)
    return [packed >> (index * bits) & ((1 << bits) - 1) for index in range(count)]


def _shortest_form(string: str) -> str:
    plain_size = len(string) if string.isascii() else len(string.encode())
    if not 1 <= plain_size <= _LONGEST:
        return "plain"
    best, form = plain_size, "plain"
    if not string.translate(_WITHOUT_SIX_BITS) and (len(string) * 6 + 7) // 8 < best:
        best, form = (len(string) * 6 + 7) // 8, "6-bit"
    units = _five_bit_units(string)
    if units is not None and units <= _LONGEST and (units * 5 + 7) // 8 < best:
        form = "5-bit"
    return form


def _five_bit_units(string: str) -> int | None:
    """How many units the string has; None if a character has none."""
    others = string.translate(_WITHOUT_FIVE_BITS)
    return len(string) + len(others) if not others.translate(_WITHOUT_SIX_BITS) else None


_WITHOUT_SIX_BITS = dict.fromkeys(map(ord, _SIX_BITS))
_WITHOUT_FIVE_BITS = dict.fromkeys(map(ord, _FIVE_BITS))


def text_bytes(string: str, utf8: bytes) -> bytes:
    """A text with its header, in its one form."""
    form = _shortest_form(string)
    if form == "6-bit":
        return bytes([len(string)]) + _packed([_SIX_BITS.index(character) for character in string], 6)
    if form == "5-bit":
        codes = [code for character in string for code in _five_bit_codes(character)]
        return bytes([0x40 + len(codes)]) + _packed(codes, 5)
    if len(utf8) <= _LONGEST:
        return bytes([0x80 + len(utf8)]) + utf8
    return b"\xe1" + uint_bytes(len(utf8)) + utf8


def _five_bit_codes(character: str) -> tuple[int, ...]:
    if character in _FIVE_BITS:
        return (_FIVE_BITS.index(character),)
    if character in _DIGITS:
        return (_DIGIT_SHIFT, _DIGITS.index(character))
    return (_UPPER_SHIFT, _UPPER.index(character))


def _packed(codes: list[int], bits: int) -> bytes:
    number = 0
    for index, code in enumerate(codes):
        number |= code << (index * bits)
    return number.to_bytes((len(codes) * bits + 7) // 8, "little")
