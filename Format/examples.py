#!/usr/bin/env python3
"""Makes Examples.md of vectors of the conformance suite, explained by `stowtool inspect`. Those of FORMAT.md are left out.

    examples.py --stowtool PATH            writes the page
    examples.py --stowtool PATH --check    fails if the page is not what it would write
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent
sys.path[:0] = [str(ROOT / "Readers" / "python"), str(ROOT / "Tests" / "CrossLanguage")]

import vectors

PAGE = FOLDER / "Examples.md"
HEADING = """# Examples

Messages of the [conformance suite](../Conformance/README.md), byte by byte: what each means in [diagnostic notation](Notation.md),
its bytes, and the same bytes again with what they are. `00*20` stands for twenty times `00`. All are what a canonical writer writes for
the calls that the suite has under the same name. More examples stand in [FORMAT.md](../FORMAT.md), and those of logs and streams in
[Logs.md](Logs.md).

`Format/examples.py` makes this page.
"""
SECTIONS = {
    "Scalars": """
        nil nested-nil false true integer-zero integer-smallest-in-tag integer-largest-in-tag integer-1-byte
        integer-negative integer-2-bytes integer-3-bytes integer-8-bytes integer-unsigned integer-128
        integer-unsigned-128 float-integral float-integral-3-bytes float-short-decimal
        float-short-decimal-2-bytes float-decimal float-decimal-large float-noisy-decimal float-noisy-negative
        float-4-bytes float-minus-zero float-infinity float-8-bytes float-nan float-nan-4-bytes""",
    "Strings, data, dates, UUIDs, decimal numbers": """
        string-empty string-short string-not-ascii string-32-bytes data uuid url date-whole date-decimal
        date-many-decimals date-8-bytes decimal decimal-negative decimal-zero decimal-nan""",
    "Arrays and maps": """
        array-empty array-short array-long array-of-optionals array-of-nested-optionals array-nested map-empty
        map-plain-key map-6-bit-key map-5-bit-key map-5-bit-shifted-key map-6-bit-mixed-key
        map-plain-key-not-ascii map-empty-key map-63-characters map-64-characters map-integer-keys map-long
        dictionary-of-other-keys""",
    "Objects": """
        object-once object-nothing object-null object-nested-nil object-subclass""",
    "Symbols and records": """
        symbol symbol-too-small symbol-key symbol-url symbols-33 records records-too-small records-partial
        records-partial-empty records-of-maps records-two-shapes records-nine-shapes records-symbol-in-shape""",
    "Packed arrays": """
        integers-tagged integers-1-byte integers-2-bytes integers-3-bytes integers-4-bytes integers-unsigned
        integers-offsets integers-own-widths integers-deltas integers-own-width-deltas bools-tagged bools
        floats-tagged floats-integral floats-scaled floats-noisy floats-noisy-integral floats-4-bytes
        floats-8-bytes floats-and-integers""",
    "Tables and matrices": """
        table table-of-everything matrix matrix-integers table-constant-column matrix-mixed matrix-too-small""",
    "Lengths": """
        length-223 length-224 length-6367 length-6368 length-268511 length-268512""",
}
REMARKS = {
    "map-6-bit-key": "both packed forms take 3 bytes",
    "symbol-too-small": "3 · 3 − 3 − 3 = 3 is no more than 3, so there is no prelude",
    "records-too-small": "1 · 3 − 2 − 1 = 0, so there is no shape",
    "records-partial-empty": "no object has the first key of its type, so the shape has not either",
    "object-subclass": "its keys are of two key types",
    "float-nan-4-bytes": "a Float",
    "floats-4-bytes": "Floats",
    "floats-and-integers": "7 is an integer",
    "matrix-mixed": "70 is an integer",
}
LONGEST_VALUE = 100
BYTES_IN_A_LINE = 32
BYTES_IN_A_ROW = 23
LONGEST_RUN = 15


def compressed(data: bytes) -> list[str]:
    """The words of the bytes: two digits, and `00*20` for many that are the same."""
    words: list[str] = []
    for run in re.finditer(rb"(.)\1*", data, re.S):
        count, digits = len(run[0]), f"{run[0][0]:02X}"
        words += [f"{digits}*{count}"] if count > LONGEST_RUN else [digits] * count
    return words


def rows(words: list[str], size: int) -> list[str]:
    return [" ".join(words[start : start + size]) for start in range(0, len(words), size)]


def explained(text: str) -> list[str]:
    """What `inspect` says of a message, without offsets and with long bytes in short."""
    lines: list[tuple[int, bytes, str]] = []
    for line in text.splitlines():
        indent, digits, meaning = re.fullmatch(r" *[\d,]+  ( *)((?:[0-9A-F]{2} ?)+?)(?:  +(.*))?", line).groups()
        data = bytes.fromhex(digits)
        if meaning is None and lines:
            lines[-1] = (lines[-1][0], lines[-1][1] + data, lines[-1][2])
        else:
            lines.append((len(indent), data, meaning or ""))
    result = []
    for indent, data, meaning in lines:
        *above, last = [" " * indent + row for row in rows(compressed(data), BYTES_IN_A_ROW)]
        result += [*above, f"{last:<24}  {meaning}"]
    return result


def example(vector: "vectors.Vector", meaning: str, text: str) -> str:
    value = meaning if not meaning.startswith("sha256:") else vector.fields["value"]
    value = value if len(value) <= LONGEST_VALUE else value[:LONGEST_VALUE] + " …"
    remark = f"; {REMARKS[vector.name]}" if vector.name in REMARKS else ""
    lines = [f"bytes: {row}" for row in rows(compressed(vector.bytes), BYTES_IN_A_LINE)]
    return "\n".join(["```stow-example " + vector.name, f"value: {value}{remark}", *lines, "", *explained(text), "```"])


def page(stowtool: str) -> str:
    known = {vector.name: vector for vector in vectors.every()}
    meanings = vectors.meanings()
    inline = set(re.findall(r"^```stow-example (\S+)", (ROOT / "FORMAT.md").read_text(encoding="utf-8"), re.M))
    parts = [HEADING]
    with tempfile.TemporaryDirectory() as folder:
        for title, names in SECTIONS.items():
            parts.append(f"## {title}\n")
            for name in names.split():
                if name in inline:
                    continue
                path = Path(folder, name)
                path.write_bytes(known[name].bytes)
                text = subprocess.run([stowtool, "inspect", "--full", path], check=True, capture_output=True, text=True).stdout
                parts.append(example(known[name], meanings[name], text) + "\n")
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stowtool", required=True)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = page(arguments.stowtool)
    if not arguments.check:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        sys.exit("Format/Examples.md is not up to date: Format/examples.py makes it.")


main()
