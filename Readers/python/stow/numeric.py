"""Arrays of numpy: views on the bytes where these are numbers of a machine, and otherwise made at once.

numpy is imported when it is first asked for, and nothing else of this package needs it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Sequence, Union

from .buffers import Bytes
from .values import SingleNaN

if TYPE_CHECKING:
    from .elements import Cells

_MACHINE_WIDTHS = (1, 2, 4, 8)


def module() -> Any:
    """numpy. Raises `ImportError` where it is not installed."""
    import numpy

    return numpy


def is_of_numpy(value: Any) -> bool:
    """Whether a value is an array or a number of numpy, which is not imported for the question."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic))


def held(data: Bytes) -> Any:
    """Bytes that cannot be freed or moved as long as an array on them is there: by itself, an array does not see to that."""
    return module().frombuffer(data, "u1")


def view(cells: Cells, kind: str, size: int) -> Any:
    """The elements where they are, without a copy. They cannot be changed."""
    numpy = module()
    if not cells.count:
        return numpy.empty(0, kind)
    found = numpy.ndarray((cells.count,), kind, held(cells.data), cells.start, (cells.stride,))
    found.flags.writeable = False
    return found


def integers(cells: Cells, width: int, is_signed: bool) -> Any:
    if width in _MACHINE_WIDTHS:
        return view(cells, f"<{'i' if is_signed else 'u'}{width}", width)
    return module().frombuffer(cells.integers(width, is_signed), "=i8")


def of(values: Sequence[Any], kind: str) -> Any:
    return module().array(values, kind)


def bits(raw: bytes, count: int) -> Any:
    """Bools of a bit each, from the least significant one on."""
    numpy = module()
    return numpy.unpackbits(numpy.frombuffer(raw, "u1"), count=count, bitorder="little").view("?")


def sums(offsets: Any, base: int) -> Any:
    """The base and each offset together, modulo 2^64."""
    return offsets.astype("=i8") + module().int64(base)


def quotients(cells: Cells, width: int, scale: int) -> Any:
    return integers(cells, width, True).astype("=f8") / float(scale)


def moved(cells: Cells, width: int, scale: int, mark: int) -> Any:
    """Decimals with residues; None where one is marked as an integer."""
    residues = integers(cells.inner(width), 1, True)
    if (residues == mark).any():
        return None
    found = quotients(cells, width, scale)
    as_bits = found.view("=i8")
    as_bits += residues
    return found


def repeated(value: Union[float, int, bool], count: int) -> Any:
    """An array of equal elements that stand once in memory."""
    numpy = module()
    return numpy.broadcast_to(numpy.array(value), (count,))


def has_room(value: Union[float, int, bool]) -> bool:
    """Whether an array of numbers holds a value, and nothing about it is lost."""
    return not isinstance(value, int) or -(1 << 63) <= value < 1 << 63


def python_value(cell: Any) -> Any:
    """The value of Python that an element of an array, or of a list, stands for."""
    numpy = module()
    if isinstance(cell, numpy.float32) and cell != cell:
        return SingleNaN(int(cell.view("u4")))
    return cell.item() if isinstance(cell, numpy.generic) else cell


def listed(array: Any) -> Any:
    """An array as lists of values of Python. NaNs of 4 bytes keep their bits, which `tolist` would widen."""
    if array.dtype.kind != "f" or array.dtype.itemsize != 4 or not module().isnan(array).any():
        return array.tolist()
    if array.ndim == 0:
        return python_value(array[()])
    return [python_value(row) if array.ndim == 1 else listed(row) for row in array]


def rows(cells: Cells, kinds: Sequence[int], columns: Sequence[Any]) -> Any:
    """The rows of a matrix as one array of two dimensions; None where the columns are not all integers, or all of one type.

    Columns that are alike, and are views, are one view together.
    """
    numpy = module()
    if any(not isinstance(column, numpy.ndarray) for column in columns):
        return None
    kind = columns[0].dtype
    if len(set(kinds)) == 1 and cells.stride == kind.itemsize * len(columns) and columns[0].base is not None:
        found = numpy.ndarray((cells.count, len(columns)), kind, held(cells.data), cells.start)
        found.flags.writeable = False
        return found
    if any(column.dtype != kind for column in columns) and any(column.dtype.kind not in "iu" for column in columns):
        return None
    return numpy.stack(columns, axis=1)
