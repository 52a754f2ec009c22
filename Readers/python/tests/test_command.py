"""What `python -m stow` prints."""

import contextlib
import decimal
import io
import os
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import support
import format_document
import logs
import stow
from stow.__main__ import main
from stow.checksums import checksum


RECORD_OF_1 = b"\x01\x91" + checksum(bytes(8) + b"\x91").to_bytes(4, "little")


class CommandTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_with(self, data: bytes, *arguments: str):
        path = self.folder / "file"
        path.write_bytes(data)
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = main([str(path), *arguments])
        return code, output.getvalue(), errors.getvalue()

    def test_a_message(self):
        self.assertEqual(self.run_with(stow.dumps({"a": [1, 2.5]})), (0, '{"a": [1, 2.5]}\n', ""))
        lines = '{\n  "a": [\n    1,\n    2.5\n  ]\n}\n'
        self.assertEqual(self.run_with(stow.dumps({"a": [1, 2.5]}), "--width", "5"), (0, lines, ""))

    def test_a_log_whose_first_bytes_are_damaged(self):
        data = bytearray(logs.bytes_of("blocks"))
        data[0] ^= 1
        code, output, errors = self.run_with(data, "--width", "0")
        records = len(stow.open_log(data).records)
        self.assertEqual((code, errors), (1, ""))
        self.assertEqual(len(output.splitlines()), records + 1)
        self.assertTrue(output.endswith("# damage: bytes 0 to 31, head\n"))

    def test_a_message_that_relies_on_a_context(self):
        (context,) = format_document.examples("stow-context").values()
        (self.folder / "context").write_bytes(context)
        message = format_document.examples("stow-relying")["example"]
        code, output, _ = self.run_with(message, "--context", str(self.folder / "context"))
        self.assertEqual((code, output), (0, '{"id": 5, "name": "Ada", "on": true}\n'))

    def test_a_message_that_names_no_context_has_none(self):
        (context,) = format_document.examples("stow-context").values()
        (self.folder / "context").write_bytes(context)
        message = stow.dumps(["Ada Lovelace"] * 3)
        code, output, _ = self.run_with(message, "--context", str(self.folder / "context"))
        self.assertEqual((code, output), (0, '["Ada Lovelace", "Ada Lovelace", "Ada Lovelace"]\n'))

    def test_what_is_no_context_is_named(self):
        (self.folder / "context").write_bytes(b"\x91")
        code, _, errors = self.run_with(b"\x91", "--context", str(self.folder / "context"))
        self.assertEqual(code, 1)
        self.assertIn("context is no context: no prelude", errors)

    def test_a_log(self):
        _, data, _ = format_document.logs()["log-records"]
        self.assertEqual(self.run_with(data), (0, '0: 1\n1: "two"\n2: [3.5]\n', ""))
        code, output, _ = self.run_with(logs.bytes_of("damaged"), "--width", "0")
        self.assertEqual(code, 1)
        self.assertIn("# lost: records 8 to 8\n# damage: bytes ", output)

    def test_a_segment_that_is_lost(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            self.assertEqual(main([str(logs.SEGMENTS / "lost")]), 1)
        self.assertIn("\n# damage: 00000000000000000010.stowlog, all of it, head\n", output.getvalue())

    def test_a_stream(self):
        (records, data, _) = format_document.streams()["stream"]
        output = "".join(f"{number}: {record}\n" for number, record in enumerate(records))
        self.assertEqual(self.run_with(data), (0, output, ""))

    def test_a_stream_without_end(self):
        class Endless(io.RawIOBase):
            """The head of a stream, and then resets of its definitions."""

            def __init__(self):
                self.parts = [b"\x7f\x03\x01" + RECORD_OF_1, *[bytes(1000)] * 1000]

            def readable(self):
                return True

            def readinto(self, buffer):
                part = self.parts.pop(0)
                buffer[: len(part)] = part
                return len(part)

        class Closed(io.StringIO):
            def write(self, text):
                raise BrokenPipeError

        stdin = io.TextIOWrapper(io.BufferedReader(Endless()))
        with unittest.mock.patch.object(sys, "stdin", stdin), contextlib.redirect_stdout(Closed()):
            self.assertEqual(main(["-"]), 1)

    def test_what_cannot_be_read(self):
        code, output, errors = self.run_with(b"\x7d")
        self.assertEqual((code, output), (1, ""))
        self.assertIn("a reserved tag, at byte 0", errors)

    def test_standard_input(self):
        run = subprocess.run(
            [sys.executable, "-m", "stow", "-"], input=stow.dumps("größe"), capture_output=True, check=True,
            cwd=support.ROOT / "Readers" / "python", env={"PYTHONIOENCODING": "ascii"})
        self.assertEqual(run.stdout.decode().split(), ['"größe"'])

    def test_without_a_standard_input(self):
        errors = io.StringIO()
        with unittest.mock.patch.object(sys, "stdin", None), contextlib.redirect_stderr(errors):
            self.assertEqual(main(["-"]), 1)
        self.assertEqual(errors.getvalue(), "stow: -: there is no standard input\n")

    def start(self, **pipes):
        """The command, which waits for its input, and keeps a short output in memory until its end."""
        command = subprocess.Popen(
            [sys.executable, "-m", "stow", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=support.ROOT / "Readers" / "python", env={}, **pipes)
        self.addCleanup(command.stderr.close)
        return command

    def finish(self, command, data=stow.dumps(1)):
        command.stdin.write(data)
        command.stdin.close()
        errors = command.stderr.read().decode()
        return command.wait(), errors

    @unittest.skipUnless(os.name == "posix", "needs signals")
    def test_an_interrupt(self):
        # Tests that run in the background of a shell have it ignored.
        command = self.start(stdout=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.addCleanup(command.stdout.close)
        self.addCleanup(command.stdin.close)
        long = stow.dumps("x" * 50_000)
        command.stdin.write(b"\x7f\x03\x01\xfc" + len(long).to_bytes(4, "little") + long)
        command.stdin.write(checksum(bytes(8) + long).to_bytes(4, "little"))
        command.stdin.flush()
        # It has begun to print, and waits for the next record.
        command.stdout.read(1)
        command.send_signal(signal.SIGINT)
        self.assertEqual((command.wait(), command.stderr.read()), (-signal.SIGINT, b""))

    @unittest.skipUnless(os.name == "posix", "needs signals")
    def test_an_interrupt_that_is_ignored(self):
        command = self.start(stdout=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        self.addCleanup(command.stdout.close)
        command.stdin.write(b"\x7f\x03\x01" + RECORD_OF_1)
        command.stdin.flush()
        command.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(command, b""), (0, ""))

    def test_a_file_that_has_no_room_in_memory(self):
        errors = io.StringIO()
        with unittest.mock.patch("builtins.open", side_effect=MemoryError), contextlib.redirect_stderr(errors):
            self.assertEqual(main(["file"]), 1)
        self.assertEqual(errors.getvalue(), "stow: file: there is not enough memory\n")

    def test_an_output_that_nobody_reads(self):
        command = self.start(stdout=subprocess.PIPE)
        command.stdout.close()
        self.assertEqual(self.finish(command), (1, ""))

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs a file that has no room")
    def test_an_output_without_room(self):
        with open("/dev/full", "wb") as full:
            code, errors = self.finish(self.start(stdout=full))
        self.assertEqual((code, len(errors.splitlines())), (1, 1), errors)
        self.assertTrue(errors.startswith("stow: -: "), errors)

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs a file that has no room")
    def test_a_stream_that_is_cut_off_and_an_output_without_room(self):
        (_, data, _) = format_document.streams()["stream"]
        with open("/dev/full", "wb") as full:
            code, errors = self.finish(self.start(stdout=full), data[:-1])
        self.assertEqual((code, errors.count("cut off"), errors.count("No space")), (1, 1, 1), errors)
        self.assertEqual(len(errors.splitlines()), 2, errors)

    def test_without_a_standard_output(self):
        errors = io.StringIO()
        with unittest.mock.patch.object(sys, "stdout", None), contextlib.redirect_stderr(errors):
            self.assertEqual(main(["-"]), 1)
        self.assertEqual(errors.getvalue(), "stow: -: there is no standard output\n")


class NotationTests(unittest.TestCase):
    def test_the_examples_of_the_document(self):
        lines = format_document.notations()
        support.tally(self, [(text, (message, text)) for message, text in lines], self.check)

    def check(self, line):
        message, text = line
        self.assertEqual(stow.notation(stow.loads(message)), text)

    def test_decimal_numbers_that_the_format_lacks(self):
        for text in ("-0", "-0.00", "-0e5"):
            value = decimal.Decimal(text)
            self.assertEqual(stow.notation(value), stow.notation(stow.loads(stow.dumps(value))))
        with self.assertRaises(stow.StowError):
            stow.notation(decimal.Decimal("-Infinity"))


if __name__ == "__main__":
    unittest.main()
