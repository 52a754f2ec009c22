"""Prints what a message, a log or a stream holds, in diagnostic notation.

    python -m stow FILE                      a file, or - for standard input
    python -m stow FILE --context CONTEXT    a message that names a context; several may be given
    python -m stow FILE --width 0            each value on one line
"""

from __future__ import annotations

import argparse
import io
import itertools
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import BinaryIO

from . import Context, Log, Record, StowError, StreamReader, loads, notation, open_log
from .logs import is_log
from .streams import parts

_STREAM = b"\x7f\x03"


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        if sys.stdout is None:
            raise OSError("there is no standard output")
        try:
            code = _show(options)
        except StowError as error:
            code = _failed(options, error)
        # Later, an error would be one of the interpreter.
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader of the output closed it before all was written.
        _discard_output()
        return 1
    except OSError as error:
        _discard_output()
        return _failed(options, error)
    except MemoryError:
        return _failed(options, StowError("there is not enough memory"))


def _failed(options: argparse.Namespace, error: Exception) -> int:
    print(f"stow: {options.file}: {error}", file=sys.stderr)
    return 1


def _discard_output() -> None:
    """What could not be written is tried no more when the interpreter ends."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m stow", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="the file, or - for standard input")
    parser.add_argument("--context", action="append", default=[], help="a file with the message of a context")
    parser.add_argument("--width", type=int, default=100, help="the most characters of a line that could be broken")
    return parser.parse_args(arguments)


def _show(options: argparse.Namespace) -> int:
    width = options.width if options.width > 0 else None
    if os.path.isdir(options.file):
        return _show_log(open_log(options.file), width)
    with _opened(options.file) as file:
        data = file.read(len(_STREAM))
        if data == _STREAM:
            return 1 if _show_records(_records(data, file), width) else 0
        data += file.read()
    if is_log(data):
        return _show_log(open_log(data), width)
    contexts = [_context(name) for name in options.context]
    print(notation(loads(data, contexts=contexts), width))
    return 0


def _context(name: str) -> Context:
    try:
        return Context(_read(name))
    except StowError as error:
        raise StowError(f"{name} is no context: {error}") from None


def _show_log(log: Log, width: int | None) -> int:
    failed = _show_records(log.records, width)
    for numbers in log.lost:
        print(f"# lost: records {numbers.start} to {numbers.stop - 1}")
    for damage in log.damage:
        place = f"{damage.file}, " if damage.file else ""
        part = f"bytes {damage.start} to {damage.end - 1}" if damage.start < damage.end else "all of it"
        print(f"# damage: {place}{part}, {damage.reason}")
    return 1 if failed or log.lost or log.damage else 0


def _show_records(records: Iterable[Record], width: int | None) -> bool:
    """Whether one of them is no valid message."""
    failed = False
    for record in records:
        failed = failed or record.error is not None
        print(f"{record.number}: {record.error or notation(record.value, width)}")
    return failed


def _records(beginning: bytes, file: BinaryIO) -> Iterator[Record]:
    """The records of a stream as they come: it may have no end."""
    reader = StreamReader()
    for part in itertools.chain([beginning], parts(file)):
        yield from reader.feed(part)
    reader.finish()


def _read(name: str) -> bytes:
    with _opened(name) as file:
        return file.read()


def _opened(name: str) -> AbstractContextManager[BinaryIO]:
    if name != "-":
        return open(name, "rb")
    if sys.stdin is None:
        raise StowError("there is no standard input")
    return nullcontext(sys.stdin.buffer)


if __name__ == "__main__":
    # An interrupt ends it as it ends other commands, without a traceback, unless it is to be ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())
