"""What a condition may expect of arguments, from their JSON Schema.

Conditions are evaluated over dynamic values. A second compilation, against the types that the schema promises, finds
what can never hold: comparing a text with a number. JSON does not tell integers from fractions, so what is wrong is
only what is wrong with all numbers read as integers and also with all read as fractions.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from cel_expr_python import cel

from app.core.policy import syntax
from app.core.policy.syntax import Name, Select, Tree
from app.core.values import Json

_OBJECT: Final = cel.Type.Map(cel.Type.STRING, cel.Type.DYN)
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_ERROR: Final = re.compile(r"ERROR: <input>:(-?[0-9]+:-?[0-9]+): (.*)")
_NUMBERS_COMPARED: Final = re.compile(
    r"found no matching overload for '(?:_[<>]=?_|_[!=]=_|@in)' applied to "
    r"'\((?:int|uint|double), (?:int|uint|double|list\((?:int|uint|double)\))\)'"
)
_DEEPEST: Final = 4
_NUMBER: Final = "number"
_WORDS: Final = {"integer": _NUMBER, "number": _NUMBER, "string": "string", "boolean": "boolean", "object": "object"}

Kinds = Mapping[str, str]
"""The kind of each name that is known: string, number, boolean, object, time, or `list ` and the kind of elements."""

FACTS: Final[Kinds] = {
    "asset": "string", "labels": "list string", "now": "time",
    "cost": "object", "cost.amount": "number", "cost.currency": "string",
    "action": "object", "action.name": "string", "action.environment": "string", "action.kind": "string",
    "action.blast_radius": "number",
    "principal": "object", "principal.name": "string", "principal.kind": "string", "principal.owner": "string",
    "principal.environment": "string", "principal.roles": "list string", "principal.tenant": "string",
    "request": "object", "request.environment": "string", "request.kind": "string", "request.tags": "list string",
    "request.blast_radius": "number", "request.asset": "string", "request.effect": "string",
    "request.spend": "list string", "request.run_id": "string",
}  # fmt: skip
"""Everything that a condition may read beside `arguments` and `context`, whose members are free."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a schema says of arguments: the kinds of their members, by path, their names, and which must be there."""

    kinds: Kinds = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()


def of_schema(schema: Json) -> Arguments:
    """Return what an argument schema promises; where it is not plain, nothing."""
    if not isinstance(schema, Mapping):
        return Arguments()
    resolved = _resolved(schema, schema)
    properties = resolved.get("properties")
    required = resolved.get("required")
    return Arguments(
        kinds=dict(_members("arguments", resolved, schema, 0)),
        names=frozenset(properties) if isinstance(properties, Mapping) else frozenset(),
        required=frozenset(map(str, required)) if isinstance(required, list) else frozenset(),
    )


@lru_cache(maxsize=16_384)
def impossible(text: str, kinds: frozenset[tuple[str, str]]) -> tuple[str, ...]:
    """Return what can never hold in a condition over values of these kinds; its text as `with_presence_untyped`."""
    found = _errors(text, _environment(kinds, integers=False))
    if found:
        also = _errors(text, _environment(kinds, integers=True))
        found = {place: message for place, message in found.items() if place in also}
    return tuple(found.values())


def _members(path: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Iterator[tuple[str, str]]:
    properties = schema.get("properties")
    if depth == _DEEPEST or not isinstance(properties, Mapping):
        return
    for name, member in properties.items():
        if not isinstance(member, Mapping) or not _IDENTIFIER.fullmatch(name):
            continue
        resolved = _resolved(member, root)
        kind = _kind(resolved, root)
        if kind is not None:
            yield f"{path}.{name}", kind
        if kind == "object":
            yield from _members(f"{path}.{name}", resolved, root, depth + 1)


def _kind(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str | None:
    """Return the one kind that the schema allows, or None."""
    words = _words(schema)
    if words == {"array"}:
        items = schema.get("items")
        kind = _kind(_resolved(items, root), root) if isinstance(items, Mapping) else None
        return f"list {kind}" if kind else "list"
    kinds = {_WORDS.get(word) for word in words}
    return kinds.pop() if len(kinds) == 1 else None


def _words(schema: Mapping[str, Any]) -> frozenset[str]:
    stated = schema.get("type")
    if isinstance(stated, str):
        return frozenset({stated})
    if isinstance(stated, list):
        return frozenset(map(str, stated))
    values = schema["enum"] if isinstance(schema.get("enum"), list) else [schema["const"]] if "const" in schema else []
    return frozenset(map(_word, values))


def _word(value: Json) -> str:
    match value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case _:
            return "null"


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that a local reference leads to; nothing, if something else stands beside it."""
    for _ in range(_DEEPEST):
        if "$ref" not in schema:
            return schema
        target: Any = root
        for step in str(schema["$ref"]).lstrip("#/").split("/"):
            target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
        if not isinstance(target, Mapping):
            break
        schema = target
    return {}


@lru_cache(maxsize=256)
def _environment(kinds: frozenset[tuple[str, str]], *, integers: bool) -> Any:  # noqa: ANN401  # the runtime's own types
    number = cel.Type.INT if integers else cel.Type.DOUBLE
    variables = {"context": _OBJECT, "arguments": _OBJECT}
    for name, kind in (*FACTS.items(), *kinds):
        variables[name] = _type(kind, number)
    variables |= {f"{name[:-1]}_": _OBJECT for name, kind in variables.items() if "." not in name and kind == _OBJECT}
    return cel.NewEnv(variables=variables)


def _type(kind: str, number: Any) -> Any:  # noqa: ANN401  # the runtime's own types
    if kind.startswith("list"):
        element = kind.removeprefix("list").strip()
        return cel.Type.List(_type(element, number) if element else cel.Type.DYN)
    simple = {
        "string": cel.Type.STRING, "number": number, "boolean": cel.Type.BOOL, "time": cel.Type.TIMESTAMP,
        "object": _OBJECT,
    }  # fmt: skip
    return simple[kind]


def with_presence_untyped(text: str, tree: Tree, serialized: bytes) -> str:
    """Return the text with another name at the root of each `has()`.

    A member whose type is known is a variable of its own to the checker, which would take `has(arguments.x)` for its
    value. `argument_` has the same members without types, and the same length, so that places stay.
    """
    roots = [_root(node) for node in syntax.walk(tree) if isinstance(node, Select) and node.test]
    if not roots:
        return text
    characters, places = list(text), syntax.positions(serialized)
    for name in roots:
        if name is not None:
            characters[places[name.id] + len(name.name) - 1] = "_"
    return "".join(characters)


def _root(tree: Tree) -> Name | None:
    while isinstance(tree, Select):
        tree = tree.operand
    return tree if isinstance(tree, Name) and tree.name in {"arguments", "context", *FACTS} else None


def _errors(text: str, environment: Any) -> dict[str, str]:  # noqa: ANN401  # the runtime's own type
    try:
        gives = environment.compile(text).return_type().name()
    except RuntimeError as error:
        return complaints(str(error))
    return {} if gives in {"BOOL", "DYN"} else {"": f"it gives {gives.lower()}, not true or false"}


def complaints(said: str) -> dict[str, str]:
    """Return what the compiler complains of, by place in the condition (line and column).

    Numbers of two kinds compare when a condition is evaluated, though the compiler holds them apart.
    """
    found = {place: message.removesuffix(" [INVALID_ARGUMENT]") for place, message in _ERROR.findall(said)}
    return {place: message for place, message in found.items() if not _NUMBERS_COMPARED.fullmatch(message)}
