"""A whole message: its prelude and its value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .buffers import Bytes, readable
from .containers import Array, Map, Record, Whole, present_keys
from .context import Context
from .cursor import Cursor
from .errors import StowError
from .packed import packed_array
from .prelude import PRELUDE_TAG, Prelude
from .scalars import is_scalar, scalar
from .tables import matrix, table

DEPTH_LIMIT = 512

_OTHER_MESSAGE = 0x7F
_CONTEXT_MESSAGE = 0x01
_OTHER_KINDS = {0x02: "a log, which open_log reads", 0x03: "a stream, which read_stream reads"}

_CONTAINERS = (Array, Map, Record)


def loads(
    data: Any,
    *,
    contexts: Iterable[Context] = (),
    context: Context | None = None,
    numpy: bool = False,
    depth: int = DEPTH_LIMIT,
) -> Any:
    """The value of a message.

    >>> loads(bytes.fromhex("E4 31 61 20 0F"))
    ['a', 1.5]

    - data: `bytes`, or whatever else has a buffer, as a `bytearray`, a `memoryview` or an `mmap`.
    - contexts: those that the message may name.
    - context: the one that was settled before, on which messages rely that name none. They may name it, too.
    - numpy: packed arrays become arrays of numpy, tables become a `Table`, and matrices arrays of two dimensions. Numbers that
      are stored as a machine has them are not copied: the arrays keep the bytes, and cannot be changed.
    - depth: how many arrays and objects may lie around each other.

    Raises `StowError` for anything that is not a valid message.
    """
    try:
        return _loaded(readable(data), contexts, context, numpy, depth)
    except StowError as error:
        # The frames that raised it hold the bytes: an mmap could not be closed as long as the error is there.
        raise error.with_traceback(None)


def _loaded(content: Bytes, contexts: Iterable[Context], context: Context | None, with_numpy: bool, depth: int) -> Any:
    cursor = Cursor(content, 0, len(content))
    relied_on = _named_context(cursor, contexts if context is None else [context, *contexts]) or context
    prelude = relied_on.prelude if relied_on else Prelude()
    if cursor.left and cursor.peek() == PRELUDE_TAG:
        prelude = Prelude(prelude)
        prelude.add(cursor)
    return value(cursor, prelude, depth, with_numpy)


def value(cursor: Cursor, prelude: Prelude, depth: int = DEPTH_LIMIT, with_numpy: bool = False) -> Any:
    """What stands after the prelude of a message, up to its end."""
    # The containers around the next value, the innermost last: nesting takes no stack of the interpreter.
    around: list[Whole | Array | Map | Record] = [Whole(cursor)]
    while True:
        container = around[-1]
        if not container.wants_value():
            around.pop()
            if not around:
                return container.result()
            around[-1].add(container.result())
            continue
        start = container.cursor.position
        item = _item(container.cursor, prelude, with_numpy)
        if not isinstance(item, _CONTAINERS):
            container.add(item)
        elif len(around) > depth:
            raise StowError(f"more than {depth} levels", start)
        else:
            around.append(item)


def _named_context(cursor: Cursor, contexts: Iterable[Context]) -> Context | None:
    if cursor.left == 0 or cursor.peek() != _OTHER_MESSAGE:
        return None
    cursor.byte()
    kind = cursor.byte()
    if kind != _CONTEXT_MESSAGE:
        raise StowError(f"no message, but {_OTHER_KINDS.get(kind, f'what may be of a later version: kind {kind:02X}')}", 0)
    number = cursor.unsigned(4)
    held = {context.message: context for context in contexts if context.id == number}
    if not held:
        raise StowError(f"the context {number:08X} is not there", 0)
    if len(held) > 1:
        raise StowError(f"there are two contexts of the id {number:08X}", 0)
    return next(iter(held.values()))


def _item(cursor: Cursor, prelude: Prelude, with_numpy: bool) -> Any:
    """A value that is complete, or a container that is to be read."""
    tag = cursor.peek()
    if is_scalar(tag):
        return scalar(cursor, prelude)
    cursor.byte()
    if tag <= 0x73 or tag >= 0xC0:
        return _container(tag, cursor, prelude)
    if tag == 0x7A:
        return table(cursor, prelude, with_numpy)
    if tag == 0x7B:
        return matrix(cursor, prelude, with_numpy)
    return packed_array(tag, cursor, with_numpy)


def _container(tag: int, cursor: Cursor, prelude: Prelude) -> Array | Map | Record:
    if tag == 0x70:
        return Array(cursor.sized())
    if tag == 0x71:
        return Map(cursor.sized(), prelude)
    if tag in (0x72, 0x73):
        keys = prelude.shape(cursor.uint(), cursor)
        return _record(cursor.sized(), keys, tag == 0x73)
    if tag <= 0xDF:
        return Map(cursor.part(tag - 0xC0), prelude)
    if tag <= 0xEF:
        return Array(cursor.part(tag - 0xE0))
    keys = prelude.shape((tag - 0xF0) % 8, cursor)
    return _record(cursor.sized(), keys, tag >= 0xF8)


def _record(cursor: Cursor, keys: list[str], is_partial: bool) -> Record:
    return Record(cursor, present_keys(cursor, keys) if is_partial else keys)
