"""The checksum of logs, streams and contexts: CRC-32C."""

from __future__ import annotations

from .buffers import Bytes

_POLYNOMIAL = 0x82F6_3B78


def _checksum_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _checksum_table()


def checksum(data: Bytes) -> int:
    """CRC-32C."""
    state = 0xFFFF_FFFF
    for byte in data:
        state = _TABLE[(state ^ byte) & 0xFF] ^ state >> 8
    return state ^ 0xFFFF_FFFF


def _times_x(factor: int) -> int:
    return factor >> 1 ^ (_POLYNOMIAL if factor & 1 else 0)


def _powers(count: int) -> list[int]:
    """1 and x to the 8th, 16th and so on, modulo the polynomial, whose highest power is in the lowest bit."""
    power = 1 << 31
    powers = []
    for _ in range(count):
        powers.append(power)
        power = _TABLE[power & 0xFF] ^ power >> 8
    return powers


class Checksums:
    """The checksums of all parts of some bytes: that of a part follows from those of what is before its two ends."""

    _powers: list[int] = []

    def __init__(self, data: Bytes):
        # Another thread may put fewer in the place of those that are known.
        self._powers = Checksums._powers
        if len(self._powers) <= len(data):
            self._powers = Checksums._powers = _powers(len(data) + 1)
        state = 0xFFFF_FFFF
        self._before = [0]
        for byte in data:
            state = _TABLE[(state ^ byte) & 0xFF] ^ state >> 8
            self._before.append(state ^ 0xFFFF_FFFF)

    def of(self, front: Bytes, start: int, end: int) -> int:
        """The checksum of `front` and the bytes from `start` to `end`."""
        factor, power, product = checksum(front) ^ self._before[start], self._powers[end - start], 0
        while power:
            if power & 0x8000_0000:
                product ^= factor
            factor = _times_x(factor)
            power = power << 1 & 0xFFFF_FFFF
        return product ^ self._before[end]
