"""What agents send: a call, and what became of it."""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from app.api.idempotency import LONGEST_IDEMPOTENCY_KEY, key_of
from app.api.models.fields import (
    Amount,
    Body,
    Count,
    Currency,
    Duration,
    Key,
    KeyOrEmpty,
    Members,
    Name,
    NameOrEmpty,
    Names,
    Scopes,
    Score,
)
from app.core.actions import Action, Advice, Call, Finding
from app.core.money import Money
from app.core.names import LONGEST_TEXT
from app.core.outcomes import Outcome
from app.door.problems import bad_input

MOST_ADVICE: Final = 16
MOST_REFERENCES: Final = 256

Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Severity = Literal["info", "low", "medium", "high", "critical"]


def _idempotency_key(key: str) -> str:
    if not 1 <= len(key.encode()) <= LONGEST_IDEMPOTENCY_KEY or not key.isprintable():
        raise ValueError(f"1 to {LONGEST_IDEMPOTENCY_KEY} printable bytes are expected")
    return key


class CostBody(Body):
    """Money: an exact amount in a currency."""

    amount: Amount
    currency: Currency

    def to_money(self) -> Money:
        """Return the money."""
        return Money(self.amount, self.currency)


class ActionBody(Body):
    """What would be done."""

    name: Name
    arguments: dict[str, Any] = Field(default_factory=dict)
    asset: KeyOrEmpty = ""
    environment: Name = "unknown"
    kind: NameOrEmpty = ""
    tags: Names = Field(default_factory=list)
    blast_radius: Count = 1
    cost: CostBody | None = None

    def to_action(self) -> Action:
        """Return the action, with defaults filled."""
        return Action(
            name=self.name,
            arguments=self.arguments,
            asset=self.asset,
            environment=self.environment,
            kind=self.kind,
            tags=frozenset(self.tags),
            blast_radius=self.blast_radius,
            cost=None if self.cost is None else self.cost.to_money(),
        )


class FindingBody(Body):
    """What an agent claims to have found, with its grounding."""

    title: Text
    severity: Severity
    gsar_score: Score
    evidence_refs: Annotated[list[Text], Field(max_length=MOST_REFERENCES, fail_fast=True)]
    confidence: Score | None = Field(default=None, description="the score, if it is left out")

    def to_finding(self) -> Finding:
        """Return the finding."""
        return Finding(
            title=self.title,
            severity=self.severity,
            gsar_score=self.gsar_score,
            evidence_refs=tuple(self.evidence_refs),
            confidence=self.gsar_score if self.confidence is None else self.confidence,
        )


class AdviceBody(Body):
    """An opinion, which can only raise caution."""

    outcome: Literal["allow", "require_human", "deny"]
    by: NameOrEmpty = ""
    note: Text = ""

    def to_advice(self) -> Advice:
        """Return the advice."""
        return Advice(Outcome(self.outcome), self.by, self.note)


class CallBody(Body):
    """One request to act."""

    action: ActionBody
    context: dict[str, Any] = Field(default_factory=dict)
    approval_context: Members[str, str] | None = None
    finding: FindingBody | None = None
    verification_id: Name | None = None
    advice: Annotated[list[AdviceBody], Field(max_length=MOST_ADVICE, fail_fast=True)] = Field(default_factory=list)
    precondition: KeyOrEmpty | None = Field(default=None, description="empty: it could not be taken")
    spend: Scopes = Field(default_factory=list)
    effect: Key | None = None
    lease: Duration | None = None
    approval_id: Name | None = None
    run_id: Name | None = None
    idempotency_key: Annotated[str, AfterValidator(_idempotency_key)] | None = None
    permit: bool = False

    def to_call(self, idempotency_header: str | None = None) -> Call:
        """Return the call; the key may come in the `Idempotency-Key` header instead of the body.

        Raises:
            RefusedError: the header is malformed, or says another key than the body.
        """
        return Call(
            action=self.action.to_action(),
            context=self.context,
            approval_context=self.approval_context or {},
            finding=None if self.finding is None else self.finding.to_finding(),
            verification_id=self.verification_id,
            advice=tuple(advice.to_advice() for advice in self.advice),
            precondition=self.precondition,
            spend=tuple(self.spend),
            effect=self.effect,
            lease=self.lease,
            approval_id=self.approval_id,
            run_id=self.run_id,
            idempotency_key=_one_key(self.idempotency_key, idempotency_header),
            permit=self.permit,
        )


class OutcomeBody(Body):
    """What became of an admitted action."""

    outcome: Literal["executed", "not_executed", "unknown"]
    actual_cost: CostBody | None = None
    detail: Text = ""
    result_digest: NameOrEmpty | None = None


class ExtendBody(Body):
    """How long the action will still take, from now."""

    lease: Duration


class ResolveBody(Body):
    """What an operator found out about an admission whose outcome was unknown."""

    outcome: Literal["executed", "not_executed"]
    actual_cost: CostBody | None = None
    reason: Annotated[Text, Field(min_length=1)]


def _one_key(body: str | None, header: str | None) -> str | None:
    if header is None:
        return body
    key = key_of(header)
    if body is not None and body != key:
        raise bad_input("the Idempotency-Key header says another key", "/idempotency_key")
    return key
