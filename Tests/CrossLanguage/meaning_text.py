"""The text of a meaning that the reader in Swift prints as well (`MeaningText.swift`, which describes it)."""

import decimal
import re
import struct
import uuid

from reader import stow

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


def _float(value: float) -> str:
    """Of a NaN that a `Float` holds nobody can tell which of the formats it had."""
    bits = _bits(value)
    if bits & _QUIET_NAN == _QUIET_NAN and not bits & _ONLY_DOUBLE:
        return _single_nan(bits >> 63 << 31 | bits >> 29 & 0x7FFF_FFFF)
    return f"float {bits:016X}"


def _bits(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


def _single_nan(bits: int) -> str:
    return f"nan {bits | _SINGLE_QUIET_NAN:08X}"


def _decimal(value: decimal.Decimal) -> str:
    if value.is_nan():
        return "decimal NaN"
    sign, digits, exponent = value.as_tuple()
    significand = int("".join(map(str, digits))) * (-1 if sign else 1)
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
    type(None): lambda value: "nil 0",
    stow.Nil: lambda value: f"nil {min(value.level, _LAST_NIL_LEVEL)}",
    bool: lambda value: "true" if value else "false",
    int: str,
    float: _float,
    stow.SingleNaN: lambda value: _single_nan(value.bits),
    str: _string,
    bytes: lambda value: f"data {value.hex().upper()}",
    stow.Date: lambda value: f"date {_bits(value.seconds):016X}",
    uuid.UUID: lambda value: f"uuid {value.hex.upper()}",
    stow.URL: lambda value: f"url {_string(str(value))}",
    decimal.Decimal: _decimal,
    list: _array,
    dict: _object,
}
