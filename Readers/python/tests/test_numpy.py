"""Packed numbers and columns as arrays of numpy."""

import unittest

import support
import notation
import stow
import vectors

try:
    import numpy
except ImportError:
    numpy = None


def doubles(count):
    """A table of one column of doubles, and these."""
    numbers = numpy.arange(count, dtype="<f8") / 3
    body = b"\x00\x0a" + numbers.tobytes()
    return bytes.fromhex("1F 00 01 01 81 78 7A FC") + len(body).to_bytes(4, "little") + body, numbers


def plain(value):
    """The value without arrays, tables and columns."""
    if isinstance(value, (numpy.ndarray, stow.Table, list)):
        rows = value if not isinstance(value, numpy.ndarray) else [value[index] for index in range(len(value))]
        return [plain(row) for row in rows]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return stow.numeric.python_value(value)


@unittest.skipIf(numpy is None, "numpy is not installed")
class NumpyTests(unittest.TestCase):
    def test_vectors_have_the_same_meaning_as_arrays(self):
        valid = [(vector.name, vector) for vector in vectors.every() if vector.kind != "refused"]
        plain_ones = [(name, vector) for name, vector in valid if "context" not in vector.fields]

        def check(vector):
            found = plain(stow.loads(vector.bytes, numpy=True))
            assert notation.described(found) == notation.described(vector.value)

        support.tally(self, plain_ones, check)

    def test_what_is_refused_is_refused(self):
        refused = [(vector.name, vector) for vector in vectors.every()
                   if vector.kind == "refused" and "context" not in vector.fields]

        def check(vector):
            with self.assertRaises(stow.StowError):
                stow.loads(vector.bytes, numpy=True)

        support.tally(self, refused, check)

    def test_a_column_is_where_its_bytes_are(self):
        message, numbers = doubles(1000)
        table = stow.loads(message, numpy=True)
        column = table["x"]
        self.assertTrue(numpy.shares_memory(column, numpy.frombuffer(message, "u1")))
        self.assertTrue((column == numbers).all())
        with self.assertRaises(ValueError):
            column[0] = 1
        self.assertEqual(len(table), 1000)
        self.assertEqual(table[-1], {"x": numbers[-1]})
        self.assertEqual(table[2:4], [{"x": numbers[2]}, {"x": numbers[3]}])
        with self.assertRaises(IndexError):
            table[1000]

    def test_the_bytes_stay_as_long_as_an_array_on_them(self):
        grid = stow.dumps(numpy.arange(300, dtype="<f8").reshape(100, 3) / 7)
        for message in (doubles(9)[0], grid):
            data = bytearray(message)
            found = stow.loads(data, numpy=True)
            with self.assertRaises(BufferError):
                data.extend(b"x")
            del found
            data.extend(b"x")

    def test_columns_side_by_side_are_views(self):
        rows = [{"id": 10**6 + 70000 * index, "x": index / 3, "on": index % 2 == 0, "kind": 7} for index in range(50)]
        message = stow.dumps(rows)
        table = stow.loads(message, numpy=True)
        source = numpy.frombuffer(message, "u1")
        self.assertIsInstance(table, stow.Table)
        self.assertEqual(list(table), rows)
        for key in ("x", "on"):
            self.assertTrue(numpy.shares_memory(table[key], source))
        self.assertEqual(table["kind"].strides, (0,))

    def test_dates_are_seconds(self):
        rows = [{"at": stow.Date(index / 3)} for index in range(9)]
        table = stow.loads(stow.dumps(rows), numpy=True)
        self.assertEqual(table.dates, {"at"})
        self.assertEqual(table["at"].tolist(), [index / 3 for index in range(9)])
        self.assertEqual(list(table), rows)

    def test_dates_that_are_all_the_same_are_seconds_too(self):
        for seconds in (5.5, -0.0, float("inf")):
            rows = [{"at": stow.Date(seconds), "id": index * 1000} for index in range(9)]
            table = stow.loads(stow.dumps(rows), numpy=True)
            self.assertEqual(table.dates, {"at"})
            self.assertEqual(table["at"].tolist(), [seconds] * 9)
            self.assertEqual(repr(list(table)), repr(rows))
            matrix = stow.dumps([list(row.values()) for row in rows])
            self.assertEqual(repr(stow.loads(matrix, numpy=True)), repr(stow.loads(matrix)))

    def test_arrays_are_written(self):
        grid = numpy.arange(300, dtype="<f8").reshape(100, 3) / 7
        message = stow.dumps(grid)
        found = stow.loads(message, numpy=True)
        self.assertTrue(numpy.shares_memory(found, numpy.frombuffer(message, "u1")))
        self.assertTrue((found == grid).all())
        for array in (numpy.arange(1000) * 12345, numpy.array([True, False] * 9), numpy.arange(9, dtype="f4") / 3,
                      numpy.arange(500, dtype="u8")):
            self.assertEqual(stow.dumps(array), stow.dumps(array.tolist()))
            self.assertTrue((stow.loads(stow.dumps(array), numpy=True) == array).all())
        self.assertEqual(stow.dumps([numpy.float64(1.5), numpy.int32(5), numpy.bool_(True)]), stow.dumps([1.5, 5, True]))
        with self.assertRaises(TypeError):
            stow.dumps(numpy.array(["a"]))

    def test_a_nan_of_4_bytes_stays_one(self):
        array = bytes.fromhex("75 08 01 00 C0 7F 00 00 80 3F")
        matrix = bytes.fromhex("7B 13 02 09 09 01 00 C0 7F 00 00 80 3F 00 00 00 3F 03 00 C0 FF")
        for message in (array, matrix):
            found, plain = stow.loads(message, numpy=True), stow.loads(message)
            self.assertEqual(found.dtype, "f4")
            self.assertEqual(stow.dumps(found), stow.dumps(plain))
            self.assertEqual(stow.notation(found), stow.notation(plain))
        self.assertEqual(stow.dumps(stow.loads(array, numpy=True)[0]).hex(), "0f0100c07f")

    def test_numbers_of_numpy_have_a_notation(self):
        value = [numpy.float64(1.5), numpy.int32(5), numpy.bool_(True), numpy.array(2.5), numpy.str_("a"), numpy.float32("nan")]
        for width in (None, 5):
            self.assertEqual(stow.notation(value, width), stow.notation([1.5, 5, True, 2.5, "a", stow.SingleNaN()], width))
        self.assertEqual(stow.notation(value[0]), "1.5")
        for number in (numpy.longdouble(1), numpy.complex128(1)):
            with self.assertRaisesRegex(TypeError, "no notation"):
                stow.notation(number)

    def test_arrays_of_any_order_are_bytes(self):
        grid = numpy.frombuffer(b"1Hello", "u1").reshape(2, 3)
        for each in (grid, numpy.asfortranarray(grid), grid[:, ::-1], grid[:0]):
            self.assertEqual(stow.loads(stow.dumps(memoryview(each))), each.tobytes())
        self.assertEqual(stow.loads(numpy.asfortranarray(numpy.frombuffer(b"\x35Hello", "u1").reshape(2, 3))), "Hello")

    def test_integers_among_floats_stay_integers(self):
        message = stow.dumps([0.1 * 3, 7, 0.1 * 6, 0.5])
        self.assertEqual([type(number) for number in stow.loads(message, numpy=True)], [float, int, float, float])


if __name__ == "__main__":
    unittest.main()
