"""Messages that the two decoders do not take for the same, in classes, and made small."""

import os
import re
from dataclasses import dataclass, field

import decoders
from mutations import outer_lengths, with_lengths

# Candidates of one round of shrinking are read at once, so they may be many.
_MOST_CANDIDATES = 4_000
_SMALLEST_RUNS = 16

# What the text of the library begins with if it is no answer.
_FAILURES = ("finding:", "ends with", decoders.HANGS, "no answer")


@dataclass(frozen=True)
class Difference:
    message: bytes
    python: str
    # Where the ways of reading differ: what each of them finds, with tabs between.
    swift: str

    @property
    def kind(self) -> str:
        """Equal for differences that may well have one cause."""
        is_answer = not self.python.startswith((decoders.REFUSED, decoders.RAISES))
        python = "reads it" if is_answer else _without_details(self.python)
        return f"Python {python}; the library {self._library()}"

    def _library(self) -> str:
        outcomes = [self._outcome(text) for text in self.readings()]
        return outcomes[0] if len(outcomes) == 1 else "{} by containers, and {} by collections".format(*outcomes)

    def readings(self) -> list[str]:
        return self.swift.split("\t")

    def _outcome(self, text: str) -> str:
        """What came of one way of reading in the library."""
        if text.startswith(_FAILURES) or is_refused(text) and not is_refused(self.python):
            return _without_details(text)
        if is_refused(text):
            return "refuses it"
        return "reads it" if is_refused(self.python) or text == self.python else _difference(self.python, text)


@dataclass
class Tally:
    """What came of comparing messages: how many there were, and of each kind of difference the smallest."""

    compared: int = 0
    accepted: int = 0
    refused: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    smallest: dict[str, Difference] = field(default_factory=dict)

    def add(self, message: bytes, python: str, swift: str) -> None:
        self.compared += 1
        if is_refused(python) and is_refused(swift):
            self.refused += 1
        elif python == swift and not is_refused(python):
            self.accepted += 1
        else:
            self._note(Difference(message, python, swift), 1)

    def merge(self, other: "Tally") -> None:
        self.compared += other.compared
        self.accepted += other.accepted
        self.refused += other.refused
        for kind, difference in other.smallest.items():
            self._note(difference, other.counts[kind])

    def _note(self, difference: Difference, count: int) -> None:
        kind = difference.kind
        self.counts[kind] = self.counts.get(kind, 0) + count
        known = self.smallest.get(kind)
        if known is None or len(difference.message) < len(known.message):
            self.smallest[kind] = difference


def compare(messages: list[bytes], swift: decoders.SwiftDecoder) -> Tally:
    tally = Tally()
    for message, text in zip(messages, swift.texts(messages)):
        tally.add(message, decoders.in_python(message), text)
    return tally


def compare_written(messages: list[bytes], swift: decoders.SwiftDecoder) -> Tally:
    """Whether the library finds in what Python writes what that wrote: without a context, and with one of several."""
    written = decoders.written_in_python(messages)
    tally = Tally()
    for (message, python), text in zip(written, swift.texts([message for message, _ in written])):
        tally.add(message, python, text)
    return tally


def shrunken(difference: Difference, swift: decoders.SwiftDecoder) -> Difference:
    """The same kind of difference in a message of which nothing more can be left out.

    What hangs stays as it is: whatever is left of it might take as long.
    """
    while decoders.HANGS not in difference.swift:
        tally = compare(_shorter(difference.message), swift)
        smaller = tally.smallest.get(difference.kind)
        if smaller is None:
            break
        difference = smaller
    return difference


def is_refused(text: str) -> bool:
    """By all ways of reading."""
    return all(part.startswith(decoders.REFUSED) for part in text.split("\t"))


def _shorter(message: bytes) -> list[bytes]:
    """The message without one run of bytes, once as it is then and once with the lengths around mended."""
    candidates = []
    size = max(len(message), 1)
    while size >= 1 and len(candidates) < _MOST_CANDIDATES:
        step = 1 if size <= _SMALLEST_RUNS else size // 2
        for start in range(0, len(message) - size + 1, step):
            lengths = outer_lengths(message, start)
            candidates.append(with_lengths(message, start, start + size, b"", []))
            candidates.append(with_lengths(message, start, start + size, b"", lengths))
        size = size - 1 if size <= _SMALLEST_RUNS else size // 2
    return candidates


def _difference(python: str, swift: str) -> str:
    """The words with which the first values begin that are not the same."""
    same = len(os.path.commonprefix([python, swift]))
    start = max(match.end() for match in re.finditer(r"^|[\[{]|[,:] ", python[:same]))
    words = [re.match("[a-z]*", text[start:])[0] or "something" for text in (swift, python)]
    return "reads {} where there is {}".format(*words)


def _without_details(text: str) -> str:
    """Without what is the message's own: quotations and numbers."""
    return re.sub(r"(?<![-\w])[0-9A-F]*[0-9][0-9A-F]*\b", "#", re.sub(r"“.*”|\".*\"", "…", text, flags=re.DOTALL))
