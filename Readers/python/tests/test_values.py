"""Values that are written and read again."""

import array
import collections
import datetime
import decimal
import enum
import math
import pickle
import struct
import sys
import unittest
import uuid

import support  # noqa: F401
import stow

UTC = datetime.timezone.utc


def again(value, **options):
    return stow.loads(stow.dumps(value), **options)


class ValueTests(unittest.TestCase):
    def test_all_kinds_come_back(self):
        value = {
            "nil": None, "inner": stow.Nil(2), "yes": True, "five": 5, "5.0": 5.0, "half": 0.5, "text": "größe 🚲",
            "data": b"\x01\x02", "id": uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"), "url": stow.URL("https://swift.org"),
            "price": decimal.Decimal("12.50"), "at": stow.Date(0.1), "list": [[], {}, [None]],
        }
        found = again(value)
        self.assertEqual(found, value)
        self.assertEqual({key: type(item) for key, item in found.items()}, {key: type(item) for key, item in value.items()})
        self.assertEqual(stow.notation(found), stow.notation(value))

    def test_integers_are_of_128_bits(self):
        for bits in (0, 5, 6, 7, 8, 31, 32, 55, 56, 63, 64, 127):
            for near in (-1, 0, 1):
                for integer in ((1 << bits) + near, -(1 << bits) + near):
                    if integer >= -(1 << 127):
                        self.assertEqual(again(integer), integer)
                        self.assertEqual(again([integer, 0, 7]), [integer, 0, 7])
        self.assertEqual(again((1 << 128) - 1), (1 << 128) - 1)
        for integer in (1 << 128, -(1 << 127) - 1):
            with self.assertRaises(stow.StowError):
                stow.dumps(integer)

    def test_sums_are_modulo_2_to_the_64(self):
        message = bytes.fromhex("74 0B B1 08 FF FF FF FF FF FF FF 7F 01")
        self.assertEqual(stow.loads(message), [(1 << 63) - 1, -(1 << 63)])

    def test_floats_keep_their_bits(self):
        for bits in (0x8000000000000000, 0x7FF8000000000001, 0xFFF0000000000001, 0x7FF0000000000000, 1):
            value = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
            self.assertEqual(struct.pack("<d", again(value)), bits.to_bytes(8, "little"))
        for bits in (0x7FA00001, 0xFFC00000):
            nan = again([stow.SingleNaN(bits), 0.5])[0]
            self.assertEqual((nan.bits, math.isnan(nan)), (bits, True))
        with self.assertRaises(ValueError):
            stow.SingleNaN(0x3F800000)

    def test_dates_are_exact(self):
        for seconds in (0.1234567, 1e300, -math.inf, 800_000_000.25):
            self.assertEqual(again(stow.Date(seconds)).seconds, seconds)
        time = datetime.datetime(2026, 11, 25, 12, 0, 0, 123456, tzinfo=UTC)
        self.assertEqual(again(time).datetime(), time)
        east = time.astimezone(datetime.timezone(datetime.timedelta(hours=9)))
        self.assertEqual(stow.dumps(east), stow.dumps(time))
        with self.assertRaises(stow.StowError):
            stow.dumps(datetime.datetime(2026, 11, 25))
        with self.assertRaises(OverflowError):
            stow.Date(1e300).datetime()

    def test_decimal_numbers_are_exact(self):
        for text in ("0", "0.00", "-12.50", "1e127", "340282366920938463463374607431768211455e-128"):
            self.assertEqual(str(again(decimal.Decimal(text))), str(decimal.Decimal(text)))
        self.assertTrue(again(decimal.Decimal("NaN")).is_nan())
        self.assertEqual(str(again(decimal.Decimal("-0.00"))), "0.00")
        for text in ("Infinity", "1e128", "1e-129", "340282366920938463463374607431768211456"):
            with self.assertRaises(stow.StowError):
                stow.dumps(decimal.Decimal(text))

    def test_what_is_like_a_value_is_written_as_one(self):
        class Color(enum.IntEnum):
            RED = 3

        class Name(str, enum.Enum):
            ADA = "Ada"

        pairs = [
            (Color.RED, 3), (Name.ADA, "Ada"), ((1, 2), [1, 2]), (bytearray(b"x"), b"x"), (memoryview(b"xyz")[::2], b"xz"),
            (array.array("d", [1.5, 2.5]), [1.5, 2.5]), (collections.OrderedDict(a=1), {"a": 1}), ({1: "a"}, {"1": "a"}),
            (frozenset([4]), [4]), (range(3), [0, 1, 2]), (collections.ChainMap({"a": 1}), {"a": 1}),
        ]
        for value, plain in pairs:
            with self.subTest(value=value):
                self.assertEqual(stow.dumps(value), stow.dumps(plain))
        self.assertEqual(again({1: "a", "2": "b", "c": 0}), {"1": "a", "2": "b", "c": 0})

    def test_what_has_no_form_is_an_error(self):
        for value in (object(), {1.5: 1}, {None: 1}, {True: 1}, 1j, iter([1]), datetime.date(2026, 1, 1), type,
                      collections.UserString("ab"), [collections.UserString("")]):
            with self.subTest(value=value), self.assertRaises(TypeError):
                stow.dumps(value)
        for value in ("\ud800", {"\udc00": 1}, {1: "a", "1": "b"}, {10**5000: 1}):
            with self.subTest(keys=len(value)), self.assertRaises(stow.StowError):
                stow.dumps(value)
        for data in ("91", 91, None):
            with self.subTest(data=data), self.assertRaises(TypeError):
                stow.loads(data)

    def test_levels_have_a_limit(self):
        value = 1
        for _ in range(512):
            value = [value]
        self.assertEqual(again(value), value)
        circle = []
        circle.append(circle)
        for each in ([value], circle):
            with self.assertRaises(stow.StowError):
                stow.dumps(each)
        deep = stow.dumps([[value]] , depth=5000)
        self.assertEqual(stow.loads(deep, depth=5000), [[value]])
        with self.assertRaises(stow.StowError):
            stow.loads(deep)
        self.assertEqual(stow.notation(value), "[" * 512 + "1" + "]" * 512)

    def test_what_has_no_end_has_no_notation(self):
        circle, ring = [1], {}
        circle.append([circle])
        ring["a"] = [ring, ring]
        for value in (circle, ring):
            for width in (None, 10, 1 << 40):
                with self.subTest(kind=type(value), width=width), self.assertRaisesRegex(stow.StowError, "holds itself"):
                    stow.notation(value, width)
        for width in (None, 10):
            with self.subTest(width=width), self.assertRaises(TypeError):
                stow.notation(collections.UserString("ab"), width)
        shared = [1]
        self.assertEqual(stow.notation([shared, shared, {"a": shared}]), '[[1], [1], {"a": [1]}]')

    def test_bytes_are_data_in_notation_too(self):
        value = [bytearray(b"abc"), memoryview(b"aXbXcX")[::2], memoryview(b"abcd").cast("B", (2, 2)), bytearray()]
        read = stow.loads(stow.dumps(value))
        for width in (None, 10):
            self.assertEqual(stow.notation(value, width), stow.notation(read, width))

    def test_keys_are_the_same_texts_in_notation(self):
        value = {1: "a", "b": 2, stow.URL("c"): 3}
        for width in (None, 5):
            self.assertEqual(stow.notation(value, width), stow.notation(stow.loads(stow.dumps(value)), width))
        for key, error in ((1.5, TypeError), (b"a", TypeError), (True, TypeError), (10**5000, stow.StowError)):
            for call in (stow.dumps, stow.notation, lambda value: stow.notation(value, 5)):
                with self.subTest(key=type(key)), self.assertRaisesRegex(error, "key"):
                    call({key: 1})
                with self.assertRaisesRegex(stow.StowError, "one text"):
                    call({1: "a", "1": "b"})

    @unittest.skipUnless(getattr(sys, "get_int_max_str_digits", int)(), "needs a limit of digits")
    def test_an_integer_that_python_does_not_write_has_no_notation(self):
        for value in (10**5000, [[-(10**5000)]], {"a": 10**5000}):
            for width in (None, 10):
                with self.subTest(kind=type(value), width=width), self.assertRaisesRegex(stow.StowError, "digits"):
                    stow.notation(value, width)

    def test_a_date_after_the_year_9999_is_its_seconds(self):
        self.assertEqual(stow.notation(stow.Date(252423993599.5)), 'date"9999-12-31T23:59:59.5Z"')
        self.assertEqual(stow.notation(stow.Date(252423993600.0)), "date(252423993600.0)")

    def test_a_date_has_all_decimals_of_its_seconds(self):
        with decimal.localcontext() as context:
            context.prec = 3
            self.assertEqual(stow.notation(stow.Date(512345.0000004)), 'date"2001-01-06T22:19:05.0000004Z"')
            self.assertEqual(stow.notation(stow.Date(-0.0123456789)), 'date"2000-12-31T23:59:59.9876543211Z"')

    def test_bytes_may_be_anywhere(self):
        message = stow.dumps({"a": [1, 2, 3000, 4], "b": "text"})
        for data in (bytearray(message), memoryview(message), memoryview(b"x" + message + b"x")[1:-1],
                     memoryview(bytes(each for byte in message for each in (byte, 0)))[::2], array.array("B", message)):
            self.assertEqual(stow.loads(data), stow.loads(message))

    def test_values_of_constant_columns_are_not_shared(self):
        rows = again([{"id": number * 1000, "tags": [], "more": {}} for number in range(4)])
        rows[0]["tags"].append(1)
        rows[0]["more"]["x"] = 1
        self.assertEqual(rows[1], {"id": 1000, "tags": [], "more": {}})

    def test_errors_say_what_and_where(self):
        with self.assertRaises(stow.StowError) as caught:
            stow.loads(bytes.fromhex("E2 91 7D"))
        error = caught.exception
        self.assertEqual((error.offset, error.reason), (2, "a reserved tag"))
        self.assertEqual(str(pickle.loads(pickle.dumps(error))), "a reserved tag, at byte 2")
        for digits, words in (("7F 01 32 40 89 27 91", "27894032"), ("7F 02 01 00", "open_log"), ("7F 03 01", "read_stream"),
                              ("7F 09", "later version")):
            with self.assertRaisesRegex(stow.StowError, words):
                stow.loads(bytes.fromhex(digits))

    def test_errors_do_not_keep_the_bytes(self):
        for digits in ("76", "E1 76", "31 FF", "50", "1F 01 81 FF 00 91", "7B 03 01 0B 02"):
            data = bytearray.fromhex(digits)
            with self.assertRaises(stow.StowError):
                try:
                    stow.loads(data)
                finally:
                    # As closing an mmap is an error as long as something reads from it, so is this.
                    data.clear()

    def test_errors_do_not_repeat_what_the_sender_wrote(self):
        with self.assertRaises(stow.StowError) as caught:
            stow.loads(bytes.fromhex("C6 81 1B 91 81 1B 92"))
        self.assertTrue(str(caught.exception).isprintable())

    def test_values_of_a_class_that_extends_one_are_of_its_kind(self):
        class Link(stow.URL):
            pass

        class Moment(stow.Date):
            pass

        self.assertEqual(stow.dumps([Link("x"), Moment(0.5)]), stow.dumps([stow.URL("x"), stow.Date(0.5)]))

    def test_the_seconds_of_a_date_are_a_float(self):
        self.assertEqual(stow.dumps(stow.Date(5)), stow.dumps(stow.Date(5.0)))
        self.assertEqual(repr(stow.Date(5)), "Date(seconds=5.0)")
        with self.assertRaises(TypeError):
            stow.Date(None)

    def test_values_can_be_pickled(self):
        for value in (stow.Nil(3), stow.Date(1.5), stow.URL("x"), stow.SingleNaN(0x7FC00001)):
            self.assertEqual(repr(pickle.loads(pickle.dumps(value))), repr(value))


class ContextTests(unittest.TestCase):
    def setUp(self):
        digits = "1F 01 83 41 64 61 01 04 82 69 64 04 0D C0 10 82 6F 6E 04 8D 33 11 00"
        self.context = stow.Context(bytes.fromhex(digits))

    def test_messages_rely_on_it(self):
        message = bytes.fromhex("7F 01 32 40 89 27 F8 04 07 95 50 02")
        self.assertEqual(self.context.id, 0x27894032)
        self.assertEqual(stow.loads(message, contexts=[self.context]), {"id": 5, "name": "Ada", "on": True})
        value = {"id": 5, "name": "Ada", "on": True, "note": ""}
        named = stow.dumps(value, context=self.context)
        settled = stow.dumps(value, context=self.context, names_context=False)
        self.assertEqual(named.hex(), "7f0132408927f00495500230")
        self.assertEqual(named[6:], settled)
        self.assertEqual(stow.loads(settled, context=self.context), value)

    def test_a_message_may_name_the_one_that_is_settled(self):
        message = stow.dumps("Ada", context=self.context)
        self.assertEqual(stow.loads(message, context=self.context), "Ada")

    def test_of_two_of_one_id_neither_is_taken(self):
        one, other = (
            stow.Context(bytes.fromhex(digits))
            for digits in ("1F 01 88 3F 31 33 37 31 38 33 38 00 00", "1F 01 88 3F 32 30 30 30 34 30 32 00 00"))
        self.assertEqual(one.id, other.id)
        message = stow.dumps("?1371838", context=one)
        self.assertEqual(stow.loads(message, contexts=[one, one]), "?1371838")
        for known in ({"contexts": [one, other]}, {"contexts": [other], "context": one}):
            with self.assertRaisesRegex(stow.StowError, "two contexts"):
                stow.loads(message, **known)

    def test_definitions_of_a_message_stay_its_own(self):
        value = [{"kind": "alpha", "other": "alpha"}, {"kind": "alpha", "other": "Ada"}]
        message = stow.dumps(value, context=self.context)
        for _ in range(2):
            self.assertEqual(stow.loads(message, contexts=[self.context]), value)
        self.assertEqual((len(self.context.symbols), len(self.context.shapes)), (1, 1))


if __name__ == "__main__":
    unittest.main()
