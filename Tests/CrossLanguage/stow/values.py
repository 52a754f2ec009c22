"""What a message stands for, where Python has no type that tells the kinds apart.

Bools, integers, strings, data, UUIDs, arrays and objects are `bool`, `int`, `str`, `bytes`, `uuid.UUID`, `list`
and `dict`.
"""

import struct
from dataclasses import dataclass


@dataclass(frozen=True)
class Nil:
    level: int = 0


@dataclass(frozen=True)
class Float:
    """A float, as the 64 bits of a Double, so that equal means the same bits."""

    bits: int

    @classmethod
    def of(cls, value: float) -> "Float":
        return cls(struct.unpack("<Q", struct.pack("<d", value))[0])

    @property
    def value(self) -> float:
        return struct.unpack("<d", struct.pack("<Q", self.bits))[0]


@dataclass(frozen=True)
class SingleNaN:
    """A NaN of 4 bytes, which has no Double of the same bits."""

    bits: int


@dataclass(frozen=True)
class Date:
    """The seconds since 2001-01-01 00:00:00 UTC."""

    seconds: Float


@dataclass(frozen=True)
class Decimal:
    """significand · 10 to the exponent; NaN without a significand."""

    significand: int | None
    exponent: int = 0


@dataclass(frozen=True)
class URL:
    text: str
