"""The golden logs: files, and what stands in them."""

from dataclasses import dataclass, field

import notation
import vectors

FOLDER = vectors.SUITE / "logs"


@dataclass
class Expected:
    """The values of the records by their numbers, the numbers that were lost, and where the log ends."""

    records: dict[int, str] = field(default_factory=dict)
    lost: list[int] = field(default_factory=list)
    end: int = 0


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.stowlog"))


def bytes_of(name: str) -> bytes:
    return (FOLDER / f"{name}.stowlog").read_bytes()


def expected(name: str) -> Expected:
    """A line for each record, each number that was lost, and the end."""
    result = Expected()
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        word, number, *rest = line.split(" ", 2)
        if word == "record":
            result.records[int(number)] = notation.described(notation.parse(rest[0]))
        elif word == "lost":
            result.lost.append(int(number))
        elif word == "end":
            result.end = int(number)
    return result
