"""The symbols and shapes at the front of a message, and the keys that refer to them."""

from __future__ import annotations

from .cursor import Cursor
from .errors import StowError
from .texts import text
from .values import URL

PRELUDE_TAG = 0x1F


class Prelude:
    """What preludes define: that of a message, of what it relies on, or in a log of the records before it.

    In a context, a key that is a symbol has to be a reference, in its shortest form.
    """

    def __init__(self, outer: Prelude | None = None, symbols_are_references: bool = False):
        self.symbols: list[str] = list(outer.symbols) if outer else []
        self.shapes: list[list[str]] = list(outer.shapes) if outer else []
        self._urls: dict[str, URL] = {}
        self._symbols_are_references = symbols_are_references
        self._known: frozenset[str] = frozenset()

    def add(self, cursor: Cursor) -> None:
        """Takes in what stands at the front of a message; in a log it adds to what the records before it defined."""
        if cursor.left and cursor.peek() == PRELUDE_TAG:
            cursor.byte()
            self._read(cursor)

    def _read(self, cursor: Cursor) -> None:
        for _ in range(cursor.uint()):
            self.symbols.append(text(cursor))
        if self._symbols_are_references:
            self._known = frozenset(self.symbols)
        for _ in range(cursor.uint()):
            self.shapes.append(self._shape(cursor))

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
        start = cursor.position
        if not 0xC0 <= header <= 0xE0:
            key = text(cursor)
            if key in self._known:
                raise StowError("a symbol in place of a reference", start)
            return key
        cursor.byte()
        number = cursor.uint() if header == 0xE0 else header - 0xC0
        if self._symbols_are_references and header == 0xE0 and number < 32:
            raise StowError("a reference that fits in the header", start)
        return self.symbol(number, cursor)

    def symbol(self, number: int, cursor: Cursor) -> str:
        if number >= len(self.symbols):
            raise cursor.error(f"symbol {number} of {len(self.symbols)}")
        return self.symbols[number]

    def url(self, symbol: str) -> URL:
        """A symbol as a URL, the same each time."""
        found = self._urls.get(symbol)
        if found is None:
            found = self._urls[symbol] = URL(symbol)
        return found

    def shape(self, number: int, cursor: Cursor) -> list[str]:
        if number >= len(self.shapes):
            raise cursor.error(f"shape {number} of {len(self.shapes)}")
        return self.shapes[number]


class DistinctKeys:
    """The keys of one shape or map: strings of distinct bytes."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self._known: set[str] = set()

    def add(self, key: str, cursor: Cursor) -> None:
        if key in self._known:
            raise cursor.error("a key twice")
        self._known.add(key)
        self.keys.append(key)
