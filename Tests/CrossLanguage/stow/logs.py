"""A log: a file of messages that grows at its end."""

from dataclasses import dataclass, field

from .cursor import Cursor
from .errors import StowError
from .message import decode
from .prelude import Prelude

BLOCK_SIZE = 65_536
HEAD_SIZE = 32
FRAME_HEAD_SIZE = 7

RECORDS, FIRST, MIDDLE, LAST, FRESH_RECORDS, ORIGIN, PACKABLE, FRESH_PACKABLE, CHECKPOINT, ABANDONED = range(1, 11)
HEAD = b"\x7f\x02\x02\x00"
#: Numbers of records are below this.
NUMBER_LIMIT = 2**62 - 1

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


def _times_x(factor: int) -> int:
    return factor >> 1 ^ (0x82F6_3B78 if factor & 1 else 0)


def _powers() -> list[int]:
    """x to the 8th, 16th and so on, modulo the polynomial of the checksum, whose highest power is in the lowest bit."""
    power = 1 << 31
    powers = []
    for _ in range(BLOCK_SIZE + 1):
        powers.append(power)
        for _ in range(8):
            power = _times_x(power)
    return powers


class Checksums:
    """The checksums of all parts of some bytes: that of a part follows from those of what is before its two ends."""

    _powers: list[int] = []

    def __init__(self, data: bytes):
        if not Checksums._powers:
            Checksums._powers = _powers()
        state = 0xFFFF_FFFF
        self._before = [0]
        for byte in data:
            state = _TABLE[(state ^ byte) & 0xFF] ^ state >> 8
            self._before.append(state ^ 0xFFFF_FFFF)

    def of(self, front: bytes, start: int, end: int) -> int:
        """The checksum of `front` and the bytes from `start` to `end`."""
        factor, power, product = checksum(front) ^ self._before[start], Checksums._powers[end - start], 0
        while power:
            if power & 0x8000_0000:
                product ^= factor
            factor = _times_x(factor)
            power = power << 1 & 0xFFFF_FFFF
        return product ^ self._before[end]


@dataclass
class Log:
    """What a file holds: the values of its records, by their numbers."""

    records: dict[int, object] = field(default_factory=dict)
    #: The numbers of the records that were lost.
    lost: list[int] = field(default_factory=list)
    #: The numbers of those that were left out or given up.
    absent: list[range] = field(default_factory=list)
    count: int = 0
    #: Where the log ends; what stands behind was not written whole.
    end: int = 0
    #: Identity of the log, if it is not that of the file, and when the file was begun.
    origin: tuple[bytes, int] | None = None


@dataclass
class Scope:
    """Records that share their definitions."""

    #: Their numbers and messages; in the place of a message, how many records were left out.
    records: list[tuple[int, bytes | int]] = field(default_factory=list)
    #: What packed records copy from, and whether nothing more is added to it.
    window: bytes = b""
    is_window_closed: bool = False


@dataclass
class Part:
    """A part of a group of records that has bytes in several blocks."""

    #: That of the last record of the group.
    number: int
    content: bytes
    is_last: bool = False
    #: How many records the group has, and how many bytes, if this is its first part.
    count: int = 0
    size: int = 0

    @property
    def first_number(self) -> int:
        return self.number - self.count + 1


@dataclass
class Block:
    index: int
    #: None if the head is damaged.
    first_record: int | None
    scopes: list[Scope] = field(default_factory=list)
    continuation: Part | None = None
    beginning: Part | None = None
    abandoned: range | None = None
    origin: tuple[bytes, int] | None = None
    #: The number of the record that comes next, the least it can be where it is not known.
    next: int = 0
    is_next_known: bool = True
    is_scope_whole: bool = True
    #: After the last whole frame, in the file; the same, if a first part does not count.
    end: int = 0
    end_of_records: int = 0

    @property
    def is_open(self) -> bool:
        """Whether a group goes on in the next block."""
        return self.beginning is not None or (self.continuation is not None and not self.continuation.is_last)

    @property
    def next_record(self) -> int:
        return self.next + (self.beginning.count if self.beginning else 0)

    @property
    def unfinished(self) -> int | None:
        part = self.beginning or self.continuation
        return part.number if part is not None and self.is_open else None


def read_log(data: bytes) -> Log:
    """Everything that is whole. Raises `StowError` if no block has a head that is whole."""
    identity = _identity(data)
    count = -(-len(data) // BLOCK_SIZE)
    blocks = {index: block for index in range(count) if (block := _block(data, index, identity))}
    log = Log()
    last = _find_end(data, blocks, log)
    _read_records(blocks, last, log)
    log.lost = _lost(log)
    return log


def _lost(log: Log) -> list[int]:
    """The numbers of records that should be there."""
    lost, number = [], 0
    there = [range(number, number + 1) for number in log.records] + log.absent
    for numbers in sorted(there, key=lambda numbers: numbers.start):
        lost += range(number, numbers.start)
        number = max(number, numbers.stop)
    return lost + list(range(number, log.count))


def _identity(data: bytes) -> bytes:
    for start in range(0, len(data), BLOCK_SIZE):
        head = data[start : start + HEAD_SIZE]
        _check_version(head, start)
        if _is_whole_head(head, start // BLOCK_SIZE):
            return head[8:16]
    raise StowError("no log", 0)


def _has_checksum(head: bytes) -> bool:
    return len(head) == HEAD_SIZE and checksum(head[:4] + head[8:]) == int.from_bytes(head[4:8], "little")


def _is_other_version(head: bytes) -> bool:
    return head[:2] == HEAD[:2] and head[:4] != HEAD and _has_checksum(head)


def _check_version(head: bytes, start: int) -> None:
    if _is_other_version(head):
        raise StowError("a log of another version", start)


def _is_whole_head(head: bytes, index: int) -> bool:
    return (
        head[:4] == HEAD
        and _has_checksum(head)
        and int.from_bytes(head[24:28], "little") == index
        and int.from_bytes(head[16:24], "little") < NUMBER_LIMIT
        and int.from_bytes(head[28:], "little") <= index
    )


def _block(data: bytes, index: int, identity: bytes) -> Block | None:
    """What can be read of a block; None if neither its head nor any frame is whole."""
    start = index * BLOCK_SIZE
    content = data[start : start + BLOCK_SIZE]
    head = content[:HEAD_SIZE]
    if len(content) < HEAD_SIZE or _is_other_version(head):
        return None
    is_whole = _is_whole_head(head, index) and head[8:16] == identity
    block = Block(index, int.from_bytes(head[16:24], "little") if is_whole else None)
    block.next, block.is_next_known = block.first_record or 0, is_whole
    block.end = block.end_of_records = start + HEAD_SIZE
    offset = HEAD_SIZE
    has_frame = False
    checksums = None
    while offset < len(content):
        frame = _frame(content, offset, start, identity, checksums)
        if frame is None:
            if not any(content[offset:]):
                break
            checksums = checksums or Checksums(content)
            block.is_next_known = block.is_scope_whole = False
            offset += 1
            continue
        has_frame = True
        if not _take(block, frame, offset == HEAD_SIZE):
            block.is_next_known = block.is_scope_whole = False
        offset += FRAME_HEAD_SIZE + len(frame[1])
        block.end = start + offset
        if frame[0] != FIRST:
            block.end_of_records = block.end
    return block if is_whole or has_frame else None


def _frame(
    content: bytes, offset: int, start: int, identity: bytes, checksums: Checksums | None
) -> tuple[int, bytes] | None:
    """The whole frame at an offset; None if something else stands there."""
    head = content[offset : offset + FRAME_HEAD_SIZE]
    if len(head) < FRAME_HEAD_SIZE or not RECORDS <= head[6] <= ABANDONED:
        return None
    begin = offset + FRAME_HEAD_SIZE
    end = begin + int.from_bytes(head[4:6], "little")
    if end == begin or end > len(content):
        return None
    front = identity + (start + offset).to_bytes(8, "little") + head[4:]
    found = checksums.of(front, begin, end) if checksums else checksum(front + content[begin:end])
    return (head[6], content[begin:end]) if found == int.from_bytes(head[:4], "little") else None


def _take(block: Block, frame: tuple[int, bytes], is_first: bool) -> bool:
    """Takes in a frame; false if it cannot be read, or makes no sense where it stands."""
    kind, payload = frame
    if block.is_open:
        return False
    if kind == ORIGIN:
        if not is_first or block.index or len(payload) != 16:
            return False
        block.origin = (payload[:8], int.from_bytes(payload[8:], "little"))
        return True
    cursor = Cursor(payload, 0, len(payload))
    try:
        number = cursor.uint()
        if number >= NUMBER_LIMIT:
            return False
        if kind == ABANDONED:
            count = _count(cursor, number)
            if not is_first or cursor.left or not _is_next(block, number + count):
                return False
            block.abandoned = range(number, number + count)
            return True
        if kind in (MIDDLE, LAST):
            if not is_first or not cursor.left or not _is_next(block, number + 1):
                return False
            block.continuation = Part(number, cursor.take(cursor.left), kind == LAST)
            return True
        if kind == CHECKPOINT:
            return not cursor.left and _is_next(block, number)
        if not _is_next(block, number):
            return False
        if kind == FIRST:
            count, size = _count(cursor, number), cursor.uint()
            part = cursor.take(cursor.left)
            if size <= len(part):
                return False
            block.beginning = Part(number + count - 1, part, count=count, size=size)
            return True
    except StowError:
        return False
    return _take_records(block, kind, number, cursor)


def _count(cursor: Cursor, number: int) -> int:
    """How many records there are from a number on."""
    count = cursor.uint()
    if not 0 < count < NUMBER_LIMIT - number:
        raise cursor.error("no number of records")
    return count


def _is_next(block: Block, number: int) -> bool:
    """Whether a number is the one that must follow. After damage it is taken as it is, unless it is too low."""
    if number != block.next if block.is_next_known else number < block.next:
        return False
    block.next, block.is_next_known = number, True
    return True


def _take_records(block: Block, kind: int, number: int, cursor: Cursor) -> bool:
    is_packable = kind in (PACKABLE, FRESH_PACKABLE)
    is_fresh = kind in (FRESH_RECORDS, FRESH_PACKABLE)
    try:
        records, end = _records(number, cursor, is_packable)
    except StowError:
        return False
    if end >= NUMBER_LIMIT:
        return False
    if not is_fresh and not block.is_scope_whole:
        # They count, so that their numbers are given to no others.
        block.next = end
        return False
    if is_fresh or not block.scopes:
        block.scopes.append(Scope())
    scope = block.scopes[-1]
    try:
        scope.records += [(number, _message(scope, record, is_packable)) for number, record in records]
    except StowError:
        if not scope.records:
            block.scopes.pop()
        return False
    block.next = end
    block.is_scope_whole = True
    return True


def _records(number: int, cursor: Cursor, is_packable: bool) -> tuple[list[tuple[int, tuple[bytes, bool] | int]], int]:
    """The records of a frame, and whether they are packed, or how many were left out; and the number after them."""
    records = []
    while cursor.left:
        head = cursor.uint()
        if head == 0:
            count = cursor.uint()
            if count == 0:
                raise cursor.error("nothing that was left out")
            records.append((number, count))
            number += count
        else:
            is_packed = is_packable and head & 1 == 1
            records.append((number, (cursor.take(head >> is_packable), is_packed)))
            number += 1
    return records, number


def _message(scope: Scope, record: tuple[bytes, bool] | int, is_packable: bool) -> bytes | int:
    if isinstance(record, int):
        return record
    message, is_packed = record
    if is_packed:
        return _unpacked(message, scope.window)
    if is_packable and not scope.is_window_closed and len(scope.window) + len(message) <= WINDOW_SIZE:
        scope.window += message
    elif is_packable:
        scope.is_window_closed = True
    return message


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


def _find_end(data: bytes, blocks: dict[int, Block], log: Log) -> int:
    """Finds where the log ends for a reader beside a writer, and returns the last block that belongs to it."""
    for index in range(-(-len(data) // BLOCK_SIZE) - 1, -1, -1):
        _check_version(data[index * BLOCK_SIZE :][:HEAD_SIZE], index * BLOCK_SIZE)
        if index in blocks:
            break
    else:
        raise StowError("nothing is whole", 0)
    last = blocks[index]
    unfinished = last.unfinished
    if unfinished is None and last.end % BLOCK_SIZE == HEAD_SIZE and index - 1 in blocks:
        unfinished = blocks[index - 1].unfinished
    if unfinished is None:
        log.count, log.end = last.next_record, last.end
        return index
    log.count = unfinished
    for index in range(index, -1, -1):
        block = blocks.get(index)
        if block is None:
            continue
        begins = block.beginning is not None and block.beginning.number == unfinished
        if begins or (block.next_record <= unfinished and not block.is_open):
            log.count = block.beginning.first_number if begins else unfinished
            log.end = block.end_of_records
            return index
    log.end = 0
    return -1


def _read_records(blocks: dict[int, Block], last: int, log: Log) -> None:
    number = 0
    for index in sorted(blocks):
        block = blocks[index]
        if index > last:
            break
        log.origin = block.origin or log.origin
        following = blocks.get(index + 1)
        # Where heads contradict each other, a record belongs to the later block.
        limit = following.first_record if following is not None and index < last else None
        if block.first_record is not None:
            number = max(number, block.first_record if limit is None else min(block.first_record, limit))
        if block.abandoned is not None:
            log.absent.append(block.abandoned)
        for scope in block.scopes:
            number = _read_scope(scope, log, number, log.count if limit is None else min(limit, log.count))
        beginning = block.beginning
        if beginning is not None and number <= beginning.first_number and beginning.number < log.count:
            records = _whole_group(blocks, block)
            if records is not None:
                number = _read_scope(Scope(records), log, number, log.count)


def _read_scope(scope: Scope, log: Log, number: int, limit: int) -> int:
    """Takes in the records from a number on, and returns the number after the last."""
    definitions = Prelude()
    is_broken = False
    for current, message in scope.records:
        if isinstance(message, int):
            end = min(current + message, limit)
            if number < end:
                log.absent.append(range(max(current, number), end))
                number = end
            continue
        value, is_broken = _value(message, definitions, is_broken)
        if number <= current < limit:
            log.records[current] = value
            number = current + 1
    return number


def _value(message: bytes, definitions: Prelude, is_broken: bool) -> tuple[object, bool]:
    """The value of a record, None if it has none, and whether the definitions of its scope are broken."""
    if is_broken:
        return None, True
    before = Prelude(definitions)
    try:
        return decode(message, definitions=definitions), False
    except StowError:
        pass
    try:
        before.add(Cursor(message, 0, len(message)))
    except StowError:
        return None, True
    return None, False


def _whole_group(blocks: dict[int, Block], block: Block) -> list[tuple[int, bytes]] | None:
    """The records of a group whose parts are put together."""
    beginning = block.beginning
    content = beginning.content
    index = block.index
    while True:
        index += 1
        following = blocks.get(index)
        part = following.continuation if following is not None else None
        if part is None or part.number != beginning.number:
            return None
        content += part.content
        if part.is_last != (len(content) == beginning.size) or len(content) > beginning.size:
            return None
        if part.is_last:
            return _group(beginning.first_number, beginning.count, Cursor(content, 0, len(content)))


def _group(number: int, count: int, cursor: Cursor) -> list[tuple[int, bytes]] | None:
    """The records of a group; None if it has not so many, or if some were left out."""
    try:
        records, _ = _records(number, cursor, False)
    except StowError:
        return None
    if len(records) != count or any(isinstance(record, int) for _, record in records):
        return None
    return [(number, message) for number, (message, _) in records]
