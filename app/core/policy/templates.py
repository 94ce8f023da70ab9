"""Templates: text with `{argument}` in it, filled so that different arguments never give the same text.

Values are written in NFC and percent-encoded (RFC 3986 section 2.1) but for unreserved characters, so a separator that
is not one of these cannot come from a value. Where the text between two placeholders has no such character, those that
it has are encoded in values too.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import rfc8785

from app.core.names import LONGEST_KEY
from app.core.policy.places import Place, wrong_name
from app.core.policy.problems import shown
from app.core.values import Json, JsonObject

OF_CALLERS: Final = "caller:"
"""What the keys and scopes begin with that callers bring: no policy's may."""

OF_SYSTEM: Final = "system:"
"""What the scopes begin with that the service counts for itself, such as the budgets of grants: nobody else's may."""

_NOT_OURS: Final = (OF_CALLERS, OF_SYSTEM)

_PART: Final = re.compile(r"\{([^{}]*)\}|([^{}]+)|([{}])")
_UNRESERVED: Final = re.compile(r"[A-Za-z0-9._~-]")
_PLAIN: Final = re.compile(r"[A-Za-z0-9._~-]*")
_MARKS_ENCODING: Final = frozenset("%0123456789ABCDEF")


class TemplateError(ValueError):
    """The text is no template."""


class UnresolvedError(ValueError):
    """The template cannot be filled from these arguments; the message names the placeholder and never a value."""


@dataclass(frozen=True, slots=True)
class Template:
    """A text whose odd parts are names of arguments, and the characters of values that its separators need encoded."""

    text: str
    parts: tuple[str, ...]
    encoded: frozenset[str] = frozenset()

    @property
    def arguments(self) -> tuple[str, ...]:
        """Return the names of the arguments that it takes."""
        return self.parts[1::2]

    def fill(self, arguments: JsonObject) -> str:
        """Return the text with its placeholders filled.

        Raises:
            UnresolvedError: an argument is missing, or is neither text nor a number; or the text is too long, empty,
                or one that only a caller's or the service's may be.
        """
        if len(self.parts) == 1:
            return self.text
        filled = "".join(self._value(part, arguments) if place % 2 else part for place, part in enumerate(self.parts))
        if filled.startswith(_NOT_OURS):
            raise UnresolvedError(f"the filled text may not begin with {OF_CALLERS} or {OF_SYSTEM}")
        if wrong := wrong_name(filled, LONGEST_KEY):
            raise UnresolvedError(f"filled, it is {wrong}")
        return filled

    def _value(self, name: str, arguments: JsonObject) -> str:
        if name not in arguments:
            raise UnresolvedError(f"the argument {shown(name)} is missing")
        text = plain_text(name, arguments[name])
        if not _PLAIN.fullmatch(text):
            text = quote(text, safe="")
        for character in self.encoded:
            text = text.replace(character, f"%{ord(character):02X}")
        return text


def plain_text(name: str, value: Json) -> str:
    """Return a text in NFC or a number in RFC 8785 form.

    Raises:
        UnresolvedError: the value of the argument is anything else.
    """
    if isinstance(value, str):
        return value if value.isascii() else unicodedata.normalize("NFC", value)
    if type(value) is int:
        return str(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return rfc8785.dumps(value).decode("ascii")
    raise UnresolvedError(f"the argument {shown(name)} is neither text nor a number")


def parse(text: str) -> Template:
    """Return the template that the text is.

    Raises:
        TemplateError: a brace has no partner, a placeholder no name, two placeholders touch or could run into each
            other, or the text is no key of 1 to 512 bytes or begins like a caller's or the service's.
    """
    if wrong := wrong_name(text, LONGEST_KEY):
        raise TemplateError(wrong)
    if text.startswith(_NOT_OURS):
        raise TemplateError(f"only keys that callers bring begin with {OF_CALLERS}, and the service's with {OF_SYSTEM}")
    parts = tuple(split(text))
    if "" in parts[2:-1:2]:
        raise TemplateError("two placeholders touch; put a separator such as : between them")
    return Template(text, parts, frozenset().union(*map(_encoded_for, parts[2:-1:2])))


def split(text: str) -> Iterator[str]:
    """Return text and names of placeholders in turn, beginning and ending with text.

    Raises:
        TemplateError: a brace has no partner, or a placeholder no name.
    """
    literal = ""
    for match in _PART.finditer(text):
        name, words, brace = match.groups()
        if brace or name == "":
            raise TemplateError("a brace without a partner, or without a name between; a placeholder is {argument}")
        if words:
            literal = words
            continue
        yield from (literal, name)
        literal = ""
    yield literal


def _encoded_for(separator: str) -> frozenset[str]:
    """Return the characters that values must not hold as they are, so that the separator tells them apart."""
    characters = frozenset(separator)
    if any(not _UNRESERVED.match(character) and character != "%" for character in characters):
        return frozenset()
    telling = characters - _MARKS_ENCODING
    if not telling:
        raise TemplateError(f"{shown(separator)} does not keep two values apart; put a separator such as : there")
    return telling


@dataclass(frozen=True, slots=True)
class Sentence:
    """Text with `{argument}` for a person to read: filled as it is, without encoding."""

    parts: tuple[str, ...]

    @property
    def arguments(self) -> tuple[str, ...]:
        """Return the names of the arguments that it takes."""
        return self.parts[1::2]

    def fill(self, arguments: Mapping[str, Json]) -> str | None:
        """Return the sentence, or None if an argument that it takes is missing or is neither text nor a number."""
        try:
            return "".join(
                plain_text(part, arguments.get(part)) if place % 2 else part for place, part in enumerate(self.parts)
            )
        except UnresolvedError:
            return None


def read_template(place: Place) -> Template:
    """Return the template that stands here."""
    return place.converted(_from_text, TemplateError, Template("", ("",)))


def read_sentence(place: Place) -> Sentence:
    """Return the sentence that stands here."""
    text = place.text()
    return place.converted(lambda _: Sentence(tuple(split(text))), TemplateError, Sentence(("",)))


def _from_text(value: Json) -> Template:
    if not isinstance(value, str):
        raise TemplateError("expected text with {argument} in it")
    return parse(value)
