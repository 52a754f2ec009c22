"""Bytes that are made up, or not far from valid ones: a function returns, or raises a StowError, and nothing else."""

import random
import tracemalloc
import unittest

import support  # noqa: F401
import format_document
import logs
import notation
import stow
import vectors
from mutations import Mutator

try:
    import numpy
except ImportError:
    numpy = None


def refuses(body) -> bool:
    try:
        body()
        return False
    except stow.StowError:
        return True


class MutationTests(unittest.TestCase):
    def setUp(self):
        self.contexts = [stow.Context(message) for message in vectors.contexts()]

    def test_mutations_of_all_vectors_are_read_or_refused(self):
        messages = Mutator([vector.bytes for vector in vectors.every()], "7").mutations(40_000)
        accepted = 0
        for message in messages:
            try:
                value = stow.loads(message, contexts=self.contexts)
            except stow.StowError:
                if numpy:
                    self.assertTrue(refuses(lambda: stow.loads(message, contexts=self.contexts, numpy=True)), message.hex(" "))
                continue
            accepted += 1
            again = stow.dumps(value, depth=600)
            self.assertEqual(notation.described(stow.loads(again, depth=600)), notation.described(value))
            self.assertEqual(stow.dumps(stow.loads(again, depth=600), depth=600), again)
            stow.notation(value, 40)
            if numpy:
                stow.loads(message, contexts=self.contexts, numpy=True)
        print(f"\n{accepted} of {len(messages)} accepted")
        self.assertGreater(accepted, 1000)

    def test_mutations_of_contexts_are_read_or_refused(self):
        for message in Mutator(vectors.contexts(), "8").mutations(5_000):
            refuses(lambda: stow.Context(message))

    def test_mutations_of_streams_are_read_or_refused(self):
        streams = [data for _, data, _ in format_document.streams().values()]
        for data in Mutator(streams, "9").mutations(5_000):
            refuses(lambda: list(stow.read_stream(data)))

    def test_mutations_of_logs_are_read_or_refused(self):
        chance = random.Random(10)
        for name in logs.names():
            for _ in range(8):
                data = bytearray(logs.bytes_of(name))
                for _ in range(chance.choice((1, 2, 5))):
                    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
                refuses(lambda: stow.open_log(data))


class SizeTests(unittest.TestCase):
    def test_numbers_that_are_not_there_take_no_memory(self):
        for digits in (
            "1F FD FF FF FF FF FF FF FF 7F", "1F 00 FC FF FF FF FF", "1F 00 01 FC FF FF FF FF 81 61",
            "74 07 0D FC FF FF FF FF 00", "7B 06 FC FF FF FF FF 01", "70 FD FF FF FF FF FF FF FF 7F", "19 FC FF FF FF FF",
            "1D FC FF FF FF FF 61", "74 FC FF FF FF FF 0A", "7A FC FF FF FF FF",
        ):
            with self.subTest(digits=digits):
                tracemalloc.start()
                try:
                    self.assertTrue(refuses(lambda: stow.loads(bytes.fromhex(digits))))
                    self.assertLess(tracemalloc.get_traced_memory()[1], 100_000)
                finally:
                    tracemalloc.stop()

    def test_a_symbol_that_is_a_url_again_and_again_is_one(self):
        text = b"x" * 1_000_000
        urls = b"\x1a\x50" * 20_000
        message = b"\x1f\x01\xe1\xfc" + len(text).to_bytes(4, "little") + text + b"\x00\x70\xfc" + len(urls).to_bytes(4, "little")
        tracemalloc.start()
        try:
            found = stow.loads(message + urls)
            self.assertLess(tracemalloc.get_traced_memory()[1], 10_000_000)
        finally:
            tracemalloc.stop()
        self.assertEqual(len(found), 20_000)

    def test_a_symbol_that_is_a_url_again_and_again_is_written_in_a_time_in_proportion(self):
        urls = [stow.URL("x" * 1_000_000)] * 100_000
        message = stow.dumps(urls)
        # If the text were copied for each, it would take minutes.
        self.assertEqual(stow.dumps(stow.loads(message)), message)

    def test_levels_of_a_message_take_no_stack(self):
        message = b"\x91"
        for _ in range(5_000):
            message = b"\x70\xfc" + len(message).to_bytes(4, "little") + message
        value = stow.loads(message, depth=5_000)
        self.assertEqual(stow.loads(stow.dumps(value, depth=5_000), depth=5_000)[0][0], [value[0][0][0]])
        self.assertTrue(refuses(lambda: stow.loads(message)))
        self.assertEqual(stow.notation(value).strip("[]"), "1")


if __name__ == "__main__":
    unittest.main()
