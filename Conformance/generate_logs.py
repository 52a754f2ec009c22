#!/usr/bin/env python3
"""Makes the small logs of logs.txt, most of which no writer writes: what the reader in Python finds in each stands beside it.

The library and the reader in JavaScript have to find the same, which their tests check. The file is sealed: new logs follow the others.
"""

import random
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "Readers" / "python"), str(ROOT / "Tests" / "CrossLanguage")]

import logs
from stow.checksums import checksum
from stow.uints import uint_bytes

BLOCK_SIZE, LIMIT = 65_536, 1 << 62
RECORDS, FIRST, MIDDLE, LAST, FRESH, ORIGIN, PACKABLE, FRESH_PACKABLE, CHECKPOINT, ABANDONED, NOTE = range(1, 12)
IDENTITY, OTHER_IDENTITY = bytes(range(1, 9)), bytes(range(17, 25))
#: Not there unless it is defined before.
SYMBOL_0 = b"\x50"
ADA = bytes.fromhex("1F 01 83 41 64 61 00")


def sized(*messages: bytes) -> bytes:
    """Records as kind 01 has them."""
    return b"".join(uint_bytes(len(message)) + message for message in messages)


def packable(*records: "bytes | tuple[bytes]") -> bytes:
    """Records as kind 07 has them; one that is packed is a tuple."""
    parts = [(record[0], 1) if isinstance(record, tuple) else (record, 0) for record in records]
    return b"".join(uint_bytes(len(record) * 2 + is_packed) + record for record, is_packed in parts)


def data(size: int) -> bytes:
    """A message of so many bytes: data of zeros."""
    length = next(length for length in range(size) if 1 + len(uint_bytes(length)) + length == size)
    return b"\x19" + uint_bytes(length) + bytes(length)


def integers(number: int, count: int) -> bytes:
    """Records that are integers: those of their numbers, as far as they fit in a tag."""
    return sized(*(bytes([0x90 + (number + index) % 48]) for index in range(count)))


def out(count: int) -> bytes:
    return b"\0" + uint_bytes(count)


class File:
    """A log, piece by piece."""

    def __init__(self, first: "int | None" = 0, identity: bytes = IDENTITY):
        self.bytes = bytearray()
        self.identity = identity
        if first is not None:
            self.head(first)

    def head(self, first: int, *, index: "int | None" = None, on_disk: int = 0, version: bytes = b"\x01\x00", identity: bytes = b"") -> "File":
        """The next block."""
        self.bytes += bytes(-len(self.bytes) % BLOCK_SIZE)
        number = len(self.bytes) // BLOCK_SIZE if index is None else index
        rest = (identity or self.identity) + first.to_bytes(8, "little") + number.to_bytes(4, "little") + on_disk.to_bytes(4, "little")
        front = b"\x7f\x02" + version
        self.bytes += front + checksum(front + rest).to_bytes(4, "little") + rest
        return self

    def frame(self, kind: int, number: "int | None", content: bytes = b"", *, at: "int | None" = None, identity: bytes = b"") -> "File":
        self.bytes += self.frame_bytes(kind, number, content, len(self.bytes) if at is None else at, identity)
        return self

    def frame_bytes(self, kind: int, number: "int | None", content: bytes, at: int, identity: bytes = b"") -> bytes:
        payload = (b"" if number is None else uint_bytes(number)) + content
        rest = len(payload).to_bytes(2, "little") + bytes([kind]) + payload
        return checksum((identity or self.identity) + at.to_bytes(8, "little") + rest).to_bytes(4, "little") + rest

    def records(self, number: int, count: int = 1, kind: int = RECORDS) -> "File":
        content = integers(number, count)
        return self.frame(kind, number, content if kind in (RECORDS, FRESH) else packable(*(content[at : at + 1] for at in range(1, 2 * count, 2))))

    def first_part(self, number: int, count: int, size: int, part: bytes) -> "File":
        return self.frame(FIRST, number, uint_bytes(count) + uint_bytes(size) + part)

    def raw(self, content: bytes) -> "File":
        self.bytes += content
        return self

    def flip(self, offset: int) -> "File":
        """Changes a bit."""
        self.bytes[offset] ^= 4
        return self

    def cut(self, count: int) -> "File":
        del self.bytes[-count:]
        return self


def heads() -> Iterator[tuple[str, File]]:
    yield "empty", File(None)
    yield "head", File()
    for size in (1, 4, 31):
        yield f"head-of-{size}-bytes", File().cut(32 - size)
    yield "head-and-zeros", File().raw(bytes(100))
    yield "head-and-a-byte", File().raw(b"\x05")
    for first in (1, 5, LIMIT - 1, LIMIT, 1 << 63):
        yield f"head-number-{first:X}", File(first)
    yield "head-number-3-and-records", File(3).records(3, 2)
    yield "head-number-3-and-lower-records", File(3).records(2, 2)
    yield "head-number-and-higher-records", File(0).records(1, 2)
    yield "head-number-and-higher-fresh-records", File(0).records(1, 2, FRESH)
    for byte in (0, 1, 2, 3, 4, 8, 16, 24, 28, 31):
        yield f"head-changed-at-{byte}", File().records(0, 2).flip(byte)
    for byte in (0, 4, 8, 20):
        yield f"second-head-changed-at-{byte}", File().records(0).head(1).records(1, 1, FRESH).flip(BLOCK_SIZE + byte)
        yield f"first-head-of-two-changed-at-{byte}", File().records(0).head(1).records(1, 1, FRESH).flip(byte)
    yield "head-of-block-1", File(None).head(0, index=1).records(0)
    yield "second-head-of-block-0", File().records(0).head(1, index=0).records(1, 1, FRESH)
    yield "second-head-of-block-2", File().records(0).head(1, index=2).records(1, 1, FRESH)
    for count in (1, 2):
        yield f"head-with-{count}-on-the-disk", File(None).head(0, on_disk=count).records(0)
        yield f"second-head-with-{count}-on-the-disk", File().records(0).head(1, on_disk=count).records(1)
    for count in (0, 1, 2):
        yield f"second-head-alone-with-{count}-on-the-disk", File().records(0).head(1, on_disk=count)
    for name, version in (("version-2", b"\x02\x00"), ("version-0", b"\x00\x00"), ("fourth-byte-1", b"\x01\x01")):
        yield f"head-of-{name}", File(None).head(0, version=version).records(0)
        yield f"head-of-{name}-alone", File(None).head(0, version=version)
        yield f"last-head-of-{name}", File().records(0).head(1, version=version).records(1)
        yield f"middle-head-of-{name}", File().records(0).head(1, version=version).records(1).head(2).records(2)
        yield f"head-of-{name}-changed", File(None).head(0, version=version).records(0).head(1).records(1, 1, FRESH).flip(5)
        yield f"last-head-of-{name}-changed", File().records(0).head(1, version=version).records(1, 1, FRESH).flip(BLOCK_SIZE + 5)
    yield "first-head-damaged-and-second-of-version-2", File().records(0).head(1, version=b"\x02\x00").head(2).flip(9)
    yield "second-head-of-another-log", File().records(0).head(1, identity=OTHER_IDENTITY).records(1, 1, FRESH)
    yield "second-block-of-another-log", File().records(0).head(1, identity=OTHER_IDENTITY).frame(FRESH, 1, integers(1, 1), identity=OTHER_IDENTITY)
    yield "middle-block-of-another-log", (
        File().records(0).head(1, identity=OTHER_IDENTITY).frame(FRESH, 1, integers(1, 1), identity=OTHER_IDENTITY).head(2).records(2))
    yield "third-block-of-another-log-and-a-fourth", (
        File().records(0).head(1).records(1).head(2, identity=OTHER_IDENTITY).frame(RECORDS, 2, integers(2, 1), identity=OTHER_IDENTITY).head(3))
    yield "second-block-of-zeros", File().records(0).raw(bytes(BLOCK_SIZE)).head(1).records(1)
    yield "second-block-of-zeros-and-records-lost", File().records(0).raw(bytes(BLOCK_SIZE)).head(4).records(4)
    yield "second-head-alone", File().records(0).head(1)
    yield "second-head-of-10-bytes", File().records(0).head(1).cut(22)
    yield "heads-that-rise", File().records(0).head(4).records(4)
    yield "heads-that-fall", File(5).records(5).head(2).records(2)
    yield "head-that-falls-below-records", File().records(0, 5).head(3).records(3, 4)
    yield "head-that-falls-below-records-and-a-third", File().records(0, 5).head(3).records(3, 4).head(7).records(7)
    yield "head-that-is-too-high", File().records(0).head(9).records(9).head(2).records(2)
    yield "head-that-is-too-high-and-damaged", File().records(0).head(1).records(1, 3, FRESH).head(4).records(4).flip(BLOCK_SIZE + 16)


def frames() -> Iterator[tuple[str, File]]:
    yield "records-1", File().records(0)
    yield "records-4", File().records(0, 4)
    yield "records-none", File().frame(RECORDS, 0)
    yield "records-none-of-a-wrong-number", File().frame(RECORDS, 1)
    yield "records-in-two-frames", File().records(0, 2).records(2, 2)
    for kind in (0, 12, 13, 0x7F, 0xFF):
        yield f"kind-{kind:02X}", File().records(0).frame(kind, 1, integers(1, 1)).records(1)
        yield f"kind-{kind:02X}-at-the-end", File().records(0).frame(kind, 1, integers(1, 1))
    for kind in range(1, 12):
        yield f"kind-{kind:02X}-without-payload", File().records(0).frame(kind, None).records(1, 1, FRESH)
        yield f"kind-{kind:02X}-without-payload-at-the-end", File().records(0).frame(kind, None)
        yield f"kind-{kind:02X}-of-a-number-alone", File().records(0).frame(kind, 1).records(1, 1, FRESH)
        yield f"kind-{kind:02X}-of-a-lower-number", File().records(0).frame(kind, 0, integers(0, 1)).records(1, 1, FRESH)
        yield f"kind-{kind:02X}-of-a-higher-number", File().records(0).frame(kind, 2, integers(2, 1)).records(3, 1, FRESH)
        yield f"kind-{kind:02X}-with-a-reserved-number", File().records(0).frame(kind, None, b"\xfe\x01\x91").records(1, 1, FRESH)
    yield "frame-of-another-log", File().records(0).frame(FRESH, 1, integers(1, 1), identity=OTHER_IDENTITY).records(1, 1, FRESH)
    yield "frame-of-another-place", File().records(0).frame(FRESH, 1, integers(1, 1), at=32).records(1, 1, FRESH)
    yield "frame-of-another-block", File().records(0).head(1).frame(FRESH, 1, integers(1, 1), at=32)
    for byte in (0, 4, 5, 6, 7, 9):
        yield f"frame-changed-at-{byte}", File().records(0).records(1).records(2, 1, FRESH).flip(42 + byte)
    yield "frame-cut-off", File().records(0).records(1, 3).cut(1)
    yield "frame-head-cut-off", File().records(0).records(1).cut(8)
    yield "zeros-before-a-frame", File().records(0).raw(bytes(9)).frame(FRESH, 1, integers(1, 1))
    yield "zeros-before-a-frame-of-its-scope", File().records(0).raw(bytes(9)).frame(RECORDS, 1, integers(1, 1))
    yield "zero-before-a-frame", File().records(0).raw(bytes(1)).records(1, 2, FRESH)
    for size in (1, 2, 3, 5, 40):
        yield f"{size}-bytes-before-a-frame", File().records(0).raw(b"\x05" * size).records(1, 2, FRESH)
        yield f"{size}-bytes-at-the-end", File().records(0).raw(b"\x05" * size)
    yield "two-damages", File().records(0).raw(b"\x07").records(2, 1, FRESH).raw(b"\x07").records(4, 1, FRESH)
    yield "frame-up-to-the-end-of-the-block", File().frame(NOTE, 0, bytes(65_496)).head(0).records(0)
    yield "frame-beyond-the-block", File().frame(NOTE, 0, bytes(65_497)).raw(b"\x05" * 9)
    yield "six-bytes-after-a-frame", File().frame(NOTE, 0, bytes(65_490)).raw(b"\x05" * 6).head(0).records(0)
    yield "seven-zeros-after-a-frame", File().frame(NOTE, 0, bytes(65_489)).raw(bytes(7)).head(0).records(0)
    for after in (b"\x01", b"\x02\x91", b"\xfe\x91", b"\xfc\x01"):
        yield f"record-cut-off-{after.hex()}", File().frame(RECORDS, 0, integers(0, 1) + after).records(1, 1, FRESH)
    yield "record-length-in-5-bytes", File().frame(RECORDS, 0, b"\xfc\x01\0\0\0\x91").records(1)
    yield "frame-number-in-9-bytes", File().frame(RECORDS, None, b"\xfd" + bytes(8) + integers(0, 1)).records(1)
    for number in (LIMIT - 2, LIMIT - 1, LIMIT):
        yield f"records-of-number-{number:X}", File(min(number, LIMIT - 1)).frame(RECORDS, number, integers(7, 1))
        yield f"two-records-of-number-{number:X}", File(min(number, LIMIT - 1)).frame(RECORDS, number, integers(7, 2))
        yield f"no-records-of-number-{number:X}", File(min(number, LIMIT - 1)).frame(RECORDS, number)
        yield f"checkpoint-of-number-{number:X}", File(min(number, LIMIT - 1)).frame(CHECKPOINT, number)
        yield f"damage-and-note-of-number-{number:X}", File().raw(b"\x07").frame(NOTE, number).records(1, 1, FRESH)


def kinds() -> Iterator[tuple[str, File]]:
    origin = OTHER_IDENTITY + bytes(8)
    yield "origin", File().frame(ORIGIN, None, origin).records(0)
    yield "origin-alone", File().frame(ORIGIN, None, origin)
    for size in (15, 17):
        yield f"origin-of-{size}-bytes", File().frame(ORIGIN, None, bytes(size)).records(0, 1, FRESH)
        yield f"origin-of-{size}-bytes-and-records-of-its-scope", File().frame(ORIGIN, None, bytes(size)).records(0)
    yield "origin-second", File().records(0).frame(ORIGIN, None, origin).records(1)
    yield "origin-twice", File().frame(ORIGIN, None, origin).frame(ORIGIN, None, origin).records(0)
    yield "origin-in-the-second-block", File().records(0).head(1).frame(ORIGIN, None, origin).records(1)
    yield "origin-after-damage", File().raw(b"\x07").frame(ORIGIN, None, origin).records(0, 1, FRESH)
    yield "checkpoint", File().records(0).frame(CHECKPOINT, 1).records(1)
    yield "checkpoint-and-more", File().records(0).frame(CHECKPOINT, 1, b"\0").records(1)
    yield "checkpoint-of-a-wrong-number", File().records(0).frame(CHECKPOINT, 2).records(1)
    yield "checkpoint-of-a-wrong-number-at-the-end", File().records(0).frame(CHECKPOINT, 2)
    yield "checkpoint-after-damage", File().records(0).raw(b"\x07").frame(CHECKPOINT, 3).records(3, 1, FRESH)
    yield "checkpoint-after-damage-ends-the-log", File().records(0).raw(b"\x07").frame(CHECKPOINT, 3)
    yield "checkpoint-after-damage-and-records-of-its-scope", File().records(0).raw(b"\x07").frame(CHECKPOINT, 3).records(3).records(4, 1, FRESH)
    yield "checkpoint-in-a-damaged-scope", File().records(0).raw(b"\x07").records(1).frame(CHECKPOINT, 2).records(2, 1, FRESH)
    yield "note", File().frame(NOTE, 0, b"\x01\x02").records(0).frame(NOTE, 1).records(1)
    yield "note-of-a-wrong-number", File().records(0).frame(NOTE, 2, b"note").records(1)
    yield "note-of-a-wrong-number-and-fresh-records", File().records(0).frame(NOTE, 0, b"note").records(1, 1, FRESH)
    yield "note-after-damage", File().records(0).raw(b"\x07").frame(NOTE, 2, b"note").records(2, 1, FRESH)
    for count in (1, 3, 1000):
        yield f"left-out-{count}", File().frame(RECORDS, 0, integers(0, 1) + out(count) + integers(count + 1, 1)).records(count + 2)
    yield "left-out-0", File().frame(RECORDS, 0, integers(0, 1) + out(0) + integers(1, 1)).records(2, 1, FRESH)
    yield "left-out-0-at-the-end", File().records(0).frame(RECORDS, 1, integers(1, 1) + out(0))
    yield "left-out-without-a-number", File().frame(RECORDS, 0, integers(0, 1) + b"\0").records(1, 1, FRESH)
    yield "left-out-alone", File().frame(RECORDS, 0, out(5)).records(5)
    yield "left-out-first", File().frame(FRESH, 0, out(2) + integers(2, 1)).records(3)
    yield "left-out-last", File().frame(RECORDS, 0, integers(0, 1) + out(2))
    yield "left-out-twice", File().frame(RECORDS, 0, out(2) + out(3) + integers(5, 1))
    yield "left-out-with-a-length-of-9-bytes", File().frame(RECORDS, 0, b"\0\xfd\x02" + bytes(7) + integers(2, 1))
    yield "length-0-of-9-bytes", File().frame(RECORDS, 0, b"\xfd" + bytes(8) + b"\x02" + integers(2, 1))
    for count in (LIMIT - 2, LIMIT - 1, LIMIT, (1 << 63) - 1):
        yield f"left-out-{count:X}", File().frame(RECORDS, 0, integers(0, 1) + out(count))
        yield f"left-out-{count:X}-and-a-record", File().frame(RECORDS, 0, out(count) + integers(0, 1)).records(0, 1, FRESH)
    yield "left-out-where-some-may-be-packed", File().frame(PACKABLE, 0, packable(b"\x91") + out(2) + packable(b"\x93"))


def scopes() -> Iterator[tuple[str, File]]:
    for kind in (RECORDS, FRESH, PACKABLE, FRESH_PACKABLE):
        def content(*messages: bytes, kind: int = kind) -> bytes:
            return packable(*messages) if kind in (PACKABLE, FRESH_PACKABLE) else sized(*messages)

        name = f"{kind:02X}"
        yield f"symbol-of-a-frame-before-{name}", File().frame(RECORDS, 0, sized(ADA + SYMBOL_0)).frame(kind, 1, content(SYMBOL_0, b"\x92"))
        yield f"symbol-of-the-same-frame-{name}", File().frame(kind, 0, content(ADA + SYMBOL_0, SYMBOL_0))
        yield f"symbol-of-another-block-{name}", File().frame(kind, 0, content(ADA + SYMBOL_0)).head(1).frame(kind, 1, content(SYMBOL_0))
        yield f"symbol-after-a-checkpoint-{name}", (
            File().frame(RECORDS, 0, sized(ADA + SYMBOL_0)).frame(CHECKPOINT, 1).frame(NOTE, 1).frame(kind, 1, content(SYMBOL_0)))
        yield f"damage-before-{name}", File().frame(RECORDS, 0, sized(ADA + SYMBOL_0)).raw(b"\x07").frame(kind, 1, content(SYMBOL_0, b"\x92"))
        yield f"damage-before-{name}-and-another", File().records(0).raw(b"\x07").frame(kind, 1, content(b"\x91")).frame(RECORDS, 2, sized(b"\x92"))
        yield f"damage-before-{name}-and-a-fresh-one", File().records(0).raw(b"\x07").frame(kind, 1, content(b"\x91", b"\x92")).records(3, 1, FRESH)
        yield f"damage-and-a-higher-number-{name}", File().records(0).raw(b"\x07").frame(kind, 5, content(b"\x95")).records(6, 1, FRESH)
        yield f"damage-and-a-lower-number-{name}", File().records(0, 3).raw(b"\x07").frame(kind, 1, content(b"\x91")).records(3, 1, FRESH)
        yield f"damaged-head-before-{name}", File().frame(kind, 0, content(b"\x90", b"\x91")).head(2).records(2).flip(9)
        yield f"no-records-after-damage-{name}", File().records(0).raw(b"\x07").frame(kind, 3).frame(RECORDS, 3, sized(b"\x93"))
        yield f"bad-frame-before-{name}", File().records(0).frame(RECORDS, 1, b"\x05\x91").frame(kind, 1, content(b"\x91")).records(2, 1, FRESH)
    shape = bytes.fromhex("1F 00 01 01 82 69 64")
    yield "shapes-add-up", File().frame(RECORDS, 0, sized(shape + b"\xf0\x01\x91", ADA + b"\xf0\x01\x50", b"\xe3\xf0\x01\x92"))
    for name, message in (
        ("value-not-valid", ADA + b"\x7d"), ("prelude-alone", ADA), ("prelude-not-valid", b"\x1f\x01\x81\xff\x00\x91"), ("prelude-cut-off", b"\x1f\x02\x81a"),
        ("two-values", ADA + b"\x91\x92"), ("context", b"\x7f\x01\x32\x40\x89\x27\x91"), ("log", b"\x7f\x02"), ("kind-of-no-message", b"\x7f"),
        ("shape-of-missing-symbol", b"\x1f\x00\x01\x01\xc5\x91"), ("symbol-not-there", b"\x55"), ("not-utf-8", b"\x31\xff"),
    ):
        yield f"record-{name}", File().frame(RECORDS, 0, sized(b"\x90", message, SYMBOL_0, b"\x93"))
        yield f"record-{name}-and-another-scope", File().frame(RECORDS, 0, sized(message)).frame(RECORDS, 1, sized(b"\x91")).records(2, 1, FRESH)
    yield "record-of-1-byte-context", File().frame(RECORDS, 0, sized(b"\x7f\x01\x00\x00\x00\x00" + ADA + SYMBOL_0, SYMBOL_0))


def packed() -> Iterator[tuple[str, File]]:
    text = b"\x3frequest to serv"
    yield "packed-bytes", File().frame(PACKABLE, 0, packable((b"\x01\x31a",), b"\x91"))
    for code in range(7):
        yield f"packed-copy-of-{code + 4}", File().frame(PACKABLE, 0, packable(text, (bytes([0, 0x30 + code + 4, 0x80 | code << 4, 1]),)))
    yield "packed-copy-of-11", File().frame(PACKABLE, 0, packable(text, (b"\x00\x3b\xf0\x01\x00",)))
    yield "packed-copy-of-15", File().frame(PACKABLE, 0, packable(text, (b"\x00\x3f\xf0\x01\x04",)))
    yield "packed-copy-of-266", File().frame(PACKABLE, 0, packable(data(300), (b"\x02\x19\xe0\x2a\xf0\x05\xff",)))
    yield "packed-copy-of-all", File().frame(PACKABLE, 0, packable(text, (b"\xf0\x00\x05",)))
    yield "packed-copy-beyond", File().frame(PACKABLE, 0, packable(text, (b"\xf0\x00\x06",))).records(2, 1, FRESH)
    yield "packed-copy-beyond-by-an-offset", File().frame(PACKABLE, 0, packable(text, (b"\x00\x34\x80\x0d",), b"\x92")).records(3, 1, FRESH)
    yield "packed-copy-up-to-the-end", File().frame(PACKABLE, 0, packable(text, (b"\x00\x34\x80\x0c",), b"\x92")).records(3, 1, FRESH)
    yield "packed-copy-without-a-window", File().frame(PACKABLE, 0, packable((b"\x80\x00",), b"\x91")).records(2, 1, FRESH)
    yield "packed-copy-at-high-offset", File().frame(PACKABLE, 0, packable(data(1_000), text, (b"\x00\x34\x83\xe9",)))
    for name, record in (("empty", b""), ("cut-off", b"\x02\x31"), ("copy-cut-off", b"\x00\x91\x80"), ("long-copy-cut-off", b"\x00\x91\xf0\x01")):
        yield f"packed-{name}", File().frame(PACKABLE, 0, packable(text, (record,), b"\x92")).records(3, 1, FRESH)
        yield f"packed-{name}-in-the-middle", File().frame(PACKABLE, 0, packable(text)).frame(PACKABLE, 1, packable(b"\x91", (record,))).records(1, 2, FRESH)
    yield "packed-prelude", File().frame(PACKABLE, 0, packable(text, (b"\x06" + ADA + b"\x00\x50",), b"\x92")).records(3, 1, FRESH)
    yield "packed-prelude-not-first", File().frame(PACKABLE, 0, packable(text, (b"\x02\xe2\x1f\x00",), b"\x92"))
    yield "packed-value-not-valid", File().frame(PACKABLE, 0, packable(text, (b"\x00\x7d",), b"\x92"))
    yield "packed-symbol", File().frame(PACKABLE, 0, packable(ADA + SYMBOL_0, (b"\x00\x50",)))
    for size in (65_497, 65_498):
        # Data that is unpacked to so many bytes: its tag and length, and copies of zeros of the window.
        rest = size - 4 - 246 * 266
        record = b"\x03\x19" + uint_bytes(size - 4) + b"\xf0\x03\xff" * 246 + bytes([rest - 1]) + bytes(rest)
        yield f"packed-of-{size}-bytes", File().frame(PACKABLE, 0, packable(data(300), (record,))).records(2, 1, FRESH)
    for size in (4_076, 4_079, 4_080, 4_081, 4_082):
        yield f"window-of-{size}-and-16-bytes", (
            File().frame(PACKABLE, 0, packable(data(size), text, (bytes([0, 0x36, 0xA0 | (size + 1) >> 8, (size + 1) & 0xFF]),))).records(3, 1, FRESH))
    yield "window-closed", File().frame(PACKABLE, 0, packable(data(4_090), text, b"\x36inside", (b"\x00\x36\xaf\xfb",))).records(4, 1, FRESH)
    yield "window-that-has-no-room-from-the-first", File().frame(PACKABLE, 0, packable(data(4_097), text, (b"\x00\x36\xa0\x01",))).records(3, 1, FRESH)
    yield "window-of-a-frame-before", File().frame(PACKABLE, 0, packable(text)).frame(PACKABLE, 1, packable((b"\x00\x36\xa0\x01",)))
    yield "window-of-a-fresh-frame", File().frame(FRESH_PACKABLE, 0, packable(text)).frame(FRESH_PACKABLE, 1, packable((b"\x00\x36\xa0\x01",))).records(2, 1, FRESH)
    yield "window-of-another-block", File().frame(PACKABLE, 0, packable(text)).head(1).frame(PACKABLE, 1, packable((b"\x00\x36\xa0\x01",)))
    yield "window-without-records-of-01", (
        File().frame(RECORDS, 0, sized(text)).frame(PACKABLE, 1, packable(b"\x3fanother request", (b"\x00\x36\xa0\x09",))).records(3, 1, FRESH))
    yield "window-without-packed-records", (
        File().frame(PACKABLE, 0, packable(text, (b"\x00\x36\xa0\x01",), (b"\x00\x36\xa0\x0b",))).records(3, 1, FRESH))
    yield "window-after-a-frame-that-is-bad", (
        File().frame(PACKABLE, 0, packable(text)).frame(PACKABLE, 1, packable(b"\x91", (b"\x80\xff",))).frame(PACKABLE, 3, packable(b"\x93")).records(4, 1, FRESH))
    yield "packed-in-01", File().frame(RECORDS, 0, packable(b"\x91", b"\x92"))
    yield "packed-length-0-and-packed", File().frame(PACKABLE, 0, packable(text) + b"\x01" + packable(b"\x92")).records(3, 1, FRESH)


def groups() -> Iterator[tuple[str, File]]:
    def group(count: int = 2, size: "int | None" = None, parts: "tuple[bytes, ...]" = (b"\x01\x91", b"\x01\x92"), number: int = 0, last: int = LAST) -> File:
        file = File(number).first_part(number, count, sum(map(len, parts)) if size is None else size, parts[0])
        for index, part in enumerate(parts[1:], 2):
            file.head(number + count).frame(last if index == len(parts) else MIDDLE, number + count - 1, part)
        return file

    three = (b"\x01\x91", b"\x01", b"\x92")
    yield "group", group().records(2)
    yield "group-at-the-end", group()
    yield "group-of-three-parts", group(parts=three).records(2)
    yield "group-cut-within-a-record", group(parts=(b"\x01", b"\x91\x01\x92")).records(2)
    yield "group-of-one-record", group(1, parts=(b"\x02\x31", b"a"), number=5).records(6)
    yield "group-after-records", File().records(0).first_part(1, 1, 2, b"\x01").head(2).frame(LAST, 1, b"\x91").records(2)
    for count in (1, 3):
        yield f"group-of-two-that-says-{count}", group(count).records(count)
    for size in (2, 3, 5, 6):
        yield f"group-of-4-bytes-that-says-{size}", group(2, size).records(2)
        yield f"group-of-three-parts-that-says-{size}", group(2, size, three).records(2)
    yield "group-that-says-a-large-size", group(2, (1 << 63) - 1).records(2)
    yield "group-of-no-records", group(0, number=1).records(1)
    for count in (LIMIT - 1, LIMIT):
        yield f"group-that-says-{count:X}", File().first_part(0, count, 4, b"\x01\x91").head(min(count, LIMIT - 1)).frame(LAST, count - 1, b"\x01\x92")
        yield f"group-up-to-number-{count:X}", File(count - 2).first_part(count - 2, 2, 4, b"\x01\x91").head(LIMIT - 1).frame(LAST, count - 1, b"\x01\x92")
    yield "group-up-to-the-last-number", File(LIMIT - 3).first_part(LIMIT - 3, 2, 4, b"\x01\x91").head(LIMIT - 1).frame(LAST, LIMIT - 2, b"\x01\x92")
    yield "group-with-records-left-out", group(3, parts=(b"\x01\x91", b"\0\x01\x01\x92")).records(3)
    yield "group-with-one-left-out-for-two", group(2, parts=(b"\x01\x91", b"\0\x01")).records(2)
    yield "group-with-a-record-cut-off", group(2, parts=(b"\x01\x91", b"\x02\x92")).records(2)
    yield "group-of-an-invalid-record", group(2, parts=(b"\x01\x7d", b"\x01\x92")).records(2)
    yield "group-of-symbols", group(2, parts=(sized(ADA + SYMBOL_0), sized(SYMBOL_0))).frame(RECORDS, 2, sized(SYMBOL_0))
    yield "group-after-a-scope", File().frame(RECORDS, 0, sized(ADA + SYMBOL_0)).first_part(1, 2, 4, b"\x01\x50").head(3).frame(LAST, 2, b"\x01\x92").records(3)
    yield "group-whose-first-part-is-empty", group(2, parts=(b"", b"\x01\x91\x01\x92")).records(2, 1, FRESH)
    yield "group-whose-last-part-is-empty", group(2, parts=(b"\x01\x91\x01\x92", b"")).records(2, 1, FRESH)
    yield "group-whose-middle-part-is-empty", group(2, parts=(b"\x01\x91", b"", b"\x01\x92")).records(2, 1, FRESH)
    yield "group-whose-first-part-is-all", File().first_part(0, 1, 2, b"\x01\x91").head(1).records(1)
    yield "group-whose-first-part-is-more", File().first_part(0, 1, 2, b"\x01\x91\x01").head(1).records(1)
    yield "group-without-a-last-part", File().first_part(0, 2, 4, b"\x01\x91").head(2).records(2)
    yield "group-without-a-last-part-and-a-lower-number", File().first_part(0, 2, 4, b"\x01\x91").head(1).records(1)
    yield "group-without-a-last-part-and-fresh-records-of-no-head", (
        File().first_part(0, 2, 4, b"\x01\x91").head(2).records(2, 1, FRESH).head(3).records(3).flip(BLOCK_SIZE + 9))
    yield "group-with-the-part-of-another", File().first_part(0, 2, 4, b"\x01\x91").head(3).frame(LAST, 2, b"\x01\x92").records(3)
    yield "group-with-a-block-between", File().first_part(0, 2, 4, b"\x01\x91").raw(bytes(BLOCK_SIZE)).head(2).frame(LAST, 1, b"\x01\x92").records(2)
    yield "group-with-a-part-that-is-not-first", File().first_part(0, 2, 4, b"\x01\x91").head(2).frame(NOTE, 2).frame(LAST, 1, b"\x01\x92").records(2, 1, FRESH)
    yield "group-with-a-frame-after-its-first-part", File().first_part(0, 2, 4, b"\x01\x91").frame(NOTE, 2).head(2).frame(LAST, 1, b"\x01\x92").records(2)
    yield "group-with-a-frame-after-its-middle-part", (
        File().first_part(0, 2, 5, b"\x01\x91").head(2).frame(MIDDLE, 1, b"\x01").records(2, 1, FRESH).head(2).frame(LAST, 1, b"\x93\x00").records(2))
    yield "group-with-a-note-after-its-middle-part", (
        File().first_part(0, 2, 4, b"\x01\x91").head(2).frame(MIDDLE, 1, b"\x01").frame(NOTE, 2).head(2).frame(LAST, 1, b"\x92").records(2))
    yield "group-with-a-note-after-its-middle-part-at-the-end", File().first_part(0, 2, 4, b"\x01\x91").head(2).frame(MIDDLE, 1, b"\x01").frame(NOTE, 2)
    yield "group-with-damage-after-its-first-part", File().first_part(0, 2, 4, b"\x01\x91").raw(b"\x07\x07").head(2).frame(LAST, 1, b"\x01\x92").records(2)
    yield "group-with-damage-before-its-last-part", File().first_part(0, 2, 4, b"\x01\x91").head(2).raw(b"\x07").frame(LAST, 1, b"\x01\x92").records(2)
    for where in (0, 1):
        yield f"group-with-head-{where}-damaged", group().records(2).flip(BLOCK_SIZE * where + 9)
        yield f"group-of-three-parts-with-part-{where}-damaged", group(parts=three).records(2).flip(BLOCK_SIZE * where + 40)
    yield "group-of-three-parts-with-part-2-damaged", group(parts=three).records(2).flip(BLOCK_SIZE * 2 + 40)
    yield "last-part-after-a-lost-group-and-its-scope", (
        File().first_part(0, 2, 9, b"\x01\x91").head(2).frame(LAST, 1, b"\x01\x92").frame(RECORDS, 2, sized(ADA + SYMBOL_0)).frame(RECORDS, 3, sized(SYMBOL_0)))
    yield "last-part-without-a-group", File(1).frame(LAST, 0, b"\x01\x92").records(1)
    yield "last-part-without-a-group-in-the-second-block", File().records(0).head(3).frame(LAST, 2, b"\x01\x92").records(3)
    yield "middle-part-without-a-group", File(1).frame(MIDDLE, 0, b"\x01\x92").head(1).records(1)
    yield "middle-part-without-a-group-and-records", File(1).frame(MIDDLE, 0, b"\x01\x92").records(1, 1, FRESH).head(2).records(2)
    yield "first-part-and-records-of-its-number", File().first_part(0, 2, 9, b"\x01\x91").records(0, 1, FRESH).head(2).records(2)
    yield "first-part-and-records", File().first_part(0, 2, 9, b"\x01\x91").records(2, 1, FRESH).head(3).records(3)
    for number in (0, 2, 5):
        yield f"last-part-of-number-{number}-in-place-of-1", File().first_part(0, 2, 4, b"\x01\x91").head(2).frame(LAST, number, b"\x01\x92").records(2, 1, FRESH)
    yield "part-after-records", File().records(0).frame(LAST, 0, b"\x01\x92").records(1, 1, FRESH)
    yield "part-of-the-highest-number", File(LIMIT - 1).frame(LAST, LIMIT - 1, b"\x01").frame(CHECKPOINT, LIMIT - 1)
    for number in (LIMIT - 2, LIMIT - 1, LIMIT):
        yield f"part-of-number-{number:X}-after-a-damaged-head", File().records(0).head(1).frame(LAST, number, b"\x01").flip(BLOCK_SIZE + 9)
    # Groups that were given up.
    for name, number, count in (("", 0, 2), ("-with-a-number-less", 0, 1), ("-with-a-number-more", 0, 3), ("-of-the-last-record", 1, 1), ("-of-no-records", 2, 0)):
        yield f"given-up{name}", File().first_part(0, 2, 9, b"\x01\x91").head(2).frame(ABANDONED, number, uint_bytes(count)).records(2, 1, FRESH)
        yield f"given-up{name}-and-records-of-its-scope", File().first_part(0, 2, 9, b"\x01\x91").head(2).frame(ABANDONED, number, uint_bytes(count)).records(2)
        yield f"given-up{name}-after-a-middle-part", (
            File().first_part(0, 2, 9, b"\x01\x91").head(2).frame(MIDDLE, 1, b"\x01").head(2).frame(ABANDONED, number, uint_bytes(count)).records(2, 1, FRESH))
    yield "given-up-and-more", File().first_part(0, 2, 9, b"\x01\x91").head(2).frame(ABANDONED, 0, b"\x02\x00").records(2, 1, FRESH)
    yield "given-up-not-first", File().first_part(0, 2, 9, b"\x01\x91").head(2).frame(NOTE, 2).frame(ABANDONED, 0, b"\x02").records(2, 1, FRESH)
    yield "given-up-not-first-and-its-own-number", File().records(0).frame(ABANDONED, 0, b"\x01").records(1, 1, FRESH)
    yield "given-up-without-a-group", File(2).frame(ABANDONED, 0, b"\x02").records(2)
    yield "given-up-with-its-first-part-damaged", File().records(0).first_part(1, 2, 9, b"\x01\x91").head(3).frame(ABANDONED, 2, b"\x01").records(3).flip(50)
    yield "given-up-at-the-end", File().first_part(0, 2, 9, b"\x01\x91").head(2).frame(ABANDONED, 0, b"\x02")
    yield "given-up-with-its-head-damaged", File().first_part(0, 2, 9, b"\x01\x91").head(2).frame(ABANDONED, 0, b"\x02").records(2, 1, FRESH).flip(BLOCK_SIZE + 9)
    # Groups that are not finished at the end.
    yield "unfinished", File().records(0).first_part(1, 2, 9, b"\x01\x91")
    for count, size in ((0, 9), (1, 2), (1, 1), (1, 3), (LIMIT - 3, 9), (LIMIT - 2, 9), (LIMIT - 1, 9)):
        yield f"unfinished-of-{count:X}-records-and-{size}-bytes", File().records(0).first_part(1, count, size, b"\x01\x91")
    yield "unfinished-without-a-byte", File().records(0).first_part(1, 1, 2, b"")
    yield "unfinished-alone", File().first_part(0, 2, 9, b"\x01\x91")
    yield "unfinished-and-zeros", File().records(0).first_part(1, 2, 9, b"\x01\x91").raw(bytes(500))
    yield "unfinished-and-bytes", File().records(0).first_part(1, 2, 9, b"\x01\x91").raw(b"\x07\x07")
    yield "unfinished-and-a-head", File().records(0).first_part(1, 2, 9, b"\x01\x91").head(3)
    yield "unfinished-and-a-part-of-a-head", File().records(0).first_part(1, 2, 9, b"\x01\x91").head(3).cut(9)
    yield "unfinished-and-a-damaged-head", File().records(0).first_part(1, 2, 9, b"\x01\x91").head(3).flip(BLOCK_SIZE + 9)
    yield "unfinished-after-a-middle-part", File().records(0).first_part(1, 2, 9, b"\x01\x91").head(3).frame(MIDDLE, 2, b"\x01")
    yield "unfinished-after-a-middle-part-and-a-head", File().records(0).first_part(1, 2, 9, b"\x01\x91").head(3).frame(MIDDLE, 2, b"\x01").head(3)
    yield "unfinished-after-a-part-cut-off", File().records(0).first_part(1, 2, 9, b"\x01\x91").head(3).frame(LAST, 2, b"\x01\x92").cut(1)
    yield "unfinished-without-its-first-part", File().records(0).first_part(1, 2, 9, b"\x01\x91").head(3).frame(MIDDLE, 2, b"\x01").flip(50)
    yield "unfinished-of-another-number", File().records(0).first_part(1, 2, 9, b"\x01\x91").head(4).frame(MIDDLE, 3, b"\x01")
    yield "unfinished-after-a-block-of-its-own", File().records(0).head(1).first_part(1, 2, 9, b"\x01\x91").head(3).frame(MIDDLE, 2, b"\x01")
    yield "unfinished-after-damage", File().records(0).raw(b"\x07").first_part(3, 2, 9, b"\x01\x91")
    yield "unfinished-within-finished", group().first_part(2, 2, 9, b"\x01\x91")


def _chance_number(chance: random.Random, number: int) -> int:
    return max(0, number + chance.choice((0,) * 12 + (-3, -2, -1, 1, 2, 3)))


def made_at_random(chance: random.Random) -> File:
    """Some blocks that need not agree with each other."""
    file, number, group = File(None), chance.choice((0, 0, 0, 3)), None
    for _ in range(chance.randrange(2, 6)):
        number = _chance_number(chance, number)
        start = len(file.bytes) + -len(file.bytes) % BLOCK_SIZE
        file.head(number)
        if group is not None:
            first, count = group
            choice = chance.random()
            if choice < 0.75:
                kind = chance.choice((MIDDLE, LAST, LAST))
                file.frame(kind, _chance_number(chance, first + count - 1), b"\x01\x91" * chance.choice((1, 1, 1, 2)))
                group = group if kind == MIDDLE else None
            else:
                file.frame(ABANDONED, first, uint_bytes(count)) if choice < 0.9 else None
                group = None
        for _ in range(chance.randrange(3) if group is None else 0):
            kind, count = chance.choice((RECORDS, RECORDS, FRESH, PACKABLE, FRESH_PACKABLE, CHECKPOINT, NOTE)), chance.randrange(4)
            number = _chance_number(chance, number)
            file.raw(b"\x07" * chance.randrange(1, 4)) if chance.random() < 0.1 else None
            if kind in (CHECKPOINT, NOTE):
                file.frame(kind, number)
            else:
                file.records(number, count, kind)
                number += count
        if group is None and chance.random() < 0.5:
            count = chance.randrange(1, 4)
            file.first_part(number, count, chance.choice((4, 4, 6)), b"\x01\x91")
            group, number = (number, count), number + count
        if chance.random() < 0.12:
            file.flip(start + chance.choice((4, 9, 17)))
    return file


def every() -> Iterator[tuple[str, File]]:
    for made in (heads, frames, kinds, scopes, packed, groups):
        yield from made()
    chance = random.Random("logs")
    for number in range(100):
        yield f"random-{number}", made_at_random(chance)
    # Groups whose numbers contradict the heads around them.
    for seed in ("s694", "s1468"):
        yield f"random-{seed}", made_at_random(random.Random(seed))


def text(content: bytes) -> str:
    """Hexadecimal digits, and runs of one byte as `00*20`."""
    words, start = [""], 0
    while start < len(content):
        end = start + 1
        while end < len(content) and content[end] == content[start]:
            end += 1
        digits = content[start : start + 1].hex().upper()
        if end - start > 12:
            words += [f"{digits}*{end - start}", ""]
        else:
            words[-1] += digits * (end - start)
        start = end
    return " ".join(word for word in words if word)


def lines(name: str, content: bytes) -> Iterator[str]:
    records, lost, end = logs.told_small(content)
    yield f"{'refused' if end == 'refused' else 'log'} {name}"
    yield from (f"  record {record}" for record in records)
    if lost:
        yield f"  lost {lost}"
    if end != "refused":
        yield f"  end {end}"
    if content:
        yield f"  bytes {text(content)}"
    yield ""


def main() -> None:
    found = ["# Small logs: what they hold. README.md says how to read this.", ""]
    names: set[str] = set()
    for name, file in every():
        assert name not in names, name
        names.add(name)
        found += lines(name, bytes(file.bytes))
    (Path(__file__).parent / "logs.txt").write_text("\n".join(found), encoding="utf-8")
    print(f"{len(names)} logs")


if __name__ == "__main__":
    main()
