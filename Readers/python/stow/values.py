"""What a message stands for, where Python has no type that tells the kinds apart.

Nil is None, and Bools, integers, floats, strings, data, UUIDs, decimal numbers, arrays and objects are `bool`, `int`, `float`,
`str`, `bytes`, `uuid.UUID`, `decimal.Decimal`, `list` and `dict`.
"""

from __future__ import annotations

import datetime
import math
import struct
from dataclasses import dataclass

_EPOCH = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)
_MICROSECOND = datetime.timedelta(microseconds=1)


@dataclass(frozen=True)
class Nil:
    """A nil inside so many optionals that have a value, 1 to 255. That of level 0 is None."""

    level: int

    def __post_init__(self) -> None:
        if not 1 <= self.level <= 255:
            raise ValueError("levels of nil are 1 to 255")

    def __bool__(self) -> bool:
        return False


class SingleNaN(float):
    """A NaN of 4 bytes with its bits, which no `float` has."""

    __slots__ = ("bits",)
    bits: int

    def __new__(cls, bits: int = 0x7FC0_0000) -> SingleNaN:
        if not 0 <= bits < 1 << 32 or bits & 0x7F80_0000 != 0x7F80_0000 or not bits & 0x007F_FFFF:
            raise ValueError(f"{bits:08X} are not the bits of a NaN of 4 bytes")
        self = super().__new__(cls, math.nan)
        self.bits = bits
        return self

    def __repr__(self) -> str:
        return f"SingleNaN(0x{self.bits:08X})"

    def __reduce__(self) -> tuple[type[SingleNaN], tuple[int]]:
        return type(self), (self.bits,)


@dataclass(frozen=True, order=True)
class Date:
    """A point in time: seconds since 2001-01-01 00:00:00 UTC, to the bit."""

    seconds: float

    def __post_init__(self) -> None:
        if type(self.seconds) is not float:
            object.__setattr__(self, "seconds", float(self.seconds))

    @classmethod
    def of(cls, time: datetime.datetime) -> Date:
        """The date of a `datetime` that has a time zone."""
        if time.tzinfo is None:
            raise ValueError("a datetime without a time zone is no point in time")
        return cls(((time - _EPOCH) // _MICROSECOND) / 1_000_000)

    def datetime(self) -> datetime.datetime:
        """The nearest microsecond, in UTC. Raises `OverflowError` or `ValueError` where `datetime` has none."""
        return _EPOCH + datetime.timedelta(seconds=self.seconds)

    def __str__(self) -> str:
        try:
            return self.datetime().isoformat()
        except (OverflowError, ValueError):
            return f"{self.seconds} s"


class URL(str):
    """A URL as it is written. Whether it is one is not checked."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"URL({str.__repr__(self)})"


def bits_of(value: float) -> int:
    """The 64 bits of a float."""
    return int.from_bytes(struct.pack("<d", value), "little")


def float_of(bits: int) -> float:
    """The float of these 64 bits."""
    return float(struct.unpack("<d", bits.to_bytes(8, "little"))[0])
