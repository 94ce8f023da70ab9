"""The one JSON loader: what every body and every stored document goes through before anything else looks.

RFC 8259 leaves open what happens to a member that stands twice, to a number no double can hold, or to half of a
surrogate pair, and two readers that decide differently read two requests. So all of that is refused here (the
I-JSON profile, RFC 7493), together with NUL, which Postgres cannot store. Reading is the standard library's scanner
with a few hooks; only when something is wrong does a second pass over the text look for the place.
"""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from app.core.values import GREATEST_INTEGER, Fraction, Json

MAX_DEPTH: Final = 64
"""How many arrays and objects may be open at once."""

LONGEST_NUMBER: Final = 1_000
"""Characters of a number's literal. No double needs more than 25; the time to read one grows with its length."""


class JsonError(ValueError):
    """The text is not JSON as this service reads it.

    `detail` says what is wrong without quoting the text; `pointer` (RFC 6901) names the innermost value concerned.
    """

    def __init__(self, detail: str, pointer: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.pointer = pointer


def load(data: bytes) -> Json:
    """Return the value of a JSON text in UTF-8. Numbers with a fraction or an exponent are `Fraction`.

    Raises:
        JsonError: the text is not JSON; or has a member twice, NaN or an infinity, an integer beyond ±(2^53 - 1), a
            fraction that no double can hold, half of a surrogate pair, NUL, or more than 64 levels.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        raise _fault(before, "not UTF-8") from None
    if _too_deep(data):
        raise _fault(text, "not JSON")
    try:
        value: Json = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _fault(text[: error.pos], f"not JSON: {_where(error)}") from None
    except (_RefusedError, RecursionError):
        raise _fault(text, "not JSON") from None
    if _SUSPECT.search(data) and (found := _Reading().first_fault(text)):
        raise found
    return value


def pointer(path: tuple[str | int, ...]) -> str:
    """Return the JSON pointer (RFC 6901 section 3) of a path of member names and indices; "" is the whole."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


class _RefusedError(ValueError):
    """A hook found what may not be; the second pass says what and where."""


def _integer(literal: str) -> int:
    if len(literal) > _INTEGER_CHARACTERS:
        raise _RefusedError
    number = int(literal)
    if not -GREATEST_INTEGER <= number <= GREATEST_INTEGER:
        raise _RefusedError
    return number


def _fraction(literal: str) -> Fraction:
    if len(literal) > LONGEST_NUMBER:
        raise _RefusedError
    number = Fraction(literal)
    if math.isinf(number):
        raise _RefusedError
    return number


def _constant(name: str) -> None:
    raise _RefusedError(name)


def _object(members: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(members)
    if len(found) != len(members):
        raise _RefusedError
    return found


_INTEGER_CHARACTERS = len(str(-GREATEST_INTEGER))
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_fraction, parse_int=_integer, parse_constant=_constant
)
# An escape that may be NUL or half a pair. It also matches behind an escaped backslash; the second pass knows better.
_SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
# The closing quote is optional, so that a string which never ends is read once and not from each of its quotes.
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def _too_deep(data: bytes) -> bool:
    """Return whether more than MAX_DEPTH brackets of a JSON text are open at once.

    Counting opening brackets settles it for nearly every body. Text that is no JSON may be misjudged either way; the
    scanner refuses it.
    """
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return False
    brackets = _STRING.sub(b"", data).translate(None, _NOT_BRACKETS)
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > MAX_DEPTH


def _where(error: json.JSONDecodeError) -> str:
    message = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
    return f"{message} at line {error.lineno} column {error.colno}"


def _fault(text: str, otherwise: str) -> JsonError:
    """Return what is wrong in the text; where it ends, `otherwise` is."""
    reading = _Reading()
    return reading.first_fault(text) or JsonError(otherwise, reading.pointer())


_TOKEN = re.compile(
    r"""(?P<string>"[^"\\]*(?:\\.[^"\\]*)*"?)
      | (?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)
      | (?P<constant>-?Infinity|NaN)
      | (?P<mark>[\[\]{},:])""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(slots=True)
class _Level:
    """An array or object that is open: which element or member the reading is at, and the members seen."""

    step: str | int | None
    names: set[str] = field(default_factory=set)
    expects_name: bool = False


class _Reading:
    """A walk over the tokens of a text, JSON or nearly so, that knows at which place it is.

    It needs no stack of the interpreter's, so no depth harms it.
    """

    def __init__(self) -> None:
        self._open: list[_Level] = []

    def pointer(self) -> str:
        """Return the pointer of the place that the reading has reached."""
        return pointer(tuple(level.step for level in self._open if level.step is not None))

    def first_fault(self, text: str) -> JsonError | None:
        """Return the first thing in the text that the loader refuses although JSON's grammar allows it."""
        for token in _TOKEN.finditer(text):
            kind, literal = str(token.lastgroup), token.group()
            detail = self._mark(literal) if kind == "mark" else self._value(kind, literal)
            if detail:
                return JsonError(detail, self.pointer())
        return None

    def _mark(self, mark: str) -> str | None:
        level = self._open[-1] if self._open else _Level(None)
        if mark in "[{" and len(self._open) == MAX_DEPTH:
            return f"more than {MAX_DEPTH} levels"
        if mark in "[{":
            self._open.append(_Level(0) if mark == "[" else _Level(None, expects_name=True))
        elif mark in "]}":
            del self._open[-1:]
        elif mark == "," and isinstance(level.step, int):
            level.step += 1
        elif mark == ",":
            level.step, level.expects_name = None, True
        return None

    def _value(self, kind: str, literal: str) -> str | None:
        if kind == "string":
            return self._string(literal)
        return _wrong_number(literal) if kind == "number" else f"{literal} is not JSON"

    def _string(self, literal: str) -> str | None:
        try:
            text = str(json.loads(literal))
        except ValueError:
            return None  # no JSON string; the scanner has said so
        level = self._open[-1] if self._open else _Level(None)
        wrong = _wrong_text(text)
        if wrong or not level.expects_name:
            return wrong
        twice = text in level.names
        level.names.add(text)
        level.step, level.expects_name = text, False
        return "the member stands twice" if twice else None


def _wrong_text(text: str) -> str | None:
    if "\0" in text:
        return "NUL"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "half of a surrogate pair"
    return None


def _wrong_number(literal: str) -> str | None:
    if literal.lstrip("-").isdigit():
        return None if _holds(_integer, literal) else "an integer beyond 2^53 - 1 (send it as a string)"
    if len(literal) > LONGEST_NUMBER:
        return f"a number of more than {LONGEST_NUMBER} characters"
    return None if _holds(_fraction, literal) else "a number beyond what a double can hold"


def _holds(read: Callable[[str], object], literal: str) -> bool:
    try:
        read(literal)
    except _RefusedError:
        return False
    return True
