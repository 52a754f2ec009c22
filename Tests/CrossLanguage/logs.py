"""The golden logs: files and folders of segments, and what stands in them."""

from dataclasses import dataclass, field
from pathlib import Path

import notation
import vectors

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
