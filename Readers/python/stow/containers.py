"""Containers that are being read: each takes its values in turn."""

from __future__ import annotations

from typing import Any

from .cursor import Cursor
from .errors import StowError
from .prelude import DistinctKeys, Prelude


class Whole:
    """The message: one value, and nothing after it."""

    def __init__(self, cursor: Cursor):
        self.cursor = cursor
        self.values: list[Any] = []

    def wants_value(self) -> bool:
        if not self.values:
            return True
        self.cursor.finish()
        return False

    def add(self, value: Any) -> None:
        self.values.append(value)

    def result(self) -> Any:
        return self.values[0]


class Array:
    def __init__(self, cursor: Cursor):
        self.cursor = cursor
        self.values: list[Any] = []

    def wants_value(self) -> bool:
        return self.cursor.left > 0

    def add(self, value: Any) -> None:
        self.values.append(value)

    def result(self) -> list[Any]:
        return self.values


class Map:
    def __init__(self, cursor: Cursor, prelude: Prelude):
        self.cursor = cursor
        self.prelude = prelude
        self.keys = DistinctKeys()
        self.values: list[Any] = []

    def wants_value(self) -> bool:
        if self.cursor.left == 0:
            return False
        self.keys.add(self.prelude.key(self.cursor), self.cursor)
        return True

    def add(self, value: Any) -> None:
        self.values.append(value)

    def result(self) -> dict[str, Any]:
        return dict(zip(self.keys.keys, self.values))


class Record:
    """An object whose keys are known: a record, or a partial one without the keys that are absent."""

    def __init__(self, cursor: Cursor, keys: list[str]):
        self.cursor = cursor
        self.keys = keys
        self.values: list[Any] = []

    def wants_value(self) -> bool:
        if len(self.values) < len(self.keys):
            return True
        self.cursor.finish()
        return False

    def add(self, value: Any) -> None:
        self.values.append(value)

    def result(self) -> dict[str, Any]:
        return dict(zip(self.keys, self.values))


def present_keys(cursor: Cursor, keys: list[str]) -> list[str]:
    """The keys of a shape for which a partial record has values."""
    start = cursor.position
    bits = cursor.bits((len(keys) + 7) // 8)
    if any(bits[len(keys) :]):
        raise StowError("presence bits without a key", start)
    return [key for key, is_present in zip(keys, bits) if is_present]
