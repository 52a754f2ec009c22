"""Reads the whole suite with the reader in Python, and writes what is canonical, until something is not as the suite says."""

from collections.abc import Callable, Iterator

import logs
import notation
import vectors
from reader import stow


def every(part: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """All checks, and the name of each: first those in which a change of a part is most likely seen."""
    groups = {"reader": [_read, _generated], "writer": [_written, _written_again], "logs": [_logs, _streams]}
    yield from (check for group in groups.get(part, []) for check in group())
    yield from (check for name, found in groups.items() if name != part for group in found for check in group())


def _expect(found: object, wanted: object) -> None:
    if found != wanted:
        raise AssertionError(f"{found!r:.100} in place of {wanted!r:.100}")


def _read() -> Iterator[tuple[str, Callable[[], None]]]:
    meanings = vectors.meanings()
    for vector in vectors.every():
        yield vector.name, lambda: _check_vector(vector, meanings.get(vector.name))


def _check_vector(vector: vectors.Vector, meaning: "str | None") -> None:
    try:
        text = stow.notation(vector.decoded(vector.bytes))
    except stow.StowError:
        text = None
    if meaning is None or text is None or not vectors.is_meaning(meaning, text):
        _expect(text, meaning)


def _generated() -> Iterator[tuple[str, Callable[[], None]]]:
    for message, meaning in vectors.generated():
        yield message.hex(), lambda: _expect(_meaning(message), meaning)


def _meaning(message: bytes) -> str:
    try:
        return stow.notation(stow.loads(message))
    except stow.StowError:
        return "refused"


def _written() -> Iterator[tuple[str, Callable[[], None]]]:
    for vector in vectors.every():
        if vector.kind == "canonical" and vector.has_free_keys:
            yield vector.name, lambda: _expect(vector.written().hex(), vector.bytes.hex())


def _written_again() -> Iterator[tuple[str, Callable[[], None]]]:
    for message in vectors.canonical():
        yield message.hex(), lambda: _expect(stow.dumps(stow.loads(message)).hex(), message.hex())


def _logs() -> Iterator[tuple[str, Callable[[], None]]]:
    for log in vectors.logs():
        yield log.name, lambda: _expect(logs.told_small(log.bytes), logs.small(log))
    for name in logs.names():
        yield name, lambda: _expect(logs.told(stow.open_log(logs.bytes_of(name))), logs.expected(name))
    for folder in logs.folders():
        yield folder.name, lambda: _expect(logs.told(stow.open_log(folder)), logs.expected(folder.name, logs.SEGMENTS))


def _streams() -> Iterator[tuple[str, Callable[[], None]]]:
    for stream in vectors.streams():
        yield stream.name, lambda: _expect(_records(stream.bytes), (stream.records, stream.kind == "refused"))


def _records(data: bytes) -> tuple[list[str], bool]:
    found: list[str] = []
    try:
        for record in stow.read_stream(data):
            found.append("error" if record.error else stow.notation(record.value))
    except stow.StowError:
        return found, True
    return found, False
