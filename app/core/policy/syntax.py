"""The syntax tree of a compiled condition.

The CEL runtime hands out a compiled expression as a serialized `cel.expr.CheckedExpr` (cel-spec, checked.proto and
syntax.proto) and has no other way to look inside. This reads what the rest of the package asks about: which names and
members a condition reads, and where it loops. The wire format is Protocol Buffers' (encoding guide: tag, then varint,
64-bit, length-delimited or 32-bit).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from app.core.values import Json


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal; of the kinds that JSON has not, only the presence is kept, as null."""

    value: Json


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, and the code point of the text at which it stands."""

    name: str
    position: int


@dataclass(frozen=True, slots=True)
class Select:
    """A member of a value; `test` is `has()`, which asks only whether it is there."""

    operand: "Tree"
    member: str
    test: bool


@dataclass(frozen=True, slots=True)
class Apply:
    """A function, an operator or a method; a method's target comes first. Lists and maps are `[]` and `{}`."""

    function: str
    arguments: "tuple[Tree, ...]"


@dataclass(frozen=True, slots=True)
class Loop:
    """A macro such as `all` or `exists`: what it runs over, and what it does each time."""

    variable: str
    over: "Tree"
    body: "tuple[Tree, ...]"
    after: "tuple[Tree, ...]"


Tree: TypeAlias = Constant | Name | Select | Apply | Loop
_Fields: TypeAlias = dict[int, list[int | bytes]]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MORE: Final = 0x80


def parse(serialized: bytes) -> Tree:
    """Return the tree of a serialized expression (a `google.protobuf.Any` around a `CheckedExpr`)."""
    checked = _fields(_bytes(_fields(serialized), 2))
    positions = dict(_pair(_fields(entry)) for entry in _all(_fields(_bytes(checked, 5)), 4))
    return _Reading(positions).tree(_bytes(checked, 4))


def walk(tree: Tree) -> Iterator[Tree]:
    """Yield the tree and everything below it."""
    yield tree
    for below in children(tree):
        yield from walk(below)


def children(tree: Tree) -> tuple[Tree, ...]:
    """Return what stands directly below."""
    match tree:
        case Select():
            return (tree.operand,)
        case Apply():
            return tree.arguments
        case Loop():
            return (tree.over, *tree.body, *tree.after)
        case _:
            return ()


# Field numbers of cel.expr.Expr, and of the constants, calls and so on inside it.
_ID, _IDENTIFIER, _SELECT, _CALL, _LIST, _STRUCT, _COMPREHENSION = 2, 4, 5, 6, 7, 8, 9
_BOOLEAN, _INT, _UINT, _DOUBLE, _STRING = 2, 3, 4, 5, 6


class _Reading:
    """Reads expressions, whose ids lead to their positions."""

    def __init__(self, positions: dict[int, int]) -> None:
        self._positions = positions
        self._readers = {
            _SELECT: self._select,
            _CALL: self._call,
            _LIST: self._list,
            _STRUCT: self._struct,
            _COMPREHENSION: self._comprehension,
        }

    def tree(self, expression: bytes) -> Tree:
        fields = _fields(expression)
        kind = next((number for number in fields if number != _ID), 0)
        inner = _fields(_bytes(fields, kind)) if kind else {}
        if kind == _IDENTIFIER:
            return Name(_text(inner, 1), self._positions.get(_integer(fields, _ID), 0))
        return self._readers[kind](inner) if kind in self._readers else Constant(_constant(inner))

    def _select(self, fields: _Fields) -> Tree:
        return Select(self.tree(_bytes(fields, 1)), _text(fields, 2), bool(_integer(fields, 3)))

    def _call(self, fields: _Fields) -> Tree:
        return Apply(_text(fields, 2), self._trees([*fields.get(1, []), *fields.get(3, [])]))

    def _list(self, fields: _Fields) -> Tree:
        return Apply("[]", self._trees(fields.get(1, [])))

    def _struct(self, fields: _Fields) -> Tree:
        entries = (_fields(entry) for entry in _all(fields, 2))
        return Apply("{}", self._trees([part for entry in entries for n in (3, 4) for part in entry.get(n, [])]))

    def _comprehension(self, fields: _Fields) -> Tree:
        body = self._trees([*fields.get(5, []), *fields.get(6, [])])
        after = self._trees([*fields.get(4, []), *fields.get(7, [])])
        return Loop(_text(fields, 1), self.tree(_bytes(fields, 2)), body, after)

    def _trees(self, expressions: list[int | bytes]) -> tuple[Tree, ...]:
        return tuple(self.tree(expression) for expression in expressions if isinstance(expression, bytes))


def _constant(fields: _Fields) -> Json:
    for number, values in fields.items():
        value = values[-1]
        if number == _BOOLEAN:
            return bool(value)
        if number in {_INT, _UINT} and isinstance(value, int):
            return value - 2**64 if number == _INT and value >= 2**63 else value
        if number == _DOUBLE and isinstance(value, bytes):
            return float(struct.unpack("<d", value)[0])
        if number == _STRING and isinstance(value, bytes):
            return value.decode()
    return None


def _fields(message: bytes) -> _Fields:
    """Return the fields of a message by number: integers of varints, bytes of all else."""
    fields: _Fields = {}
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        wire = tag & 7
        value: int | bytes
        if wire == _VARINT:
            value, place = _varint(message, place)
        else:
            length = {_FIXED64: 8, _FIXED32: 4}.get(wire, 0)
            if wire == _BYTES:
                length, place = _varint(message, place)
            value, place = message[place : place + length], place + length
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & ~_MORE) << shift
        if byte < _MORE:
            return value, place
        shift += 7


def _all(fields: _Fields, number: int) -> Iterator[bytes]:
    return (value for value in fields.get(number, []) if isinstance(value, bytes))


def _bytes(fields: _Fields, number: int) -> bytes:
    return next(_all(fields, number), b"")


def _text(fields: _Fields, number: int) -> str:
    return _bytes(fields, number).decode()


def _integer(fields: _Fields, number: int) -> int:
    value = fields.get(number, [0])[-1]
    return value if isinstance(value, int) else 0


def _pair(fields: _Fields) -> tuple[int, int]:
    return _integer(fields, 1), _integer(fields, 2)
