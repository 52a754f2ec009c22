"""Values whose canonical bytes depend on what a writer chooses: most are near a place where two forms take equally many bytes."""

import decimal
import random
import struct
import uuid

import stow

NAMES = ["id", "x", "name", "level", "value", "größe", "Europe/Berlin", "a.b-c_d$", "PNG_1", "media.type2", "description", "", "é"]
MOST_ELEMENTS = (2, 2, 2, 3, 3, 4, 5, 7, 9, 20)
# A writer looks at 64 elements of a longer array.
LONG = (63, 64, 65, 66, 130)


class CanonicalValues:
    def __init__(self, chance: random.Random):
        self.chance = chance

    def value(self):
        make = self.chance.choice((
            self.scalar, self.integers, self.integers, self.steps, self.floats, self.floats, self.long, self.bools, self.matrix, self.matrix,
            self.matrix, self.table, self.table, self.maps, self.maps, self.strings, self.strings, self.many_strings, self.nested,
        ))
        return make()

    def count(self) -> int:
        return self.chance.choice(MOST_ELEMENTS)

    def near(self, limit: int) -> int:
        return self.chance.choice((1, 1, -1)) * limit + self.chance.randint(-2, 2)

    # Scalars.

    def scalar(self):
        return self.chance.choice((self.integer, self.float, self.float, self.float, self.date, self.decimal, self.string))()

    def integer(self, bits=130) -> int:
        bits = self.chance.choice([each for each in (4, 5, 7, 8, 15, 16, 23, 31, 47, 55, 63, 64, 126, 127, 128) if each < bits])
        number = self.chance.choice((self.near(1 << bits), self.chance.getrandbits(bits), -self.chance.getrandbits(bits)))
        return number if -(1 << 127) <= number < 1 << 128 else number % (1 << 120)

    def long_integer(self) -> int:
        number = self.integer(bits=63)
        return number if -(1 << 63) <= number < 1 << 63 else number >> 2

    def float(self) -> float:
        chance = self.chance
        decimals = chance.randint(0, 9)
        number = chance.choice((
            chance.randint(-(10 ** chance.randint(1, 6)), 10 ** chance.randint(1, 6)) / 10**decimals,
            chance.randint(0, 10 ** chance.randint(1, 15)) / 10 ** chance.randint(0, 9),
            0.1 * chance.randint(-40, 40), 0.7 * chance.randint(1, 400) + chance.choice((0, 1e4, 1e6, 1e9)),
            float(self.near(1 << chance.choice((7, 15, 23, 31, 46, 47)))), chance.choice((-0.0, 0.0, 0.5, -1.0, 1e5, 1e14)),
            chance.uniform(-1, 1) * 10 ** chance.randint(0, 15), self.single(chance.uniform(-1, 1) * 10 ** chance.randint(-3, 9)),
            float(chance.choice((99_999, 10**8 - 1, 10**10 - 1, 10**5, 10**8, 10**10))) + chance.randint(1, 10**6) / 10**6,
        ))
        return self.moved(number, chance.choice((-128, -127, -2, -1, 1, 2, 126, 127, 128))) if chance.random() < 0.15 else number

    @staticmethod
    def single(number: float) -> float:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])

    @staticmethod
    def moved(number: float, steps: int) -> float:
        bits = struct.unpack("<q", struct.pack("<d", number))[0] + steps
        return float(struct.unpack("<d", struct.pack("<q", bits))[0]) if number and abs(number) < 1e300 else number

    def date(self) -> stow.Date:
        return stow.Date(self.chance.choice((float(self.chance.randint(-1000, 10**9)), self.float(), self.chance.randint(0, 10**12) / 1000)))

    def decimal(self) -> decimal.Decimal:
        magnitude = self.chance.getrandbits(self.chance.choice((1, 7, 8, 15, 16, 32, 63, 64, 110)))
        return decimal.Decimal(magnitude if magnitude % 10 else 7) * self.chance.choice((1, -1)) / 10 ** self.chance.randint(0, 4)

    def string(self) -> str:
        chance = self.chance
        size = chance.choice((0, 1, 2, 3, 4, 5, 14, 15, 16, 17, 30, 31, 32, 62, 63, 64))
        return "".join(chance.choices(chance.choice(("ab", "aB", "a1", "xyz_", "é", "a ")), k=size))

    # Arrays of numbers and Bools.

    def integers(self, count=None) -> list[int]:
        chance, count = self.chance, count or self.count()
        limit, start = 1 << chance.choice((3, 6, 7, 8, 15, 16, 24, 32, 40, 55, 56, 60)), chance.choice((0, 0, self.long_integer() >> 2))
        make = chance.choice((
            lambda: chance.randint(0, limit), lambda: chance.randint(-limit, limit), lambda: start + chance.randint(0, limit),
            lambda: chance.choice((0, 0, 1, limit)), lambda: self.near(limit), self.long_integer,
        ))
        return [make() for _ in range(count)]

    def steps(self, count=None) -> list[int]:
        chance, count = self.chance, count or self.count()
        width, number, result = 1 << chance.choice((1, 4, 7, 8, 15, 24)), self.long_integer() >> 3, []
        for _ in range(count):
            result.append(number)
            number += chance.choice((0, width, -width, chance.randint(-width, width), chance.randint(0, width)))
        return result

    def floats(self, count=None) -> list:
        chance, count = self.chance, count or self.count()
        scale, size = 10 ** chance.randint(0, 9), 10 ** chance.randint(1, 14)
        make = chance.choice((
            self.float, lambda: chance.randint(-size, size) / scale, lambda: chance.randint(-size, size) / scale,
            lambda: self.moved(chance.randint(1, size) / scale, chance.choice((0, 1, -1, 127, -127))),
            lambda: self.single(chance.uniform(-9, 9)), lambda: float(chance.randint(-300, 300)),
            lambda: chance.choice((chance.randint(-size, size) / scale, chance.randint(-size, size))),
            lambda: chance.choice((self.near(1 << 47) // 10**4 / 10**2, 0.25)),
        ))
        return [make() for _ in range(count)]

    def bools(self, count=None) -> list[bool]:
        return [self.chance.random() < 0.5 for _ in range(count or self.count())]

    def long(self):
        """More elements than a writer looks at, of which the last may be of another kind than the first."""
        chance, count = self.chance, self.chance.choice(LONG)
        numbers = chance.choice((self.integers, self.steps, self.floats))(count)
        if chance.random() < 0.5:
            other = chance.choice((numbers[0], numbers[0] * 3, numbers[1] / 7))
            numbers[60:] = [each if type(numbers[0]) is float or type(other) is int else other for each in numbers[60:]]
        return chance.choice((numbers, [[number, index] for index, number in enumerate(numbers)], [[number, 0.5] for number in numbers]))

    # Rows.

    def column(self, count: int) -> list:
        chance = self.chance
        if chance.random() < 0.35:
            return [self.constant()] * count
        return chance.choice((
            self.integers, self.steps, self.floats, self.floats, self.bools, lambda count: [self.date() for _ in range(count)],
            lambda count: [stow.Date(float(index * 60)) for index in range(count)],
            lambda count: [chance.choice((0.0, -0.0)) for _ in range(count)],
        ))(count)

    def constant(self):
        return self.chance.choice((
            None, None, True, False, 5, 1000, self.long_integer(), self.integer(), 0.5, self.float(), self.date(), "", "word", "x" * 15, "y" * 16,
            self.string(), [], {}, stow.Nil(1), uuid.UUID(int=7), stow.URL("u:v"), 1.5, "Europe/Berlin",
        ))

    def columns(self, most: int) -> list[list]:
        count = self.chance.choice((2, 2, 2, 3, 3, 4, 5, 8, 64, 66) if self.chance.random() < 0.1 else (2, 2, 3, 3, 4, 6))
        return [self.column(count) for _ in range(self.chance.choice((1, 1, 2, 2, 2, 3, 4, most)))]

    def matrix(self) -> list[list]:
        columns = self.columns(5)
        if self.chance.random() < 0.08:
            columns = columns[:1] * self.chance.choice((15, 16, 17))
        return [list(row) for row in zip(*columns)]

    def table(self):
        columns = self.columns(4)
        keys = self.chance.sample(NAMES, len(columns))
        rows = [dict(zip(keys, row)) for row in zip(*columns)]
        if self.chance.random() < 0.15:
            # Objects of another list among them.
            rows[-1] = dict(reversed(rows[-1].items()))
        return self.chance.choice((rows, rows, {"rows": rows}, [rows, rows[0]]))

    # Strings and keys.

    def maps(self) -> list:
        chance = self.chance
        lists = [chance.sample(NAMES, chance.choice((1, 1, 2, 3))) for _ in range(chance.choice((1, 1, 2, 3)))]
        items = [{key: self.small() for key in chance.choice(lists)} for _ in range(chance.choice((2, 3, 4, 5)))]
        return chance.choice((items, [[item] for item in items], [{"a": item, "b": None} for item in items]))

    def small(self):
        return self.chance.choice((None, 1, 0.5, "a", "bc", [], {}, "Europe/Berlin", {"id": 7}, stow.URL("name"), True))

    def strings(self) -> list:
        chance = self.chance
        words = [self.string() for _ in range(chance.choice((1, 1, 2, 3)))]
        items: list = [chance.choice(words) for _ in range(chance.choice((2, 3, 4)))]
        if chance.random() < 0.5:
            items.append({chance.choice(words): chance.choice(words)})
        if chance.random() < 0.3:
            items.append(stow.URL(chance.choice(words)))
        chance.shuffle(items)
        return items

    def many_strings(self) -> list:
        """More symbols than have short references."""
        chance = self.chance
        words = [f"{chance.choice(('n', 'name', 'N'))}{index}" for index in range(chance.choice((31, 32, 33, 34, 36)))]
        items = [word for word in words for _ in range(chance.choice((2, 2, 2, 3)))]
        if chance.random() < 0.5:
            chance.shuffle(items)
        return items

    def nested(self):
        chance = self.chance
        return chance.choice((
            [self.value() for _ in range(chance.randint(1, 3))], {"a": self.value(), "b": self.value()}, [self.small() for _ in range(self.count())],
        ))
