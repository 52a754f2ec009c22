"""Diagnostic notation: a text that says exactly what a message holds."""

from __future__ import annotations

import base64
import decimal
import re
import uuid
from collections import UserString
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from . import numeric
from .buffers import readable
from .errors import StowError
from .planning import with_texts
from .values import URL, Date, Nil, SingleNaN, bits_of

_QUIET_NAN = 0x7FF8_0000_0000_0000
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Controls, marks of direction, separators of lines and the byte order mark.
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]')
# The years of four digits, counted from 2001-01-01: `date` has those from 1 on.
_FIRST_DAY, _LAST_DAY = -730_851, 2_921_573
_DAYS_OF_400_YEARS = 146_097


def notation(value: Any, width: int | None = None) -> str:
    """The value in diagnostic notation, on one line or on lines of about a width.

    >>> notation({"id": 5, "level": 4.0, "data": b"abc"})
    '{"id": 5, "level": 4.0, "data": data"YWJj"}'

    Raises `TypeError` for a value of a type that has no notation, and `StowError` for one that holds itself, for two keys of a
    `dict` that are one text, and for an integer that Python does not write.
    """
    _check_ends(value)
    return _on_one_line(value) if width is None else _on_lines(value, width)


def _check_ends(value: Any) -> None:
    """Refuses a list or a mapping that holds itself: its text would have no end."""
    around: set[int] = set()
    # What is still to be checked, the next last. A list or mapping is added again below what it holds, to leave `around` then.
    rest: list[tuple[bool, Any]] = [(True, value)]
    while rest:
        is_value, each = rest.pop()
        if not is_value:
            around.remove(id(each))
        elif isinstance(each, Mapping) or _is_list(each):
            if id(each) in around:
                raise StowError("a value that holds itself has no notation")
            around.add(id(each))
            rest.append((False, each))
            items = each.values() if isinstance(each, Mapping) else each
            rest += [(True, item) for item in items if type(item) not in _SCALARS]


def _on_one_line(value: Any) -> str:
    parts: list[str] = []
    # What is to be written yet, the next last: nesting takes no stack of the interpreter.
    rest: list[tuple[bool, Any]] = [(True, value)]
    while rest:
        is_value, each = rest.pop()
        if not is_value:
            parts.append(each)
        elif isinstance(each, Mapping):
            rest.append((False, "}"))
            for index, (key, item) in reversed(list(enumerate(with_texts(each).items()))):
                rest += ((True, item), (False, f"{', ' if index else ''}{_quoted(key)}: "))
            parts.append("{")
        elif _is_array(each):
            rest.append((False, "]"))
            for index, item in reversed(list(enumerate(_elements(each)))):
                rest.append((True, item))
                if index:
                    rest.append((False, ", "))
            parts.append("[")
        else:
            parts.append(_scalar(each))
    return "".join(parts)


def _on_lines(value: Any, width: int) -> str:
    """Arrays and objects that have no room on a line have lines of their items."""
    lines: list[str] = []
    rest: list[tuple[int, str, Any, str]] = [(0, "", value, "")]
    while rest:
        indent, front, each, after = rest.pop()
        is_object = isinstance(each, Mapping)
        if each is _CLOSED or not (is_object or _is_array(each)) or not len(each):
            lines.append(" " * indent + front + ("" if each is _CLOSED else _on_one_line(each)) + after)
            continue
        room = width - indent - len(front) - len(after)
        line = _on_one_line(each) if _least_size(each, room) <= room else None
        if line is not None and len(line) <= room:
            lines.append(" " * indent + front + line + after)
            continue
        lines.append(" " * indent + front + ("{" if is_object else "["))
        rest.append((indent, "}" if is_object else "]", _CLOSED, after))
        if is_object:
            pairs = [(f"{_quoted(key)}: ", item) for key, item in with_texts(each).items()]
        else:
            pairs = [("", item) for item in _elements(each)]
        for index, (key, item) in reversed(list(enumerate(pairs))):
            rest.append((indent + 2, key, item, "" if index == len(pairs) - 1 else ","))
    return "\n".join(lines)


_CLOSED = object()


def _least_size(value: Any, most: int) -> int:
    """No more than the text of a value has: so far, if it has more than so many characters."""
    size, rest = 0, [value]
    while rest and size <= most:
        each = rest.pop()
        size += len(each) if isinstance(each, (str, bytes)) else 1
        if isinstance(each, Mapping):
            if len(each) > most:
                return len(each)
            rest += [*each, *each.values()]
        elif _is_array(each):
            if len(each) > most:
                return len(each)
            rest += _elements(each)
    return size


def _is_array(value: Any) -> bool:
    if type(value) in _SCALARS or _is_number_of_numpy(value):
        return False
    return hasattr(value, "tolist") or _is_list(value)


def _is_number_of_numpy(value: Any) -> bool:
    """Whether it is that, or an array of no dimensions."""
    return numeric.is_of_numpy(value) and value.shape == ()


def _is_list(value: Any) -> bool:
    """Strings are sequences, too: of strings, without end. And bytes are, which are data."""
    return isinstance(value, (list, tuple)) or (isinstance(value, Sequence) and not isinstance(value, _NO_LISTS))


_NO_LISTS = (str, bytes, bytearray, memoryview, UserString)


def _elements(value: Any) -> Any:
    if hasattr(value, "dtype"):
        return numeric.listed(value)
    return value.tolist() if hasattr(value, "tolist") else value


def _quoted(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    return _SHORT_ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04x}"


def _scalar(value: Any) -> str:
    write = _SCALARS.get(type(value))
    if write is None and _is_number_of_numpy(value):
        value = numeric.listed(value)
        write = _SCALARS.get(type(value))
    if write is None:
        raise TypeError(f"a value of type {type(value).__name__} has no notation")
    return write(value)


def _integer(value: int) -> str:
    try:
        return str(value)
    except ValueError:
        raise StowError("an integer of more digits than Python writes has no notation") from None


def _data(value: Any) -> str:
    return f'data"{base64.b64encode(readable(value)).decode()}"'


def _float(value: float) -> str:
    if value == value:
        return repr(value)
    bits = bits_of(value)
    return "nan" if bits == _QUIET_NAN else f"nan(0x{bits:016x})"


def _date(value: Date) -> str:
    text = _time_text(value.seconds)
    return f"date({_float(value.seconds)})" if text is None else f'date"{text}"'


def _time_text(seconds: float) -> str | None:
    """A day and a time that say the exact decimal number of seconds; None where none does."""
    if not _FIRST_DAY * 86_400 <= seconds < (_LAST_DAY + 1) * 86_400:
        return None
    digits = repr(seconds)
    if "e" in digits or digits == "-0.0":
        return None
    places = len(digits.partition(".")[2])
    whole, fraction = divmod(int(digits.replace(".", "")), 10**places)
    day, time = divmod(whole, 86_400)
    decimals = f".{fraction:0{places}}" if fraction else ""
    return f"{_day_text(day)}T{time // 3600:02}:{time // 60 % 60:02}:{time % 60:02}{decimals}Z"


def _day_text(day: int) -> str:
    """`datetime` has no year 0, which is as long as year 400."""
    if day + _DAYS_OF_400_YEARS <= _LAST_DAY and day < 0:
        moved = date(2001, 1, 1) + timedelta(days=day + _DAYS_OF_400_YEARS)
        return f"{moved.year - 400:04}-{moved.month:02}-{moved.day:02}"
    return (date(2001, 1, 1) + timedelta(days=day)).isoformat()


def _decimal(value: decimal.Decimal) -> str:
    if value.is_nan():
        return "NaN"
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise StowError("an infinite decimal number has no notation")
    text = "".join(map(str, digits)).lstrip("0") or "0"
    # The format has no negative zero.
    front = "-" if sign and value else ""
    if exponent == 0:
        return front + text
    if not -20 <= exponent < 0:
        return f"{front}{text}e{exponent}"
    text = text.rjust(1 - exponent, "0")
    return f"{front}{text[:exponent]}.{text[exponent:]}"


_SCALARS: dict[type, Callable[[Any], str]] = {
    type(None): lambda value: "null",
    Nil: lambda value: f"null({value.level})",
    bool: lambda value: "true" if value else "false",
    int: _integer,
    float: _float,
    SingleNaN: lambda value: f"nan(0x{value.bits:08x})",
    str: _quoted,
    bytes: _data,
    bytearray: _data,
    memoryview: _data,
    Date: _date,
    uuid.UUID: lambda value: f'uuid"{str(value).upper()}"',
    URL: lambda value: f"url{_quoted(str(value))}",
    decimal.Decimal: lambda value: f'decimal"{_decimal(value)}"',
}
