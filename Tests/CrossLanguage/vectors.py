"""The files of golden vectors."""

from dataclasses import dataclass, field
from pathlib import Path

import notation

FOLDER = Path(__file__).parent.parent / "StowTests" / "Vectors"


@dataclass
class Vector:
    """Some bytes, and what they mean; nothing if they are refused."""

    kind: str
    name: str
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def bytes(self) -> bytes:
        return notation.hex_bytes(self.fields.get("prelude", "") + " " + self.fields.get("bytes", ""))

    @property
    def value(self) -> object:
        return notation.parse(self.fields["value"])


def load(path: Path) -> list[Vector]:
    """A vector begins at the start of a line; what belongs to it is indented."""
    vectors: list[Vector] = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            vectors.append(Vector(*line.split(" ")[:2]))
            continue
        name, _, text = line.strip(" ").partition(" ")
        fields = vectors[-1].fields
        fields[name] = f"{fields[name]} {text}" if name in fields else text
    return vectors


def files() -> list[Path]:
    return sorted(FOLDER.glob("*.txt"))


def sealed() -> list[tuple[str, int, str]]:
    """The files whose first bytes may not change: name, number of bytes, and their SHA-256."""
    lines = (line.split() for line in (FOLDER / "SEALED").read_text().splitlines())
    return [(name, int(size), digest) for name, size, digest in lines]
