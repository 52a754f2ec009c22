"""The files of golden vectors."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import notation
from reader import stow

FOLDER = Path(__file__).parent.parent / "StowTests" / "Vectors"


@dataclass
class Vector:
    """Some bytes, and what they mean; nothing if they are refused."""

    kind: str
    name: str
    flags: set[str] = field(default_factory=set)
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def bytes(self) -> bytes:
        return notation.hex_bytes(self.fields.get("prelude", "") + " " + self.fields.get("bytes", ""))

    def decoded(self, message: bytes) -> object:
        """What the message, or some other, means in the context of the vector, if it has one."""
        if "context" not in self.fields:
            return stow.loads(message)
        context = stow.Context(notation.hex_bytes(self.fields["context"]))
        settled = context if "implicit" in self.flags else None
        return stow.loads(message, contexts=[context], context=settled)

    @property
    def has_free_keys(self) -> bool:
        """Whether no object of the value has the keys of a type."""
        return re.search(r'"\$(A|B|C|AB|nothing|absent)"', self.fields["value"]) is None

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
            kind, name, *flags = line.split(" ")
            vectors.append(Vector(kind, name, set(flags)))
            continue
        name, _, text = line.strip(" ").partition(" ")
        fields = vectors[-1].fields
        fields[name] = f"{fields[name]} {text}" if name in fields else text
    return vectors


def files() -> list[Path]:
    return sorted(FOLDER.glob("*.txt"))


def every() -> Iterator[Vector]:
    return (vector for path in files() for vector in load(path))


def contexts() -> list[bytes]:
    """The messages of the contexts of all vectors that are not refused."""
    valid = (vector for vector in every() if vector.kind != "refused")
    return sorted({notation.hex_bytes(vector.fields["context"]) for vector in valid if "context" in vector.fields})


def sealed() -> list[tuple[str, int, str]]:
    """The files whose first bytes may not change: name, number of bytes, and their SHA-256."""
    lines = (line.split() for line in (FOLDER / "SEALED").read_text().splitlines())
    return [(name, int(size), digest) for name, size, digest in lines]
