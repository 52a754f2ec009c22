"""Compares the library with the reader in Python: what one refuses the other refuses, what they accept means the same.

Every vector is read by both, and so are the messages of the conformance suite that were made at random, and mutations of
the vectors, which are the same for the same seed. The library reads each message three times, and where that makes a
difference all readings are shown: by containers, by collections, and as a StowValue. What the reader in Python accepts it
also writes again, and the library finds the same in that. Of canonical messages that were made at random, the library writes
the same bytes.

    differential.py                         in short
    differential.py --mutations 100000      at length
    differential.py --file tables.txt       one file of vectors
    differential.py --generated FILE        only messages that Conformance/generate.py has made
"""

import argparse
import multiprocessing
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True
# Values are written by recursion, and may be as deep as is allowed.
sys.setrecursionlimit(10_000)

import decoders
import vectors
from differences import Difference, Tally, compare, compare_written, shrunken
from mutations import Mutator

_CHUNK = 2_000


@dataclass(frozen=True)
class Chunk:
    """Some mutations of a file, or without a number of them the messages themselves: vectors, or messages made at random."""

    file: Path
    seed: str
    mutations: int | None

    def messages(self) -> list[bytes]:
        if self.file.suffix == ".gz":
            return [message for message, _ in vectors.generated(self.file)]
        originals = [vector.bytes for vector in vectors.load(self.file)]
        return originals if self.mutations is None else Mutator(originals, self.seed).mutations(self.mutations)


def main() -> int:
    options = _options()
    files = [path for path in vectors.files() if options.file in (None, path.name)]
    if not files:
        sys.exit(f"no file of vectors is called {options.file}")
    generated = [options.generated or vectors.GENERATED]
    if options.generated:
        files = []
    elif options.file:
        generated = []
    swift = decoders.SwiftDecoder(options.reader or decoders.build())
    chunks = [chunk for file in files for chunk in _chunks(file, options.seed, options.mutations)]
    chunks += [Chunk(file, options.seed, None) for file in generated]
    tally = Tally()
    with multiprocessing.Pool(min(2, multiprocessing.cpu_count())) as pool:
        for part in pool.imap(partial(_compare, swift=swift), chunks):
            tally.merge(part)
    _report(tally, swift)
    others = sum(map(_others_are_written, generated, [swift] * len(generated)))
    return 1 if tally.smallest or others else 0


def _others_are_written(file: Path, swift: decoders.SwiftDecoder) -> bool:
    """Whether the library writes other bytes of the values of canonical messages, which it prints."""
    messages = vectors.canonical(file)
    others = [(message, written) for message, written in zip(messages, swift.written(messages), strict=True) if written != message]
    for message, written in others[:10]:
        print(f"  canonical  {message.hex(' ').upper()}\n  library    {written.hex(' ').upper()}")
    print(f"{len(messages) - len(others)} of {len(messages)} canonical messages are what the library writes")
    return bool(others)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutations", type=int, default=10_000, help="how many for each file of vectors")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--file", help="the name of the one file of vectors to use")
    parser.add_argument("--generated", type=Path, help="a file of messages made at random, in place of all vectors")
    parser.add_argument("--reader", type=Path, help="MessageReader, if it is built already")
    return parser.parse_args()


def _chunks(file: Path, seed: str, mutations: int) -> list[Chunk]:
    """Each is seeded by itself, so that they may be read at the same time."""
    starts = range(0, mutations, _CHUNK)
    parts = [Chunk(file, f"{seed} {file.name} {start}", min(_CHUNK, mutations - start)) for start in starts]
    return [Chunk(file, seed, None), *parts]


def _compare(chunk: Chunk, swift: decoders.SwiftDecoder) -> Tally:
    messages = chunk.messages()
    tally = compare(messages, swift)
    tally.merge(compare_written(messages, swift))
    return tally


def _report(tally: Tally, swift: decoders.SwiftDecoder) -> None:
    for kind in sorted(tally.smallest, key=lambda kind: -tally.counts[kind]):
        print(f"{tally.counts[kind]} times: {kind}")
        _show(shrunken(tally.smallest[kind], swift))
    differences = sum(tally.counts.values())
    print(
        f"{tally.compared} messages compared: {tally.accepted} accepted by both, "
        f"{tally.refused} refused by both, {differences} differences"
    )


def _show(difference: Difference) -> None:
    print(f"  bytes    {difference.message.hex(' ').upper()}")
    print(f"  Python   {difference.python}")
    for text in difference.readings():
        print(f"  library  {text}")


if __name__ == "__main__":
    sys.exit(main())
