"""What the service answers: a decision, the admission that permits, and the question that people are asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

Outcome: TypeAlias = Literal["allow", "require_human", "deny"]
Result: TypeAlias = Literal["executed", "not_executed", "unknown"]
Status: TypeAlias = Literal["pending", "approved", "denied", "expired", "cancelled", "superseded", "consumed"]


@dataclass(frozen=True, slots=True)
class Trigger:
    """One check that fired. `values` are what the caller sent or the policy states, under their own names."""

    code: str
    outcome: Outcome
    message: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Approval:
    """A question to a person. `arguments` are those of an approver's edit, and None where nothing was edited."""

    id: str
    status: Status
    expires_at: datetime | None
    comment: str | None
    decided_by: str | None
    arguments: Mapping[str, Any] | None = field(repr=False)
    raw: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Admission:
    """The one answer that permits.

    `provider_token` is the same for every try of one attempt: hand it to a provider as its idempotency key. `permit`,
    if asked for, is the token that a tool checks with `verify_permit`.
    """

    id: str
    expires_at: datetime | None
    attempt: int
    provider_token: str | None = field(repr=False)
    permit: str | None = field(repr=False)
    raw: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the service said to one call.

    `allowed` is whether this very invocation may act: an admission that is replayed under an idempotency key which
    this invocation did not make itself is no second licence, and is `allowed: False` here with `replayed: True`.
    `message` is a sentence for the caller's user, `reason` one for its developer. `raw` is the whole body as it came.
    """

    outcome: Outcome
    allowed: bool
    reason: str
    message: str | None
    triggered: tuple[Trigger, ...]
    labels: tuple[str, ...]
    approval_id: str | None
    approval: Approval | None
    admission: Admission | None
    replayed: bool
    audit_id: str | None
    request_id: str | None
    raw: Mapping[str, Any] = field(repr=False)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes that fired, in the service's order."""
        return tuple(trigger.code for trigger in self.triggered)

    @property
    def held(self) -> bool:
        """Whether a person has been asked and waiting makes sense."""
        return self.outcome == "require_human" and self.approval_id is not None

    @property
    def text(self) -> str:
        """What a user may hear: the message, or else the reason."""
        return self.message or self.reason

    def trigger(self, code: str) -> Trigger | None:
        """Return the check of that code, if it fired."""
        return next((trigger for trigger in self.triggered if trigger.code == code), None)
