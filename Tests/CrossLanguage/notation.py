"""The notation of the vectors, which Tests/StowTests/Vectors/README.md describes: from text to values and back."""

import json
import uuid

from stow import URL, Date, Decimal, Float, Nil, SingleNaN


def hex_bytes(text: str) -> bytes:
    """Bytes as two hexadecimal digits each; `00*20` stands for twenty times 00."""
    result = bytearray()
    for word in text.split():
        digits, _, count = word.partition("*")
        result += bytes.fromhex(digits) * int(count or 1)
    return bytes(result)


def parse(text: str) -> object:
    """The value that a reader finds, whatever calls write it."""
    value = json.loads(text, parse_float=lambda digits: Float.of(float(digits)), object_pairs_hook=_object)
    return _without_null(value)


def _object(pairs: list[tuple[str, object]]) -> object:
    if len(pairs) == 1 and pairs[0][0] in _SPECIAL:
        key, value = pairs[0]
        return _SPECIAL[key](value)
    return {key: value for key, value in pairs if value is not _ABSENT}


# A key that is asked for and has no value.
_ABSENT = object()


def _bits(digits: str) -> Float | SingleNaN:
    return SingleNaN(int(digits, 16)) if len(digits) == 8 else Float(int(digits, 16))


def _decimal(value: object) -> Decimal:
    return Decimal(None) if value == "NaN" else Decimal(*value)


def _same(value: dict) -> dict:
    return value


_SPECIAL = {
    "$nil": Nil,
    "$bits": _bits,
    "$repeat": lambda parts: parts[0] * parts[1],
    "$data": hex_bytes,
    "$date": Date,
    "$uuid": uuid.UUID,
    "$url": URL,
    "$decimal": _decimal,
    "$A": _same,
    "$B": _same,
    "$C": _same,
    "$AB": _same,
    "$nothing": lambda _: {},
    "$absent": lambda _: _ABSENT,
}


def _without_null(value: object) -> object:
    if value is None:
        return Nil()
    if isinstance(value, list):
        return [_without_null(element) for element in value]
    if isinstance(value, dict):
        return {key: _without_null(element) for key, element in value.items()}
    return value


def described(value: object) -> str:
    """A text that is equal for two values exactly if they are of the same kinds and equal."""
    if isinstance(value, list):
        return "[" + ", ".join(described(element) for element in value) + "]"
    if isinstance(value, dict):
        entries = sorted((ascii(key), described(element)) for key, element in value.items())
        return "{" + ", ".join(f"{key}: {element}" for key, element in entries) + "}"
    return ascii(value)
