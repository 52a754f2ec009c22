"""Runs the golden vectors through the reader and the writers of the library where `Int` has 32 bits.

    narrow.py program.wasm                       what `.ci/narrow` compiles of Tests/Narrow
    narrow.py program.wasm --mutations 10000     with so many mutations of each file of vectors besides

A valid vector must be read as what it means, and a refused one be refused. What was read is written again by the writers
of the library: a canonical vector as the bytes that it has, any other as bytes that mean the same. Mutations must be
read, or refused, as the reader in Python does.
"""

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
sys.setrecursionlimit(10_000)

import notation
import vectors
from meaning_text import meaning_text
from mutations import Mutator
from reader import stow

# Lengths, counts and numbers beyond 2^31 - 1, in each place that has one.
_LARGE = ("FC FF FF FF FF", "FC 00 00 00 80", "FD 00 00 00 80 00 00 00 00", "FD 01 00 00 00 01 00 00 00",
          "FD FF FF FF FF FF FF FF 7F")
_PLACES = (
    "19 {} 00", "1D {} 00", "1B {} 00", "1E {}", "1A 1E {}", "70 {} 00", "71 {} 00", "71 size E1 {} 00",
    "71 size E0 {} 00", "72 {} 00", "72 00 {} 00", "73 {} 00", "74 {} 00", "74 size 0D {} 00", "74 size 0E {} 00",
    "75 {} 00", "7A {} 00", "7B {} 00", "7A size {} 00", "7B size {} 00", "F0 {} 00", "1F {} 00 00", "1F 00 {} 00",
    "1F 00 01 {} 00", "1F 00 01 01 E0 {} 00",
)

# Some vectors are as deep as is allowed.
_STACK_SIZE = str(1 << 24)


@dataclass(frozen=True)
class Answer:
    """What the program says of a message: its meaning, and its bytes as they are written again."""

    text: str
    written: str


class Program:
    def __init__(self, path: Path, wasmkit: str):
        self._command = [wasmkit, "run", "--stack-size", _STACK_SIZE, path]

    def answers(self, lines: list[str]) -> list[Answer]:
        process = subprocess.run(
            self._command, input="".join(line + "\n" for line in lines), capture_output=True, text=True, check=False)
        texts = process.stdout.split("\n")[:-1]
        if process.returncode or len(texts) != len(lines):
            trapped = lines[len(texts)] if len(texts) < len(lines) else "the end"
            sys.exit(f"The program ends with code {process.returncode} at {trapped[:200]}\n{process.stderr[:1000]}")
        return [Answer(*text.partition("\t")[::2]) for text in texts]


class Results:
    def __init__(self) -> None:
        self.passed = self.failed = 0

    def check(self, name: str, expected: str, found: str) -> None:
        if expected == found:
            self.passed += 1
        else:
            self.failed += 1
            print(f"{name}\n  expected  {expected[:300]}\n  found     {found[:300]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--wasmkit", default="wasmkit", help="the runtime")
    parser.add_argument("--mutations", type=int, default=0, help="how many for each file of vectors")
    options = parser.parse_args()
    program, results = Program(options.program, options.wasmkit), Results()
    _check_vectors(program, results)
    _check_large_numbers(program, results)
    for path in vectors.files() if options.mutations else []:
        _check_mutations(program, results, path, options.mutations)
    print(f"{results.passed} passed, {results.failed} failed")
    return 1 if results.failed else 0


def _line(vector: vectors.Vector, message: str) -> str:
    if "context" not in vector.fields:
        return message
    context = notation.hex_bytes(vector.fields["context"]).hex()
    return f"{message} {context}{' implicit' if 'implicit' in vector.flags else ''}"


def _check_vectors(program: Program, results: Results) -> None:
    every = list(vectors.every())
    answers = program.answers([_line(vector, vector.bytes.hex()) for vector in every])
    again = []
    for vector, answer in zip(every, answers):
        if vector.kind == "refused":
            results.check(vector.name, "refused", answer.text.partition(":")[0])
            continue
        results.check(vector.name, meaning_text(vector.value), answer.text)
        if vector.kind == "canonical":
            results.check(f"{vector.name}, written again", vector.bytes.hex().upper(), answer.written)
        else:
            again.append((vector, answer))
    lines = [_line(vector, answer.written) for vector, answer in again]
    for (vector, first), second in zip(again, program.answers(lines)):
        results.check(f"{vector.name}, written and read again", first.text, second.text)


def _check_large_numbers(program: Program, results: Results) -> None:
    messages = [_message(place, number) for place in _PLACES for number in _LARGE]
    for message, answer in zip(messages, program.answers([message.hex() for message in messages])):
        results.check(message.hex(" "), "refused: too large", answer.text.partition(" at ")[0])


def _message(place: str, number: str) -> bytes:
    """The number in its place, and in that of "size" how many bytes follow."""
    before, size, after = place.format(number).partition("size")
    rest = notation.hex_bytes(after)
    return notation.hex_bytes(before) + (bytes([len(rest)]) if size else b"") + rest


def _check_mutations(program: Program, results: Results, path: Path, count: int) -> None:
    messages = Mutator([vector.bytes for vector in vectors.load(path)], f"1 {path.name}").mutations(count)
    for message, answer in zip(messages, program.answers([message.hex() for message in messages])):
        try:
            expected = meaning_text(stow.loads(message))
        except stow.StowError:
            expected = "refused"
        found = answer.text if expected != "refused" else answer.text.partition(":")[0]
        results.check(message.hex(" "), expected, found)


if __name__ == "__main__":
    sys.exit(main())
