"""A question: one call that waits for people, and the states that it moves through."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from app.core.authority import Ballot
from app.core.money import Money
from app.core.values import Json, JsonObject

NOBODY = "system:timeout"
"""Who refused when nobody answered in time: the clock, not a person."""


class Status(StrEnum):
    """Where a question stands."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    CONSUMED = "consumed"


OPEN: Final = (Status.PENDING, Status.APPROVED)
"""Where something can still come of a question: people may vote, or an agent may use their yes."""

STANDING: Final = (*OPEN, Status.DENIED, Status.CONSUMED)
"""Where a question answers the call when it is sent again; a denial does until its end."""


class Withdrawal(StrEnum):
    """Why a question was cancelled; it stands in the place of a comment."""

    BY_REQUESTER = "who asked took it back"
    RUN_ENDED = "its run has ended"
    OTHER_VERSION = "another version of the policy is in force"


class Verdict(StrEnum):
    """What a vote says."""

    APPROVE = "approve"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Resolved:
    """What the policy made of a call: what was approved, and what a redemption may not exceed.

    `own_labels` are the declared and derived ones, on which approver rules match; `caller_labels` the caller's.
    """

    cost: Money | None
    blast_radius: int
    effects: frozenset[str]
    scopes: frozenset[str]
    asset: str
    labels: frozenset[str]
    own_labels: frozenset[str]
    caller_labels: frozenset[str]

    @property
    def written_cost(self) -> dict[str, Json] | None:
        """Return what the call costs as it is written, or None if it costs nothing."""
        return None if self.cost is None else self.cost.as_json()

    def exceeded_by(self, other: "Resolved") -> str | None:
        """Return what of a later weighing was not approved, or None: a greater cost or radius, another consequence."""
        if other.effects != self.effects:
            return "effect"
        if other.scopes != self.scopes:
            return "spend"
        if other.asset != self.asset:
            return "asset"
        if other.blast_radius > self.blast_radius:
            return "blast_radius"
        return "cost" if _dearer(other.cost, self.cost) else None

    def joined(self, other: "Resolved") -> "Resolved":
        """Return this with the labels of another weighing added; nothing else changes by asking again."""
        return Resolved(
            cost=self.cost,
            blast_radius=self.blast_radius,
            effects=self.effects,
            scopes=self.scopes,
            asset=self.asset,
            labels=self.labels | other.labels,
            own_labels=self.own_labels | other.own_labels,
            caller_labels=self.caller_labels | other.caller_labels,
        )

    def as_json(self) -> dict[str, Json]:
        """Return it for a row."""
        return {
            "cost": self.written_cost,
            "blast_radius": self.blast_radius,
            "asset": self.asset,
            **{name: sorted(getattr(self, name)) for name in _SETS},
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Resolved":
        """Return what a row holds."""
        return cls(
            cost=None if row["cost"] is None else Money.from_json(row["cost"]),
            blast_radius=row["blast_radius"],
            asset=row["asset"],
            **{name: frozenset(row[name]) for name in _SETS},
        )


_SETS = ("effects", "scopes", "labels", "own_labels", "caller_labels")


def _dearer(cost: Money | None, approved: Money | None) -> bool:
    if cost is None or not cost.amount:
        return False
    return approved is None or cost.currency != approved.currency or cost.amount > approved.amount


@dataclass(frozen=True, slots=True)
class Edit:
    """Other values that an approver gave the call: its digest and key, and what the policy makes of it.

    `arguments` are None once erased.
    """

    digest: str
    key: str
    resolved: Resolved
    arguments: JsonObject | None


@dataclass(frozen=True, slots=True)
class Vote:
    """One vote, as it was cast. `refusal` is the code of one that did not count, else ""."""

    voter: str
    cast_by: str
    verdict: Verdict
    at: datetime
    comment: str = ""
    bases: tuple[Mapping[str, str], ...] = ()
    refusal: str = ""
    edited_key: str | None = None

    @property
    def ballot(self) -> Ballot:
        """Return whose vote it is and who cast it."""
        return Ballot(self.voter, self.cast_by)


@dataclass(frozen=True, slots=True)
class Matter:
    """What of a question says who may decide it: who asks, and the labels of the call, and of the edited one.

    Each form has its own labels (declared and derived) and those of the caller.
    """

    principal: str
    kind: str
    owner: str
    forms: tuple[tuple[frozenset[str], frozenset[str]], ...]


@dataclass(slots=True)
class Question:
    """One question, with its votes in the order in which they came."""

    id: str
    principal: str
    caller: JsonObject
    action: str
    digest: str
    key: str
    call: JsonObject | None
    resolved: Resolved
    created_at: datetime
    expires_at: datetime
    ttl: timedelta
    use_within: timedelta
    policy_revision: int
    policy_version: str
    policy_digest: str
    reason: str = ""
    codes: tuple[str, ...] = ()
    summary: str = ""
    shown: JsonObject = field(default_factory=dict)
    context: JsonObject = field(default_factory=dict)
    advice: tuple[JsonObject, ...] = ()
    precondition: str | None = None
    run_id: str | None = None
    edit: Edit | None = None
    status: Status = Status.PENDING
    use_before: datetime | None = None
    decided_at: datetime | None = None
    decided_by: str = ""
    comment: str = ""
    admission_id: str | None = None
    changed_seq: int = 0
    votes: list[Vote] = field(default_factory=list)

    @property
    def open(self) -> bool:
        """Return whether something can still come of it."""
        return self.status in OPEN

    @property
    def due_at(self) -> datetime:
        """Return when its wait is over, or if it waits for nothing, when it could not have counted any longer."""
        if self.status is Status.APPROVED and self.use_before is not None:
            return self.use_before
        return self.expires_at if self.open else max(self.expires_at, self.use_before or self.expires_at)

    def overdue(self, now: datetime) -> bool:
        """Return whether its wait is over; a deadline is over exactly at its time."""
        return self.open and self.due_at <= now

    def live(self, now: datetime) -> bool:
        """Return whether something can still come of it at this moment."""
        return self.open and not self.overdue(now)

    def finished_by(self, moment: datetime) -> bool:
        """Return whether nothing could come of it any more at that moment."""
        return not self.open and self.due_at <= moment

    @property
    def ended_with_its_run(self) -> bool:
        """Return whether it was cancelled since the run that asked has ended."""
        return self.status is Status.CANCELLED and self.comment == Withdrawal.RUN_ENDED

    def stands_denied(self, now: datetime) -> bool:
        """Return whether a person's denial still answers every repeat."""
        return self.status is Status.DENIED and now < self.expires_at

    def replaced_call(self, key: str, now: datetime) -> bool:
        """Return whether people have approved other values in place of the call of this key, and it is in time."""
        if self.edit is None or self.key != key or self.edit.key == key or self.use_before is None:
            return False
        return self.status in {Status.APPROVED, Status.CONSUMED} and now < self.use_before

    def approves(self, digest: str) -> bool:
        """Return whether its yes, once given, is for the call of this digest."""
        return digest == (self.digest if self.edit is None else self.edit.digest)

    def may_be_used_for(self, digest: str) -> bool:
        """Return whether people have said yes to the call of this digest and nobody has used it."""
        return self.status is Status.APPROVED and self.approves(digest)

    def waits_for(self, digest: str) -> bool:
        """Return whether people have still to decide the call of this digest."""
        return self.status is Status.PENDING and self.digest == digest

    def answers(self, digest: str, now: datetime) -> bool:
        """Return whether the call of this digest need not be asked about: it is open, or denied for now."""
        return self.stands_denied(now) or self.may_be_used_for(digest) or (self.open and self.digest == digest)

    @property
    def matter(self) -> Matter:
        """Return what says who may decide it."""
        forms = (self.resolved,) if self.edit is None else (self.resolved, self.edit.resolved)
        return Matter(
            principal=self.principal,
            kind=str(self.caller["kind"]),
            owner=str(self.caller["owner"]),
            forms=tuple((form.own_labels, form.caller_labels) for form in forms),
        )

    @property
    def approved_form(self) -> Resolved:
        """Return what the policy made of the call that would run: the edited one, if there is one."""
        return self.resolved if self.edit is None else self.edit.resolved

    def counted(self, verdict: Verdict) -> list[Vote]:
        """Return the votes of a kind that counted when they were cast."""
        return [vote for vote in self.votes if vote.verdict is verdict and not vote.refusal]

    def vote_of(self, voter: str) -> Vote | None:
        """Return the counted vote of a person."""
        return next((vote for vote in self.votes if vote.voter == voter and not vote.refusal), None)

    # the moves; each is recorded by whoever makes it

    def approve(self, now: datetime, by: str, comment: str) -> None:
        """Let the call be used from now on, for as long as `use_within` says."""
        self.status, self.use_before = Status.APPROVED, now + self.use_within
        self._decide(now, by, comment)

    def deny(self, now: datetime, by: str, comment: str) -> None:
        """Refuse the call, and every repeat of it for as long as `ttl` says."""
        self.status, self.use_before, self.expires_at = Status.DENIED, None, now + self.ttl
        self._decide(now, by, comment)

    def expire(self, now: datetime) -> None:
        """End the wait: nobody answered, or nobody used the answer."""
        if self.status is Status.PENDING:
            self._decide(now, NOBODY, "")
        self.status = Status.EXPIRED

    def reopen(self, now: datetime) -> None:
        """Take an approval back to the people: their quorum does not hold any more. The votes stay."""
        self.status, self.use_before, self.expires_at = Status.PENDING, None, now + self.ttl
        self.decided_at, self.decided_by, self.comment = None, "", ""

    def cancel(self, now: datetime, by: str, why: Withdrawal) -> None:
        """Withdraw it."""
        self.status = Status.CANCELLED
        self._decide(now, by, why)

    def supersede(self) -> None:
        """End it since the policy does not ask any more; no stale yes stays."""
        self.status = Status.SUPERSEDED

    def consume(self, admission_id: str) -> None:
        """Use it up for an admission."""
        self.status, self.admission_id = Status.CONSUMED, admission_id

    def erase(self) -> None:
        """Forget what was private: the call, the values shown, the context, and an edit's values."""
        self.call, self.shown, self.context = None, {}, {}
        if self.edit is not None:
            self.edit = Edit(self.edit.digest, self.edit.key, self.edit.resolved, None)

    def _decide(self, now: datetime, by: str, comment: str) -> None:
        self.decided_at, self.decided_by, self.comment = now, by, comment
