"""A call as it is sent: the action, and what stands around it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal, TypedDict

from countersign._arguments import encode

_AMOUNT = re.compile(r"(0|[1-9][0-9]{0,14})(\.[0-9]{1,8})?", re.ASCII)
_CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Money:
    """An exact amount that is not negative, in a currency of three capital letters. A float is never exact.

    Raises:
        ValueError: not an amount such as 12.50 with at most eight decimals, or not a currency such as EUR.
        TypeError: the amount is a float or a boolean.
    """

    amount: str
    currency: str

    def __init__(self, amount: str | int | Decimal, currency: str) -> None:
        if isinstance(amount, bool) or not isinstance(amount, str | int | Decimal):
            raise TypeError("an amount is a text, an int or a Decimal; a float is not exact")
        text = format(amount, "f") if isinstance(amount, Decimal) else str(amount)
        if not _AMOUNT.fullmatch(text):
            raise ValueError("not an amount: digits, and at most eight after a point, such as 12.50")
        if not _CURRENCY.fullmatch(currency):
            raise ValueError("not a currency: three capital letters, such as EUR")
        object.__setattr__(self, "amount", text)
        object.__setattr__(self, "currency", currency)

    def as_json(self) -> dict[str, str]:
        """Return the money as the service reads it."""
        return {"amount": self.amount, "currency": self.currency}


class Advice(TypedDict, total=False):
    """An opinion that can only make the answer more cautious."""

    outcome: Literal["allow", "require_human", "deny"]
    by: str
    note: str


class CallOptions(TypedDict, total=False):
    """What may stand around an action. All of it is optional, and None is as good as left out.

    Of the action: `asset`, `environment`, `kind`, `tags`, `blast_radius` (how many things one call touches) and `cost`.
    Of the call: `context` (facts for the policy's conditions), `approval_context` (texts that belong to the question),
    `finding`, `verification_id`, `advice`, `precondition` (a fingerprint of the resource's state), `spend` (the
    caller's own scopes), `effect` (the caller's own effect key), `lease` (how long the admission may take),
    `approval_id` (redeem this question, and open no other), `run_id`, `idempotency_key`, `permit` (ask for a token).
    """

    asset: str | None
    environment: str | None
    kind: str | None
    tags: Iterable[str] | None
    blast_radius: int | None
    cost: Money | None
    context: Mapping[str, Any] | None
    approval_context: Mapping[str, str] | None
    finding: Mapping[str, Any] | None
    verification_id: str | None
    advice: Sequence[Advice] | None
    precondition: str | None
    spend: Iterable[str] | None
    effect: str | None
    lease: timedelta | None
    approval_id: str | None
    run_id: str | None
    idempotency_key: str | None
    permit: bool | None


_OF_THE_ACTION = ("asset", "environment", "kind", "tags", "blast_radius", "cost")


def call_body(action: str, arguments: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a call: `{action: {name, arguments, ...}, ...}`, without what is None.

    Raises:
        TypeError: an option that no call has.
        ArgumentError: an argument that JSON cannot carry.
    """
    unknown = options.keys() - CallOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"a call has no option {min(unknown)!r}")
    given = {name: _plain(name, value) for name, value in options.items() if value is not None}
    inside = {name: given.pop(name) for name in _OF_THE_ACTION if name in given}
    return {"action": {"name": action, "arguments": encode(arguments), **inside}, **given}


def duration(span: timedelta) -> str:
    """Return a span as the service reads it: whole seconds, such as `90s`.

    Raises:
        ValueError: it is shorter than a second, or has fractions of one.
    """
    if span < timedelta(seconds=1) or span % timedelta(seconds=1):
        raise ValueError("a span of time is at least one second, in whole seconds")
    return f"{span // timedelta(seconds=1)}s"


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, Money):
        return value.as_json()
    if isinstance(value, timedelta):
        return duration(value)
    if name in {"tags", "spend"}:
        return _texts(name, value)
    return value


def _texts(name: str, value: Iterable[str]) -> list[str]:
    if isinstance(value, str):
        raise TypeError(f"`{name}` is a list of texts, not one text")
    return sorted(value) if isinstance(value, set | frozenset) else list(value)
