"""Tables and matrices: rows of cells, each column of one element type."""

from .cursor import Cursor
from .elements import CONSTANT, Element, sized_element
from .errors import StowError
from .prelude import Prelude
from .scalars import integer_of_64_bits, is_scalar, scalar

_EMPTY_MAP, _EMPTY_ARRAY = 0xC0, 0xE0


def table(cursor: Cursor, prelude: Prelude) -> list[dict]:
    body = cursor.sized()
    keys = prelude.shape(body.uint(), body)
    return [dict(zip(keys, row)) for row in _rows(body, len(keys), prelude)]


def matrix(cursor: Cursor, prelude: Prelude) -> list[list]:
    body = cursor.sized()
    start = body.position
    count = body.uint()
    if count == 0:
        raise StowError("a matrix without columns", start)
    return _rows(body, count, prelude)


def _rows(body: Cursor, count: int, prelude: Prelude) -> list[list]:
    columns = _columns(body, count, prelude)
    row_size = sum(column.size for column in columns)
    if not row_size or sum(column.size == 0 for column in columns) > row_size:
        raise body.error(f"more constant columns than the {row_size} bytes of a row")
    if body.left == 0 or body.left % row_size:
        raise body.error(f"{body.left} bytes of rows of {row_size} bytes")
    return [[column.read(body) for column in columns] for _ in range(body.left // row_size)]


def _columns(body: Cursor, count: int, prelude: Prelude) -> list[Element]:
    start = body.position
    types = body.take(count)
    return [_column(kind, start + index, body, prelude) for index, kind in enumerate(types)]


def _column(kind: int, offset: int, body: Cursor, prelude: Prelude) -> Element:
    if kind == CONSTANT:
        value = _constant(body, prelude)
        return Element(0, lambda cursor: value)
    element = sized_element(kind)
    if element is None:
        raise StowError(f"element type {kind:02X} in a column", offset)
    return element.from_base(integer_of_64_bits(body)) if element.has_base else element


def _constant(body: Cursor, prelude: Prelude) -> object:
    tag = body.peek()
    if 0x19 <= tag <= 0x1D or 0x40 <= tag <= 0x4F:
        raise body.error("a constant that may be long")
    if is_scalar(tag):
        return scalar(body, prelude)
    if tag not in (_EMPTY_MAP, _EMPTY_ARRAY):
        raise body.error("a constant that is a container")
    body.byte()
    return {} if tag == _EMPTY_MAP else []
