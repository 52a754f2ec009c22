"""Writing a message, from its end to its beginning, so that lengths are known."""

from __future__ import annotations

import decimal
import uuid
from array import array
from collections.abc import Callable
from typing import Any

from . import forms
from .context import Context
from .elements import little_endian
from .message import DEPTH_LIMIT
from .planning import SHORT_SYMBOLS, Collector, Entry, ObjectNode, Plan
from .uints import uint_bytes, uint_size
from .values import URL, Date, Nil, SingleNaN, bits_of

_WIDEST_MATRIX = 16
_LONGEST_CONSTANT = 15


def dumps(
    value: Any,
    *,
    sort_keys: bool = False,
    context: Context | None = None,
    names_context: bool = True,
    depth: int = DEPTH_LIMIT,
) -> bytes:
    """The canonical message of a value: the bytes that the library in Swift writes for the same `StowValue`.

    >>> dumps(["a", 1.5]).hex(" ")
    'e4 31 61 20 0f'

    Written are None, `Nil`, `bool`, `int` of up to 128 bits, `float`, `SingleNaN`, `str`, `bytes`, `bytearray`, `memoryview`,
    `datetime` with a time zone, `Date`, `UUID`, `URL`, `decimal.Decimal`, sequences and sets, mappings with keys that are strings
    or integers, and what numpy has of Bools, integers and floats.

    - sort_keys: objects have their keys in the order of their UTF-8.
    - context: what the message relies on.
    - names_context: the message names it. Without, both sides have settled it before.
    - depth: how many arrays and objects may lie around each other.

    Raises `TypeError` for a value of another type, and `StowError` for one that has no room in the format.
    """
    collector = Collector(sort_keys, depth)
    node = collector.collect(value)
    plan = Plan(collector, context)
    message = _prelude(plan) + _Writer(collector).message(node)
    if context is not None and names_context:
        message = b"\x7f\x01" + context.id.to_bytes(4, "little") + message
    return message


class _Head:
    """What is written before the values of a container, when these are: its length and its tag."""

    __slots__ = ("node", "size")

    def __init__(self, node: Any, size: int):
        self.node = node
        #: What was written before its values were.
        self.size = size


class _Writer:
    def __init__(self, collector: Collector):
        self._strings = collector.strings
        self._text_of = collector.text
        # The parts of the message, the last first, and their size.
        self._parts: list[bytes] = []
        self._size = 0

    def message(self, node: Any) -> bytes:
        # What is to be written yet, the last of it last.
        rest: list[Any] = [node]
        while rest:
            node = rest.pop()
            kind = type(node)
            if kind is list:
                self._array(node, rest)
            elif kind is ObjectNode:
                self._object(node, rest)
            elif kind is _Head:
                self._put(self._head(node))
            else:
                self._put(self._scalar(node))
        self._parts.reverse()
        return b"".join(self._parts)

    def _put(self, part: bytes) -> None:
        self._parts.append(part)
        self._size += len(part)

    # Scalars.

    def _scalar(self, node: Any) -> bytes:
        return _SCALARS[type(node)](self, node)

    def _string(self, text: str) -> bytes:
        entry = self._strings[text]
        if entry.symbol is None:
            size = len(entry.utf8)
            return (bytes([0x30 + size]) if size <= 31 else b"\x1d" + uint_bytes(size)) + entry.utf8
        return bytes([0x50 + entry.symbol]) if entry.symbol < SHORT_SYMBOLS else b"\x1e" + uint_bytes(entry.symbol)

    # Objects.

    def _object(self, node: ObjectNode, rest: list[Any]) -> None:
        if not node.items:
            self._put(b"\xc0")
            return
        rest.append(_Head(node, self._size))
        if node.list.shape is not None:
            rest += node.items
            return
        for key, item in zip(node.list.keys, node.items):
            rest += (key, item)

    def _head(self, head: _Head) -> bytes:
        length, node = self._size - head.size, head.node
        if type(node) is list:
            return bytes([0xE0 + length]) if length <= 15 else b"\x70" + uint_bytes(length)
        shape = node.list.shape
        if shape is None:
            return bytes([0xC0 + length]) if length <= 31 else b"\x71" + uint_bytes(length)
        return (bytes([0xF0 + shape]) if shape < 8 else b"\x72" + uint_bytes(shape)) + uint_bytes(length)

    # Arrays.

    def _array(self, items: list[Any], rest: list[Any]) -> None:
        packed = self._packed(items) if len(items) > 1 else None
        if packed is not None:
            self._put(packed)
            return
        rest.append(_Head(items, self._size))
        rest += items

    def _packed(self, items: list[Any]) -> bytes | None:
        """An array without tags; None if it has to be written with them."""
        kinds = set(map(type, items))
        if kinds == {int}:
            return None if forms.are_long(items) else _integers(items)
        if kinds == {float}:
            return _floats(items)
        if kinds == {int, float}:
            return None if forms.are_long([item for item in items if type(item) is int]) else _floats(items)
        if kinds == {bool}:
            return _bits(items) if len(items) >= 4 else None
        if kinds == {ObjectNode} or kinds == {list}:
            return self._rows(items)
        return None

    # Tables and matrices.

    def _rows(self, items: list[Any]) -> bytes | None:
        is_table = type(items[0]) is ObjectNode
        rows = [item.items for item in items] if is_table else items
        count = len(rows[0])
        if is_table:
            if count == 0 or items[0].list.shape is None or any(item.list is not items[0].list for item in items):
                return None
        elif not 0 < count <= _WIDEST_MATRIX or any(len(row) != count for row in rows):
            return None
        if not all(self._is_cell(cell) for cell in rows[0]):
            return None
        columns = []
        for index in range(count):
            column = self._column([row[index] for row in rows])
            if column is None:
                return None
            columns.append(column)
        if not _pays(columns, len(rows), 2 if is_table else 1):
            return None
        return _table(columns, len(rows), items[0].list.shape if is_table else None)

    def _is_cell(self, cell: Any) -> bool:
        kind = type(cell)
        if kind is str:
            entry = self._strings[cell]
            return entry.symbol is not None or len(entry.utf8) <= _LONGEST_CONSTANT
        if kind is list:
            return not cell
        if kind is ObjectNode:
            return not cell.items
        if kind is int:
            return not forms.are_long([cell])
        return kind in (float, bool, type(None), Date)

    def _column(self, cells: list[Any]) -> _Column | None:
        kinds = set(map(type, cells))
        if len(kinds) > 1 and kinds != {int, float}:
            return None
        if _are_same(cells):
            return self._constant(cells[0], len(cells))
        if kinds <= {int, float}:
            integers = [cell for cell in cells if type(cell) is int]
            if integers and forms.are_long(integers):
                return None
            if kinds == {int}:
                column = forms.fixed_column(cells)
                base = b"" if column.base is None else forms.integer_bytes(column.base)
                return _Column(column.type, column.planes, column.size, sum(map(forms.integer_size, cells)), base)
            found = forms.floats_column(cells)
            tagged = forms.estimate(cells, forms.number_size)
            return None if found is None else _Column(found.type, found.planes, found.size, tagged)
        if kinds == {bool}:
            return _Column(0x0B, lambda: [bytes(cells)], 1, len(cells))
        if kinds == {Date}:
            seconds = [cell.seconds for cell in cells]
            raw = little_endian(array("d", seconds))
            planes = [raw[index::8] for index in range(8)]
            return _Column(0x0F, lambda: planes, 8, forms.estimate(seconds, forms.date_size))
        return None

    def _constant(self, cell: Any, count: int) -> _Column:
        if type(cell) in (list, ObjectNode):
            value = b"\xe0" if type(cell) is list else b"\xc0"
        else:
            value = self._scalar(cell)
        size = len(value) if type(cell) in (int, float, Date) else 1
        return _Column(0x00, list, 0, size * count, value, size)


class _Column:
    """A column of a table or a matrix."""

    __slots__ = ("type", "planes", "size", "tagged", "value", "parameter_size")

    def __init__(
        self, type: int, planes: Callable[[], list[bytes]], size: int, tagged: int, value: bytes = b"",
        parameter_size: int | None = None,
    ):
        self.type = type
        self.planes = planes
        #: Of a cell; and what all cells take with their tags.
        self.size = size
        self.tagged = tagged
        #: The base or the constant, and its size for the comparison.
        self.value = value
        self.parameter_size = len(value) if parameter_size is None else parameter_size


def _are_same(cells: list[Any]) -> bool:
    """Whether all cells, which are numbers or of one kind, are the same."""
    first = cells[0]
    kind = type(first)
    if kind is list:
        return not any(cells)
    if kind is ObjectNode:
        return not any(cell.items for cell in cells)
    if kind is float:
        bits = bits_of(first)
        return all(type(cell) is float and (cell == first or cell != cell) and bits_of(cell) == bits for cell in cells)
    if kind is Date:
        bits = bits_of(first.seconds)
        return all(bits_of(cell.seconds) == bits for cell in cells)
    return all(type(cell) is kind and cell == first for cell in cells)


def _pays(columns: list[_Column], rows: int, head_size: int) -> bool:
    row_size = sum(column.size for column in columns)
    if not row_size or sum(column.type == 0 for column in columns) > row_size:
        return False
    parameters = sum(column.parameter_size for column in columns)
    tagged = sum(column.tagged for column in columns)
    return rows * row_size + len(columns) + 1 + parameters < tagged + rows * head_size


def _table(columns: list[_Column], rows: int, shape: int | None) -> bytes:
    stride = sum(column.size for column in columns)
    cells, offset = bytearray(stride * rows), 0
    for column in columns:
        for plane in column.planes():
            cells[offset::stride] = plane
            offset += 1
    front = uint_bytes(len(columns) if shape is None else shape) + bytes(column.type for column in columns)
    body = front + b"".join(column.value for column in columns) + cells
    return (b"\x7b" if shape is None else b"\x7a") + uint_bytes(len(body)) + body


def _integers(items: list[int]) -> bytes | None:
    body = forms.integers_body(items)
    tagged = sum(map(forms.integer_size, items))
    packed = b"\x74" + uint_bytes(len(body)) + body
    return packed if len(packed) <= _array_size(tagged) else None


def _floats(items: list[Any]) -> bytes | None:
    column = forms.floats_column(items)
    if column is None:
        return None
    length = column.size * len(items) + (column.type != 0x09)
    if 1 + uint_size(length) + length > _array_size(forms.estimate(items, forms.number_size)):
        return None
    head = b"\x75" + uint_bytes(length) if column.type == 0x09 else b"\x74" + uint_bytes(length) + bytes([column.type])
    return head + column.cells()


def _array_size(length: int) -> int:
    """Of an array with tags."""
    return 1 + length if length <= 15 else 1 + uint_size(length) + length


def _bits(items: list[bool]) -> bytes:
    size = (len(items) + 7) // 8
    number = int("".join("1" if item else "0" for item in reversed(items)), 2)
    return b"\x74" + uint_bytes(size + 2) + bytes([0x0C, size * 8 - len(items)]) + number.to_bytes(size, "little")


def _decimal(value: decimal.Decimal) -> bytes:
    if value.is_nan():
        return b"\x1c\x01\x00"
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    magnitude = int("".join(map(str, digits)))
    body = exponent.to_bytes(1, "little", signed=True) + magnitude.to_bytes((magnitude.bit_length() + 7) // 8, "little")
    return (b"\x1c" if sign and magnitude else b"\x1b") + bytes([len(body)]) + body


def _key(_: _Writer, entry: Entry) -> bytes:
    if entry.symbol is None:
        return entry.text_bytes
    return bytes([0xC0 + entry.symbol]) if entry.symbol < SHORT_SYMBOLS else b"\xe0" + uint_bytes(entry.symbol)


_SCALARS: dict[type, Callable[[_Writer, Any], bytes]] = {
    type(None): lambda _, node: b"\x00",
    Nil: lambda _, node: bytes([0x7C, node.level]),
    bool: lambda _, node: b"\x02" if node else b"\x01",
    int: lambda _, node: forms.integer_bytes(node),
    float: lambda _, node: forms.float_bytes(node),
    SingleNaN: lambda _, node: b"\x0f" + node.bits.to_bytes(4, "little"),
    str: _Writer._string,
    URL: lambda writer, node: b"\x1a" + writer._string(writer._text_of(node)),
    bytes: lambda _, node: b"\x19" + uint_bytes(len(node)) + node,
    Date: lambda _, node: forms.date_bytes(node.seconds),
    uuid.UUID: lambda _, node: b"\x18" + node.bytes,
    decimal.Decimal: lambda _, node: _decimal(node),
    Entry: _key,
}


def _prelude(plan: Plan) -> bytes:
    if not plan.symbols and not plan.shapes:
        return b""
    parts = [b"\x1f", uint_bytes(len(plan.symbols)), *(entry.text_bytes for entry in plan.symbols)]
    parts.append(uint_bytes(len(plan.shapes)))
    for keys in plan.shapes:
        entries = keys.keys
        parts += (uint_bytes(len(entries)), *(_key(None, entry) for entry in entries))  # type: ignore[arg-type]
    return b"".join(parts)
