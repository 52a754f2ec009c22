"""Messages that are not far from valid ones."""

from collections.abc import Callable
from random import Random

_INTERESTING = bytes.fromhex("00 01 02 7F 80 81 BF C0 DF E0 E1 F7 FB FC FD FE FF")

_STEP_COUNTS = (1, 1, 1, 2, 3)
# A longer message is mutated as much less often as it is longer.
_ORDINARY_SIZE = 256


class Mutator:
    """Mutates the messages of one file, the same way for the same seed."""

    def __init__(self, messages: list[bytes], seed: str):
        self._random = Random(seed)
        self._messages = messages
        self._weights = [_ORDINARY_SIZE / max(len(message), _ORDINARY_SIZE) for message in messages]

    def mutations(self, count: int) -> list[bytes]:
        originals = self._random.choices(self._messages, self._weights, k=count)
        return [self._mutated(original) for original in originals]

    def _mutated(self, message: bytes) -> bytes:
        for _ in range(self._random.choice(_STEP_COUNTS)):
            step = self._random.choice(_STEPS)
            message = step(self, message)
        return message

    def _place(self, message: bytes) -> int:
        """A place between bytes, or before or after all."""
        return self._random.randint(0, len(message))

    def _run(self, message: bytes) -> tuple[int, int]:
        """The start and end of some bytes, most often of few."""
        start = self._place(message)
        size = self._random.choice((1, 1, 1, 2, 2, 3, 4, 8, len(message)))
        return start, min(start + self._random.randint(1, max(size, 1)), len(message))

    def _byte(self) -> int:
        if self._random.random() < 0.5:
            return self._random.choice(_INTERESTING)
        return self._random.randrange(256)

    def _bytes(self) -> bytes:
        return bytes(self._byte() for _ in range(self._random.choice((1, 1, 1, 2, 3, 8))))

    def _other(self) -> bytes:
        return self._random.choices(self._messages, self._weights)[0]

    # The steps.

    def _substitute(self, message: bytes) -> bytes:
        if not message:
            return message
        place = self._random.randrange(len(message))
        return _replaced(message, place, place + 1, bytes([self._byte()]))

    def _change_a_little(self, message: bytes) -> bytes:
        """One bit, or one more or less."""
        if not message:
            return message
        place = self._random.randrange(len(message))
        old = message[place]
        new = self._random.choice((old + 1, old - 1, old ^ 1 << self._random.randrange(8)))
        return _replaced(message, place, place + 1, bytes([new & 0xFF]))

    def _insert(self, message: bytes) -> bytes:
        place = self._place(message)
        return _replaced(message, place, place, self._bytes())

    def _delete(self, message: bytes) -> bytes:
        return _replaced(message, *self._run(message), b"")

    def _duplicate(self, message: bytes) -> bytes:
        start, end = self._run(message)
        return _replaced(message, end, end, message[start:end])

    def _move(self, message: bytes) -> bytes:
        start, end = self._run(message)
        rest = message[:start] + message[end:]
        place = self._place(rest)
        return _replaced(rest, place, place, message[start:end])

    def _splice(self, message: bytes) -> bytes:
        other = self._other()
        return message[: self._place(message)] + other[self._place(other) :]

    def _truncate(self, message: bytes) -> bytes:
        return message[: self._place(message)]

    def _extend(self, message: bytes) -> bytes:
        return message + self._bytes()

    def _insert_in_length(self, message: bytes) -> bytes:
        return self._replace_in_length(message, 0, self._bytes())

    def _insert_other_in_length(self, message: bytes) -> bytes:
        return self._replace_in_length(message, 0, self._other())

    def _duplicate_in_length(self, message: bytes) -> bytes:
        start, end = self._run(message)
        return with_lengths(message, end, end, message[start:end], self._lengths(message, end))

    def _delete_in_length(self, message: bytes) -> bytes:
        return self._replace_in_length(message, self._random.choice((1, 1, 2, 3)), b"")

    def _substitute_in_length(self, message: bytes) -> bytes:
        return self._replace_in_length(message, 1, self._bytes())

    def _replace_in_length(self, message: bytes, count: int, new: bytes) -> bytes:
        start = self._place(message)
        end = min(start + count, len(message))
        return with_lengths(message, start, end, new, self._lengths(message, start))

    def _lengths(self, message: bytes, place: int) -> list[int]:
        """Either what ends with the message, or a few others."""
        if self._random.random() < 0.5:
            return outer_lengths(message, place)
        return self._random.sample(range(place), min(place, self._random.randint(1, 2)))


def with_lengths(message: bytes, start: int, end: int, new: bytes, lengths: list[int]) -> bytes:
    """Puts bytes in place of others, and adds to the bytes at some places before them how many more they are."""
    result = bytearray(_replaced(message, start, end, new))
    for place in lengths:
        result[place] = (result[place] + len(new) - (end - start)) & 0xFF
    return bytes(result)


def outer_lengths(message: bytes, place: int) -> list[int]:
    """The bytes before a place that may be lengths, or tags with a length in their low bits, of all that follows."""
    return [
        index
        for index in range(max(0, len(message) - _ORDINARY_SIZE), place)
        if len(message) - index - 1 in (message[index], message[index] & 0x1F, message[index] & 0x0F)
    ]


def _replaced(message: bytes, start: int, end: int, new: bytes) -> bytes:
    return message[:start] + new + message[end:]


_STEPS: list[Callable[[Mutator, bytes], bytes]] = [
    Mutator._substitute,
    Mutator._substitute,
    Mutator._change_a_little,
    Mutator._change_a_little,
    Mutator._insert,
    Mutator._delete,
    Mutator._duplicate,
    Mutator._move,
    Mutator._splice,
    Mutator._truncate,
    Mutator._extend,
    Mutator._insert_in_length,
    Mutator._insert_in_length,
    Mutator._insert_other_in_length,
    Mutator._duplicate_in_length,
    Mutator._delete_in_length,
    Mutator._substitute_in_length,
]
