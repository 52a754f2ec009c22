"""Compares the library with the readers in Python and JavaScript: which records of streams are read, and as what.

The records are messages that were made at random, which here are read with the definitions of those before them; then some
of the bytes are changed.

    differential_streams.py                  in short
    differential_streams.py --count 20000    at length
"""

import argparse
import random
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import decoders
import meaning_text
import vectors
from mutations import Mutator
from reader import stow
from stow.checksums import checksum

_HEAD = bytes.fromhex("7F 03 01")
_MOST_RECORDS = 8
_CHUNK = 1_000
_MOST_SHOWN = 5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000, help="how many streams")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--reader", type=Path, help="LogWorker, if it is built already")
    options = parser.parse_args()
    commands = decoders.commands(options.reader, "streams")
    messages = [message for message, _ in vectors.generated() if message]
    chance = random.Random(options.seed)
    compared = records = differences = 0
    for start in range(0, options.count, _CHUNK):
        streams = [_stream(messages, chance) for _ in range(min(_CHUNK, options.count - start))]
        ours = [_outcome(stream) for stream in streams]
        lines = [stream.hex() for stream in streams]
        compared += len(streams)
        records += sum(outcome.count("\t") for outcome in ours)
        for name, command in commands.items():
            for stream, our, their in zip(streams, ours, decoders.answers(command, lines), strict=True):
                if our == their:
                    continue
                differences += 1
                if differences <= _MOST_SHOWN:
                    print(f"{stream.hex(' ').upper()}\n  Python   {our}\n  {name}  {their}")
    print(f"{compared} streams of {records} records compared with {', '.join(commands)}: {differences} differences")
    return 1 if differences else 0


def _stream(messages: list[bytes], chance: random.Random) -> bytes:
    """A stream, of which one in three has a fault: in a record, or somewhere in its bytes."""
    records = chance.choices(messages, k=chance.randint(0, _MOST_RECORDS))
    fault = chance.choice(("record", "bytes", "end", None, None, None, None, None, None))
    if fault == "record" and records:
        at = chance.randrange(len(records))
        records[at] = Mutator([records[at]], str(chance.random())).mutations(1)[0] or b"\x91"
    stream = bytearray(_HEAD)
    for number, record in enumerate(records):
        stream += bytes(chance.choice((0, 0, 0, 0, 1, 2)))
        stream += _uint(len(record)) + record
        stream += checksum(number.to_bytes(8, "little") + record).to_bytes(4, "little")
    if fault == "bytes":
        stream[chance.randrange(len(stream))] ^= 1 << chance.randrange(8)
    if fault == "end":
        del stream[chance.randrange(len(stream)) :]
    return bytes(stream)


def _uint(number: int) -> bytes:
    """A length, in one byte or in four after `FC`, which any reader takes."""
    return bytes([number]) if number <= 0xDF else b"\xfc" + number.to_bytes(4, "little")


def _outcome(stream: bytes) -> str:
    words: list[str] = []
    try:
        for record in stow.read_stream(stream):
            try:
                words.append(meaning_text.meaning_text(record.value))
            except stow.StowError:
                words.append("-")
        words.append("end")
    except stow.StowError:
        words.append("broken")
    return "\t".join(words)


if __name__ == "__main__":
    sys.exit(main())
