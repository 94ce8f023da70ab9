"""What may be shown of arguments: a typed summary to all, chosen values to approvers, card numbers to nobody."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import rfc8785

from app.core.values import Json, JsonObject

# A payment card number has 13 to 19 digits (ISO/IEC 7812), often written in blocks.
_SHORTEST, _LONGEST = 13, 19
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)  # the sum of the digits of the double
_DIGITS = re.compile(r"\d(?:[\s.\-\u2010-\u2015\u2212\u00a0]?\d)+")


def summarise(arguments: JsonObject) -> str:
    """Return `name=value` of all arguments in code-point order: what queue, transports and record may hold.

    Strings, lists and objects are shown by type and size only; numbers, booleans and null as they are.
    """
    return ", ".join(f"{mask(name)}={typed(arguments[name])}" for name in sorted(arguments))


def typed(value: Json) -> str:
    """Return a value as a summary shows it: `12.5`, `true`, `<null>`, `<str:22>`, `<list:2>`, `<object:3>`."""
    match value:
        case None:
            return "<null>"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return mask(_number(value))
        case str():
            return f"<str:{len(value)}>"
        case Mapping():
            return f"<object:{len(value)}>"
        case _:
            return f"<list:{len(value)}>"


def shown(arguments: JsonObject, names: Iterable[str]) -> dict[str, Json]:
    """Return the named arguments in full for approvers, with card numbers masked; absent ones are left out."""
    return {name: masked(arguments[name]) for name in names if name in arguments}


def masked(value: Json) -> Json:
    """Return the value with every card number in it masked, at any depth, in names too."""
    match value:
        case None | bool():
            return value
        case int() | float():
            text = _number(value)
            hidden = mask(text)
            return value if hidden == text else hidden
        case str():
            return mask(value)
        case Mapping():
            return {mask(name): masked(member) for name, member in value.items()}
        case _:
            return [masked(element) for element in value]


def mask(text: str) -> str:
    """Return the text with every run of 13 to 19 digits that passes the Luhn check as `<masked:16>`.

    Digits of any script count, and so do digits in blocks with single spaces, points or dashes between them.
    """
    return _DIGITS.sub(_masked_run, text)


def passes_luhn(digits: Sequence[int]) -> bool:
    """Return whether the last digit is the Luhn check digit of the others (ISO/IEC 7812-1, annex B)."""
    return (sum(digits[-1::-2]) + sum(_DOUBLED[digit] for digit in digits[-2::-2])) % 10 == 0


def _masked_run(run: re.Match[str]) -> str:
    digits = [unicodedata.decimal(character) for character in run[0] if character.isdecimal()]
    if _SHORTEST <= len(digits) <= _LONGEST and passes_luhn(digits):
        return f"<masked:{len(digits)}>"
    return run[0]


def _number(value: float) -> str:
    return rfc8785.dumps(value).decode("ascii")
