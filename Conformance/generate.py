#!/usr/bin/env python3
"""Makes messages at random, and says what they mean: `messages.txt.gz`, so that a reader is not made for the vectors alone.

    generate.py                              20,000 messages, and 5,000 canonical ones, as in the repository
    generate.py --seed 7 --count 100000 FILE    others

A value is made first, and written with whatever choices the format leaves to a writer, by code that shares nothing with a reader:
so the meaning is known, and not read. A part of the messages is then changed a little; whether such a message is refused, or what
it means, is what the reader in Python says. What is canonical is what the writer in Python writes;
Tests/CrossLanguage/differential.py compares that with what the library writes.
"""

import argparse
import decimal
import gzip
import itertools
import random
import struct
import sys
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "Readers" / "python"), str(ROOT / "Tests" / "CrossLanguage")]

import stow
from canonical_values import CanonicalValues
from mutations import Mutator

WORDS = ["id", "name", "x", "y", "level", "Europe/Berlin", "größe", "", "a.b-c_d$", "PNG_1", "media.type2", "🚲", "e\u0301", "é",
         "__proto__", "constructor", "0", "12", "description", "x" * 63, "Y" * 31, "z" * 64, "\u202e\ufeff\n\"\\"]
MOST_MUTATED = 4
LONGEST = 600


def bits_of(number: float) -> int:
    return int.from_bytes(struct.pack("<d", number), "little")


def is_float(number) -> bool:
    return type(number) in (float, stow.SingleNaN)


class Values:
    """Values of all kinds."""

    def __init__(self, chance: random.Random):
        self.chance = chance

    def value(self, depth: int):
        kinds = [self.nil, self.bool, self.integer, self.float, self.string, self.other]
        if depth:
            kinds += [self.array, self.numbers, self.object, self.rows, self.matrix]
        return self.chance.choice(kinds)(depth)

    def nil(self, _=0):
        return self.chance.choice((None, None, stow.Nil(1), stow.Nil(self.chance.randint(1, 255))))

    def bool(self, _=0):
        return self.chance.random() < 0.5

    def integer(self, _=0, bits=128):
        width = self.chance.choice((3, 6, 7, 8, 15, 16, 24, 31, 32, 47, 48, 56, 63, 64, 127, 128))
        number = self.chance.getrandbits(min(width, bits))
        if self.chance.random() < 0.4 and number <= 1 << 127:
            number = -number
        return number if -(1 << bits - 1) <= number < 1 << (bits if bits == 128 else bits - 1) else number >> 1

    def float(self, _=0):
        chance = self.chance
        decimals = chance.randint(-(10 ** chance.randint(1, 14)), 10 ** chance.randint(1, 14)) / 10 ** chance.randint(0, 9)
        number = chance.choice((
            decimals, decimals, float(chance.randint(-300, 300)), chance.uniform(-1, 1), 0.1 * chance.randint(-30, 30),
            struct.unpack("<f", struct.pack("<f", chance.uniform(-100, 100)))[0],
            struct.unpack("<d", chance.randbytes(8))[0], chance.choice((0.0, -0.0, float("inf"), -float("inf"), 5e-324, 2.0**31)),
        ))
        return stow.SingleNaN(0x7FC00000 | chance.getrandbits(22)) if chance.random() < 0.03 else number

    def string(self, _=0):
        chance = self.chance
        return chance.choice(WORDS) if chance.random() < 0.7 else "".join(chance.choices("abcXYZ019_ äπ🚲\0", k=chance.randint(0, 70)))

    def other(self, _=0):
        chance = self.chance
        number = decimal.Decimal(f"{chance.randint(-1, 1) * chance.getrandbits(chance.choice((4, 30, 127)))}e{chance.randint(-128, 127)}")
        # No decimal number is a negative zero.
        number = number if number else abs(number)
        return chance.choice((
            chance.randbytes(chance.choice((0, 1, 5, 40))), stow.Date(float(self.float())), uuid.UUID(bytes=chance.randbytes(16)),
            stow.URL("https://" + self.string()), number, decimal.Decimal("NaN"),
        ))

    def array(self, depth):
        return [self.value(depth - 1) for _ in range(self.chance.choice((0, 1, 2, 3, 6)))]

    def numbers(self, _=0, count=None):
        chance = self.chance
        count = chance.choice((0, 1, 2, 3, 4, 9, 20)) if count is None else count
        bits, start, step = chance.choice((5, 8, 14, 30, 50, 64)), chance.getrandbits(40), chance.getrandbits(12)
        decimals = 10 ** chance.randint(0, 5)
        make = chance.choice((
            lambda index: self.integer(bits=bits), lambda index: start + index * step + chance.getrandbits(3),
            lambda index: chance.randint(-(10**6), 10**6) / decimals, lambda index: self.float(), lambda index: self.bool(),
            lambda index: chance.randint(-999, 999) / 10 if chance.random() < 0.7 else chance.randint(-99, 99),
            lambda index: stow.Date(chance.randint(0, 10**9) / decimals),
        ))
        return [make(index) for index in range(count)]

    def object(self, depth):
        return {self.string(): self.value(depth - 1) for _ in range(self.chance.choice((0, 1, 2, 3, 5)))}

    def rows(self, depth):
        """Objects that have the same keys, or some of them."""
        chance = self.chance
        keys = chance.sample(WORDS, chance.randint(1, 4))
        count = chance.choice((1, 2, 3, 8))
        columns = [self.column(count, depth) for _ in keys]
        rows = [dict(zip(keys, row)) for row in zip(*columns)]
        if chance.random() < 0.3:
            rows = [{key: row[key] for key in keys if chance.random() < 0.7} for row in rows]
        return rows

    def matrix(self, depth):
        count = self.chance.choice((1, 2, 5))
        return [list(row) for row in zip(*(self.column(count, depth) for _ in range(self.chance.randint(1, 4))))]

    def column(self, count, depth):
        chance = self.chance
        if chance.random() < 0.25:
            return [chance.choice((None, True, 5, 0.5, "word", "Europe/Berlin", stow.Date(0.5)))] * count
        if chance.random() < 0.2:
            return [self.value(depth - 1) for _ in range(count)]
        return self.numbers(count=count)


class Writer:
    """Writes a value with choices made at random."""

    def __init__(self, chance: random.Random, value):
        self.chance = chance
        self.symbols: list[str] = []
        self.shapes: list[list[str]] = []
        self.has_prelude = chance.random() < 0.6
        if self.has_prelude:
            self.choose(value)

    def message(self, value) -> bytes:
        prelude = b""
        if self.has_prelude:
            shapes = [self.uint(len(shape)) + b"".join(map(self.key, shape)) for shape in self.shapes]
            symbols = self.uint(len(self.symbols)) + b"".join(map(text, self.symbols))
            prelude = b"\x1f" + symbols + self.uint(len(shapes)) + b"".join(shapes)
        return prelude + self.value(value)

    def choose(self, value) -> None:
        """Takes in some strings and some lists of keys."""
        chance = self.chance
        if isinstance(value, str):
            self.symbols += [str(value)] * (chance.random() < 0.4)
        elif isinstance(value, list):
            for each in value:
                self.choose(each)
        elif isinstance(value, dict):
            if value and chance.random() < 0.5:
                keys = [*value, *(word for word in WORDS[:9] if word not in value and chance.random() < 0.2)]
                self.shapes.append(keys)
            for key, each in value.items():
                self.symbols += [key] * (chance.random() < 0.2)
                self.choose(each)

    def sometimes(self, probability=0.15) -> bool:
        return self.chance.random() < probability

    def uint(self, number: int) -> bytes:
        rows = [number.to_bytes(1, "little")] if number <= 0xDF else []
        if 224 <= number <= 6_367:
            rows.append(bytes([0xE0 + (number - 224 >> 8), number - 224 & 0xFF]))
        if 6_368 <= number <= 268_511:
            rows.append(bytes([0xF8 + (number - 6_368 >> 16)]) + (number - 6_368 & 0xFFFF).to_bytes(2, "little"))
        rows += [b"\xfc" + number.to_bytes(4, "little"), b"\xfd" + number.to_bytes(8, "little")]
        return self.chance.choice(rows) if self.sometimes(0.1) else rows[0]

    def sized(self, tag: int, body: bytes) -> bytes:
        return bytes([tag]) + self.uint(len(body)) + body

    # Scalars.

    def value(self, value) -> bytes:
        kind = type(value)
        if value is None or kind is stow.Nil:
            level = value.level if value is not None else 0
            return bytes([0x7C, level]) if level or self.sometimes() else b"\x00"
        if kind is bool:
            return b"\x02" if value else b"\x01"
        if kind is int:
            return self.integer(value)
        if is_float(value):
            return self.float(value)
        if kind is str:
            return self.string(value)
        if kind is stow.URL:
            return b"\x1a" + self.string(str(value))
        if kind is bytes:
            return self.sized(0x19, value)
        if kind is stow.Date:
            forms = [bytes([0x17, e << 4 | w]) + n for e, w, n, residue in self.decimals(value.seconds) if residue == 0]
            return self.chance.choice([*forms, b"\x16" + struct.pack("<d", value.seconds)])
        if kind is uuid.UUID:
            return b"\x18" + value.bytes
        if kind is decimal.Decimal:
            return self.decimal(value)
        return self.array(value) if kind is list else self.object(value)

    def integer(self, number: int, bits=128) -> bytes:
        forms = [bytes([0x90 + number])] if -16 <= number <= 47 else []
        forms += [bytes([0x02 + width]) + number.to_bytes(width, "little", signed=True)
                  for width in range(1, 9) if fits(number, width)]
        if bits == 128:
            forms += [b"\x0b" + number.to_bytes(8, "little")] if 0 <= number < 1 << 64 else []
            forms += [b"\x0c" + number.to_bytes(16, "little", signed=True)] if fits(number, 16) else []
            forms += [b"\x0d" + number.to_bytes(16, "little")] if number >= 0 else []
        return self.chance.choice(forms) if self.sometimes(0.2) else forms[0]

    def decimals(self, number: float):
        """All (exponent, width, numerator, residue) that say a float, one width for each exponent."""
        for exponent in range(10):
            found = numerator(number, exponent)
            if found is not None:
                n, residue = found
                width = self.chance.randint(next(w for w in range(1, 7) if fits(n, w)), 6)
                yield exponent, width, n.to_bytes(width, "little", signed=True), residue

    def float(self, number) -> bytes:
        if type(number) is stow.SingleNaN:
            return b"\x0f" + number.bits.to_bytes(4, "little")
        forms = [b"\x0e" + struct.pack("<d", number)]
        if is_single(number):
            forms.append(b"\x0f" + struct.pack("<f", number))
        for exponent, width, n, residue in self.decimals(number):
            scale = bytes([exponent << 4 | width])
            forms.append(b"\x15" + scale + n + bytes([residue & 0xFF]))
            if residue == 0:
                forms.append(b"\x14" + scale + n)
                if width <= 4 and exponent == 0:
                    forms.append(bytes([0x0F + width]) + n)
                if width <= 4 and 1 <= exponent <= 4:
                    forms.append(bytes([0x20 + (exponent - 1) * 4 + width - 1]) + n)
        return self.chance.choice(forms)

    def decimal(self, number: decimal.Decimal) -> bytes:
        if number.is_nan():
            return self.sized(0x1C, bytes(self.chance.choice((1, 17))))
        sign, digits, exponent = number.as_tuple()
        magnitude = int("".join(map(str, digits)))
        least = (magnitude.bit_length() + 7) // 8
        size = self.chance.randint(least, 16) if self.sometimes() else least
        return self.sized(0x1C if sign else 0x1B, exponent.to_bytes(1, "little", signed=True) + magnitude.to_bytes(size, "little"))

    def string(self, value: str) -> bytes:
        if value in self.symbols and self.chance.random() < 0.8:
            number = self.symbol(value)
            return bytes([0x50 + number]) if number < 32 and not self.sometimes() else b"\x1e" + self.uint(number)
        utf8 = value.encode()
        return bytes([0x30 + len(utf8)]) + utf8 if len(utf8) < 32 and not self.sometimes() else self.sized(0x1D, utf8)

    def symbol(self, value: str) -> int:
        """The number of one of the symbols that are this string."""
        return self.chance.choice([number for number, symbol in enumerate(self.symbols) if symbol == value])

    def key(self, key: str) -> bytes:
        if key in self.symbols and self.chance.random() < 0.8:
            number = self.symbol(key)
            return bytes([0xC0 + number]) if number < 32 and not self.sometimes() else b"\xe0" + self.uint(number)
        return text(key)

    # Objects.

    def object(self, value: dict) -> bytes:
        shapes = [number for number, shape in enumerate(self.shapes) if [key for key in shape if key in value] == [*value]]
        if shapes and self.chance.random() < 0.8:
            return self.record(value, self.chance.choice(shapes))
        body = b"".join(self.key(key) + self.value(each) for key, each in value.items())
        return bytes([0xC0 + len(body)]) + body if len(body) < 32 and not self.sometimes() else self.sized(0x71, body)

    def record(self, value: dict, number: int) -> bytes:
        shape = self.shapes[number]
        body = b"".join(map(self.value, value.values()))
        is_partial = len(value) < len(shape) or self.sometimes()
        if is_partial:
            present = sum(1 << index for index, key in enumerate(shape) if key in value)
            body = present.to_bytes((len(shape) + 7) // 8, "little") + body
        if number < 8 and not self.sometimes():
            return self.sized((0xF8 if is_partial else 0xF0) + number, body)
        return bytes([0x73 if is_partial else 0x72]) + self.uint(number) + self.uint(len(body)) + body

    # Arrays.

    def array(self, items: list) -> bytes:
        forms = [form for form in (self.packed(items), self.rows(items)) if form is not None]
        if forms and self.chance.random() < 0.8:
            return self.chance.choice(forms)
        body = b"".join(map(self.value, items))
        return bytes([0xE0 + len(body)]) + body if len(body) < 16 and not self.sometimes() else self.sized(0x70, body)

    def packed(self, items: list) -> "bytes | None":
        if all(type(item) is bool for item in items) and self.chance.random() < 0.9:
            number = sum(1 << index for index, item in enumerate(items) if item)
            size = (len(items) + 7) // 8
            return self.sized(0x74, bytes([0x0C, size * 8 - len(items)]) + number.to_bytes(size, "little"))
        kinds = [*SIZED, 0x0D, 0x0E, *range(0xB1, 0xB9)]
        self.chance.shuffle(kinds)
        for kind in kinds:
            body = self.array_body(kind, items)
            if body is not None:
                return self.sized(0x75, body) if kind == 0x09 and self.chance.random() < 0.5 else self.sized(0x74, bytes([kind]) + body)
        return None

    def array_body(self, kind: int, items: list) -> "bytes | None":
        if kind in (0x0D, 0x0E) or 0xB1 <= kind <= 0xB8:
            if any(type(item) is not int or not fits(item, 8) for item in items) or (kind >= 0xB1 and not items):
                return None
            steps = items if kind == 0x0D else [items[0], *(modulo(b - a) for a, b in zip(items, items[1:]))] if items else []
            return self.own_widths(steps) if kind < 0xB1 else self.differences(steps, kind - 0xB0)
        if kind in (0x0B, 0x0F):
            return None
        base = self.base(kind, items)
        cells = [cell(kind, item, base) for item in items]
        if None in cells:
            return None
        return (b"" if base is None else self.integer(base, bits=64)) + b"".join(cells)

    def base(self, kind: int, items: list) -> "int | None":
        """The base of offsets; None where there is none."""
        if not 0xD1 <= kind <= 0xD7:
            return None
        integers = [item for item in items if type(item) is int and fits(item, 8)]
        return max(-(1 << 63), min(integers, default=0) - self.chance.choice((0, 0, 1, 7)))

    def own_widths(self, integers: list) -> bytes:
        widths = [self.chance.randint(w, 8) if self.sometimes(0.1) else w for w in map(least_width, integers)]
        nibbles = sum(width << index * 4 for index, width in enumerate(widths)).to_bytes((len(widths) + 1) // 2, "little")
        elements = b"".join(n.to_bytes(w, "little", signed=True) if w else b"" for n, w in zip(integers, widths))
        return self.uint(len(integers)) + nibbles + elements

    def differences(self, steps: list, width: int) -> "bytes | None":
        if not all(fits(step, width) for step in steps[1:]):
            return None
        first = self.chance.randint(max(1, least_width(steps[0])), 8)
        return bytes([first]) + steps[0].to_bytes(first, "little", signed=True) + b"".join(
            step.to_bytes(width, "little", signed=True) for step in steps[1:])

    def rows(self, items: list) -> "bytes | None":
        if not items or type(items[0]) not in (list, dict) or any(type(item) is not type(items[0]) or not item for item in items):
            return None
        if type(items[0]) is dict:
            shapes = [number for number, shape in enumerate(self.shapes) if all([*item] == shape for item in items)]
            if not shapes:
                return None
            head, rows = self.uint(self.chance.choice(shapes)), [[*item.values()] for item in items]
        else:
            head, rows = self.uint(len(items[0])), items
            if any(len(row) != len(rows[0]) for row in rows):
                return None
        columns = [self.column([row[index] for row in rows]) for index in range(len(rows[0]))]
        if None in columns:
            return None
        size = sum(len(cells[0]) for _, _, cells in columns)
        if size == 0 or sum(kind == 0 for kind, _, _ in columns) > size:
            return None
        body = head + bytes(kind for kind, _, _ in columns) + b"".join(parameter for _, parameter, _ in columns)
        body += b"".join(b"".join(cells[index] for _, _, cells in columns) for index in range(len(rows)))
        return self.sized(0x7B if type(items[0]) is list else 0x7A, body)

    def column(self, values: list) -> "tuple[int, bytes, list[bytes]] | None":
        same = len({stow.notation(value) for value in values}) == 1
        if same and is_constant(values[0]) and self.chance.random() < 0.6:
            parameter = self.value(values[0])
            # Long strings and URLs are no constants, and neither is a string with a length of its own.
            if parameter[0] <= 0x18 or parameter[0] == 0x1E or 0x20 <= parameter[0] <= 0x3F or parameter[0] in (0x7C, 0xC0, 0xE0) or (
                    0x50 <= parameter[0] <= 0x6F or 0x80 <= parameter[0] <= 0xBF):
                return 0, parameter, [b""] * len(values)
        kinds = list(SIZED)
        self.chance.shuffle(kinds)
        for kind in kinds:
            base = self.base(kind, values)
            cells = [cell(kind, value, base) for value in values]
            if None not in cells:
                return kind, b"" if base is None else self.integer(base, bits=64), cells
        return None


SIZED = [*range(0x01, 0x0C), 0x0F, *(e << 4 | w for e in range(1, 10) for w in (*range(1, 7), *range(9, 15))),
         *range(0xA1, 0xA7), *range(0xC1, 0xC8), *range(0xD1, 0xD8)]


def fits(number: int, width: int) -> bool:
    return -(1 << width * 8 - 1) <= number < 1 << width * 8 - 1


def least_width(number: int) -> int:
    return next(width for width in range(1, 9) if fits(number, width)) if number else 0


def modulo(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def is_single(number: float) -> bool:
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0] == number
    except OverflowError:
        return False


def numerator(number: float, exponent: int) -> "tuple[int, int] | None":
    """The numerator over 10^exponent that is nearest to a float, if 6 bytes hold it, and the residue, if a byte does."""
    if not abs(number) * 10**exponent < 1 << 47:
        return None
    n = round(number * 10**exponent)
    residue = bits_of(number) - bits_of(n / 10**exponent)
    return (n, residue) if -128 < residue < 128 and fits(n, 6) else None


def is_constant(value) -> bool:
    return type(value) not in (bytes, stow.URL, decimal.Decimal) and not (type(value) in (list, dict) and value)


def cell(kind: int, value, base) -> "bytes | None":
    """A value as an element of a type; None if it is none."""
    high, low = kind >> 4, kind & 0x0F
    if kind == 0x0B:
        return bytes([value]) if type(value) is bool else None
    if kind == 0x0F:
        return struct.pack("<d", value.seconds) if type(value) is stow.Date else None
    if type(value) is int and (kind <= 0x08 or high in (0xC, 0xD)):
        number = value if base is None else value - base
        if kind <= 0x08:
            return number.to_bytes(low, "little", signed=True) if fits(number, low) else None
        return number.to_bytes(low, "little") if 0 <= number < 1 << low * 8 and fits(value, 8) else None
    if kind == 0x09 and is_float(value):
        if type(value) is stow.SingleNaN:
            return value.bits.to_bytes(4, "little")
        return struct.pack("<f", value) if is_single(value) else None
    if type(value) is float and kind == 0x0A:
        return struct.pack("<d", value)
    if 1 <= high <= 9 and low >= 9 and type(value) is int:
        n = value * 10**high
        return n.to_bytes(low - 8, "little", signed=True) + b"\x80" if fits(n, low - 8) else None
    if type(value) is float and (1 <= high <= 9 or high == 0xA):
        found = numerator(value, 0 if high == 0xA else high)
        width = low - 8 if low >= 9 else low
        if found is None or not fits(found[0], width) or (low < 9 and found[1]):
            return None
        return found[0].to_bytes(width, "little", signed=True) + (bytes([found[1] & 0xFF]) if low >= 9 else b"")
    return None


def text(string: str) -> bytes:
    """A string as a text. It has one form only, so that this is no choice."""
    from stow.texts import text_bytes

    return text_bytes(string, string.encode())


def meaning(message: bytes) -> str:
    try:
        return stow.notation(stow.loads(message))
    except stow.StowError:
        return "refused"


def lines(seed: str, count: int):
    """A message and its meaning on each line."""
    chance = random.Random(seed)
    values = Values(chance)
    recent: list[bytes] = []
    while count:
        value = values.value(chance.randint(0, 4))
        message = Writer(chance, value).message(value)
        if len(message) > LONGEST:
            continue
        yield f"{message.hex().upper()} {stow.notation(value)}"
        count -= 1
        recent.append(message)
        if len(recent) == MOST_MUTATED * 2 and count >= MOST_MUTATED:
            for mutated in Mutator(recent, str(chance.random())).mutations(MOST_MUTATED):
                yield f"{mutated.hex().upper() or '-'} {meaning(mutated)}"
            count -= MOST_MUTATED
            recent.clear()


def canonical_lines(seed: str, count: int):
    """A canonical message and the value for which it is written on each line."""
    values, known = CanonicalValues(random.Random(f"{seed} canonical")), set()
    while len(known) < count:
        message = stow.dumps(values.value())
        if len(message) <= LONGEST and message not in known:
            known.add(message)
            yield f"canonical {message.hex().upper()} {meaning(message)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=Path(__file__).parent / "messages.txt.gz")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=20_000)
    options = parser.parse_args()
    made = itertools.chain(lines(options.seed, options.count), canonical_lines(options.seed, options.count // 4))
    data = "".join(line + "\n" for line in made).encode()
    # Without the time and the name of the file, so that the same messages are the same file.
    options.file.write_bytes(gzip.compress(data, 9, mtime=0))


if __name__ == "__main__":
    main()
