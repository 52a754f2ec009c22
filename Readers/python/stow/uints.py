"""Unsigned integers of variable size, as they are written."""

from __future__ import annotations


def uint_size(number: int) -> int:
    """The bytes of the first row of the table that holds the number."""
    if number <= 0xDF:
        return 1
    return 2 if number <= 6_367 else 3 if number <= 268_511 else 5 if number <= 0xFFFF_FFFF else 9


def uint_bytes(number: int) -> bytes:
    size = uint_size(number)
    if size == 1:
        return bytes([number])
    if size == 2:
        return bytes([0xE0 + (number - 224 >> 8), number - 224 & 0xFF])
    if size == 3:
        return bytes([0xF8 + (number - 6_368 >> 16)]) + (number - 6_368 & 0xFFFF).to_bytes(2, "little")
    return bytes([0xFC if size == 5 else 0xFD]) + number.to_bytes(size - 1, "little")
