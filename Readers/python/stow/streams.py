"""A stream: messages as a connection carries them."""

from __future__ import annotations

import mmap
from typing import Any, Iterator

from .buffers import readable
from .checksums import checksum
from .cursor import Cursor
from .errors import StowError
from .message import DEPTH_LIMIT
from .records import Definitions, Record

_HEAD = bytes.fromhex("7F 03 01")
_MOST_DEFINITIONS = 1 << 20
_CHECKSUM_SIZE = 4
_PART_SIZE = 1 << 16
#: A record may have so many bytes, unless the caller says otherwise.
RECORD_SIZE = 1 << 30


class StreamReader:
    """Reads the records of a stream whose bytes come in parts.

    >>> reader = StreamReader()
    >>> reader.feed(bytes.fromhex("7F 03 01 01 91"))
    []
    >>> [record.value for record in reader.feed(checksum_of_record_0)]
    [1]

    A record whose value is not valid has an error; those after it are read. After any other error the stream cannot be read
    on: `feed` returns the records before it, and raises it when it is called next, as `finish` does.

    - numpy, depth: as for `loads`.
    - record_size: how many bytes a record may have.
    """

    def __init__(self, *, numpy: bool = False, depth: int = DEPTH_LIMIT, record_size: int = RECORD_SIZE):
        self._with_numpy, self._depth, self._record_size = numpy, depth, record_size
        self._pending = bytearray()
        #: How many bytes of the stream came before those.
        self._passed = 0
        #: How many bytes must be pending before more can be read of them.
        self._wanted = 1
        self._has_head = False
        self._count = 0
        self._error: StowError | None = None
        self._forget()

    def feed(self, data: Any) -> list[Record]:
        """Takes in some bytes, and returns the records that they complete."""
        self._check()
        self._pending += readable(data)
        records: list[Record] = []
        if len(self._pending) < self._wanted:
            return records
        cursor = Cursor(bytes(self._pending), 0, len(self._pending))
        try:
            while (record := self._next(cursor)) is not None:
                records.append(record)
        except StowError as error:
            self._error = error
        del self._pending[: cursor.position]
        self._passed += cursor.position
        return records

    def finish(self) -> None:
        """Says that no more bytes come. Raises `StowError` if the stream ends within its head or a record."""
        self._check()
        if self._pending:
            raise self._broken("a stream that is cut off", len(self._pending))

    def _check(self) -> None:
        if self._error is not None:
            raise self._error.with_traceback(None)

    def _broken(self, reason: str, place: int) -> StowError:
        """The error at a place in the pending bytes, with its offset in the stream."""
        return StowError(reason, self._passed + place)

    def _forget(self) -> None:
        self._definitions = Definitions(self._with_numpy, self._depth)
        self._defined = 0

    def _next(self, cursor: Cursor) -> Record | None:
        """The next record; None, with the cursor before it, if it is not complete."""
        if not self._has_head and not self._take_head(cursor):
            return None
        while cursor.left and cursor.peek() == 0:
            cursor.byte()
            self._forget()
        start = cursor.position
        size = _uint_size(cursor.peek()) if cursor.left else 1
        if cursor.left < size:
            self._wait(cursor, start, size)
            return None
        try:
            length = cursor.uint()
        except StowError as error:
            raise self._broken(error.reason, start) from None
        if not 0 < length <= self._record_size:
            raise self._broken(f"a record of {length} bytes", start)
        if cursor.left < length + _CHECKSUM_SIZE:
            self._wait(cursor, start, size + length + _CHECKSUM_SIZE)
            return None
        message = cursor.take(length)
        if checksum(self._count.to_bytes(8, "little") + message) != cursor.unsigned(_CHECKSUM_SIZE):
            raise self._broken("a checksum that is not the record's", start)
        return self._record(message, start)

    def _wait(self, cursor: Cursor, start: int, wanted: int) -> None:
        """Goes back to where a record begins, until so many bytes of it are there."""
        cursor.position = start
        self._wanted = wanted

    def _take_head(self, cursor: Cursor) -> bool:
        beginning = bytes(cursor.data[: len(_HEAD)])
        if not _HEAD.startswith(beginning):
            raise StowError("no stream, or one of a later version", 0)
        if len(beginning) < len(_HEAD):
            return False
        cursor.take(len(_HEAD))
        self._has_head = True
        return True

    def _record(self, message: bytes, start: int) -> Record:
        try:
            value = self._definitions.take_in(message)
        except StowError as error:
            raise self._broken(f"a prelude that is not valid: {error}", start) from None
        self._defined += value.position
        if self._defined > _MOST_DEFINITIONS:
            raise self._broken("more definitions than allowed", start)
        self._count += 1
        return self._definitions.read_value(self._count - 1, value)


def read_stream(
    source: Any, *, numpy: bool = False, depth: int = DEPTH_LIMIT, record_size: int = RECORD_SIZE
) -> Iterator[Record]:
    """The records of a stream, from its bytes or from a binary file that is read as they are asked for.

    A record whose value is not valid has an error. Raises `StowError`, after the records before, if the stream cannot be read
    to its end. The file must wait for its bytes (be in blocking mode); for others, feed a `StreamReader`.
    """
    reader = StreamReader(numpy=numpy, depth=depth, record_size=record_size)
    for part in parts(source):
        yield from reader.feed(part)
    reader.finish()


def parts(source: Any) -> Iterator[Any]:
    """Bytes as they are, and those of a file as they come."""
    # An mmap has a position, too, but is bytes here as everywhere.
    if isinstance(source, mmap.mmap) or not hasattr(source, "read"):
        yield source
        return
    # What has arrived, where the file tells it from what is still to come. If it has no bytes, `read` tells an end (b"") from
    # bytes that are still to come (None), and `read1` does not.
    read = getattr(source, "read1", source.read)
    while (part := read(_PART_SIZE) or source.read(1)) is None or part:
        if part is None:
            raise BlockingIOError("the file does not wait for its bytes, of which there are none yet")
        yield part


def _uint_size(first: int) -> int:
    """The bytes of an unsigned integer of variable size that begins with this one."""
    if first <= 0xDF or first >= 0xFE:
        return 1
    return 2 if first <= 0xF7 else 3 if first <= 0xFB else 5 if first == 0xFC else 9
