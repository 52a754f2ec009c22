"""The notation of the vectors, which Conformance/README.md describes: from text to values and back."""

import decimal
import json
import struct
import uuid

from reader import stow


def hex_bytes(text: str) -> bytes:
    """Bytes as two hexadecimal digits each; `00*20` stands for twenty times 00."""
    result = bytearray()
    for word in text.split():
        digits, _, count = word.partition("*")
        result += bytes.fromhex(digits) * int(count or 1)
    return bytes(result)


def parse(text: str) -> object:
    """The value that a reader finds, whatever calls write it."""
    return json.loads(text, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, object]]) -> object:
    if len(pairs) == 1 and pairs[0][0] in _SPECIAL:
        key, value = pairs[0]
        return _SPECIAL[key](value)
    return {key: value for key, value in pairs if value is not _ABSENT}


# A key that is asked for and has no value.
_ABSENT = object()


def _float(digits: str) -> float:
    if len(digits) == 8:
        return stow.SingleNaN(int(digits, 16))
    return float(struct.unpack(">d", bytes.fromhex(digits))[0])


def _decimal(value: object) -> decimal.Decimal:
    return decimal.Decimal("NaN") if value == "NaN" else decimal.Decimal("{}e{}".format(*value))


def _same(value: dict) -> dict:
    return value


_SPECIAL = {
    "$nil": lambda level: stow.Nil(level) if level else None,
    "$bits": _float,
    "$repeat": lambda parts: parts[0] * parts[1],
    "$data": hex_bytes,
    "$date": stow.Date,
    "$uuid": uuid.UUID,
    "$url": stow.URL,
    "$decimal": _decimal,
    "$A": _same,
    "$B": _same,
    "$C": _same,
    "$AB": _same,
    "$nothing": lambda _: {},
    "$absent": lambda _: _ABSENT,
}


def described(value: object) -> str:
    """A text that is equal for two values exactly if they are of the same kinds and equal, to the bits of floats."""
    if isinstance(value, list):
        return "[" + ", ".join(described(element) for element in value) + "]"
    if isinstance(value, dict):
        entries = sorted((ascii(key), described(element)) for key, element in value.items())
        return "{" + ", ".join(f"{key}: {element}" for key, element in entries) + "}"
    if isinstance(value, stow.Date):
        return f"date {described(value.seconds)}"
    if type(value) is float:
        return f"float {struct.pack('>d', value).hex()}"
    return ascii(value)
