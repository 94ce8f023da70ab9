"""The one JSON loader: what every body and every stored document goes through before anything else looks.

RFC 8259 leaves open what happens to a member that stands twice, to a number no double can hold, or to half of a
surrogate pair, and two readers that decide differently read two requests. So all of that is refused here (the
I-JSON profile, RFC 7493), together with NUL, which Postgres cannot store. Reading is the standard library's scanner
with a few hooks; only when something is wrong does a second pass over the text look for the place. A mebibyte holds up
whoever else the process serves, so either pass leaves to compiled code what compiled code can settle.
"""

import json
import math
import re
from collections.abc import Callable
from itertools import accumulate
from typing import Final

from app.core.values import GREATEST_INTEGER, Fraction, Json

MAX_DEPTH: Final = 64
"""How many arrays and objects may be open at once."""

_TOO_DEEP: Final = f"more than {MAX_DEPTH} levels"

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
        # From Python 3.13 on the place of a comma too many is the comma, and before that what stands after it.
        place = error.pos + error.msg.startswith("Illegal trailing comma")
        raise _fault(text[:place], f"not JSON: {_where(error)}") from None
    except (_RefusedError, RecursionError):
        raise _fault(text, "not JSON") from None
    if _SUSPECT.search(data) and not _CLEAN.fullmatch(data):
        raise _fault(text, "not JSON")
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
# An escape that may be NUL or half a pair. It also matches behind an escaped backslash; the next one knows better.
_SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
# JSON in which every escape is of one character, of a pair, or of what is neither NUL nor half a pair.
_CLEAN = re.compile(rb"(?:[^\\]++|\\(?:[^u]|u[dD][89abAB]..\\u[dD][c-fC-F]|u(?!0000|[dD][89a-fA-F])))*+", re.DOTALL)
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


# Where nothing can be wrong, much is passed over as one token: values of an array with their commas, a member with its
# value. A plain string has no escapes, and a word no mark either that is counted or looked for among such values.
_PLAIN = r'"[^"\\\x00-\x1f]*"'
_WORD = r'"[^"\\\x00-\x1f,\[{]*"'
_SIMPLE = rf"(?:-?[0-9]{{1,15}}+(?:\.[0-9]{{1,15}}+)?(?:[eE][-+]?[0-9]{{1,2}}+)?|true|false|null|{_WORD})"
_HARMLESS = rf"(?:{_SIMPLE}|\[\s*(?:{_SIMPLE}\s*)?\]|{{\s*(?:{_WORD}\s*:\s*{_SIMPLE}\s*)?}})\s*,\s*"
_TOKEN = re.compile(
    rf"""(?P<values>(?:{_HARMLESS})++)
      | (?P<member>{_PLAIN}\s*:\s*{_SIMPLE}\s*(?:,|(?=}})))
      | (?P<plain>{_PLAIN})
      | (?P<string>"[^"\\]*(?:\\.[^"\\]*)*"?)
      | (?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)
      | (?P<constant>-?Infinity|NaN)
      | (?P<arrays>\[+)
      | (?P<object>{{)
      | (?P<ends>[\]}}]+(?:\s*,)?)
      | (?P<comma>,)""",
    re.VERBOSE | re.DOTALL,
)
_BRACKET = re.compile(r"[\[{]")


class _Reading:
    """A walk over the tokens of a text, JSON or nearly so, that knows at which place it is.

    It needs no stack of the interpreter's, so no depth harms it. There is a method for each kind of token; it returns
    what is wrong with one.
    """

    def __init__(self) -> None:
        # Of all that is open, the text itself first: the element or member that the reading is at, None where a
        # member's name comes next; and of objects the members seen.
        self._steps: list[str | int | None] = [None]
        self._members: list[set[str] | None] = [None]

    def pointer(self) -> str:
        """Return the pointer of the place that the reading has reached."""
        return pointer(tuple(step for step in self._steps if step is not None))

    def first_fault(self, text: str) -> JsonError | None:
        """Return the first thing in the text that the loader refuses although JSON's grammar allows it."""
        read = [getattr(self, f"_{kind}") for kind in _TOKEN.groupindex]
        for token in _TOKEN.finditer(text):
            detail = read[(token.lastindex or 0) - 1](token.group())
            if detail is not None:
                return JsonError(detail, self.pointer())
        return None

    def _values(self, values: str) -> str | None:
        """Pass over the values; but where nothing more may be opened, not even what is closed again at once."""
        opened = _BRACKET.search(values) if len(self._steps) > MAX_DEPTH else None
        self._comma(values[: opened.start()] if opened else values)
        return _TOO_DEEP if opened else None

    def _comma(self, commas: str) -> None:
        step, count = self._steps[-1], commas.count(",")
        if isinstance(step, int):
            self._steps[-1] = step + count
        elif count:
            self._steps[-1] = None

    def _member(self, text: str) -> str | None:
        wrong = self._text(text[1 : text.index('"', 1)])
        if wrong is None:
            self._comma(text[-1])
        return wrong

    def _plain(self, literal: str) -> str | None:
        return self._text(literal[1:-1])

    def _string(self, literal: str) -> str | None:
        try:
            text = str(_DECODER.raw_decode(literal)[0])
        except ValueError:
            return None  # no JSON string; the scanner has said so
        return _wrong_text(text) or self._text(text)

    def _text(self, text: str) -> str | None:
        """Take the text for a member's name, if one comes next."""
        members = self._members[-1]
        if members is None or self._steps[-1] is not None:
            return None
        self._steps[-1] = text
        if text in members:
            return "the member stands twice"
        members.add(text)
        return None

    def _number(self, literal: str) -> str | None:
        return _wrong_number(literal)

    def _constant(self, literal: str) -> str:
        return f"{literal} is not JSON"

    def _arrays(self, brackets: str) -> str | None:
        return self._open(0, [None] * len(brackets))

    def _object(self, _bracket: str) -> str | None:
        return self._open(None, [set()])

    def _open(self, step: int | None, members: list[set[str] | None]) -> str | None:
        levels = members[: MAX_DEPTH + 1 - len(self._steps)]
        self._steps += [step] * len(levels)
        self._members += levels
        return None if levels == members else _TOO_DEEP

    def _ends(self, brackets: str) -> None:
        count = min(brackets.count("]") + brackets.count("}"), len(self._steps) - 1)
        if count:
            del self._steps[-count:], self._members[-count:]
        self._comma(brackets)


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
