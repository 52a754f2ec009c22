"""The two decoders, as functions from messages to the texts of what they mean."""

import os
import shutil
import subprocess
from pathlib import Path

import meaning_text
import vectors
from reader import stow

_PACKAGE = Path(__file__).parent.parent.parent

# What texts begin with that are no meanings.
REFUSED = "refused"
RAISES = "raises"
HANGS = "hangs"


# What both hold when a message comes.
_CONTEXTS = [stow.Context(message) for message in vectors.contexts()]


def in_python(message: bytes) -> str:
    try:
        return meaning_text.meaning_text(stow.loads(message, contexts=_CONTEXTS))
    except stow.StowError as error:
        return f"{REFUSED}: {error}"
    except Exception as error:
        return f"{RAISES} {error!r}"


def written_in_python(messages: list[bytes]) -> list[tuple[bytes, str]]:
    """What is written of the values of messages that are valid, and what these mean."""
    written = []
    for message in messages:
        try:
            value = stow.loads(message, contexts=_CONTEXTS)
        except stow.StowError:
            continue
        context = [None, *_CONTEXTS][len(written) % (len(_CONTEXTS) + 1)]
        try:
            written.append((stow.dumps(value, context=context), meaning_text.meaning_text(value)))
        except stow.StowError as error:
            # A writer counts levels that are none to a reader.
            if "levels" not in error.reason:
                raise
    return written


def build(product: str = "MessageReader") -> Path:
    """Builds a reader in Swift, and returns where it is."""
    command = ["swift", "build", "-c", "release", "--product", product]
    subprocess.run(command, cwd=_PACKAGE, check=True, stdout=subprocess.DEVNULL)
    shown = subprocess.run([*command, "--show-bin-path"], cwd=_PACKAGE, check=True, stdout=subprocess.PIPE, text=True)
    return Path(shown.stdout.strip()) / product


def commands(worker: Path | None, verb: str) -> dict[str, list[str | Path]]:
    """The programs that answer lines: LogWorker with a verb and, where there is node, the script in JavaScript of that name."""
    found: dict[str, list[str | Path]] = {"library": [worker or build("LogWorker"), verb]}
    if node := shutil.which("node"):
        found["JavaScript"] = [node, _PACKAGE / "Readers/javascript/test" / f"{verb}.mjs"]
    return found


def answers(command: list[str | Path], lines: list[str]) -> list[str]:
    """A line for each line."""
    text = "".join(f"{line}\n" for line in lines)
    process = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return process.stdout.split("\n")[:-1]


class SwiftDecoder:
    def __init__(self, reader: Path, seconds: float = 60):
        self._reader = reader
        self._seconds = seconds

    def texts(self, messages: list[bytes]) -> list[str]:
        """One text for each message. Where the process traps or hangs, halves tell at which."""
        texts, failure = self._run(messages)
        if len(texts) == len(messages) and not failure:
            return texts
        if len(messages) == 1:
            return [failure or "no answer"]
        half = len(messages) // 2
        return self.texts(messages[:half]) + self.texts(messages[half:])

    def written(self, messages: list[bytes]) -> list[bytes]:
        """What the library writes of the values of messages."""
        lines = answers([self._reader, "--written"], [message.hex() for message in messages])
        return [bytes.fromhex(line) for line in lines]

    def _run(self, messages: list[bytes]) -> tuple[list[str], str | None]:
        lines = "".join(message.hex() + "\n" for message in messages)
        # The backtrace of a trap takes longer than all else.
        environment = os.environ | {"SWIFT_BACKTRACE": "enable=no"}
        contexts = [text for message in vectors.contexts() for text in ("--context", message.hex())]
        try:
            process = subprocess.run(
                [self._reader, "--reasons", *contexts], input=lines, capture_output=True, text=True,
                timeout=self._seconds, env=environment,
            )
        except subprocess.TimeoutExpired:
            return [], f"{HANGS} for {self._seconds} seconds"
        failure = f"ends with code {process.returncode}" if process.returncode else None
        return process.stdout.split("\n")[:-1], failure
