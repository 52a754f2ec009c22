"""A stream: messages as a connection carries them."""

from .cursor import Cursor
from .errors import StowError
from .logs import checksum
from .message import decode
from .prelude import Prelude

_HEAD = bytes.fromhex("7F 03 01")


def read_stream(data: bytes) -> list[object]:
    """The values of all records. Raises `StowError` if the stream cannot be read to its end."""
    if data[:2] != _HEAD[:2] or data[2:3] != _HEAD[2:]:
        raise StowError("no stream, or one of a later version", 0)
    cursor = Cursor(data, len(_HEAD), len(data))
    prelude = Prelude()
    values = []
    while cursor.left:
        if cursor.peek() == 0:
            cursor.byte()
            prelude = Prelude()
            continue
        record = cursor.take(cursor.uint())
        stated = int.from_bytes(cursor.take(4), "little")
        if checksum(len(values).to_bytes(8, "little") + record) != stated:
            raise cursor.error("a checksum that is not the record's")
        values.append(decode(record, definitions=prelude))
    return values
