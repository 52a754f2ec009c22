"""The symbols and shapes at the front of a message, and the keys that refer to them."""

import unicodedata

from .cursor import Cursor
from .errors import StowError
from .texts import text

PRELUDE_TAG = 0x1F


class Prelude:
    def __init__(self) -> None:
        self.symbols: list[str] = []
        self._shapes: list[list[str]] = []

    def add(self, cursor: Cursor) -> None:
        """Takes in what stands at the front of a message; in a log it adds to what the records before it defined."""
        if cursor.left and cursor.peek() == PRELUDE_TAG:
            cursor.byte()
            self._read(cursor)

    def _read(self, cursor: Cursor) -> None:
        for _ in range(cursor.uint()):
            self.symbols.append(text(cursor))
        for _ in range(cursor.uint()):
            self._shapes.append(self._shape(cursor))

    def _shape(self, cursor: Cursor) -> list[str]:
        start = cursor.position
        count = cursor.uint()
        if count == 0:
            raise StowError("a shape without keys", start)
        keys = DistinctKeys()
        for _ in range(count):
            keys.add(self.key(cursor), cursor)
        return keys.keys

    def key(self, cursor: Cursor) -> str:
        """A text, or a reference to a symbol."""
        header = cursor.peek()
        if not 0xC0 <= header <= 0xE0:
            return text(cursor)
        cursor.byte()
        return self.symbol(cursor.uint() if header == 0xE0 else header - 0xC0, cursor)

    def symbol(self, number: int, cursor: Cursor) -> str:
        if number >= len(self.symbols):
            raise cursor.error(f"symbol {number} of {len(self.symbols)}")
        return self.symbols[number]

    def shape(self, number: int, cursor: Cursor) -> list[str]:
        if number >= len(self._shapes):
            raise cursor.error(f"shape {number} of {len(self._shapes)}")
        return self._shapes[number]


class DistinctKeys:
    """The keys of one shape or map; those that are canonically equivalent are one key."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self._known: set[str] = set()

    def add(self, key: str, cursor: Cursor) -> None:
        normal = unicodedata.normalize("NFC", key)
        if normal in self._known:
            raise cursor.error(f"a second key “{key}”")
        self._known.add(normal)
        self.keys.append(key)
