"""The golden logs: files and folders of segments, and what stands in them."""

from dataclasses import dataclass, field
from pathlib import Path

import notation
import vectors
from reader import stow

FOLDER = vectors.SUITE / "logs"
SEGMENTS = vectors.SUITE / "segments"


@dataclass
class Expected:
    """The number of the first record that may be there, the values of the records by their numbers, the numbers that were lost, and where the log ends."""

    first: int = 0
    records: dict[int, str] = field(default_factory=dict)
    lost: list[int] = field(default_factory=list)
    end: int = 0


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.stowlog"))


def bytes_of(name: str) -> bytes:
    return (FOLDER / f"{name}.stowlog").read_bytes()


def folders() -> list[Path]:
    return sorted(path for path in SEGMENTS.iterdir() if path.is_dir())


def expected(name: str, folder: Path = FOLDER) -> Expected:
    """A line for each record, each number that was lost, and the end; of a folder, also for the first number."""
    result = Expected()
    for line in (folder / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        word, number, *rest = line.split(" ", 2)
        if word == "record":
            result.records[int(number)] = notation.described(notation.parse(rest[0]))
        elif word == "lost":
            result.lost.append(int(number))
        elif word == "first":
            result.first = int(number)
        elif word == "end":
            result.end = int(number)
    return result


def told(log: stow.Log) -> Expected:
    """What the reader in Python finds."""
    records = {record.number: notation.described(record.value) for record in log.records}
    return Expected(log.first, records, [number for lost in log.lost for number in lost], log.end)


def small(log: vectors.Vector) -> tuple[list[str], str, str]:
    """What logs.txt says of one of its logs: its records, what was lost, and its end."""
    return log.records, log.fields.get("lost", ""), log.fields["end"] if log.kind == "log" else "refused"


def told_small(data: bytes) -> tuple[list[str], str, str]:
    """The same of what the reader in Python finds."""
    try:
        log = stow.open_log(data)
    except stow.StowError:
        return [], "", "refused"
    records = [f"{record.number} {'error' if record.error else stow.notation(record.value)}" for record in log.records]
    lost = [str(numbers.start) + (f"-{numbers.stop - 1}" if len(numbers) > 1 else "") for numbers in log.lost]
    return records, " ".join(lost), str(log.end)
