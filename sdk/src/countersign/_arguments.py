"""Arguments of a Python call as the JSON that is asked about, and an approver's edit back again.

Exact or not at all: what JSON cannot carry is an ArgumentError, never a rounded or a guessed value.
"""

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from enum import Enum
from inspect import BoundArguments, Parameter, Signature
from inspect import signature as signature_of
from typing import Any
from uuid import UUID

from countersign._errors import ArgumentError

_GREATEST_INTEGER = 2**53 - 1
"""Beyond this, integers are not exact in JSON (RFC 8259, section 6), and the service refuses them."""

_TEXT: Mapping[type, tuple[Callable[[Any], str], Callable[[str], Any]]] = {
    Decimal: (str, Decimal),
    datetime: (datetime.isoformat, datetime.fromisoformat),
    date: (date.isoformat, date.fromisoformat),
    UUID: (str, UUID),
}
"""Types that travel as text: how they are written and read."""


def bind(signature: Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> BoundArguments:
    """Bind a call to a signature, with its defaults filled in.

    Raises:
        TypeError: the call does not fit the signature, as Python itself would say.
    """
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return bound


def by_name(bound: BoundArguments) -> dict[str, Any]:
    """Return bound arguments by name; those of `**kwargs` stand beside the others.

    Raises:
        ArgumentError: one name twice.
    """
    named: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        members = value if _kind(bound, name) is Parameter.VAR_KEYWORD else {name: value}
        if members.keys() & named.keys():
            raise ArgumentError(f"an argument of **{name} has the name of another argument")
        named.update(members)
    return named


def as_json(bound: BoundArguments) -> dict[str, Any]:
    """Return bound arguments by name as JSON; `self` and `cls` are left out.

    Raises:
        ArgumentError: a value that JSON cannot carry, or one name twice.
    """
    return encode({name: value for name, value in by_name(bound).items() if not _is_receiver(bound, name)})


def chosen(function: Callable[..., Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the named arguments that a function takes: the ones it names, or all with `**kwargs`."""
    parameters = _parameters(function)
    if parameters is None or any(each.kind is Parameter.VAR_KEYWORD for each in parameters):
        return dict(named)
    return {each.name: named[each.name] for each in parameters if each.name in named}


def check_choice(function: Callable[..., Any], signature: Signature) -> None:
    """Check that a function asks only for arguments that calls of this signature have.

    Raises:
        TypeError: it asks for another one, or for one by its position alone.
    """
    if any(each.kind is Parameter.VAR_KEYWORD for each in signature.parameters.values()):
        return
    for each in _parameters(function) or ():
        if each.kind is Parameter.POSITIONAL_ONLY:
            raise TypeError(f"{each.name!r} is asked for by position, and arguments are given by name")
        optional = each.default is not Parameter.empty or each.kind in {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD}
        if not optional and each.name not in signature.parameters:
            raise TypeError(f"an option asks for {each.name!r}, which is no argument of the function")


def _parameters(function: Callable[..., Any]) -> list[Parameter] | None:
    try:
        return list(signature_of(function).parameters.values())
    except ValueError:  # a builtin that does not say
        return None


def encode(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as JSON: tuples become lists; decimals, dates, UUIDs text; an Enum its value.

    Raises:
        ArgumentError: JSON cannot carry one exactly; its place (a path of names and indexes) is in the message.
    """
    try:
        return {_name(name, "itself"): _encode(value, str(name)) for name, value in arguments.items()}
    except RecursionError:
        raise ArgumentError("an argument is too deep, or contains itself") from None


def _encode(value: Any, place: str) -> Any:
    if isinstance(value, Enum):
        return _encode(value.value, place)
    if type(value) in _TEXT:
        return _TEXT[type(value)][0](value)
    if isinstance(value, Mapping):
        return {_name(name, place): _encode(member, f"{place}.{name}") for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(element, f"{place}[{index}]") for index, element in enumerate(value)]
    return _scalar(value, place)


def _scalar(value: Any, place: str) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, place)
    if isinstance(value, int) and abs(value) <= _GREATEST_INTEGER:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    raise ArgumentError(f"argument {place}: JSON cannot carry this {type(value).__name__}; say it with `arguments=`")


def _text(value: str, place: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ArgumentError(f"argument {place}: a lone surrogate is not text") from None
    return str(value)


def _name(name: object, place: str) -> str:
    if not isinstance(name, str):
        raise ArgumentError(f"argument {place}: the name of a member is a {type(name).__name__}, not text")
    return _text(name, place)


def edited(bound: BoundArguments, asked: Mapping[str, Any], edit: Mapping[str, Any]) -> BoundArguments:
    """Return the call as an approver edited it: what was left alone stays the caller's own object.

    Raises:
        ArgumentError: the edit names other arguments, or one whose type does not come back from JSON.
    """
    if edit.keys() != asked.keys():
        raise ArgumentError("the edit has other argument names than the call")
    changed = {name: value for name, value in edit.items() if not same_json(value, asked[name])}
    result = bound.signature.bind(*bound.args, **bound.kwargs)
    for name, value in changed.items():
        _replace(result, name, value)
    return result


def _replace(bound: BoundArguments, name: str, value: Any) -> None:
    spread = next((each for each in bound.arguments if _kind(bound, each) is Parameter.VAR_KEYWORD), None)
    if name in bound.arguments and name != spread:
        original = bound.arguments[name]
        bound.arguments[name] = _decode(original, value, name)
    elif spread is not None:
        members = bound.arguments[spread]
        bound.arguments[spread] = {**members, name: _decode(members[name], value, name)}


def _decode(original: Any, value: Any, name: str) -> Any:
    """Return an edited value as the type that the caller used, where that type comes back from JSON."""
    try:
        if isinstance(original, Enum):
            return type(original)(value)
        if type(original) in _TEXT:
            return _TEXT[type(original)][1](value)
    except (ValueError, TypeError, InvalidOperation):
        raise ArgumentError(f"argument {name}: the edit is no {type(original).__name__}") from None
    if not _is_plain(original):
        raise ArgumentError(f"argument {name}: an edit cannot be turned back into its {type(original).__name__}")
    return tuple(value) if isinstance(original, tuple) and isinstance(value, list) else value


def _is_plain(value: Any) -> bool:
    if type(value) in {list, tuple}:
        return all(map(_is_plain, value))
    if type(value) is dict:
        return all(map(_is_plain, value.values()))
    return value is None or type(value) in {str, int, float, bool}


def same_json(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal: 1 equals 1.0, and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    return bool(one == other)


def _kind(bound: BoundArguments, name: str) -> Any:
    parameter = bound.signature.parameters.get(name)
    return None if parameter is None else parameter.kind


def _is_receiver(bound: BoundArguments, name: str) -> bool:
    return name in {"self", "cls"} and next(iter(bound.signature.parameters), None) == name
