"""The error of this package."""

from __future__ import annotations


class StowError(ValueError):
    """The bytes are not valid, or a value cannot be written.

    `reason` says what is wrong, and `offset` where in the bytes: for the error of a record of a log or a stream, where in the
    record. It is None where no byte is to blame.
    """

    def __init__(self, reason: str, offset: int | None = None):
        super().__init__(reason if offset is None else f"{reason}, at byte {offset}")
        self.reason = reason
        self.offset = offset

    def __reduce__(self) -> tuple[type[StowError], tuple[str, int | None]]:
        return type(self), (self.reason, self.offset)
