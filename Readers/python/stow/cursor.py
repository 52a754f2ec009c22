"""Reading forward over a part of a message, and never beyond its end."""

from __future__ import annotations

from .buffers import Bytes
from .errors import StowError
from .uints import uint_size

_UINT_LIMIT = 1 << 63


class Cursor:
    def __init__(self, data: Bytes, position: int, end: int, has_shortest_uints: bool = False):
        self.data = data
        self.position = position
        self.end = end
        self._has_shortest_uints = has_shortest_uints

    @property
    def left(self) -> int:
        return self.end - self.position

    def error(self, reason: str) -> StowError:
        return StowError(reason, self.position)

    def take(self, count: int) -> bytes:
        if count > self.left:
            raise self.error(f"{count} bytes wanted, {self.left} left")
        start = self.position
        self.position += count
        return bytes(self.data[start : self.position])

    def part(self, count: int) -> Cursor:
        """A cursor over the next bytes, which this one steps over."""
        if count > self.left:
            raise self.error(f"a length of {count}, where {self.left} bytes are left")
        start = self.position
        self.position += count
        return Cursor(self.data, start, self.position)

    def sized(self) -> Cursor:
        """What stands after a length."""
        return self.part(self.uint())

    def byte(self) -> int:
        byte = self.peek()
        self.position += 1
        return byte

    def peek(self) -> int:
        if self.position >= self.end:
            raise self.error("a byte wanted, none left")
        return self.data[self.position]

    def unsigned(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def signed(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little", signed=True)

    def uint(self) -> int:
        """An unsigned integer of variable size."""
        start = self.position
        number = self._any_uint()
        if self._has_shortest_uints and self.position - start > uint_size(number):
            raise StowError("an unsigned integer that is longer than need be", start)
        return number

    def _any_uint(self) -> int:
        start = self.position
        first = self.byte()
        if first <= 0xDF:
            return first
        if first <= 0xF7:
            return 224 + (first - 0xE0) * 256 + self.byte()
        if first <= 0xFB:
            return 6_368 + (first - 0xF8) * 65_536 + self.unsigned(2)
        if first == 0xFC:
            return self.unsigned(4)
        number = self.unsigned(8) if first == 0xFD else _UINT_LIMIT
        if number >= _UINT_LIMIT:
            raise StowError("a reserved unsigned integer", start)
        return number

    def shortest_uint(self) -> int:
        """The same, where only the shortest form is valid."""
        start = self.position
        number = self.uint()
        if self.position - start > uint_size(number):
            raise StowError("an unsigned integer that is longer than need be", start)
        return number

    def bits(self, size: int) -> list[bool]:
        """The bits of so many bytes, each from its least significant one on."""
        return [bool(byte >> index & 1) for byte in self.take(size) for index in range(8)]

    def text(self, size: int) -> str:
        start = self.position
        try:
            return self.take(size).decode("utf-8")
        except UnicodeDecodeError as error:
            start += error.start
        raise StowError("not UTF-8", start)

    def finish(self) -> None:
        if self.left:
            raise self.error(f"{self.left} bytes after the last value")
