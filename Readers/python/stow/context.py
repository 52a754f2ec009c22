"""Contexts: symbols and shapes that writer and reader hold before a message comes."""

from __future__ import annotations

from typing import Any

from .buffers import readable
from .checksums import checksum
from .cursor import Cursor
from .errors import StowError
from .prelude import PRELUDE_TAG, Prelude

_NIL = 0x00


class Context:
    """The symbols and shapes of a context, from its message. Raises `StowError` if the bytes are none.

    >>> context = Context(bytes.fromhex("1F 01 83 41 64 61 01 01 04 0D C0 10 00"))
    >>> loads(bytes.fromhex("F0 01 50"), context=context)
    {'name': 'Ada'}
    """

    def __init__(self, message: Any):
        #: The message that says what the context is.
        self.message = bytes(readable(message))
        cursor = Cursor(self.message, 0, len(self.message), has_shortest_uints=True)
        if cursor.peek() != PRELUDE_TAG:
            raise StowError("no prelude", 0)
        strict = Prelude(symbols_are_references=True)
        strict.add(cursor)
        if cursor.byte() != _NIL:
            raise StowError("a context with a value", cursor.position - 1)
        cursor.finish()
        #: What messages add to, which need not be as strict.
        self.prelude = Prelude(strict)
        self.symbol_numbers = {symbol: number for number, symbol in enumerate(self.prelude.symbols)}
        self.shape_numbers = {tuple(shape): number for number, shape in enumerate(self.prelude.shapes)}
        if len(self.symbol_numbers) < len(self.symbols) or len(self.shape_numbers) < len(self.shapes):
            raise StowError("a symbol or a shape twice", 0)
        #: What messages name it by.
        self.id = checksum(self.message)

    @property
    def symbols(self) -> list[str]:
        return self.prelude.symbols

    @property
    def shapes(self) -> list[list[str]]:
        return self.prelude.shapes

    def __repr__(self) -> str:
        return f"<Context {self.id:08X}: {len(self.symbols)} symbols, {len(self.shapes)} shapes>"
