"""The kinds of values that bodies are made of (SEMANTICS section 0): names, keys, amounts, durations, scores.

Each validator says what is expected and never what was sent. They run on every admission, so the common case is one
test: text in ASCII is as many bytes as characters, and printable text has no control characters.
"""

from collections.abc import Hashable
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Final, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

from app.core import names
from app.core.durations import parse_duration
from app.core.money import is_currency, parse_amount
from app.core.names import LONGEST_KEY, LONGEST_NAME
from app.core.policy.actions import MOST_SCOPES
from app.core.values import GREATEST_INTEGER

H = TypeVar("H", bound=Hashable)
K = TypeVar("K")
V = TypeVar("V")

MOST_TAGS: Final = 64
MOST_MEMBERS: Final = 1_000
_MOST_STRANGE: Final = 16


class Body(BaseModel):
    """A body or a part of one: nothing is coerced, and a member that is not known is refused."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _not_crowded(cls, sent: object) -> object:
        """Refuse very many unknown members as one fault: a fault each, and a mebibyte of them holds everybody up."""
        if isinstance(sent, dict) and len(sent) > len(cls.model_fields) + _MOST_STRANGE:
            raise ValueError(f"there are {len(cls.model_fields)} members here, and others were sent")
        return sent


def _text(text: str, least: int, most: int) -> str:
    if least <= len(text) <= most and text.isascii() and text.isprintable():
        return text
    if not names.has_size(text, least, most):
        raise ValueError(f"{least} to {most} bytes are expected")
    if names.has_control(text):
        raise ValueError("control characters are not allowed")
    return text


def _name(text: str) -> str:
    return _text(text, 1, LONGEST_NAME)


def _name_or_empty(text: str) -> str:
    return _text(text, 0, LONGEST_NAME)


def _not_blank(name: str) -> str:
    if not name.strip():
        raise ValueError("a name that is not blank is expected")
    return name


def _key(text: str) -> str:
    return _text(text, 1, LONGEST_KEY)


def _key_or_empty(text: str) -> str:
    return _text(text, 0, LONGEST_KEY)


def _currency(text: str) -> str:
    if not is_currency(text):
        raise ValueError("three capital letters are expected, such as EUR")
    return text


def _score(number: object) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 1:
        raise ValueError("a number from 0 to 1 is expected")
    return float(number)


def _not_crowded(sent: object) -> object:
    if isinstance(sent, dict) and len(sent) > MOST_MEMBERS:
        raise ValueError(f"at most {MOST_MEMBERS} members are expected")
    return sent


def _without_repeats(items: list[H]) -> list[H]:
    return list(dict.fromkeys(items))


Name = Annotated[str, AfterValidator(_name), Field(json_schema_extra={"minLength": 1, "maxLength": LONGEST_NAME})]
"""A principal, tag, kind or rule: 1 to 128 bytes without control characters."""

NameOrEmpty = Annotated[str, AfterValidator(_name_or_empty), Field(json_schema_extra={"maxLength": LONGEST_NAME})]

Somebody = Annotated[Name, AfterValidator(_not_blank)]
"""The name of a principal, which is not blank."""

Key = Annotated[str, AfterValidator(_key), Field(json_schema_extra={"minLength": 1, "maxLength": LONGEST_KEY})]
"""An effect key or scope: 1 to 512 bytes without control characters."""

KeyOrEmpty = Annotated[str, AfterValidator(_key_or_empty), Field(json_schema_extra={"maxLength": LONGEST_KEY})]

Amount = Annotated[
    Decimal,
    BeforeValidator(parse_amount),
    WithJsonSchema({"type": ["string", "number"], "pattern": r"^(0|[1-9][0-9]{0,14})(\.[0-9]{1,8})?$"}),
]
"""An exact amount: digits, and at most eight after a point; a string, or a number written that way."""

Currency = Annotated[str, AfterValidator(_currency), Field(json_schema_extra={"pattern": "^[A-Z]{3}$"})]

Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    WithJsonSchema({"type": "string", "pattern": "^[1-9][0-9]{0,8}[smhd]$", "examples": ["15m"]}),
]

Score = Annotated[float, BeforeValidator(_score), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]

Count = Annotated[int, Field(ge=0, le=GREATEST_INTEGER)]

Names = Annotated[list[Name], Field(max_length=MOST_TAGS, fail_fast=True), AfterValidator(_without_repeats)]
"""A set of names, 64 at most."""

Scopes = Annotated[list[Key], Field(max_length=MOST_SCOPES, fail_fast=True), AfterValidator(_without_repeats)]
"""A set of scopes, 16 at most."""

Members = Annotated[dict[K, V], BeforeValidator(_not_crowded), Field(max_length=MOST_MEMBERS)]
"""An object of names and values, 1,000 at most: counted before each of them is looked at."""
