"""Decodes every vector, and every example of FORMAT.md, to its stated meaning."""

import hashlib
import unittest

import support
import format_document
import logs
import notation
import vectors
from reader import stow
from stow.checksums import checksum


def all_vectors(*kinds):
    return [(vector.name, vector) for vector in vectors.every() if vector.kind in kinds]


class VectorTests(unittest.TestCase):
    def test_valid_vectors_have_their_meaning(self):
        support.tally(self, all_vectors("canonical", "accepted"), self.check)

    def check(self, vector):
        self.assertEqual(notation.described(vector.decoded(vector.bytes)), notation.described(vector.value))

    def test_canonical_vectors_are_written_again(self):
        """Those whose objects have free keys, as all have that this package writes."""
        free = [case for case in all_vectors("canonical") if case[1].has_free_keys]
        support.tally(self, free, self.check_written)

    def check_written(self, vector):
        self.assertEqual(vector.written().hex(" "), vector.bytes.hex(" "))

    def test_valid_vectors_have_their_notation(self):
        meanings = vectors.meanings()
        valid = all_vectors("canonical", "accepted")
        self.assertEqual(sorted(meanings), sorted(name for name, _ in valid))

        def check(vector):
            text = stow.notation(vector.decoded(vector.bytes))
            self.assertTrue(vectors.is_meaning(meanings[vector.name], text), text)

        support.tally(self, valid, check)

    def test_messages_made_at_random_have_their_meaning(self):
        def check(case):
            message, meaning = case
            if meaning == "refused":
                with self.assertRaises(stow.StowError):
                    stow.loads(message)
            else:
                self.assertEqual(stow.notation(stow.loads(message)), meaning)

        support.tally(self, [(case[0].hex(" "), case) for case in vectors.generated()], check)

    def test_canonical_messages_are_written_again(self):
        def check(message):
            self.assertEqual(stow.dumps(stow.loads(message)).hex(" "), message.hex(" "))

        canonical = vectors.canonical()
        self.assertGreater(len(canonical), 1_000)
        support.tally(self, [(message.hex(" "), message) for message in canonical], check)

    def test_refused_vectors_have_a_rule(self):
        self.assertEqual(sorted(vectors.rules()), sorted(name for name, _ in all_vectors("refused")))

    def test_refused_vectors_are_refused(self):
        support.tally(self, all_vectors("refused"), self.check_refused)

    def check_refused(self, vector):
        with self.assertRaises(stow.StowError) as context:
            vector.decoded(vector.bytes)
        if "context" not in vector.fields:
            self.assertLessEqual(context.exception.offset, len(vector.bytes))

    def test_every_vector_is_of_a_kind(self):
        self.assertEqual(len(all_vectors("canonical", "accepted", "refused")), len(list(vectors.every())))
        self.assertGreater(len(list(vectors.every())), 300)

    def test_no_vector_has_changed(self):
        sealed = vectors.sealed()
        self.assertGreater(len(sealed), 10)
        for name, size, digest in sealed:
            with self.subTest(file=name):
                beginning = (vectors.SUITE / name).read_bytes()[:size]
                self.assertEqual(hashlib.sha256(beginning).hexdigest(), digest)


class CutOffTests(unittest.TestCase):
    def test_a_message_that_is_cut_off_is_refused(self):
        """Everything is inside a length, so no beginning of a message is a message."""
        for vector in vectors.every():
            message = vector.bytes
            if vector.kind == "refused" or len(message) > 200:
                continue
            for size in range(len(message)):
                with self.subTest(vector=vector.name, size=size), self.assertRaises(stow.StowError):
                    vector.decoded(message[:size])


class ContextTests(unittest.TestCase):
    def test_the_checksum_is_the_one_that_is_specified(self):
        self.assertEqual(checksum(b"123456789"), 0xE3069283)

    def test_a_context_that_is_cut_off_is_refused(self):
        self.assertGreater(len(vectors.contexts()), 5)
        for context in vectors.contexts():
            for size in range(len(context)):
                with self.subTest(context=context.hex(" "), size=size), self.assertRaises(stow.StowError):
                    stow.Context(context[:size])

    def test_every_example_of_the_document_is_a_vector(self):
        known = {vector.name: vector for vector in vectors.every()}
        contexts = format_document.examples("stow-context")
        self.assertEqual(len(contexts), 1)
        self.assertGreater(len(format_document.examples("stow-relying")), 1)
        for name, message in format_document.examples("stow-relying").items():
            with self.subTest(example=name):
                vector = known[f"relying-{name}"]
                self.assertEqual(vector.bytes.hex(" "), message.hex(" "))
                self.assertIn(notation.hex_bytes(vector.fields["context"]), contexts.values())

    def test_what_explains_an_example_is_its_bytes(self):
        for kind in ("stow-context", "stow-relying"):
            for name, message in format_document.examples(kind).items():
                with self.subTest(example=name):
                    self.assertEqual(format_document.explained(kind)[name].hex(" "), message.hex(" "))


class DocumentTests(unittest.TestCase):
    def test_every_example_is_a_vector(self):
        known = {vector.name: vector for vector in vectors.every()}
        examples = format_document.examples()
        self.assertGreater(len(examples), 80)
        for name, message in examples.items():
            with self.subTest(example=name):
                self.assertIn(name, known)
                self.assertEqual(known[name].bytes.hex(" "), message.hex(" "))

    def test_what_is_accepted_decodes_to_its_meaning(self):
        self.assertGreater(len(format_document.accepted()), 5)
        for message, meaning in format_document.accepted():
            with self.subTest(message=message.hex(" ")):
                decoded = notation.described(stow.loads(message))
                self.assertEqual(decoded, notation.described(notation.parse(meaning)))

    def test_what_is_refused_is_refused(self):
        self.assertGreater(len(format_document.refused()), 20)
        for message in format_document.refused():
            with self.subTest(message=message.hex(" ")), self.assertRaises(stow.StowError):
                stow.loads(message)


class LogTests(unittest.TestCase):
    def test_every_golden_log_has_its_records(self):
        support.tally(self, [(name, name) for name in logs.names()], self.check)

    def test_every_small_log_has_its_records_and_losses(self):
        def check(log):
            self.assertEqual(logs.told_small(log.bytes), logs.small(log))

        small = vectors.logs()
        self.assertGreater(len(small), 300)
        support.tally(self, [(log.name, log) for log in small], check)

    def test_every_golden_folder_has_its_records(self):
        support.tally(self, [(folder.name, folder) for folder in logs.folders()], self.check_folder)

    def check(self, name):
        self.compare(logs.expected(name), stow.open_log(logs.bytes_of(name)))

    def check_folder(self, folder):
        self.compare(logs.expected(folder.name, logs.SEGMENTS), stow.open_log(folder))

    def compare(self, expected, found):
        self.assertEqual(found.first, expected.first)
        self.assertEqual({record.number: notation.described(record.value) for record in found.records}, expected.records)
        self.assertEqual([number for lost in found.lost for number in lost], expected.lost)
        self.assertEqual(found.end, expected.end)

    def test_every_example_of_a_log_has_its_records(self):
        examples = format_document.logs()
        self.assertGreater(len(examples), 3)
        for name, (records, data, explained) in examples.items():
            with self.subTest(log=name):
                self.assertEqual(data.hex(" "), explained.hex(" "))
                found = stow.open_log(data)
                self.assertEqual(
                    [notation.described(record.value) for record in found.records],
                    [notation.described(notation.parse(record)) for record in records])
                self.assertEqual(found.end, len(data))


class StreamTests(unittest.TestCase):
    def test_every_stream_has_its_records_or_is_refused(self):
        support.tally(self, [(stream.name, stream) for stream in vectors.streams()], self.check)

    def check(self, stream):
        found, is_refused = [], False
        try:
            for record in stow.read_stream(stream.bytes):
                found.append("error" if record.error else stow.notation(record.value))
        except stow.StowError:
            is_refused = True
        self.assertEqual((found, is_refused), (stream.records, stream.kind == "refused"))

    def test_every_example_of_a_stream_has_its_records(self):
        examples = format_document.streams()
        self.assertGreater(len(examples), 0)
        for name, (records, data, explained) in examples.items():
            with self.subTest(stream=name):
                self.assertEqual(data.hex(" "), explained.hex(" "))
                self.assertEqual(
                    [notation.described(record.value) for record in stow.read_stream(data)],
                    [notation.described(notation.parse(record)) for record in records])

    def framed(self, record: bytes, number: int) -> bytes:
        sum = checksum(number.to_bytes(8, "little") + record)
        return b"\xfc" + len(record).to_bytes(4, "little") + record + sum.to_bytes(4, "little")

    def read(self, *records: bytes) -> list[object]:
        framed = [self.framed(record, number) for number, record in enumerate(records)]
        return [record.error or record.value for record in stow.read_stream(b"\x7f\x03\x01" + b"".join(framed))]

    def test_a_stream_without_records(self):
        self.assertEqual(list(stow.read_stream(b"")), [])
        self.assertEqual(self.read(), [])
        for size in 1, 2:
            with self.assertRaises(stow.StowError):
                list(stow.read_stream(b"\x7f\x03"[:size]))

    def test_an_invalid_value_is_passed_over(self):
        found = self.read(bytes.fromhex("1F 01 83 41 64 61 00 7D"), bytes.fromhex("50"))
        self.assertIsInstance(found[0], stow.StowError)
        self.assertEqual(found[1], "Ada")

    def test_invalid_definitions_end_the_stream(self):
        with self.assertRaises(stow.StowError):
            self.read(bytes.fromhex("1F 01 81 FF 00 91"), bytes.fromhex("91"))

    def test_a_length_of_zero_in_more_bytes_is_refused(self):
        with self.assertRaises(stow.StowError):
            list(stow.read_stream(bytes.fromhex("7F 03 01 FC 00 00 00 00")))

    def test_the_limit_of_definitions(self):
        def record(size: int) -> bytes:
            text = b"-" * (size - 9)
            return b"\x1f\x01\xe1\xfc" + len(text).to_bytes(4, "little") + text + b"\x00\x91"

        limit = 1 << 20
        self.assertEqual(self.read(record(limit)), [1])
        for records in [record(limit + 1)], [record(limit), record(300_000)], [record(limit), b"\x1f\x00\x00\x91"]:
            with self.assertRaises(stow.StowError):
                self.read(*records)

    def test_every_changed_bit_is_refused(self):
        for _, data, _ in format_document.streams().values():
            for index in range(len(data) * 8):
                changed = bytearray(data)
                changed[index // 8] ^= 1 << index % 8
                with self.subTest(bit=index), self.assertRaises(stow.StowError):
                    list(stow.read_stream(bytes(changed)))


class DepthTests(unittest.TestCase):
    def test_the_limit_can_be_set(self):
        self.assertEqual(stow.loads(bytes.fromhex("E2E191"), depth=2), [[1]])
        with self.assertRaises(stow.StowError):
            stow.loads(bytes.fromhex("E2E191"), depth=1)


if __name__ == "__main__":
    unittest.main()
