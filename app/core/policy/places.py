"""A cursor over a document: each value with its path, and one list for all that is wrong.

A reading function asks a `Place` for what it expects. Where something else stands the place complains and gives a
harmless value instead, so that one reading finds every problem; a document with problems is never used.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from typing import TypeVar

from app.core import names
from app.core.durations import DurationError, format_duration, parse_duration
from app.core.money import AmountError, Money, is_currency, parse_amount
from app.core.names import LONGEST_NAME
from app.core.policy.problems import DocumentError, alternatives, shown, suggestion
from app.core.policy.source import Path, Source
from app.core.values import GREATEST_INTEGER, Json

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)


MOST_COMPLAINTS = 100
"""After so many the reading ends: nobody mends more at once."""


class TooManyComplaintsError(Exception):
    """The document has more wrong with it than is worth naming."""


@dataclass(slots=True)
class Complaints:
    """What was found wrong so far, and where."""

    found: list[tuple[str, Path]] = field(default_factory=list)

    def add(self, message: str, path: Path) -> None:
        """Note one thing.

        Raises:
            TooManyComplaintsError: it was one too many.
        """
        self.found.append((message, path))
        if len(self.found) == MOST_COMPLAINTS:
            raise TooManyComplaintsError


@dataclass(frozen=True, slots=True)
class Place:
    """A value of the document and the way to it."""

    value: Json
    path: Path
    complaints: Complaints

    def complain(self, message: str) -> None:
        """Note that something is wrong here."""
        self.complaints.add(message, self.path)

    def __truediv__(self, step: str | int) -> "Place":
        """Return the place of a member or an element; where there is none, one that holds null."""
        value: Json = None
        if isinstance(self.value, Mapping):
            value = self.value.get(str(step))
        elif isinstance(self.value, list) and isinstance(step, int):
            value = self.value[step]
        return Place(value, (*self.path, step), self.complaints)

    def members(self, known: Collection[str], required: Collection[str] = ()) -> "dict[str, Place]":
        """Return the members of an object; unknown and missing ones are complained about."""
        found = self.entries()
        for name in sorted(found.keys() - set(known)):
            found.pop(name).complain(f"unknown key {shown(name)}: {suggestion(name, known)}")
        if isinstance(self.value, Mapping):
            for name in required:
                if name not in found:
                    self.complain(f"the key {name} is missing")
        return found

    def entries(self) -> "dict[str, Place]":
        """Return the members of an object whose names are free."""
        if not isinstance(self.value, Mapping):
            self.expected("an object")
            return {}
        return {name: self / name for name in self.value}

    def elements(self, most: int | None = None) -> "list[Place]":
        """Return the elements of a list."""
        if not isinstance(self.value, list):
            self.expected("a list")
            return []
        if most is not None and len(self.value) > most:
            self.complain(f"more than {most} elements")
        return [self / place for place in range(len(self.value))]

    def text(self) -> str:
        """Return a text."""
        if isinstance(self.value, str):
            return self.value
        self.expected("text")
        return ""

    def name(self, longest: int = LONGEST_NAME) -> str:
        """Return a name: text of 1 to `longest` bytes without control characters."""
        text = self.text()
        if isinstance(self.value, str) and (wrong := wrong_name(text, longest)):
            self.complain(wrong)
        return text

    def names(self) -> tuple[str, ...]:
        """Return a list of names, each once."""
        return tuple(dict.fromkeys(element.name() for element in self.elements()))

    def name_or_names(self) -> tuple[str, ...]:
        """Return the names of a list, or the one that stands here by itself."""
        return (self.name(),) if isinstance(self.value, str) else self.names()

    def flag(self) -> bool:
        """Return true or false."""
        if isinstance(self.value, bool):
            return self.value
        self.expected("true or false")
        return False

    def integer(self, least: int, most: int = GREATEST_INTEGER) -> int:
        """Return an integer within the bounds."""
        value = self.value
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        upto = "" if most == GREATEST_INTEGER else f" and at most {most}"
        self.expected(f"an integer of at least {least}{upto}")
        return least

    def score(self) -> float:
        """Return a number from 0 to 1."""
        value = self.value
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
            return float(value)
        self.expected("a number from 0 to 1")
        return 0.0

    def choice(self, words: type[E]) -> E:
        """Return one of the words."""
        if not isinstance(self.value, str):
            self.expected(alternatives(word.value for word in words))
            return next(iter(words))
        try:
            return words(self.value)
        except ValueError:
            what = f"{shown(self.value)} is none of the words that may stand here"
            self.complain(f"{what}: {suggestion(self.value, [word.value for word in words])}")
            return next(iter(words))

    def duration(self, most: timedelta) -> timedelta:
        """Return a span of time of at most `most`."""
        span = self.converted(parse_duration, DurationError, timedelta(seconds=1))
        if span > most:
            self.complain(f"longer than {format_duration(most)}")
        return span

    def amount(self) -> Decimal:
        """Return an amount of money."""
        return self.converted(parse_amount, AmountError, Decimal())

    def currency(self) -> str:
        """Return a currency: three capital letters."""
        text = self.text()
        if isinstance(self.value, str) and not is_currency(text):
            self.complain("not a currency: three capital letters, such as EUR")
        return text

    def money(self) -> Money:
        """Return an amount with its currency."""
        members = self.members(("amount", "currency"), ("amount", "currency"))
        if len(members) < len(("amount", "currency")):
            return Money(Decimal(), "")
        return Money(members["amount"].amount(), members["currency"].currency())

    def converted(self, convert: Callable[[Json], T], error: type[ValueError], otherwise: T) -> T:
        """Return what `convert` makes of the value; what it raises is complained about."""
        try:
            return convert(self.value)
        except error as wrong:
            self.complain(str(wrong))
            return otherwise

    def expected(self, what: str) -> None:
        """Note that something else was expected here."""
        self.complain(f"expected {what}, not {_kind(self.value)}")


def wrong_name(text: str, longest: int = LONGEST_NAME) -> str | None:
    """Return why the text is no name of 1 to `longest` bytes without control characters, or None if it is one."""
    if not names.has_size(text, 1, longest):
        return f"not a name of 1 to {longest} bytes"
    if names.has_control(text):
        return "a name has no control characters"
    return None


def _kind(value: Json) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case Mapping():
            return "an object"
        case _:
            return "a list"


def read_with(read: Callable[[Place], T], source: Source) -> T:
    """Return what a reading function makes of a document.

    Raises:
        DocumentError: something is wrong with it; up to a hundred things are named, each with its place.
    """
    complaints = Complaints()
    found: T | None = None
    with suppress(TooManyComplaintsError):
        found = read(Place(source.value, (), complaints))
    if found is None or complaints.found:
        raise DocumentError(source.problem(message, path) for message, path in complaints.found)
    return found
