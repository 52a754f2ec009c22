"""A log: a file of messages that grows at its end."""

from dataclasses import dataclass, field

from .cursor import Cursor
from .errors import StowError
from .message import decode
from .prelude import Prelude

BLOCK_SIZE = 65_536
HEAD_SIZE = 32
FRAME_HEAD_SIZE = 7

RECORDS, FIRST, MIDDLE, LAST, FRESH_RECORDS, ORIGIN, PACKABLE, FRESH_PACKABLE = range(1, 9)

WINDOW_SIZE = 4_096
MOST_UNPACKED = 65_497


def _checksum_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F6_3B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _checksum_table()


def checksum(data: bytes) -> int:
    """CRC-32C."""
    state = 0xFFFF_FFFF
    for byte in data:
        state = _TABLE[(state ^ byte) & 0xFF] ^ state >> 8
    return state ^ 0xFFFF_FFFF


@dataclass
class Log:
    """What a file holds: the values of its records, by their numbers."""

    records: dict[int, object] = field(default_factory=dict)
    #: The numbers of the records that were lost.
    lost: list[int] = field(default_factory=list)
    count: int = 0
    #: Where the log ends; what stands behind was not written whole.
    end: int = 0
    #: Identity of the log that this one was made of, and the number of records from it.
    origin: tuple[bytes, int] | None = None


@dataclass
class Block:
    index: int
    first_record: int
    #: The messages of each scope.
    scopes: list[list[bytes]] = field(default_factory=lambda: [[]])
    #: What the packed records of the last scope copy from, and whether nothing more is added to it.
    window: bytes = b""
    is_window_closed: bool = False
    #: A part of an earlier record, and whether it is the last.
    continuation: tuple[bytes, bool] | None = None
    #: The first part of a record.
    beginning: bytes | None = None
    origin: tuple[bytes, int] | None = None
    #: Behind the last whole frame, in the file.
    end: int = 0
    #: Where a first part begins, in the file.
    beginning_start: int = 0

    @property
    def record_count(self) -> int:
        return sum(len(scope) for scope in self.scopes)

    @property
    def is_open(self) -> bool:
        """Whether a record goes on in the next block."""
        return self.beginning is not None or (self.continuation is not None and not self.continuation[1])


def read_log(data: bytes) -> Log:
    """Everything that is whole. Raises `StowError` if no block has a head that is whole."""
    identity = _identity(data)
    count = -(-len(data) // BLOCK_SIZE)
    blocks = {index: block for index in range(count) if (block := _block(data, index, identity))}
    log = Log()
    last = _find_end(blocks, log)
    _read_records(blocks, last, log)
    log.lost = [number for number in range(log.count) if number not in log.records]
    return log


def _identity(data: bytes) -> bytes:
    for start in range(0, len(data), BLOCK_SIZE):
        head = data[start : start + HEAD_SIZE]
        if _is_whole_head(head) and int.from_bytes(head[24:28], "little") == start // BLOCK_SIZE:
            if head[:4] != b"\x7f\x02\x01\x00":
                raise StowError("a log of a later version", start)
            return head[8:16]
    raise StowError("no log", 0)


def _is_whole_head(head: bytes) -> bool:
    stated = int.from_bytes(head[4:8], "little")
    return len(head) == HEAD_SIZE and head[:2] == b"\x7f\x02" and checksum(head[:4] + head[8:]) == stated


def _block(data: bytes, index: int, identity: bytes) -> Block | None:
    start = index * BLOCK_SIZE
    content = data[start : start + BLOCK_SIZE]
    head = content[:HEAD_SIZE]
    if not _is_whole_head(head) or head[8:16] != identity or int.from_bytes(head[24:28], "little") != index:
        return None
    if head[:4] != b"\x7f\x02\x01\x00" or head[28:] != bytes(4):
        raise StowError("a log of a later version, or one that relies on a context", start)
    block = Block(index, int.from_bytes(head[16:24], "little"))
    block.end = start + HEAD_SIZE
    offset = HEAD_SIZE
    while (frame := _frame(content, offset, start, identity)) and _take(block, frame, start + offset):
        offset += FRAME_HEAD_SIZE + len(frame[1])
        block.end = start + offset
    return block


def _frame(content: bytes, offset: int, start: int, identity: bytes) -> tuple[int, bytes] | None:
    head = content[offset : offset + FRAME_HEAD_SIZE]
    if len(head) < FRAME_HEAD_SIZE:
        return None
    payload = content[offset + FRAME_HEAD_SIZE :][: int.from_bytes(head[4:6], "little")]
    if not payload or len(payload) != int.from_bytes(head[4:6], "little"):
        return None
    covered = identity + (start + offset).to_bytes(8, "little") + head[4:] + payload
    return (head[6], payload) if checksum(covered) == int.from_bytes(head[:4], "little") else None


def _take(block: Block, frame: tuple[int, bytes], offset: int) -> bool:
    """Takes in a frame, unless it makes no sense where it stands."""
    kind, payload = frame
    is_first = block.end % BLOCK_SIZE == HEAD_SIZE
    if block.is_open:
        return False
    if kind in (RECORDS, FRESH_RECORDS, PACKABLE, FRESH_PACKABLE):
        is_packable = kind in (PACKABLE, FRESH_PACKABLE)
        if kind in (FRESH_RECORDS, FRESH_PACKABLE) and block.record_count:
            block.scopes.append([])
            block.window, block.is_window_closed = b"", False
        messages = _packable_messages(block, payload) if is_packable else _messages(payload)
        if messages is None:
            return False
        block.scopes[-1] += messages
    elif kind == FIRST:
        block.beginning = payload
        block.beginning_start = offset
    elif kind in (MIDDLE, LAST) and is_first:
        block.continuation = (payload, kind == LAST)
    elif kind == ORIGIN and is_first and block.index == 0 and len(payload) == 16:
        block.origin = (payload[:8], int.from_bytes(payload[8:], "little"))
    else:
        return False
    return True


def _messages(payload: bytes) -> list[bytes] | None:
    cursor = Cursor(payload, 0, len(payload))
    messages = []
    try:
        while cursor.left:
            messages.append(cursor.take(cursor.uint()))
    except StowError:
        return None
    return messages


def _packable_messages(block: Block, payload: bytes) -> list[bytes] | None:
    cursor = Cursor(payload, 0, len(payload))
    messages = []
    try:
        while cursor.left:
            head = cursor.uint()
            record = cursor.take(head >> 1)
            if head & 1:
                record = _unpacked(record, block.window)
            elif not block.is_window_closed and len(block.window) + len(record) <= WINDOW_SIZE:
                block.window += record
            else:
                block.is_window_closed = True
            messages.append(record)
    except StowError:
        return None
    return messages


def _unpacked(packed: bytes, window: bytes) -> bytes:
    cursor = Cursor(packed, 0, len(packed))
    record = b""
    while cursor.left:
        first = cursor.take(1)[0]
        if first < 0x80:
            record += cursor.take(first + 1)
            continue
        start = (first & 0x0F) << 8 | cursor.take(1)[0]
        code = first >> 4 & 7
        length = code + 4 if code < 7 else 11 + cursor.take(1)[0]
        if start + length > len(window):
            raise StowError("a copy beyond the window", 0)
        record += window[start : start + length]
    if not record or record[0] == 0x1F or len(record) > MOST_UNPACKED:
        raise StowError("no packed record", 0)
    return record


def _find_end(blocks: dict[int, Block], log: Log) -> int:
    """Finds the end of the log, and returns the last block that belongs to it."""
    limit = None
    for index in sorted(blocks, reverse=True):
        block = blocks[index]
        if limit is not None and block.first_record > limit:
            continue
        before = blocks.get(index - 1)
        has_no_frame = block.end % BLOCK_SIZE == HEAD_SIZE
        goes_on = block.continuation is not None and not block.continuation[1]
        if goes_on or (has_no_frame and before is not None and before.is_open):
            limit = block.first_record - 1
            continue
        log.count = block.first_record + block.record_count
        log.end = block.beginning_start if block.beginning is not None else block.end
        return index
    raise StowError("nothing is whole", 0)


def _read_records(blocks: dict[int, Block], last: int, log: Log) -> None:
    for index in sorted(blocks):
        block = blocks[index]
        if index > last:
            break
        log.origin = block.origin or log.origin
        number = block.first_record
        for scope in block.scopes:
            definitions = Prelude()
            for message in scope:
                log.records[number] = decode(message, definitions=definitions)
                number += 1
        if block.beginning is not None and index < last:
            message = _whole_message(blocks, block, number)
            if message is not None:
                log.records[number] = decode(message)


def _whole_message(blocks: dict[int, Block], block: Block, number: int) -> bytes | None:
    """The parts of a record, put together."""
    parts = [block.beginning]
    index = block.index
    while True:
        index += 1
        following = blocks.get(index)
        if following is None or following.continuation is None or following.first_record != number + 1:
            return None
        part, is_last = following.continuation
        parts.append(part)
        if is_last:
            return b"".join(parts)
