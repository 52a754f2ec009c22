"""A log: a file of messages that grows at its end."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .buffers import Bytes, readable
from .checksums import Checksums, checksum
from .cursor import Cursor
from .errors import StowError
from .message import DEPTH_LIMIT
from .records import Definitions, Record

BLOCK_SIZE = 65_536
HEAD_SIZE = 32
FRAME_HEAD_SIZE = 7

RECORDS, FIRST, MIDDLE, LAST, FRESH_RECORDS, ORIGIN, PACKABLE, FRESH_PACKABLE, CHECKPOINT, ABANDONED, NOTE = range(1, 12)
HEAD = b"\x7f\x02\x01\x00"
#: Where frames may begin is found by their kind, the last byte of their heads.
_KIND = re.compile(b"[%c-%c]" % (RECORDS, NOTE))
#: Numbers are below this, also that of the next record.
NUMBER_LIMIT = 2**62

WINDOW_SIZE = 4_096
MOST_UNPACKED = 65_497
#: The parts of a group may have so many bytes together, unless the caller says otherwise.
RECORD_SIZE = 1 << 30


@dataclass
class Log:
    """What a file holds, or a folder of segments."""

    #: In the order of their numbers.
    records: list[Record] = field(default_factory=list)
    #: The numbers of the records that were lost.
    lost: list[range] = field(default_factory=list)
    #: The numbers of those that were left out or given up.
    absent: list[range] = field(default_factory=list)
    #: What could not be read.
    damage: list[Damage] = field(default_factory=list)
    #: The number that the next record will have.
    count: int = 0
    #: The number of the first record that may be there: 0, unless segments were removed from the front of a folder.
    first: int = 0
    #: Where the log, or its last segment, ends; what stands after it was not written whole.
    end: int = 0
    #: The random bytes that all blocks of the file, or of the last segment, begin with.
    identity: bytes = b""
    #: Identity of the log, if it is not that of the file, and when the file was begun.
    origin: tuple[bytes, int] | None = None
    #: Whether the frame is damaged in which that would stand.
    _is_origin_damaged: bool = field(default=False, repr=False)


@dataclass(frozen=True)
class Damage:
    """Bytes that could not be read. `reason` is `"head"`, `"frame"`, `"block"` or `"record"`.

    Of a segment that is not there, or is no file of the log, `start` and `end` are 0.
    """

    start: int
    end: int
    reason: str
    #: The file of the segment, for a log in a folder.
    file: str = ""


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
    #: The numbers of the records that were given up, if the block begins so.
    abandoned: range | None = None
    origin: tuple[bytes, int] | None = None
    damage: list[Damage] = field(default_factory=list)
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

    def damaged(self, start: int, end: int, reason: str) -> None:
        """Notes bytes that could not be read. Those that follow such bytes are one damage with them."""
        if self.damage and self.damage[-1].end == start and self.damage[-1].reason == reason:
            start = self.damage.pop().start
        self.damage.append(Damage(start, end, reason))


def open_log(
    source: Any, *, numpy: bool = False, depth: int = DEPTH_LIMIT, record_size: int = RECORD_SIZE
) -> Log:
    """Everything of a log that is whole.

    - source: the path of a file, or its bytes; or the path of a folder of segments.
    - numpy, depth: as for `loads`.
    - record_size: how many bytes a record or a group of several blocks may have; a longer one is lost.

    Raises `StowError` if it is no log, or one of another version, and `OSError` if the file cannot be read.
    """
    reading = _Reading(numpy, depth, record_size)
    if isinstance(source, (str, os.PathLike)):
        return _open_folder(Path(source), reading) if os.path.isdir(source) else _open(Path(source).read_bytes(), reading)
    try:
        return _open(readable(source), reading)
    except StowError as error:
        # As in `loads`.
        raise error.with_traceback(None)


def is_log(data: Bytes) -> bool:
    """Whether bytes are those of a log: by its beginning, or by the head of its second block if the first bytes are damaged."""
    return bytes(data[:2]) == HEAD[:2] or _is_whole_head(bytes(data[BLOCK_SIZE : BLOCK_SIZE + HEAD_SIZE]), 1)


def _open(data: Bytes, reading: _Reading, first: int = 0, until: int | None = None) -> Log:
    """A file, whose records have numbers from `first` on; up to `until`, if it is a segment that others follow."""
    identity = _identity(data)
    count = -(-len(data) // BLOCK_SIZE)
    blocks = {index: block for index in range(count) if (block := _block(data, index, identity))}
    log = Log(identity=identity, first=first)
    last = _find_end(data, blocks, log)
    # The head of a segment that has another one's name may say a lower number.
    log.count = max(log.count, first)
    if until is not None:
        # Nothing is written to it any more: what is not whole at its end is damaged.
        log.count, log.end, last = until, len(data), count - 1
    _read_records(blocks, last, log, reading)
    _collect_lost(log)
    _collect_damage(blocks, last, log)
    front = blocks.get(0)
    log.origin = front.origin if front else None
    log._is_origin_damaged = front is None or any(each.start <= HEAD_SIZE < each.end for each in front.damage)
    return log


def _open_folder(folder: Path, reading: _Reading) -> Log:
    """The segments of a folder, as one log."""
    paths, last = _segments(folder, reading)
    firsts = [int(path.name[:20]) for path in paths]
    segments: list[Log | None] = []
    gone = 0
    for path, first, until in zip(paths, firsts, firsts[1:]):
        try:
            segments.append(_open(_bytes_of_segment(path), reading, first, until))
        except StowError:
            segments.append(None)
        except FileNotFoundError:
            segments.append(None)
            gone = len(segments)
    if gone and not os.path.lexists(paths[0]):
        # A writer removes them from the front: those up to the last that is gone were, after the folder was listed.
        del paths[:gone], firsts[:gone], segments[:gone]
    identity = last.origin[0] if last.origin else last.identity
    if last._is_origin_damaged:
        # The log is that which the segment before it names.
        identity = next((segment.origin[0] for segment in segments[::-1] if segment and segment.origin), identity)
    log = Log(first=firsts[0])
    for path, segment, first, until in zip(paths, segments, firsts, firsts[1:]):
        if segment is None or not _is_of(identity, segment):
            segment = Log(lost=[range(first, until)], damage=[Damage(0, 0, "head")])
        _add_segment(log, segment, path)
    _add_segment(log, last, paths[-1])
    log.count, log.end, log.identity, log.origin = last.count, last.end, last.identity, last.origin
    return log


def _segments(folder: Path, reading: _Reading) -> tuple[list[Path], Log]:
    """The paths of the segments, and the last one."""
    missing = None
    while True:
        # A system may leave out a file that is replaced while it lists the folder. That hardly happens twice to one file.
        names = {*os.listdir(folder), *os.listdir(folder)}
        paths = sorted(folder / name for name in names if _is_segment(name))
        if not paths:
            raise StowError("a folder without segments", 0)
        try:
            return paths, _open(_bytes_of_segment(paths[-1]), reading, int(paths[-1].name[:20]))
        except FileNotFoundError:
            # The segment was removed meanwhile, and another one is the last; or its name is a dangling link.
            if missing == paths[-1]:
                raise
            missing = paths[-1]


def _is_segment(name: str) -> bool:
    return re.fullmatch(r"[0-9]{20}\.stowlog", name) is not None and int(name[:20]) < NUMBER_LIMIT


def _bytes_of_segment(path: Path) -> bytes:
    if not stat.S_ISREG(path.stat().st_mode):
        raise StowError(f"{path.name} is no file")
    return path.read_bytes()


def _is_of(log: bytes, segment: Log) -> bool:
    """Whether a segment is one of a log, as far as it says so."""
    return segment._is_origin_damaged or log == (segment.origin[0] if segment.origin else segment.identity)


def _add_segment(log: Log, segment: Log, path: Path) -> None:
    log.records += segment.records
    log.lost += segment.lost
    log.absent += segment.absent
    log.damage += [replace(damage, file=path.name) for damage in segment.damage]


@dataclass(frozen=True)
class _Reading:
    """How records are read."""

    with_numpy: bool
    depth: int
    record_size: int

    def definitions(self) -> Definitions:
        return Definitions(self.with_numpy, self.depth)


def _identity(data: Bytes) -> bytes:
    for start in range(0, len(data), BLOCK_SIZE):
        head = bytes(data[start : start + HEAD_SIZE])
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


def _block(data: Bytes, index: int, identity: bytes) -> Block | None:
    """What can be read of a block; None if neither its head nor any frame is whole."""
    start = index * BLOCK_SIZE
    content = bytes(data[start : start + BLOCK_SIZE])
    head = content[:HEAD_SIZE]
    if len(content) < HEAD_SIZE or _is_other_version(head):
        return None
    is_whole = _is_whole_head(head, index) and head[8:16] == identity
    block = Block(index, int.from_bytes(head[16:24], "little") if is_whole else None)
    block.next, block.is_next_known = block.first_record or 0, is_whole
    if not is_whole:
        block.damaged(start, start + HEAD_SIZE, "head")
    block.end = block.end_of_records = start + HEAD_SIZE
    offset = HEAD_SIZE
    has_frame = False
    checksums = None
    used = len(content.rstrip(b"\0"))
    while offset < len(content):
        frame = _frame(content, offset, start, identity, checksums)
        if frame is None:
            if offset >= used:
                break
            checksums = checksums or Checksums(content)
            block.is_next_known = block.is_scope_whole = False
            kind = _KIND.search(content, offset + FRAME_HEAD_SIZE)
            end = kind.end() - FRAME_HEAD_SIZE if kind else used
            block.damaged(start + offset, start + end, "frame")
            offset = end
            continue
        has_frame = True
        if not _take(block, frame, offset == HEAD_SIZE):
            block.is_next_known = block.is_scope_whole = False
            block.damaged(start + offset, start + offset + FRAME_HEAD_SIZE + len(frame[1]), "frame")
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
    if len(head) < FRAME_HEAD_SIZE or not RECORDS <= head[6] <= NOTE:
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
            if not is_first or not cursor.left or number + 1 >= NUMBER_LIMIT or not _is_next(block, number + 1):
                return False
            block.continuation = Part(number, cursor.take(cursor.left), kind == LAST)
            return True
        if kind == CHECKPOINT:
            return not cursor.left and _is_next(block, number)
        if kind == NOTE:
            return _is_next(block, number)
        if not _is_next(block, number):
            return False
        if kind == FIRST:
            count, size = _count(cursor, number), cursor.uint()
            part = cursor.take(cursor.left)
            if not part or size <= len(part):
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
    records: list[tuple[int, tuple[bytes, bool] | int]] = []
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
    record = bytearray()
    while cursor.left and len(record) <= MOST_UNPACKED:
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
    return bytes(record)


def _find_end(data: Bytes, blocks: dict[int, Block], log: Log) -> int:
    """Finds where the log ends for a reader beside a writer, and returns the last block that belongs to it."""
    for index in range(-(-len(data) // BLOCK_SIZE) - 1, -1, -1):
        _check_version(bytes(data[index * BLOCK_SIZE : index * BLOCK_SIZE + HEAD_SIZE]), index * BLOCK_SIZE)
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
        beginning = block.beginning
        begins = beginning is not None and beginning.number == unfinished
        if begins or (block.next_record <= unfinished and not block.is_open):
            if beginning is not None and begins:
                log.count = beginning.first_number
            log.end = block.end_of_records
            return index
    log.end = 0
    return -1


def _read_records(blocks: dict[int, Block], last: int, log: Log, reading: _Reading) -> None:
    number = claimed = log.first
    # The least number of a record that counts, by the heads so far; and the block before which all belongs to a lost group.
    least = lost_until = 0
    for index in sorted(blocks):
        block = blocks[index]
        if index > last:
            break
        least = max(least, _claim(blocks, index, last))
        if index < lost_until:
            continue
        if block.first_record is not None and block.first_record < claimed:
            log.damage.append(Damage(index * BLOCK_SIZE, index * BLOCK_SIZE + HEAD_SIZE, "head"))
        claimed = block.next_record
        end = min(_limit(blocks, index, last), log.count)
        if block.abandoned is not None:
            number = max(_leave_out(block.abandoned, log, number, end), min(block.abandoned.stop, end))
        number = max(number, min(least, log.count))
        for scope in block.scopes:
            number = _read_scope(scope, log, number, end, reading)
        beginning = block.beginning
        if beginning is None or number > beginning.first_number or beginning.number >= end:
            continue
        records, group_end = _whole_group(blocks, index, beginning, reading.record_size)
        if records is not None:
            number = _read_scope(Scope(records), log, number, log.count, reading)
            continue
        lost_until = group_end
        # None of its numbers counts, so the block after its parts may have lower ones.
        claim = max(_claim(blocks, each, last) for each in range(index, group_end + 1))
        number = max(number, min(beginning.first_number, claim))
        if not _gives_up(blocks.get(group_end), beginning):
            log.damage.append(Damage(block.end - len(beginning.content), block.end, "record"))


def _gives_up(block: Block | None, beginning: Part) -> bool:
    """Whether a block says that a group was given up, whose parts stand in the blocks before it."""
    return block is not None and block.abandoned is not None and block.abandoned.stop == beginning.number + 1


def _limit(blocks: dict[int, Block], index: int, last: int) -> int:
    """The number that no record of a block reaches: where heads contradict each other, a record belongs to the later block."""
    following = blocks.get(index + 1) if index < last else None
    return NUMBER_LIMIT if following is None or following.first_record is None else following.first_record


def _claim(blocks: dict[int, Block], index: int, last: int) -> int:
    """The least number of a record that counts from a block on, as far as its head says."""
    block = blocks.get(index) if index <= last else None
    return min(block.first_record or 0, _limit(blocks, index, last)) if block is not None else 0


def _leave_out(numbers: range, log: Log, number: int, limit: int) -> int:
    """Takes in the numbers of records that are not there, as far as they count, and returns the number after the last."""
    start, end = max(numbers.start, number), min(numbers.stop, limit)
    if start >= end:
        return number
    log.absent.append(range(start, end))
    return end


def _read_scope(scope: Scope, log: Log, number: int, limit: int, reading: _Reading) -> int:
    """Takes in the records from a number on, and returns the number after the last."""
    definitions = reading.definitions()
    for current, message in scope.records:
        if isinstance(message, int):
            number = _leave_out(range(current, current + message), log, number, limit)
            continue
        record = definitions.read(current, message)
        if number <= current < limit:
            log.records.append(record)
            number = current + 1
    return number


def _whole_group(
    blocks: dict[int, Block], index: int, beginning: Part, most: int
) -> tuple[list[tuple[int, bytes | int]] | None, int]:
    """The records of a group whose parts are put together; None if they are not all there, or too many. And the block of the last
    part, or of the one that is missing."""
    parts, size = [beginning.content], len(beginning.content)
    while True:
        index += 1
        following = blocks.get(index)
        part = following.continuation if following is not None else None
        if part is None or part.number != beginning.number:
            return None, index
        size += len(part.content)
        if size <= min(beginning.size, most):
            parts.append(part.content)
        if part.is_last:
            is_whole = size == beginning.size and size <= most
            return _group(beginning.first_number, beginning.count, b"".join(parts)) if is_whole else None, index


def _group(number: int, count: int, content: bytes) -> list[tuple[int, bytes | int]] | None:
    """The records of a group; None if it has not so many, or if some were left out."""
    try:
        records, _ = _records(number, Cursor(content, 0, len(content)), False)
    except StowError:
        return None
    messages: list[tuple[int, bytes | int]] = [
        (number, record[0]) for number, record in records if not isinstance(record, int)
    ]
    return messages if len(messages) == len(records) == count else None


def _collect_lost(log: Log) -> None:
    """Which numbers are missing, and were neither left out nor given up."""
    number = log.first
    there = [range(record.number, record.number + 1) for record in log.records] + log.absent
    there.sort(key=lambda numbers: numbers.start)
    for numbers in [*there, range(log.count, log.count)]:
        if numbers.start > number:
            log.lost.append(range(number, numbers.start))
        number = max(number, numbers.stop)


def _collect_damage(blocks: dict[int, Block], last: int, log: Log) -> None:
    for index in range(last + 1):
        start = index * BLOCK_SIZE
        block = blocks.get(index)
        damage = block.damage if block is not None else [Damage(start, start + BLOCK_SIZE, "block")]
        log.damage += [each for each in damage if each.start < log.end]
    log.damage.sort(key=lambda damage: damage.start)
