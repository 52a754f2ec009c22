"""What a writer chooses before it writes: which key lists are shapes, and which strings are symbols.

A value is first made a tree of nodes, in which every string and every list of keys is counted. Nodes are plain values of
Python, lists of nodes, and `ObjectNode`s.
"""

from __future__ import annotations

import datetime
import decimal
import sys
import uuid
from array import array
from collections import UserString
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from . import numeric
from .buffers import readable
from .context import Context
from .errors import StowError
from .texts import text_bytes
from .uints import uint_size
from .values import URL, Date, Nil, SingleNaN

_LEAST_INTEGER, _INTEGER_LIMIT = -(1 << 127), 1 << 128
# A prelude takes so many bytes besides its symbols and shapes.
_PRELUDE_SIZE = 3
SHORT_SYMBOLS = 32


class Entry:
    """A string of the message: how often it is a value, a URL included, and how often a key."""

    __slots__ = ("text", "values", "keys", "symbol", "gain", "is_short", "_text_bytes", "_utf8")

    def __init__(self, text: str):
        self.text = text
        self.values = self.keys = self.gain = 0
        #: The number of the symbol that it is, if it is one.
        self.symbol: int | None = None
        self.is_short = False
        self._text_bytes: bytes | None = None
        try:
            self._utf8 = text.encode()
        except UnicodeEncodeError:
            raise StowError("a string with half of a surrogate pair, which UTF-8 cannot say") from None

    @property
    def utf8(self) -> bytes:
        return self._utf8

    @property
    def text_bytes(self) -> bytes:
        """As a text, which keys and symbols are."""
        if self._text_bytes is None:
            self._text_bytes = text_bytes(self.text, self._utf8)
        return self._text_bytes

    @property
    def value_size(self) -> int:
        size = len(self._utf8)
        return 1 + size if size <= 31 else 1 + uint_size(size) + size

    @property
    def uses(self) -> int:
        return self.values + self.keys


class KeyList:
    """The keys that some objects have, in their order: one more than those of the list before it."""

    __slots__ = ("before", "key", "longer", "uses", "order", "shape", "is_shared", "gain")

    def __init__(self, before: KeyList | None, key: Entry | None):
        self.before = before
        self.key = key
        self.longer: dict[str, KeyList] = {}
        self.uses = 0
        #: How many objects begin before the first that has these keys.
        self.order = sys.maxsize
        self.shape: int | None = None
        self.is_shared = False
        self.gain = 0

    @property
    def keys(self) -> list[Entry]:
        keys = []
        each: KeyList | None = self
        while each is not None and each.key is not None:
            keys.append(each.key)
            each = each.before
        return keys[::-1]


class ObjectNode:
    __slots__ = ("list", "items", "order")

    def __init__(self, keys: KeyList, order: int):
        self.list = keys
        self.items: list[Any] = []
        self.order = order


class Collector:
    """Makes nodes of values, and counts what they have in common."""

    def __init__(self, sort_keys: bool, depth: int):
        self.strings: dict[str, Entry] = {}
        #: The lists that objects have.
        self.lists: list[KeyList] = []
        #: Each URL that was met, and its text: a symbol that many URLs of a message refer to is one URL, and copied once.
        self._texts: dict[int, tuple[URL, str]] = {}
        self._no_keys = KeyList(None, None)
        self._sort_keys = sort_keys
        self._depth = depth
        self._object_count = 0

    def collect(self, value: Any) -> Any:
        """The node of a value."""
        root: list[Any] = []
        # The arrays and objects around the next value, with what is left of them: nesting takes no stack of the interpreter.
        around: list[tuple[list[Any], ObjectNode | None, Iterator[Any]]] = [(root, None, iter([value]))]
        while around:
            items, node, rest = around[-1]
            for each in rest:
                if node is not None:
                    key, each = each
                    node.list = self._longer(node.list, key)
                inner = self._begin(each, items)
                if inner is not None:
                    if len(around) > self._depth:
                        raise StowError(f"more than {self._depth} levels")
                    around.append(inner)
                    break
            else:
                around.pop()
                if node is not None and node.list is not self._no_keys:
                    self._complete(node)
        return root[0]

    def _begin(self, value: Any, items: list[Any]) -> tuple[list[Any], ObjectNode | None, Iterator[Any]] | None:
        """Adds the node of a value to those around it. Of an array or object, returns what is to be read of it."""
        kind = type(value)
        if kind is str:
            self._entry(value).values += 1
        elif kind is int:
            if not _LEAST_INTEGER <= value < _INTEGER_LIMIT:
                raise StowError("an integer of more than 128 bits")
        elif kind not in _AS_THEY_ARE:
            value = _plain(value)
            kind = type(value)
            if kind is dict:
                node = ObjectNode(self._no_keys, self._object_count)
                self._object_count += 1
                items.append(node)
                return node.items, node, iter(self._pairs(value))
            if kind is list:
                elements: list[Any] = []
                items.append(elements)
                return elements, None, iter(value)
            if kind is str or kind is int:
                return self._begin(value, items)
            if kind is URL:
                self._entry(self.text(value)).values += 1
        items.append(value)
        return None

    def _pairs(self, value: dict[Any, Any]) -> list[tuple[str, Any]]:
        pairs = with_texts(value)
        return sorted(pairs.items(), key=lambda pair: pair[0]) if self._sort_keys else list(pairs.items())

    def text(self, url: URL) -> str:
        """A URL as a string that is nothing else."""
        known = self._texts.get(id(url))
        if known is None:
            known = self._texts[id(url)] = (url, str(url))
        return known[1]

    def _entry(self, text: str) -> Entry:
        entry = self.strings.get(text)
        if entry is None:
            entry = self.strings[text] = Entry(text)
        return entry

    def _longer(self, keys: KeyList, key: str) -> KeyList:
        longer = keys.longer.get(key)
        if longer is None:
            longer = keys.longer[key] = KeyList(keys, self._entry(key))
        return longer

    def _complete(self, node: ObjectNode) -> None:
        keys = node.list
        if not keys.uses:
            self.lists.append(keys)
        keys.uses += 1
        keys.order = min(keys.order, node.order)


_AS_THEY_ARE = (float, bool, type(None), bytes, uuid.UUID, SingleNaN, Nil)


def with_texts(value: Mapping[Any, Any]) -> dict[str, Any]:
    """The values of an object by the texts of their keys."""
    pairs = {_text(key): each for key, each in value.items()}
    if len(pairs) < len(value):
        raise StowError("two keys of a dict are one text, as 1 and '1' are")
    return pairs


def _text(key: Any) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, int) and not isinstance(key, bool):
        try:
            return str(int(key))
        except ValueError:
            raise StowError("a key that is an integer of more digits than Python writes") from None
    raise TypeError(f"the keys of an object are strings or integers, and not {type(key).__name__}")


def _plain(value: Any) -> Any:
    """A value whose type is exactly one that has a form in the format."""
    if type(value) in (URL, Date):
        return value
    if isinstance(value, URL):
        return URL(value)
    if isinstance(value, Date):
        return Date(value.seconds)
    if isinstance(value, dict):
        return value if type(value) is dict else dict(value)
    if isinstance(value, (list, tuple)):
        return value if type(value) is list else list(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, datetime.datetime):
        return _date(value)
    if isinstance(value, decimal.Decimal):
        return _decimal(value)
    if isinstance(value, (bytearray, memoryview)):
        return bytes(readable(value))
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, uuid.UUID):
        return uuid.UUID(int=value.int)
    return _other(value)


def _other(value: Any) -> Any:
    if numeric.is_of_numpy(value):
        if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
            raise TypeError(f"an array of {value.dtype} cannot be written")
        return numeric.listed(value)
    if isinstance(value, array):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value.items())
    # The elements of a UserString are such strings, too, without end.
    if isinstance(value, (Sequence, Set)) and not isinstance(value, UserString):
        return list(value)
    raise TypeError(f"a value of type {type(value).__name__} cannot be written")


def _date(value: datetime.datetime) -> Date:
    try:
        return Date.of(value)
    except ValueError as error:
        raise StowError(str(error)) from None


def _decimal(value: decimal.Decimal) -> decimal.Decimal:
    value = decimal.Decimal(value)
    if value.is_nan():
        return value
    parts = value.as_tuple()
    if not isinstance(parts.exponent, int) or not -128 <= parts.exponent <= 127 or len(parts.digits) > 39:
        raise StowError("a decimal number whose digits or exponent have no room")
    if int("".join(map(str, parts.digits))) >= 1 << 128:
        raise StowError("a decimal number whose digits have no room")
    return value


class Plan:
    """The shapes and symbols of a message. What they are is noted in the key lists and entries."""

    def __init__(self, collector: Collector, context: Context | None):
        self._context = context
        self.symbols: list[Entry] = []
        self.shapes = self._chosen_shapes(collector.lists)
        for keys in collector.lists:
            written = 0 if keys.is_shared else 1 if keys.shape is not None else keys.uses
            for key in keys.keys:
                key.keys += written
        candidates = self._candidates(list(collector.strings.values()))
        if sum(keys.gain for keys in self.shapes) + sum(entry.gain for entry in candidates) > _PRELUDE_SIZE:
            self._number(candidates)
        else:
            for keys in self.shapes:
                keys.shape = None
            self.shapes = []

    def _chosen_shapes(self, lists: list[KeyList]) -> list[KeyList]:
        chosen = [keys for keys in lists if not self._takes_shared(keys) and self._pays(keys)]
        chosen.sort(key=lambda keys: (-keys.uses, keys.order))
        first = len(self._context.shapes) if self._context else 0
        for number, keys in enumerate(chosen, first):
            keys.shape = number
        return chosen

    def _takes_shared(self, keys: KeyList) -> bool:
        """Makes a list the shape of the context that has the same keys, if there is one."""
        if self._context is None:
            return False
        shape = self._context.shape_numbers.get(tuple(key.text for key in keys.keys))
        if shape is None:
            return False
        keys.shape, keys.is_shared = shape, True
        return True

    @staticmethod
    def _pays(keys: KeyList) -> bool:
        if keys.uses < 2:
            return False
        size = sum(len(key.text_bytes) for key in keys.keys)
        keys.gain = (keys.uses - 1) * size - keys.uses - 1
        return keys.gain > 0

    def _candidates(self, strings: list[Entry]) -> list[Entry]:
        """The strings that become symbols, in the order in which they occur."""
        candidates = []
        for entry in strings:
            if self._is_shared(entry) or entry.uses < 2:
                continue
            text_size = len(entry.text_bytes)
            entry.gain = entry.values * entry.value_size + entry.keys * text_size - text_size - entry.uses
            if entry.gain > 0:
                candidates.append(entry)
        shared = len(self._context.symbols) if self._context else 0
        ranked = sorted(candidates, key=lambda entry: -entry.uses)
        for entry in ranked[: max(0, SHORT_SYMBOLS - shared)]:
            entry.is_short = True
        for entry in candidates:
            if not entry.is_short:
                entry.gain -= entry.uses * uint_size(shared)
        return [entry for entry in candidates if entry.is_short or entry.gain > 0]

    def _is_shared(self, entry: Entry) -> bool:
        """Whether a string is a symbol of the context. It is written as that where this takes fewer bytes than its text."""
        symbol = self._context.symbol_numbers.get(entry.text) if self._context else None
        if symbol is None:
            return False
        size = 1 if symbol < SHORT_SYMBOLS else 1 + uint_size(symbol)
        if size < len(entry.text_bytes):
            entry.symbol = symbol
        return True

    def _number(self, candidates: list[Entry]) -> None:
        self.symbols = [entry for entry in candidates if entry.is_short]
        self.symbols += [entry for entry in candidates if not entry.is_short]
        first = len(self._context.symbols) if self._context else 0
        for number, entry in enumerate(self.symbols, first):
            entry.symbol = number
