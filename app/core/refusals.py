"""Refusals as values: what a command returns when the answer is no and there is nothing to decide.

A refusal is returned and never raised, since raising would roll back the record that proves it. `api/problems.py`
is the one place that gives each kind its HTTP status.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from app.core.values import Json


class RefusalKind(StrEnum):
    """Why a command did not do what it was asked; also the last part of a problem's type."""

    BAD_INPUT = "bad-input"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    DENIED = "denied"
    NOT_FOUND = "not-found"
    CONFLICT = "conflict"
    IDEMPOTENCY_CONFLICT = "idempotency-conflict"
    PRECONDITION_FAILED = "precondition-failed"
    SPEND_LIMIT_EXCEEDED = "spend-limit-exceeded"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A no with its reason; `detail` says what was expected and what to do, and never an argument's value.

    `code` is a public code of SEMANTICS section 10 where there is one. `pointer` names the place in the body.
    """

    kind: RefusalKind
    detail: str
    code: str = ""
    pointer: str = ""
    values: Mapping[str, Json] = field(default_factory=dict)
