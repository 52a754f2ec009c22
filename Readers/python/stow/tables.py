"""Tables and matrices: rows of cells, each column of one element type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from . import numeric
from .cursor import Cursor
from .elements import CONSTANT, Cells, sized_element
from .errors import StowError
from .prelude import Prelude
from .scalars import integer_of_64_bits, is_scalar, scalar
from .values import Date

_EMPTY_MAP, _EMPTY_ARRAY = 0xC0, 0xE0
_DATE = 0x0F


class Table(Sequence[dict[str, Any]]):
    """An array of objects with the same keys, column by column; what `loads` makes of one with `numpy=True`.

    `table["x"]` is a column, `table[3]` is a row, and `columns` are all columns by their keys. Numbers and Bools are arrays of
    numpy. A column of dates is an array of their seconds since 2001-01-01 00:00:00 UTC, and its key stands in `dates`. Whatever
    numpy has no type for is a list.
    """

    def __init__(self, columns: dict[str, Any], count: int, dates: frozenset[str] = frozenset()):
        self.columns = columns
        self.dates = dates
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: str) -> Any: ...

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, place: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, place: str | int | slice) -> Any:
        if isinstance(place, str):
            return self.columns[place]
        if isinstance(place, slice):
            return [self._row(index) for index in range(*place.indices(self._count))]
        return self._row(range(self._count)[place])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self._row(index) for index in range(self._count))

    def _row(self, index: int) -> dict[str, Any]:
        return {key: self._cell(key, column[index]) for key, column in self.columns.items()}

    def _cell(self, key: str, cell: Any) -> Any:
        value = numeric.python_value(cell)
        return Date(value) if key in self.dates else value

    def __repr__(self) -> str:
        return f"<Table of {self._count} rows: {', '.join(self.columns)}>"


@dataclass
class _Rows:
    """The types of all columns, the constants among them, and where the cells are."""

    types: bytes
    #: A base or constant for each column that has one.
    parameters: dict[int, Any]
    body: Cursor
    stride: int

    @property
    def count(self) -> int:
        return self.body.left // self.stride

    def is_date(self, column: int) -> bool:
        return self.types[column] == _DATE or isinstance(self.parameters.get(column), Date)

    def columns(self, with_numpy: bool) -> list[Any]:
        columns: list[Any] = []
        offset = 0
        for index, kind in enumerate(self.types):
            if kind == CONSTANT:
                columns.append(self._constant(self.parameters[index], with_numpy))
                continue
            element = _element(kind)
            cells = Cells(self.body.data, self.body.position + offset, self.stride, self.count)
            offset += element.size
            sized = element.from_base(self.parameters[index]) if element.has_base else element
            columns.append(sized.read(cells, with_numpy))
        return columns

    def _constant(self, value: Any, with_numpy: bool) -> Any:
        if with_numpy and isinstance(value, Date):
            return numeric.repeated(value.seconds, self.count)
        if with_numpy and type(value) in (bool, int, float) and numeric.has_room(value):
            return numeric.repeated(value, self.count)
        if isinstance(value, (list, dict)):
            return [type(value)() for _ in range(self.count)]
        return [value] * self.count


def table(cursor: Cursor, prelude: Prelude, with_numpy: bool = False) -> Sequence[dict[str, Any]]:
    body = cursor.sized()
    keys = prelude.shape(body.uint(), body)
    rows = _rows(body, len(keys), prelude)
    columns = rows.columns(with_numpy)
    if not with_numpy:
        return [dict(zip(keys, row)) for row in zip(*columns)]
    dates = frozenset(key for column, key in enumerate(keys) if rows.is_date(column))
    return Table(dict(zip(keys, columns)), rows.count, dates)


def matrix(cursor: Cursor, prelude: Prelude, with_numpy: bool = False) -> Any:
    body = cursor.sized()
    start = body.position
    count = body.uint()
    if count == 0:
        raise StowError("a matrix without columns", start)
    rows = _rows(body, count, prelude)
    if with_numpy and not any(map(rows.is_date, range(count))):
        cells = Cells(body.data, body.position, rows.stride, rows.count)
        found = numeric.rows(cells, list(rows.types), rows.columns(True))
        if found is not None:
            return found
    return [list(row) for row in zip(*rows.columns(False))]


def _rows(body: Cursor, count: int, prelude: Prelude) -> _Rows:
    start = body.position
    types = body.take(count)
    stride = constants = 0
    for index, kind in enumerate(types):
        if kind == CONSTANT:
            constants += 1
        else:
            stride += _element(kind, start + index).size
    parameters: dict[int, Any] = {}
    for index, kind in enumerate(types):
        if kind == CONSTANT:
            parameters[index] = _constant(body, prelude)
        elif _element(kind).has_base:
            parameters[index] = integer_of_64_bits(body)
    if constants > stride or not stride:
        raise body.error(f"{constants} constant columns beside the {stride} bytes of a row")
    if body.left == 0 or body.left % stride:
        raise body.error(f"{body.left} bytes of rows of {stride} bytes")
    return _Rows(types, parameters, body, stride)


def _element(kind: int, offset: int | None = None) -> Any:
    element = sized_element(kind)
    if element is None:
        raise StowError(f"element type {kind:02X} in a column", offset)
    return element


def _constant(body: Cursor, prelude: Prelude) -> Any:
    tag = body.peek()
    if 0x19 <= tag <= 0x1D or 0x40 <= tag <= 0x4F:
        raise body.error("a constant that may be long")
    if is_scalar(tag):
        return scalar(body, prelude)
    if tag not in (_EMPTY_MAP, _EMPTY_ARRAY):
        raise body.error("a constant that is a container")
    body.byte()
    return {} if tag == _EMPTY_MAP else []
