"""A whole message: its prelude and its value."""

from collections.abc import Iterable

from .containers import Array, Map, Record, Whole, present_keys
from .context import Context
from .cursor import Cursor
from .errors import StowError
from .packed import packed_array
from .prelude import Prelude
from .scalars import is_scalar, scalar
from .tables import matrix, table

DEPTH_LIMIT = 512

_OTHER_MESSAGE = 0x7F
_CONTEXT_MESSAGE = 0x01

_Container = Array | Map | Record


def decode(
    data: bytes,
    depth_limit: int = DEPTH_LIMIT,
    contexts: Iterable[Context] = (),
    implicit: Context | None = None,
    definitions: Prelude | None = None,
) -> object:
    """The value of a message. Raises `StowError` for anything that is not a valid message.

    The message may name one of the contexts, or rely on the implicit one without a name. A record of a log takes in the
    definitions of those before it, and adds its own to them.
    """
    cursor = Cursor(data, 0, len(data))
    context = _named_context(cursor, contexts) or implicit
    prelude = definitions or Prelude(context.prelude if context else None)
    prelude.add(cursor)
    return value(cursor, prelude, depth_limit)


def value(cursor: Cursor, prelude: Prelude, depth_limit: int = DEPTH_LIMIT) -> object:
    """What stands behind the prelude of a message, up to its end."""
    # The containers around the next value, the innermost last: nesting takes no stack of the interpreter.
    around = [Whole(cursor)]
    while True:
        container = around[-1]
        if not container.wants_value():
            around.pop()
            if not around:
                return container.result()
            around[-1].add(container.result())
            continue
        start = container.cursor.position
        item = _item(container.cursor, prelude)
        if not isinstance(item, _Container):
            container.add(item)
        elif len(around) > depth_limit:
            raise StowError(f"more than {depth_limit} levels", start)
        else:
            around.append(item)


def _named_context(cursor: Cursor, contexts: Iterable[Context]) -> Context | None:
    if cursor.data[:2] != bytes([_OTHER_MESSAGE, _CONTEXT_MESSAGE]):
        return None
    cursor.take(2)
    number = cursor.unsigned(4)
    context = next((context for context in contexts if context.id == number), None)
    if context is None:
        raise StowError(f"the context {number:08X} is not there", 0)
    return context


def _item(cursor: Cursor, prelude: Prelude) -> object:
    """A value that is complete, or a container that is to be read."""
    tag = cursor.peek()
    if is_scalar(tag):
        return scalar(cursor, prelude)
    cursor.byte()
    if tag <= 0x73 or tag >= 0xC0:
        return _container(tag, cursor, prelude)
    if tag == 0x7A:
        return table(cursor, prelude)
    if tag == 0x7B:
        return matrix(cursor, prelude)
    return packed_array(tag, cursor)


def _container(tag: int, cursor: Cursor, prelude: Prelude) -> _Container:
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
