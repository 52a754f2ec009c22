"""Contexts: symbols and shapes that writer and reader hold before a message comes."""

from .cursor import Cursor
from .errors import StowError
from .prelude import PRELUDE_TAG, Prelude

_NIL = 0x00
_POLYNOMIAL = 0x1EDC6F41


class Context:
    """What the message of a context says. Raises `StowError` if it is none."""

    def __init__(self, message: bytes):
        cursor = Cursor(message, 0, len(message), has_shortest_uints=True)
        if cursor.peek() != PRELUDE_TAG:
            raise StowError("no prelude", 0)
        self.prelude = Prelude(symbols_are_references=True)
        self.prelude.add(cursor)
        if cursor.byte() != _NIL:
            raise StowError("a context with a value", cursor.position - 1)
        cursor.finish()
        symbols, shapes = self.prelude.symbols, [tuple(shape) for shape in self.prelude.shapes]
        if len(set(symbols)) < len(symbols) or len(set(shapes)) < len(shapes):
            raise StowError("a symbol or a shape twice", 0)
        self.id = crc_32c(message)


def crc_32c(data: bytes) -> int:
    remainder = 0xFFFF_FFFF
    for byte in data:
        remainder ^= byte
        for _ in range(8):
            remainder = remainder >> 1 ^ (_REFLECTED if remainder & 1 else 0)
    return remainder ^ 0xFFFF_FFFF


_REFLECTED = int(f"{_POLYNOMIAL:032b}"[::-1], 2)
