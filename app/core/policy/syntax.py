"""The syntax tree of a compiled condition.

The CEL runtime hands out a compiled expression as a serialized `cel.expr.CheckedExpr`, or `ParsedExpr` if it was not
checked (cel-spec, checked.proto and syntax.proto), and has no other way to look inside. This reads what the rest of
the package asks about: which names and members a condition reads, and where it loops. The wire format is Protocol
Buffers' (encoding guide: tag, then varint, 64-bit, length-delimited or 32-bit).
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from app.core.values import Json


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal; of the kinds that JSON has not, only the presence is kept, as null."""

    value: Json


@dataclass(frozen=True, slots=True)
class Name:
    """A variable; `id` leads to its place in the text (`positions`)."""

    name: str
    id: int = field(default=0, compare=False)


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

_VARINT, _BYTES = 0, 2
_FIXED: Final = {1: 8, 5: 4}  # bytes of the wire types for 64 and 32 bits
_MORE: Final = 0x80


def parse(serialized: bytes) -> Tree:
    """Return the tree of a serialized expression, a `google.protobuf.Any` around a `CheckedExpr` or `ParsedExpr`."""
    expression, _ = _parts(serialized)
    return _tree(expression)


def positions(serialized: bytes) -> dict[int, int]:
    """Return the code point of the text at which each part of a serialized expression stands, by id."""
    _, source = _parts(serialized)
    return dict(_pair(_fields(entry)) for entry in _all(_fields(source), 4))


def _parts(serialized: bytes) -> tuple[bytes, bytes]:
    outer = _fields(serialized)
    inner = _fields(_bytes(outer, 2))
    checked = _text(outer, 1).endswith("CheckedExpr")
    return (_bytes(inner, 4), _bytes(inner, 5)) if checked else (_bytes(inner, 2), _bytes(inner, 3))


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


def _tree(expression: bytes) -> Tree:
    fields = _fields(expression)
    kind = next((number for number in fields if number != _ID), 0)
    inner = _fields(_bytes(fields, kind)) if kind else {}
    if kind == _IDENTIFIER:
        return Name(_text(inner, 1), _integer(fields, _ID))
    return _READERS[kind](inner) if kind in _READERS else Constant(_constant(inner))


def _select(fields: _Fields) -> Tree:
    return Select(_tree(_bytes(fields, 1)), _text(fields, 2), bool(_integer(fields, 3)))


def _call(fields: _Fields) -> Tree:
    return Apply(_text(fields, 2), _trees([*fields.get(1, []), *fields.get(3, [])]))


def _list(fields: _Fields) -> Tree:
    return Apply("[]", _trees(fields.get(1, [])))


def _struct(fields: _Fields) -> Tree:
    entries = (_fields(entry) for entry in _all(fields, 2))
    return Apply("{}", _trees([part for entry in entries for n in (3, 4) for part in entry.get(n, [])]))


def _comprehension(fields: _Fields) -> Tree:
    body = _trees([*fields.get(5, []), *fields.get(6, [])])
    after = _trees([*fields.get(4, []), *fields.get(7, [])])
    return Loop(_text(fields, 1), _tree(_bytes(fields, 2)), body, after)


_READERS: Final[Mapping[int, Callable[[_Fields], Tree]]] = {
    _SELECT: _select,
    _CALL: _call,
    _LIST: _list,
    _STRUCT: _struct,
    _COMPREHENSION: _comprehension,
}


def _trees(expressions: list[int | bytes]) -> tuple[Tree, ...]:
    return tuple(_tree(expression) for expression in expressions if isinstance(expression, bytes))


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
    place, end = 0, len(message)
    while place < end:
        tag, place = _varint(message, place)
        value, place = _value(message, place, tag & 7)
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def _value(message: bytes, place: int, wire: int) -> tuple[int | bytes, int]:
    if wire == _VARINT:
        return _varint(message, place)
    if wire == _BYTES:
        length, place = _varint(message, place)
    else:
        length = _FIXED[wire]
    return message[place : place + length], place + length


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = message[place]
    if value < _MORE:
        return value, place + 1
    value, shift = value & ~_MORE, 7
    while True:
        place += 1
        byte = message[place]
        value |= (byte & ~_MORE) << shift
        if byte < _MORE:
            return value, place + 1
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
