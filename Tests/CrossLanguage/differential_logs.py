"""Compares the library with the readers of logs in Python and JavaScript: which records are whole, which were lost, and where the
log ends.

Every golden log is read by all, and so are mutations of it and forged logs, whose heads contradict each other: files, and folders
of segments. They are the same for the same seed. The two readers also agree on which records are absent, and the library looks up
records by their numbers. Where a number is lower than one before it, that may find other records, because a bisection does not read
all heads.

    differential_logs.py                    in short
    differential_logs.py --mutations 5000   at length
"""

import argparse
import contextlib
import functools
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.dont_write_bytecode = True

import decoders
import logs
from reader import stow
from stow import logs as logs_of_reader
from stow.checksums import Checksums, checksum

_BLOCK_SIZE = 65_536

# Most frames of a mutation are those of the log that it is made of.
logs_of_reader.checksum = functools.lru_cache(1_000)(checksum)
logs_of_reader.Checksums = functools.lru_cache(10)(Checksums)

# The bytes of a file, or those of the files of a folder by their names.
Log = bytes | dict[str, bytes]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutations", type=int, default=100, help="how many for each golden log")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--reader", type=Path, help="LogWorker, if it is built already")
    options = parser.parse_args()
    commands = decoders.commands(options.reader, "logs")
    compared = differences = others = 0
    for name, made in _logs(options.mutations, options.seed):
        outcomes = _outcomes(made, commands)
        for index, log in enumerate(made):
            compared += 1
            theirs = {program: lines[index] for program, lines in outcomes.items()}
            python = theirs.pop("Python")
            library, found = _parted(theirs["library"])
            there = {number for number in python.partition("; ")[0].partition(": ")[2].split() if int(number) < 40}
            others += found != there
            is_same = library == _parted(python)[0] and theirs.get("JavaScript", python) == python
            if not is_same or found != there and not _numbers_fall(log):
                differences += 1
                print(f"{name}, mutation {index}")
                for program, text in {"Python": python, **theirs}.items():
                    print(f"  {program}  {text}")
    programs = ", ".join(commands)
    print(f"{compared} logs compared with {programs}: {differences} differences; in {others} a search finds other records")
    return 1 if differences else 0


def _logs(count: int, seed: str) -> Iterator[tuple[str, list[Log]]]:
    """Golden logs with mutations of them, and forged logs: the name, and what is read."""
    for name in logs.names():
        yield name, _mutations(logs.bytes_of(name), random.Random(f"{seed} {name}"), count)
    chance = random.Random(f"{seed} forged")
    yield "forged", [_forged(chance) for _ in range(count)]
    for folder in logs.folders():
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        # They are large.
        yield folder.name, [files, *(_mutated_folder(files, chance) for _ in range(count // 4))]
    yield "forged folder", [_mutated_folder(_forged_folder(chance), chance) for _ in range(count)]


def _in_python(path: Path) -> str:
    """What all tell of a log; and in the end the numbers of records that are absent, for which the library has those that it finds."""
    try:
        log = stow.open_log(path)
    except stow.StowError:
        return "refused"
    numbers = " ".join(str(record.number) for record in log.records)
    lost, absent = (" ".join(f"{numbers.start}..{numbers.stop}" for numbers in ranges) for ranges in (log.lost, log.absent))
    return f"{log.first} {log.count} {log.end}: {numbers}; {lost}; {absent}"


def _parted(text: str) -> tuple[str, set[str]]:
    """What all tell of a log, and the numbers after it."""
    told, _, numbers = text.rpartition("; ") if "; " in text else (text, "", "")
    # What was lost of two segments, one after the other, the library tells as one.
    return re.sub(r"\.\.(\d+) \1(?=\.\.)", "", told), set(numbers.split())


def _numbers_fall(log: Log) -> bool:
    """Whether a head or a record has a lower number than one before it in the same file."""
    files = [log] if isinstance(log, bytes) else log.values()
    return any(numbers != sorted(numbers) for numbers in map(_numbers, files))


def _numbers(data: bytes) -> list[int]:
    """The numbers in the heads of a file, and those after the last records of its blocks; none if the file is no log."""
    try:
        identity = logs_of_reader._identity(data)
    except stow.StowError:
        return []
    numbers = []
    for index in range(-(-len(data) // _BLOCK_SIZE)):
        block = logs_of_reader._block(data, index, identity)
        if block is not None:
            numbers += [] if block.first_record is None else [block.first_record]
            numbers.append(block.next_record)
    return numbers


def _outcomes(made: list[Log], commands: dict[str, list[str | Path]]) -> dict[str, list[str]]:
    """What this reader and each of the commands tell of each log."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / str(index) for index in range(len(made))]
        for path, log in zip(paths, made, strict=True):
            if isinstance(log, bytes):
                path.write_bytes(log)
                continue
            path.mkdir()
            for name, data in log.items():
                (path / name).write_bytes(data)
        told = {name: decoders.answers(command, [str(path) for path in paths]) for name, command in commands.items()}
        return {"Python": [_in_python(path) for path in paths], **told}


def _mutations(original: bytes, chance: random.Random, count: int) -> list[bytes]:
    """The log itself, and files that are made of it in a step or two."""
    result = [original]
    for _ in range(count):
        data = bytearray(original)
        for _ in range(chance.choice((1, 1, 2))):
            chance.choice(_STEPS)(data, chance)
        result.append(bytes(data))
    return result


def _place(data: bytearray, chance: random.Random) -> int:
    """Mostly near the beginning or the end of a block, where the heads and frames are."""
    block = chance.randrange(len(data) // _BLOCK_SIZE + 1) * _BLOCK_SIZE
    places = (block + chance.randrange(100), block - chance.randrange(20), len(data) - chance.randrange(200))
    return min(max(chance.choice((*places, chance.randrange(len(data) + 1))), 0), len(data) - 1)


def _change(data: bytearray, chance: random.Random) -> None:
    if data:
        data[_place(data, chance)] ^= 1 << chance.randrange(8)


def _cut(data: bytearray, chance: random.Random) -> None:
    if data:
        del data[_place(data, chance) :]


def _zero(data: bytearray, chance: random.Random) -> None:
    if data:
        start = _place(data, chance)
        size = min(chance.choice((4, 40, 512, 4_096, _BLOCK_SIZE)), len(data) - start)
        data[start : start + size] = bytes(size)


def _add(data: bytearray, chance: random.Random) -> None:
    data += chance.randbytes(chance.choice((1, 7, 40, 600)))


def _lengthen(data: bytearray, chance: random.Random) -> None:
    data += bytes(chance.choice((1, 31, 32, 600, _BLOCK_SIZE)))


def _move_block(data: bytearray, chance: random.Random) -> None:
    source, target = (chance.randrange(len(data) // _BLOCK_SIZE + 1) * _BLOCK_SIZE for _ in range(2))
    block = data[source : source + _BLOCK_SIZE]
    data[target : target + len(block)] = block


def _renumber(data: bytearray, chance: random.Random) -> None:
    """A head with a right checksum and another number: those of several blocks contradict each other."""
    start = chance.randrange(len(data) // _BLOCK_SIZE + 1) * _BLOCK_SIZE
    head = data[start : start + 32]
    if len(head) < 32:
        return
    number = int.from_bytes(head[16:24], "little") + chance.choice((-9, -1, 1, 2, 7, 1_000))
    head[16:24] = max(0, number).to_bytes(8, "little")
    head[4:8] = checksum(bytes(head[:4] + head[8:])).to_bytes(4, "little")
    data[start : start + 32] = head


def _append_frames(data: bytearray, chance: random.Random) -> None:
    """Frames that are whole, after the end: groups in parts, numbers that were given up or left out, and notes."""
    try:
        log = stow.open_log(bytes(data))
    except stow.StowError:
        return
    del data[log.end :]
    number = log.count
    for _ in range(chance.randrange(1, 4)):
        count = chance.randrange(1, 5)
        records = b"\x01\x91" * count
        choice = chance.randrange(4)
        if choice == 0:
            number = _append_group(data, chance, log.identity, number, count, records)
        elif choice == 1:
            left_out = chance.choice((1, 3, 100, 2**40, 2**62 - 2, 2**62 - number - count))
            kind = chance.choice((0x01, 0x05))
            _append_frame(data, log.identity, kind, number, records + b"\0" + _uint(left_out) + records)
            number += left_out + 2 * count
        elif choice == 2:
            _append_frame(data, log.identity, 0x0B, number, chance.randbytes(chance.randrange(9)))
        else:
            _append_frame(data, log.identity, 0x05, number + chance.choice((0, 0, 1)), records)
            number += count


def _name(number: int) -> str:
    return f"{number:020}.stowlog"


def _forged_folder(chance: random.Random) -> dict[str, bytes]:
    """Some segments. Some of them name another log, or no log."""
    files = {}
    number = chance.choice((0, 0, 7))
    for index in range(chance.randrange(1, 5)):
        log = chance.choice((b"forged!!",) * 9 + (b"another!",))
        origin = None if chance.random() < (0.1 if index else 0.5) else log
        data = _forged(chance, number, b"segment%d" % index if index else b"forged!!", origin, chance.randrange(1, 4))
        files[_name(number)] = data
        with contextlib.suppress(stow.StowError):
            number = stow.open_log(data).count
        number += chance.choice((0,) * 9 + (3,))
    return files


def _mutated_folder(original: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
    files = {name: bytearray(data) for name, data in original.items()}
    for _ in range(chance.choice((0, 1, 1, 2))):
        if files:
            chance.choice(_FOLDER_STEPS)(files, chance.choice(sorted(files)), chance)
    return {name: bytes(data) for name, data in files.items()}


def _mutate_segment(files: dict[str, bytearray], name: str, chance: random.Random) -> None:
    chance.choice(_STEPS)(files[name], chance)


def _remove_segment(files: dict[str, bytearray], name: str, chance: random.Random) -> None:
    del files[name]


def _rename_segment(files: dict[str, bytearray], name: str, chance: random.Random) -> None:
    files[_other_name(name, chance)] = files.pop(name)


def _double_segment(files: dict[str, bytearray], name: str, chance: random.Random) -> None:
    files[_other_name(name, chance)] = files[name][:]


def _swap_segments(files: dict[str, bytearray], name: str, chance: random.Random) -> None:
    other = chance.choice(sorted(files))
    files[name], files[other] = files[other], files[name]


def _replace_segment(files: dict[str, bytearray], name: str, chance: random.Random) -> None:
    files[name] = bytearray(logs.bytes_of(chance.choice(("compacted", "records", "scopes"))))


def _add_other_file(files: dict[str, bytearray], name: str, chance: random.Random) -> None:
    others = (f"{name}-new", f"{name}.index", f"0{name}", name[1:], name.upper(), name.replace("0", "٠"), _name(2**62), "stowlog-lock")
    files[chance.choice(others)] = chance.choice((files[name][:], bytearray(), bytearray(b"x")))


def _other_name(name: str, chance: random.Random) -> str:
    number = int(name[:20]) if name[:20].isdecimal() else 0
    return _name(max(0, number + chance.choice((-9, -2, -1, 1, 2, 9, 1_000, 2**62 - 1 - number))))


def _forged(
    chance: random.Random, number: int = 0, identity: bytes = b"forged!!", origin: bytes | None = None, blocks: int | None = None
) -> bytes:
    """Some blocks whose heads, first parts and other parts need not agree with each other."""
    data = bytearray()
    group: tuple[int, int] | None = None
    for _ in range(blocks or chance.randrange(2, 8)):
        if chance.random() < 0.3:
            number = max(0, number + chance.choice((-20, -6, -5, -4, -3, -2, -1, 1, 2, 5)))
        goes_on = group is not None and chance.random() < 0.7
        given_up = group is not None and not goes_on and chance.random() < 0.4
        if group is not None and (goes_on or given_up) and chance.random() < 0.9:
            number = sum(group)
        _append_head(data, identity, number)
        head = len(data) - 32
        if origin is not None and head == 0:
            _append_payload(data, identity, 0x06, origin + bytes(8))
        if group is not None and goes_on:
            kind = chance.choice((0x03, 0x03, 0x04))
            _append_frame(data, identity, kind, sum(group) - 1, b"\x01\x91" * chance.choice((1, 1, 2)))
        elif group is not None and given_up:
            _append_frame(data, identity, 0x0A, group[0], _uint(group[1]))
        if not goes_on:
            group = None
            for _ in range(chance.randrange(3)):
                if chance.random() < 0.3:
                    # A last part does not stand here: after it, any number may follow.
                    _append_frame(data, identity, 0x04, number, b"\x91")
                    number += chance.randrange(4)
                left_out = b"\0" + _uint(chance.randrange(1, 4)) if chance.random() < 0.2 else b""
                count = chance.randrange(4)
                _append_frame(data, identity, 0x05, number, left_out + b"\x01\x91" * count)
                number += count + (left_out[1] if left_out else 0)
            if chance.random() < 0.6:
                if chance.random() < 0.3:
                    _append_frame(data, identity, 0x04, number, b"\x91")
                    number += chance.randrange(4)
                count = chance.randrange(1, 4)
                _append_frame(data, identity, 0x02, number, _uint(count) + _uint(2 * count) + b"\x01")
                group = (number, count)
                number += count
        if len(data) % _BLOCK_SIZE and chance.random() < 0.15:
            data[head + chance.choice((4, 9))] ^= 1
        if chance.random() < 0.05:
            data[head:] = bytes(len(data) - head)
    return bytes(data)


def _append_group(
    data: bytearray, chance: random.Random, identity: bytes, number: int, count: int, records: bytes
) -> int:
    """A group in parts, mostly a whole one. Returns the number after it."""
    cuts = sorted(chance.randrange(len(records) + 1) for _ in range(chance.randrange(1, 3)))
    parts = [records[start:end] for start, end in zip([0, *cuts], [*cuts, len(records)], strict=True)]
    claimed = chance.choice((count, count, count, count + 1))
    _append_frame(data, identity, 0x02, number, _uint(claimed) + _uint(len(records)) + parts[0])
    for index, part in enumerate(parts[1:], start=1):
        _append_head(data, identity, number + claimed)
        if chance.random() < 0.2:
            _append_frame(data, identity, 0x0A, number, _uint(claimed))
            break
        kind = 0x04 if index == len(parts) - 1 else 0x03
        _append_frame(data, identity, kind, number + claimed - 1, part)
    return number + claimed


def _uint(number: int) -> bytes:
    return bytes([number]) if 0 <= number <= 0xDF else b"\xfd" + (number & 2**64 - 1).to_bytes(8, "little")


def _append_head(data: bytearray, identity: bytes, number: int) -> None:
    data += bytes(-len(data) % _BLOCK_SIZE)
    rest = identity + (number & 2**64 - 1).to_bytes(8, "little") + (len(data) // _BLOCK_SIZE).to_bytes(4, "little")
    front, rest = b"\x7f\x02\x01\x00", rest + bytes(4)
    data += front + checksum(front + rest).to_bytes(4, "little") + rest


def _append_frame(data: bytearray, identity: bytes, kind: int, number: int, content: bytes) -> None:
    payload = _uint(number) + content
    if len(data) % _BLOCK_SIZE == 0 or len(payload) + 7 > _BLOCK_SIZE - len(data) % _BLOCK_SIZE:
        _append_head(data, identity, number)
    _append_payload(data, identity, kind, payload)


def _append_payload(data: bytearray, identity: bytes, kind: int, payload: bytes) -> None:
    rest = len(payload).to_bytes(2, "little") + bytes([kind]) + payload
    covered = identity + len(data).to_bytes(8, "little") + rest
    data += checksum(covered).to_bytes(4, "little") + rest


_STEPS = (_append_frames, _append_frames, _change, _change, _cut, _zero, _add, _lengthen, _move_block, _renumber, _renumber)
_FOLDER_STEPS = (
    *(_mutate_segment,) * 5, _remove_segment, _rename_segment, _double_segment, _swap_segments, _replace_segment, _add_other_file)


if __name__ == "__main__":
    sys.exit(main())
