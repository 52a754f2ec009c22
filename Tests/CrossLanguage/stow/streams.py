"""A stream: messages as a connection carries them."""

from .cursor import Cursor
from .errors import StowError
from .logs import checksum
from .message import value
from .prelude import Prelude

_HEAD = bytes.fromhex("7F 03 01")
_MOST_DEFINITIONS = 1 << 20


def read_stream(data: bytes) -> list[object]:
    """The values of all records; where one is not valid, the error in its place.

    Raises `StowError` if the stream cannot be read to its end.
    """
    if not data:
        return []
    if data[: len(_HEAD)] != _HEAD:
        raise StowError("no stream, or one of a later version", 0)
    cursor = Cursor(data, len(_HEAD), len(data))
    prelude, defined = Prelude(), 0
    values: list[object] = []
    while cursor.left:
        if cursor.peek() == 0:
            cursor.byte()
            prelude, defined = Prelude(), 0
            continue
        length = cursor.uint()
        if length == 0:
            raise cursor.error("a record without bytes")
        record = Cursor(cursor.take(length), 0, length)
        if checksum(len(values).to_bytes(8, "little") + record.data) != cursor.unsigned(4):
            raise cursor.error("a checksum that is not the record's")
        prelude.add(record)
        defined += record.position
        if defined > _MOST_DEFINITIONS:
            raise cursor.error("more definitions than allowed")
        values.append(_value(record, prelude))
    return values


def _value(record: Cursor, prelude: Prelude) -> object:
    try:
        return value(record, prelude)
    except StowError as error:
        return error
