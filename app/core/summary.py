"""What may be shown of arguments: a typed summary to all, chosen values to approvers, card numbers to nobody."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import rfc8785

from app.core.values import Json, JsonObject

# A payment card number has 13 to 19 digits (ISO/IEC 7812), often written in blocks, of which the first has four or
# six digits and none fewer than three.
_SHORTEST, _LONGEST = 13, 19
_FIRST_BLOCK, _BLOCK = 4, 3
_MOST, _LONGEST_NAME = 64, 128
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)  # the sum of the digits of the double
_RUN = re.compile(r"\d(?:[\s.\-\u2010-\u2015\u2212]?\d)+")
_DIGITS = re.compile(r"\d+")


def summarise(arguments: JsonObject) -> str:
    """Return `name=value` of the arguments in code-point order: what queue, transports and record may hold.

    Strings, lists and objects are shown by type and size only; numbers, booleans and null as they are. Of more than
    64 arguments the rest is counted, and names beyond 128 characters are cut, since a caller chooses both.
    """
    shown_names = sorted(arguments)[:_MOST]
    rest = [f"<and {len(arguments) - _MOST} more>"] if len(arguments) > _MOST else []
    return ", ".join([*(f"{_name(name)}={typed(arguments[name])}" for name in shown_names), *rest])


def typed(value: Json) -> str:
    """Return a value as a summary shows it: `12.5`, `true`, `<null>`, `<str:22>`, `<list:2>`, `<object:3>`."""
    match value:
        case None:
            return "<null>"
        case bool():
            return "true" if value else "false"
        case str():
            return f"<str:{len(value)}>"
        case int() | float():
            return mask(_number(value))
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
    """Return the text with everything in it that reads as a card number as `<masked:16>`.

    That is 13 to 19 digits that pass the Luhn check, of any script, in one block or in several with a space, a point
    or a dash between them, whatever digits stand around them.
    """
    return text if len(text) < _SHORTEST else _RUN.sub(_masked_run, text)


def passes_luhn(digits: Sequence[int]) -> bool:
    """Return whether the last digit is the Luhn check digit of the others (ISO/IEC 7812-1, annex B)."""
    return (sum(digits[-1::-2]) + sum(_DOUBLED[digit] for digit in digits[-2::-2])) % 10 == 0


def _masked_run(run: re.Match[str]) -> str:
    text = run[0]
    if _is_card(text):
        return _mark(text)
    blocks = [block.span() for block in _DIGITS.finditer(text)]
    shown, done, first = [], 0, 0
    while first < len(blocks):
        after = _card_from(text, blocks, first)
        if after is None:
            first += 1
            continue
        start, end = blocks[first][0], blocks[after - 1][1]
        shown += [text[done:start], _mark(text[start:end])]
        done, first = end, after
    return "".join((*shown, text[done:]))


def _card_from(text: str, blocks: Sequence[tuple[int, int]], first: int) -> int | None:
    """Return the block after the longest card number that begins with this one, or None."""
    start, end = blocks[first]
    if end - start < _FIRST_BLOCK:
        return None
    digits, found = 0, None
    for place, (begin, end) in enumerate(blocks[first : first + _LONGEST // _BLOCK], first):
        digits += end - begin
        if digits > _LONGEST or end - begin < _BLOCK:
            break
        if _is_card(text[start:end]):
            found = place + 1
    return found


def _is_card(text: str) -> bool:
    if not _SHORTEST <= len(text) < 2 * _LONGEST:
        return False
    digits = [unicodedata.decimal(character) for character in text if character.isdecimal()]
    return _SHORTEST <= len(digits) <= _LONGEST and passes_luhn(digits)


def _mark(text: str) -> str:
    return f"<masked:{sum(character.isdecimal() for character in text)}>"


def _name(name: str) -> str:
    return mask(name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…")


def _number(value: float) -> str:
    return str(value) if type(value) is int else rfc8785.dumps(value).decode("ascii")
