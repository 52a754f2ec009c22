"""The one error of the decoder."""


class StowError(Exception):
    """The bytes are not a valid message."""

    def __init__(self, reason: str, offset: int):
        super().__init__(f"{reason}, at byte {offset}")
        self.reason = reason
        self.offset = offset
