"""The examples of FORMAT.md and of the pages beside it."""

import re
from pathlib import Path

import notation

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "FORMAT.md", *sorted((ROOT / "Format").glob("*.md"))]


def _text() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def _blocks(kind: str) -> list[tuple[str, str]]:
    """The name and the text of each fenced block of a kind."""
    return re.findall(rf"^```{kind} ?(\S*)\n(.*?)^```", _text(), re.M | re.S)


def examples(kind: str = "stow-example") -> dict[str, bytes]:
    """The bytes of each example, by its name."""
    return {
        name: notation.hex_bytes(" ".join(re.findall(r"^bytes:(.*)$", text, re.M)))
        for name, text in _blocks(kind)
    }


def explained(kind: str) -> dict[str, bytes]:
    """The bytes of the lines that explain each example, by its name."""
    return {
        name: notation.hex_bytes(" ".join(re.findall(r"^ *([0-9A-F]{2}(?: [0-9A-F]{2})*)(?:  |$)", text, re.M)))
        for name, text in _blocks(kind)
    }


def accepted() -> list[tuple[bytes, str]]:
    """Bytes, and their meaning."""
    return [(message, meaning.split(";")[0]) for message, meaning in _lines("stow-accepted")]


def refused() -> list[bytes]:
    return [message for message, _ in _lines("stow-refused")]


def notations() -> list[tuple[bytes, str]]:
    """Bytes, and the notation of what they mean."""
    return _lines("stow-notation")


def logs() -> dict[str, tuple[list[str], bytes, bytes]]:
    """The records of each example of a log, its bytes, and the bytes that are explained; by its name."""
    return _records("stow-log")


def streams() -> dict[str, tuple[list[str], bytes, bytes]]:
    """The same of streams."""
    return _records("stow-stream")


def _records(kind: str) -> dict[str, tuple[list[str], bytes, bytes]]:
    result = {}
    for name, text in _blocks(kind):
        digits = " ".join(re.findall(r"^bytes:(.*)$", text, re.M))
        explained = [re.split(r" {2,}", line.strip(), maxsplit=1)[0] for line in text.split("\n\n", 1)[1].splitlines()]
        records = re.findall(r"^record \d+: (.*)$", text, re.M)
        result[name] = (records, notation.hex_bytes(digits), notation.hex_bytes(" ".join(explained)))
    return result


def _lines(kind: str) -> list[tuple[bytes, str]]:
    lines = [re.split(r" {2,}", line, maxsplit=1) for _, text in _blocks(kind) for line in text.splitlines()]
    return [(notation.hex_bytes(digits), rest) for digits, rest in lines]
