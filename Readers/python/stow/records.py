"""The records of logs and streams."""

from __future__ import annotations

from typing import Any

from .cursor import Cursor
from .errors import StowError
from .message import DEPTH_LIMIT, value
from .prelude import Prelude


class Record:
    """A record of a log or a stream: its number, and its value or the error in its place.

    `value` raises the error of a record that is no valid message.
    """

    __slots__ = ("number", "error", "_value")

    def __init__(self, number: int, value: Any = None, error: StowError | None = None):
        self.number = number
        # The frames that raised it hold all that was read.
        self.error = error and error.with_traceback(None)
        self._value = value

    @property
    def value(self) -> Any:
        if self.error is not None:
            raise self.error.with_traceback(None)
        return self._value

    def __repr__(self) -> str:
        return f"<Record {self.number}: {self.error or repr(self._value)}>"


class Definitions:
    """What the records of a scope, or of a stream, define: each adds to it."""

    def __init__(self, with_numpy: bool = False, depth: int = DEPTH_LIMIT):
        self.prelude = Prelude()
        self._with_numpy = with_numpy
        self._depth = depth
        self._is_broken = False

    def take_in(self, message: bytes) -> Cursor:
        """Adds what a record defines. Returns where its value begins."""
        cursor = Cursor(message, 0, len(message))
        if self._is_broken:
            raise StowError("a record before it in its scope has a prelude that is not valid")
        self._is_broken = True
        self.prelude.add(cursor)
        self._is_broken = False
        return cursor

    def read(self, number: int, message: bytes) -> Record:
        try:
            return self.read_value(number, self.take_in(message))
        except StowError as error:
            return Record(number, error=error)

    def read_value(self, number: int, cursor: Cursor) -> Record:
        """The record whose value begins here."""
        try:
            return Record(number, value(cursor, self.prelude, self._depth, self._with_numpy))
        except StowError as error:
            return Record(number, error=error)
