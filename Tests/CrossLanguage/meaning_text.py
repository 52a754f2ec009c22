"""The text of a meaning that the reader in Swift prints as well (`MeaningText.swift`, which describes it)."""

import re
import uuid

from stow import URL, Date, Decimal, Float, Nil, SingleNaN

# Optionals that tell levels of nil apart have to end somewhere; the reader in Swift has as many.
_LAST_NIL_LEVEL = 4

_SINGLE_QUIET_NAN = 0x7FC0_0000
_QUIET_NAN = 0x7FF8_0000_0000_0000
# The bits of a Double for which a Float has no room.
_ONLY_DOUBLE = 0x1FFF_FFFF


def meaning_text(value: object) -> str:
    return _WRITERS[type(value)](value)


def _string(value: str) -> str:
    if value.isascii() and value.isprintable() and '"' not in value and "\\" not in value:
        return f'"{value}"'
    escaped = re.sub(rb'[^ !#-\[\]-~]', lambda match: b"\\%02X" % match[0][0], value.encode())
    return f'"{escaped.decode()}"'


def _float(value: Float) -> str:
    """Of a NaN that a `Float` holds nobody can tell which of the formats it had."""
    if value.bits & _QUIET_NAN == _QUIET_NAN and not value.bits & _ONLY_DOUBLE:
        return _single_nan(SingleNaN(value.bits >> 63 << 31 | value.bits >> 29 & 0x7FFF_FFFF))
    return f"float {value.bits:016X}"


def _single_nan(value: SingleNaN) -> str:
    return f"nan {value.bits | _SINGLE_QUIET_NAN:08X}"


def _decimal(value: Decimal) -> str:
    if value.significand is None:
        return "decimal NaN"
    significand, exponent = value.significand, value.exponent
    if significand == 0:
        return "decimal 0e0"
    while significand % 10 == 0:
        significand //= 10
        exponent += 1
    return f"decimal {significand}e{exponent}"


def _array(value: list) -> str:
    return f"[{', '.join([meaning_text(element) for element in value])}]"


def _object(value: dict) -> str:
    entries = sorted(f"{_string(key)}: {meaning_text(element)}" for key, element in value.items())
    return f"{{{', '.join(entries)}}}"


_WRITERS = {
    Nil: lambda value: f"nil {min(value.level, _LAST_NIL_LEVEL)}",
    bool: lambda value: "true" if value else "false",
    int: str,
    Float: _float,
    SingleNaN: _single_nan,
    str: _string,
    bytes: lambda value: f"data {value.hex().upper()}",
    Date: lambda value: f"date {value.seconds.bits:016X}",
    uuid.UUID: lambda value: f"uuid {value.hex.upper()}",
    URL: lambda value: f"url {_string(value.text)}",
    Decimal: _decimal,
    list: _array,
    dict: _object,
}
