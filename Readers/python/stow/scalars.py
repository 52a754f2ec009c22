"""Values that are no containers."""

from __future__ import annotations

import decimal
import uuid
from typing import Any, Callable

from . import floats
from .cursor import Cursor
from .errors import StowError
from .prelude import Prelude
from .values import URL, Date, Nil

_RESERVED = {0x1F: "a prelude in place of a value"} | dict.fromkeys(
    (0x76, 0x77, 0x78, 0x79, 0x7D, 0x7E), "a reserved tag"
)
_LATER_VERSION = 0x7F


def is_scalar(tag: int) -> bool:
    return tag <= 0x6F or 0x76 <= tag <= 0x79 or 0x7C <= tag <= 0xBF


def scalar(cursor: Cursor, prelude: Prelude) -> Any:
    """A value whose tag is that of a scalar."""
    start = cursor.position
    tag = cursor.byte()
    if tag in _RESERVED:
        raise StowError(_RESERVED[tag], start)
    if tag == _LATER_VERSION:
        raise StowError("a tag of a later version of the format", start)
    if is_string(tag):
        cursor.position = start
        return string(cursor, prelude)
    if tag == 0x1A:
        return _url(cursor, prelude)
    return _number(tag, cursor) if is_number(tag) else _other(tag, cursor)


def is_number(tag: int) -> bool:
    return 0x03 <= tag <= 0x15 or 0x20 <= tag <= 0x2F or 0x80 <= tag <= 0xBF


def is_string(tag: int) -> bool:
    return tag in (0x1D, 0x1E) or 0x30 <= tag <= 0x6F


def string(cursor: Cursor, prelude: Prelude) -> str:
    tag = cursor.peek()
    if not is_string(tag):
        raise cursor.error("a string wanted")
    cursor.byte()
    if tag == 0x1D:
        return cursor.text(cursor.uint())
    if tag == 0x1E:
        return prelude.symbol(cursor.uint(), cursor)
    return cursor.text(tag - 0x30) if tag < 0x50 else prelude.symbol(tag - 0x50, cursor)


def integer_of_64_bits(cursor: Cursor) -> int:
    """A signed integer of up to 8 bytes, as a base is."""
    tag = cursor.peek()
    if 0x80 <= tag <= 0xBF:
        return cursor.byte() - 0x90
    if 0x03 <= tag <= 0x0A:
        cursor.byte()
        return cursor.signed(tag - 0x02)
    raise cursor.error("an integer of up to 8 bytes wanted")


def _number(tag: int, cursor: Cursor) -> int | float:
    if 0x80 <= tag <= 0xBF:
        return tag - 0x90
    if tag <= 0x0A:
        return cursor.signed(tag - 0x02)
    if 0x10 <= tag <= 0x13:
        return floats.quotient(cursor.signed(tag - 0x0F), 0)
    if tag >= 0x20:
        exponent, width = (tag - 0x20) // 4 + 1, (tag - 0x20) % 4 + 1
        return floats.quotient(cursor.signed(width), exponent)
    number: int | float = _WIDE_NUMBERS[tag](cursor)
    return number


_WIDE_NUMBERS: dict[int, Callable[[Cursor], Any]] = {
    0x0B: lambda cursor: cursor.unsigned(8),
    0x0C: lambda cursor: cursor.signed(16),
    0x0D: lambda cursor: cursor.unsigned(16),
    0x0E: floats.double,
    0x0F: floats.single,
    0x14: floats.scaled,
    0x15: floats.noisy,
}


def _other(tag: int, cursor: Cursor) -> Any:
    return _OTHERS[tag](cursor)


def _url(cursor: Cursor, prelude: Prelude) -> URL:
    """A symbol that is a URL again and again is one URL."""
    tag = cursor.peek()
    text = string(cursor, prelude)
    return prelude.url(text) if tag == 0x1E or tag >= 0x50 else URL(text)


def _nil(cursor: Cursor) -> Nil | None:
    level = cursor.byte()
    return Nil(level) if level else None


def _decimal(cursor: Cursor, is_negative: bool) -> decimal.Decimal:
    start = cursor.position
    body = cursor.sized()
    if not 1 <= body.left <= 17:
        raise StowError(f"a decimal number of {body.left} bytes", start)
    exponent = body.signed(1)
    magnitude = body.unsigned(body.left)
    if magnitude or not is_negative:
        return decimal.Decimal(f"{'-' if is_negative else ''}{magnitude}E{exponent}")
    if exponent:
        raise StowError("a negative zero with an exponent", start)
    return decimal.Decimal("NaN")


def _data(cursor: Cursor) -> bytes:
    return cursor.take(cursor.uint())


_OTHERS: dict[int, Callable[[Cursor], Any]] = {
    0x00: lambda cursor: None,
    0x01: lambda cursor: False,
    0x02: lambda cursor: True,
    0x16: lambda cursor: Date(floats.double(cursor)),
    0x17: lambda cursor: Date(floats.scaled(cursor)),
    0x18: lambda cursor: uuid.UUID(bytes=cursor.take(16)),
    0x19: _data,
    0x1B: lambda cursor: _decimal(cursor, False),
    0x1C: lambda cursor: _decimal(cursor, True),
    0x7C: _nil,
}
