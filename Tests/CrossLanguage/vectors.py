"""The conformance suite, which `Conformance/README.md` describes."""

import gzip
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import notation
from reader import stow

SUITE = Path(__file__).parent.parent.parent / "Conformance"
FOLDER = SUITE / "messages"


@dataclass
class Vector:
    """Some bytes, and what they mean; nothing if they are refused."""

    kind: str
    name: str
    flags: set[str] = field(default_factory=set)
    fields: dict[str, str] = field(default_factory=dict)
    #: The notation of each record of a stream.
    records: list[str] = field(default_factory=list)

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

    def written(self) -> bytes:
        """The value, as this package writes it."""
        context = stow.Context(notation.hex_bytes(self.fields["context"])) if "context" in self.fields else None
        return stow.dumps(
            self.value, sort_keys="sorted" in self.flags, context=context, names_context="implicit" not in self.flags)

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
        if name == "record":
            vectors[-1].records.append(text)
            continue
        fields = vectors[-1].fields
        fields[name] = f"{fields[name]} {text}" if name in fields else text
    return vectors


def files() -> list[Path]:
    return sorted(FOLDER.glob("*.txt"))


def every() -> Iterator[Vector]:
    return (vector for path in files() for vector in load(path))


def meanings() -> dict[str, str]:
    """The notation of each vector that is valid, by its name."""
    return _lines("meanings.txt")


def rules() -> dict[str, str]:
    """The rule that each vector breaks that is refused, by its name."""
    return _lines("rules.txt")


def _lines(file: str) -> dict[str, str]:
    lines = (SUITE / file).read_text(encoding="utf-8").split("\n")
    return dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))


def is_meaning(meaning: str, text: str) -> bool:
    """Whether a text is the one of a meaning, or that of its checksum."""
    return meaning == text or meaning == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def streams() -> list[Vector]:
    return load(SUITE / "streams.txt")


def logs() -> list[Vector]:
    """Small logs. A record is its number and its notation."""
    return load(SUITE / "logs.txt")


GENERATED = SUITE / "messages.txt.gz"


def generated(file: Path = GENERATED) -> list[tuple[bytes, str]]:
    """Messages that were made at random, and their notation, or "refused"."""
    lines = (line.removeprefix(_CANONICAL).split(" ", 1) for line in _generated_lines(file))
    return [(bytes.fromhex("" if digits == "-" else digits), meaning) for digits, meaning in lines]


def canonical(file: Path = GENERATED) -> list[bytes]:
    """Those of them that are canonical."""
    lines = (line.split(" ", 2) for line in _generated_lines(file) if line.startswith(_CANONICAL))
    return [bytes.fromhex(digits) for _, digits, _ in lines]


_CANONICAL = "canonical "


def _generated_lines(file: Path) -> list[str]:
    return gzip.decompress(file.read_bytes()).decode().split("\n")[:-1]


def contexts() -> list[bytes]:
    """The messages of the contexts of all vectors that are not refused."""
    valid = (vector for vector in every() if vector.kind != "refused")
    return sorted({notation.hex_bytes(vector.fields["context"]) for vector in valid if "context" in vector.fields})


def sealed() -> list[tuple[str, int, str]]:
    """The files whose first bytes may not change: name, number of bytes, and their SHA-256."""
    lines = (line.split() for line in (SUITE / "SEALED").read_text().splitlines())
    return [(name, int(size), digest) for name, size, digest in lines]
