"""Logs and streams: what is lost, what was given up, and what is no message."""

import io
import mmap
import os
import tempfile
import traceback
import tracemalloc
import unittest
import unittest.mock
from pathlib import Path

import support  # noqa: F401
import format_document
import logs
import stow
from stow.checksums import Checksums, checksum
from stow.uints import uint_bytes

IDENTITY = bytes(range(1, 9))
BLOCK_SIZE = 65_536


def head(block: int, first_record: int) -> bytes:
    rest = IDENTITY + first_record.to_bytes(8, "little") + block.to_bytes(4, "little") + bytes(4)
    front = b"\x7f\x02\x01\x00"
    return front + checksum(front + rest).to_bytes(4, "little") + rest


def frame(offset: int, kind: int, payload: bytes) -> bytes:
    rest = len(payload).to_bytes(2, "little") + bytes([kind]) + payload
    return checksum(IDENTITY + offset.to_bytes(8, "little") + rest).to_bytes(4, "little") + rest


def log_of(*frames: "tuple[int, bytes]") -> bytes:
    data = head(0, 0)
    for kind, payload in frames:
        data += frame(len(data), kind, payload)
    return data


def log_of_parts(message: bytes) -> bytes:
    """A record in two blocks, and one of 1 after it."""
    first = head(0, 0)
    room = BLOCK_SIZE - len(first) - 7
    content = b"\xfc" + len(message).to_bytes(4, "little") + message
    front = b"\x00\x01\xfc" + len(content).to_bytes(4, "little")
    first += frame(len(first), 0x02, front + content[: room - len(front)])
    second = head(1, 1)
    for kind, payload in ((0x04, b"\x00" + content[room - len(front) :]), (0x05, b"\x01\x01\x91")):
        second += frame(BLOCK_SIZE + len(second), kind, payload)
    return first + second


def origin(log: bytes) -> "tuple[int, bytes]":
    return (0x06, log + bytes(8))


class SegmentTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        # Records 3 to 6 of a log whose first three were removed.
        self.segment(3, (0x05, b"\x03\x01\x91\x01\x92"))
        self.segment(5, (0x05, b"\x05\x01\x93"))
        self.segment(6, (0x05, b"\x06\x01\x94"))

    def segment(self, first: int, *frames: "tuple[int, bytes]", of: bytes = IDENTITY) -> Path:
        path = Path(self.folder.name, f"{first:020}.stowlog")
        data = head(0, first)
        for kind, payload in [origin(of), *frames]:
            data += frame(len(data), kind, payload)
        path.write_bytes(data)
        return path

    def numbers(self) -> "list[int]":
        return [record.number for record in self.log.records]

    @property
    def log(self) -> stow.Log:
        return stow.open_log(self.folder.name)

    def test_segments_are_one_log(self):
        Path(self.folder.name, "notes").write_text("mine")
        Path(self.folder.name, "7.stowlog").write_text("mine")
        self.assertEqual([(record.number, record.value) for record in self.log.records], [(3, 1), (4, 2), (5, 3), (6, 4)])
        self.assertEqual((self.log.first, self.log.count, self.log.lost, self.log.damage), (3, 7, [], []))

    def test_a_name_that_no_first_record_has_is_no_segment(self):
        path = self.segment(6, (0x05, b"\x06\x01\x94"))
        for number in (2**62, 10**20 - 1):
            Path(self.folder.name, f"{number:020}.stowlog").write_bytes(path.read_bytes())
        self.assertEqual((self.numbers(), self.log.count, self.log.lost, self.log.damage), ([3, 4, 5, 6], 7, [], []))

    def test_segments_that_are_removed_while_others_are_read_are_not_lost(self):
        read = Path.read_bytes
        for occasion, removed, left in ((6, [3], [5, 6]), (3, [3, 5], [6])):
            self.setUp()

            def remove(path: Path) -> bytes:
                data = read(path)
                for each in removed if path.name == f"{occasion:020}.stowlog" else []:
                    path.with_name(f"{each:020}.stowlog").unlink()
                return data

            with unittest.mock.patch.object(Path, "read_bytes", remove):
                log = self.log
            self.assertEqual([record.number for record in log.records], left)
            self.assertEqual((log.first, log.lost, log.damage), (left[0], [], []))

    def test_the_last_segment_may_be_removed_once_there_is_another(self):
        read = Path.read_bytes

        def remove(path: Path) -> bytes:
            if path.name == f"{6:020}.stowlog":
                self.segment(7, (0x05, b"\x07\x01\x95"))
                for first in (3, 5, 6):
                    path.with_name(f"{first:020}.stowlog").unlink()
            return read(path)

        with unittest.mock.patch.object(Path, "read_bytes", remove):
            log = self.log
        self.assertEqual(([record.number for record in log.records], log.first, log.lost), ([7], 7, []))
        last = self.segment(8)
        last.unlink()
        last.symlink_to("nothing")
        self.assertRaises(FileNotFoundError, lambda: self.log)

    def test_a_segment_that_the_system_does_not_list_while_it_is_replaced_is_not_lost(self):
        names = os.listdir(self.folder.name)
        for missed in (3, 5, 6):
            lists = [[name for name in names if name != f"{missed:020}.stowlog"], names]
            with unittest.mock.patch("os.listdir", lambda _: lists.pop(0)):
                log = self.log
            self.assertEqual(([record.number for record in log.records], log.first, log.lost), ([3, 4, 5, 6], 3, []))

    def test_a_missing_segment_is_lost_alone(self):
        Path(self.folder.name, f"{5:020}.stowlog").unlink()
        self.assertEqual(self.numbers(), [3, 4, 6])
        self.assertEqual(self.log.lost, [range(5, 6)])

    def test_what_is_no_segment_of_the_log_is_lost_alone(self):
        for _ in range(2):
            self.assertEqual(self.numbers(), [3, 4, 5, 6])
            path = self.segment(5, (0x05, b"\x05\x01\x93"), of=bytes(8))
            self.assertEqual(self.numbers(), [3, 4, 6])
            path.write_bytes(b"mine")
            self.assertEqual((self.numbers(), self.log.lost), ([3, 4, 6], [range(5, 6)]))
            self.assertEqual([damage.file for damage in self.log.damage], [path.name])
            self.segment(5, (0x05, b"\x05\x01\x93"))

    def test_a_folder_with_the_name_of_a_segment_is_lost_alone(self):
        Path(self.folder.name, f"{5:020}.stowlog").unlink()
        Path(self.folder.name, f"{5:020}.stowlog").mkdir()
        self.assertEqual((self.numbers(), self.log.lost), ([3, 4, 6], [range(5, 6)]))
        self.assertEqual([damage.file[-9:] for damage in self.log.damage], ["5.stowlog"])
        Path(self.folder.name, f"{7:020}.stowlog").mkdir()
        with self.assertRaisesRegex(stow.StowError, "7.stowlog is no file"):
            stow.open_log(self.folder.name)

    def test_a_segment_whose_origin_is_damaged_is_one_of_the_log(self):
        log = bytes(8)
        self.segment(3, (0x05, b"\x03\x01\x91\x01\x92"), of=log)
        self.segment(5, (0x05, b"\x05\x01\x93"), of=log)
        path = self.segment(6, (0x05, b"\x06\x01\x94"), of=log)
        for path in sorted(path.parent.iterdir()):
            data = path.read_bytes()
            path.write_bytes(data[:40] + b"?" + data[41:])
            self.assertEqual((self.numbers(), self.log.lost), ([3, 4, 5, 6], []))
            path.write_bytes(data)

    def test_what_is_torn_at_the_end_of_a_segment_is_damage(self):
        path = Path(self.folder.name, f"{3:020}.stowlog")
        path.write_bytes(path.read_bytes()[:-1])
        self.assertEqual(self.numbers(), [5, 6])
        self.assertEqual((self.log.lost, len(self.log.damage)), ([range(3, 5)], 1))

    def test_a_segment_with_the_name_of_another_hides_nothing(self):
        path = self.segment(3, (0x05, b"\x03\x01\x91\x01\x92"))
        Path(self.folder.name, f"{6:020}.stowlog").write_bytes(path.read_bytes())
        self.assertEqual((self.numbers(), self.log.count, self.log.lost), ([3, 4, 5], 6, []))
        self.assertEqual([(damage.file[-9:], damage.reason) for damage in self.log.damage], [("6.stowlog", "head")])

    def test_a_folder_without_segments_is_refused(self):
        with tempfile.TemporaryDirectory() as empty, self.assertRaisesRegex(stow.StowError, "without segments"):
            stow.open_log(empty)


class LogTests(unittest.TestCase):
    def test_a_record_of_several_parts_that_is_no_message_is_lost_by_itself(self):
        log = stow.open_log(log_of_parts(b"\x7d" * 70_000))
        self.assertEqual([record.number for record in log.records], [0, 1])
        with self.assertRaisesRegex(stow.StowError, "a reserved tag"):
            log.records[0].value
        self.assertEqual(log.records[1].value, 1)
        self.assertEqual((log.lost, log.damage), ([], []))

    def test_a_record_longer_than_is_allowed_is_lost(self):
        data = log_of_parts(b"\x19\xfc" + (69_994).to_bytes(4, "little") + bytes(69_994))
        self.assertEqual(len(stow.open_log(data).records[0].value), 69_994)
        log = stow.open_log(data, record_size=69_999)
        self.assertEqual([record.number for record in log.records], [1])
        self.assertEqual(log.lost, [range(0, 1)])
        self.assertEqual([damage.reason for damage in log.damage], ["record"])

    def test_a_packed_record_takes_no_more_memory_than_a_record_may_have(self):
        # A record of 266 bytes in the window, and a packed one that has them 16,000 times: 4 MB.
        packed = b"\xf0\x00\xff" * 16_000
        records = uint_bytes(2 * 266) + b"\x19\xe0\x27" + bytes(263) + uint_bytes(2 * len(packed) + 1) + packed
        data = log_of((0x08, b"\x00" + records))
        tracemalloc.start()
        try:
            log = stow.open_log(data)
            self.assertLess(tracemalloc.get_traced_memory()[1], 1_000_000)
        finally:
            tracemalloc.stop()
        self.assertEqual((log.records, [damage.reason for damage in log.damage]), ([], ["frame"]))

    def test_a_log_that_ends_before_its_first_record_has_its_origin(self):
        # A group that is not finished, and which no block has the first part of.
        data = log_of(origin(bytes(8)), (0x02, b"\x00\x02\x09\x01\x91")).ljust(BLOCK_SIZE, b"\0") + head(1, 7)
        data += frame(len(data), 0x03, b"\x06\x01\x91")
        log = stow.open_log(data)
        self.assertEqual((log.end, log.origin), (0, (bytes(8), 0)))

    def test_a_number_takes_no_memory(self):
        log = stow.open_log(head(0, 1 << 61))
        self.assertEqual(log.count, 1 << 61)
        self.assertEqual(log.lost, [range(0, 1 << 61)])

    def test_a_record_that_was_given_up_is_not_lost(self):
        _, data, _ = format_document.logs()["log-abandoned"]
        log = stow.open_log(data)
        self.assertEqual([(record.number, record.value) for record in log.records], [(1, "next")])
        self.assertEqual((log.lost, log.absent, log.damage), ([], [range(0, 1)], []))

    def test_records_that_were_left_out_are_not_lost(self):
        log = stow.open_log(log_of((0x01, bytes.fromhex("00 00 03 01 91 00 02")), (0x05, bytes.fromhex("06 01 92"))))
        self.assertEqual([record.number for record in log.records], [3, 6])
        self.assertEqual((log.count, log.lost, log.absent), (7, [], [range(0, 3), range(4, 6)]))

    def test_records_left_out_that_do_not_count_are_not_absent(self):
        first = log_of((0x01, bytes.fromhex("00 01 91")), (0x04, bytes.fromhex("00 91")), (0x05, bytes.fromhex("09 00 03")))
        second = head(1, 5)
        second += frame(BLOCK_SIZE + len(second), 0x01, bytes.fromhex("05 01 92"))
        log = stow.open_log(first.ljust(BLOCK_SIZE, b"\0") + second)
        self.assertEqual([record.number for record in log.records], [0, 5])
        self.assertEqual((log.lost, log.absent), ([range(1, 5)], []))

    def test_records_left_out_that_do_not_count_hide_no_others(self):
        data = log_of((0x01, bytes.fromhex("00 01 91")), (0x04, bytes.fromhex("00 91")), (0x05, bytes.fromhex("02 00 03")))
        data = data.ljust(BLOCK_SIZE, b"\0") + head(1, 3).ljust(BLOCK_SIZE, b"\0") + head(2, 1)
        log = stow.open_log(data + frame(len(data), 0x05, bytes.fromhex("01 01 92")))
        self.assertEqual([record.number for record in log.records], [0, 1])
        self.assertEqual((log.lost, log.absent), ([], []))

    def test_numbers_given_up_that_do_not_count_are_not_absent(self):
        data = log_of((0x01, bytes.fromhex("00 01 91 01 92")), (0x02, bytes.fromhex("02 02 04 01"))).ljust(BLOCK_SIZE, b"\0")
        data += head(1, 4)
        data += frame(len(data), 0x0A, bytes.fromhex("02 02"))
        log = stow.open_log(data.ljust(2 * BLOCK_SIZE, b"\0") + head(2, 3))
        self.assertEqual((log.count, log.lost, log.absent), (3, [], [range(2, 3)]))

    def test_a_group_whose_parts_end_is_lost_though_it_is_given_up_later(self):
        """A last part has more bytes than the first one says; after one from the middle, the group is given up itself."""
        for kind, lost, absent in ((0x04, [range(1, 2)], []), (0x03, [], [range(1, 2)])):
            data = log_of((0x01, bytes.fromhex("00 01 91")), (0x02, bytes.fromhex("01 01 02 01"))).ljust(BLOCK_SIZE, b"\0")
            data += head(1, 2)
            data += frame(len(data), kind, bytes.fromhex("01 91 91"))
            data = data.ljust(2 * BLOCK_SIZE, b"\0") + head(2, 2)
            data += frame(len(data), 0x0A, bytes.fromhex("01 01"))
            log = stow.open_log(data + frame(len(data), 0x05, bytes.fromhex("02 01 92")))
            self.assertEqual([record.number for record in log.records], [0, 2])
            self.assertEqual((log.count, log.lost, log.absent), (3, lost, absent))

    def test_a_group_without_its_last_part_has_no_record(self):
        data = logs.bytes_of("groups")
        log = stow.open_log(data[:BLOCK_SIZE])
        self.assertEqual([record.number for record in log.records], [0, 1])
        self.assertEqual((log.count, log.lost, log.damage), (2, [], []))

    def test_of_heads_that_contradict_each_other_the_later_one_counts(self):
        first = log_of((0x01, bytes.fromhex("00 01 91 01 92")))
        second = head(1, 1)
        second += frame(BLOCK_SIZE + len(second), 0x01, bytes.fromhex("01 01 93"))
        log = stow.open_log(first.ljust(BLOCK_SIZE, b"\0") + second)
        self.assertEqual([(record.number, record.value) for record in log.records], [(0, 1), (1, 3)])
        self.assertEqual([(damage.start, damage.reason) for damage in log.damage], [(BLOCK_SIZE, "head")])

    def test_damage_is_told(self):
        log = stow.open_log(logs.bytes_of("damaged"))
        self.assertEqual(log.lost, [range(8, 9)])
        self.assertEqual(len(log.damage), 1)
        self.assertTrue(log.damage[0].start <= 1000 < log.damage[0].end)

    def test_the_origin_of_a_compacted_log(self):
        _, data, _ = format_document.logs()["log-compacted"]
        log = stow.open_log(data)
        self.assertEqual(log.origin, (IDENTITY, 0))
        self.assertEqual(log.identity, bytes(range(0x11, 0x19)))

    def test_a_broken_prelude_breaks_its_scope_alone(self):
        log = stow.open_log(log_of((0x01, bytes.fromhex("00 02 1F 7D 01 91")), (0x05, bytes.fromhex("02 01 92"))))
        self.assertEqual([record.error is None for record in log.records], [False, False, True])
        self.assertEqual(log.records[2].value, 2)

    def test_a_path(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "file"
            path.write_bytes(logs.bytes_of("records"))
            for name in (path, str(path)):
                self.assertEqual(len(stow.open_log(name).records), 3)
            with self.assertRaises(FileNotFoundError):
                stow.open_log(Path(folder) / "none")

    def test_what_is_no_log_is_refused(self):
        for data in (b"", bytes(70_000), b"\x7f\x02\x01\x00", logs.bytes_of("records")[:20]):
            with self.assertRaises(stow.StowError):
                stow.open_log(data)

    def test_errors_do_not_keep_the_bytes(self):
        data = bytearray(log_of((0x01, bytes.fromhex("00 01 91 01 76"))))
        log = stow.open_log(data)
        data.clear()
        frames = []
        for _ in range(2):
            try:
                log.records[1].value
            except stow.StowError as error:
                frames.append(len(traceback.extract_tb(error.__traceback__)))
        self.assertEqual(frames, [2, 2])
        data += b"no log"
        with self.assertRaises(stow.StowError):
            try:
                stow.open_log(data)
            finally:
                data.clear()

    def test_checksums_of_blocks_of_several_sizes_are_made_at_the_same_time(self):
        long = bytes(range(256)) * 4

        def powers(count: int) -> "list[int]":
            """Another thread needs more of them, and has them first."""
            if count <= len(long):
                others.append(Checksums(long))
            return makes(count)

        makes, others = stow.checksums._powers, []
        with unittest.mock.patch.object(Checksums, "_powers", []), unittest.mock.patch("stow.checksums._powers", powers):
            Checksums(b"short")
            self.assertEqual(others[0].of(b"", 0, len(long)), checksum(long))

    def test_many_small_records_take_a_time_that_is_in_proportion(self):
        """Definitions are not copied for each."""
        symbols = bytes.fromhex("1F F8 00 00") + b"\x81a" * 6_368 + b"\x00\x91"
        payload = b"\x00" + uint_bytes(len(symbols)) + symbols + b"\x01\x7d" * 20_000
        log = stow.open_log(log_of((0x01, payload)))
        self.assertEqual(len(log.records), 20_001)


class StreamTests(unittest.TestCase):
    def setUp(self):
        ((self.records, self.data, _),) = format_document.streams().values()
        self.values = [["Ada", "Grace"], ["Grace", "Ada"], ["Grace", "Ada"]]

    def test_bytes_may_come_in_parts(self):
        for size in (1, 2, 3, 7, 1000):
            reader, found = stow.StreamReader(), []
            for start in range(0, len(self.data), size):
                found += [record.value for record in reader.feed(self.data[start : start + size])]
            reader.finish()
            self.assertEqual(found, self.values)

    def test_a_file(self):
        self.assertEqual([record.value for record in stow.read_stream(io.BytesIO(self.data))], self.values)

    def test_an_mmap_is_read_from_its_beginning_each_time(self):
        with mmap.mmap(-1, len(self.data)) as source:
            source.write(self.data)
            for _ in range(2):
                self.assertEqual([record.value for record in stow.read_stream(source)], self.values)

    def test_a_file_without_bytes_yet_has_not_ended(self):
        for buffering in (0, -1):
            source, target = os.pipe()
            os.set_blocking(source, False)
            with open(source, "rb", buffering=buffering) as source, open(target, "wb", buffering=0) as target:
                target.write(self.data)
                records = stow.read_stream(source)
                self.assertEqual([next(records).value for _ in self.values], self.values)
                with self.assertRaises(BlockingIOError):
                    next(records)

    def test_records_before_an_error_are_there(self):
        data = self.data[:-1] + bytes([self.data[-1] ^ 1])
        reader = stow.StreamReader()
        self.assertEqual([record.value for record in reader.feed(data)], self.values[:2])
        for _ in range(2):
            with self.assertRaises(stow.StowError):
                reader.feed(b"\x00")
        with self.assertRaises(stow.StowError):
            reader.finish()

    def test_a_stream_that_is_cut_off_is_refused_at_its_end(self):
        reader = stow.StreamReader()
        parts = [(size, reader.feed(self.data[size - 1 : size])) for size in range(1, len(self.data) + 1)]
        ends = {0, 3, *(size for size, records in parts if records)}
        for size in range(len(self.data) + 1):
            reader = stow.StreamReader()
            reader.feed(self.data[:size])
            if size in ends:
                reader.finish()
            else:
                with self.assertRaises(stow.StowError):
                    reader.finish()

    def test_errors_have_their_offset_in_the_stream(self):
        prelude = b"\x1f\x01\x00\x91"
        sum_of_prelude = checksum((3).to_bytes(8, "little") + prelude).to_bytes(4, "little")
        for wrong in (b"\x01\x91????", b"\xfe", b"\xfc\0\0\0\0", b"\x04" + prelude + sum_of_prelude):
            reader = stow.StreamReader()
            for byte in self.data + wrong:
                reader.feed(bytes([byte]))
            with self.assertRaises(stow.StowError) as caught:
                reader.finish()
            self.assertEqual(caught.exception.offset, len(self.data))
        reader = stow.StreamReader()
        reader.feed(self.data + b"\x05")
        with self.assertRaisesRegex(stow.StowError, f"cut off, at byte {len(self.data) + 1}"):
            reader.finish()

    def test_what_is_no_stream_is_refused_at_its_first_byte(self):
        reader = stow.StreamReader()
        reader.feed(b"{")
        with self.assertRaisesRegex(stow.StowError, "no stream"):
            reader.finish()

    def test_a_length_takes_no_memory(self):
        reader = stow.StreamReader()
        self.assertEqual(reader.feed(bytes.fromhex("7F 03 01 FC FF FF FF 3F 91")), [])
        with self.assertRaises(stow.StowError):
            reader.finish()
        for digits in ("FC 01 00 00 40", "FD FF FF FF FF FF FF FF 7F", "FE", "E0 00"):
            with self.subTest(digits=digits):
                reader = stow.StreamReader(record_size=200)
                reader.feed(bytes.fromhex("7F 03 01" + digits))
                with self.assertRaises(stow.StowError):
                    reader.finish()


if __name__ == "__main__":
    unittest.main()
