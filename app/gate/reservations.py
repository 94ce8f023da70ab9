"""Reservations without an action, for metering: room on scopes, settled later with what was used.

A reservation is an admission of kind metering: it has a lease, runs out to unknown without freeing what it holds, and
is resolved like any other.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal

from app.core.actions import Caller
from app.core.canonical import digest
from app.core.chain import timestamp
from app.core.checks import NO_POLICY, spend_check
from app.core.codes import Code, Trigger
from app.core.decision import Decision, decide
from app.core.durations import format_duration
from app.core.money import Money
from app.core.outcomes import Outcome
from app.core.policy.limits import Limit
from app.core.refusals import Refusal, RefusalKind
from app.core.values import Json
from app.effects.admissions import Admission, Kind, State
from app.gate import answers, idempotency, records, report
from app.gate.answers import Answer
from app.gate.authorisation import authorise, revoked
from app.gate.holds import hold_of
from app.gate.lane import Lane
from app.gate.report import Said


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be reserved: an amount on each of the scopes, for a while."""

    scopes: tuple[str, ...]
    money: Money
    lease: timedelta
    idempotency_key: str | None = None

    @property
    def digest(self) -> str:
        """Return the digest that an idempotency key stands for."""
        return digest(
            {"reservation": sorted(self.scopes), **self.money.as_json(), "lease": format_duration(self.lease)}
        )


@dataclass(slots=True)
class Reserve:
    """Takes room on scopes; `id` becomes the reservation's, if there is room."""

    id: str
    request_id: str
    credential_id: str
    wanted: Wanted
    _limits: Sequence[tuple[Limit, str]] = field(init=False, default=())

    def wants(self, lane: Lane) -> None:
        """Ask for the room under every limit that covers a scope, and for what the idempotency key stands for."""
        caller = authorise(lane, self.credential_id, "spend:write")
        if isinstance(caller, Refusal):
            return
        if self.wanted.idempotency_key is not None:
            since = lane.now - lane.defaults.idempotency_keep
            lane.effects.want_idempotency_key(caller.principal, self.wanted.idempotency_key, since)
        self._limits = _covering(lane, self.wanted.scopes)
        lane.spend.want(self._limits)
        lane.spend.want_totals(self.wanted.scopes, self.wanted.money.currency)

    def run(self, lane: Lane) -> Answer | Refusal:
        """Reserve, or say which limit leaves no room; recorded either way."""
        caller = authorise(lane, self.credential_id, "spend:write")
        if isinstance(caller, Refusal):
            return caller
        stored = self._stored(lane, caller)
        if stored is not None:
            return idempotency.replay(lane, caller, stored, self.wanted.digest)
        decision = decide(self._checks(lane, caller), ())
        if decision.outcome is Outcome.ALLOW:
            return self._reserve(lane, caller, decision)
        self._record(lane, caller, decision, {})
        return _refusal(decision, sees_spend=caller.may("spend:read"))

    def _stored(self, lane: Lane, caller: Caller) -> Admission | None:
        key = self.wanted.idempotency_key
        return None if key is None else lane.effects.of_idempotency_key(caller.principal, key)

    def _checks(self, lane: Lane, caller: Caller) -> list[Trigger]:
        if lane.policy is None:
            return [NO_POLICY]
        money = self.wanted.money
        checks = [
            revoked(lane.authority, caller.principal, ""),
            *(_mismatch(limit, scope, money.currency) for limit, scope in self._limits),
            *(
                spend_check(limit, scope, *lane.spend.room(limit, scope), limit.takes(money.amount))
                for limit, scope in self._limits
            ),
        ]
        return [check for check in checks if check is not None]

    def _reserve(self, lane: Lane, caller: Caller, decision: Decision) -> Answer:
        reservation = self._reservation(lane, caller)
        lane.effects.admit(reservation)
        lane.spend.hold(hold_of(reservation))
        expires_at = timestamp(reservation.expires_at)
        seq = self._record(
            lane, caller, decision, {"admission": {**records.of_admission(reservation), "expires_at": expires_at}}
        )
        body = {
            "outcome": decision.outcome,
            "allowed": True,
            "audit_id": answers.audit_id(lane.tenant, seq),
            **answers.view(reservation, lane.now),
        }
        reservation.answer = json.dumps(body)
        return Answer(body)

    def _reservation(self, lane: Lane, caller: Caller) -> Admission:
        return Admission(
            id=self.id,
            principal=caller.principal,
            created_at=lane.now,
            expires_at=lane.now + self.wanted.lease,
            kind=Kind.METERING,
            scopes=list(self.wanted.scopes),
            amount=self.wanted.money.amount,
            currency=self.wanted.money.currency,
            idempotency_key=self.wanted.idempotency_key,
            request_digest=self.wanted.digest,
        )

    def _record(self, lane: Lane, caller: Caller, decision: Decision, also: Mapping[str, Json]) -> int:
        wanted = self.wanted
        payload = {
            "request_id": self.request_id,
            **records.of_caller(caller),
            "kind": Kind.METERING,
            "cost": {**wanted.money.as_json(), "scopes": list(wanted.scopes)},
            "totals": records.of_totals(lane.spend, wanted.scopes, wanted.money.currency),
            "policy": None if lane.policy is None else lane.policy.named,
            **records.of_decision(decision),
            **also,
        }
        return lane.journal.append("admission.decided", payload, principal=caller.principal)


@dataclass(frozen=True, slots=True)
class EndReservation:
    """Ends a reservation: executed spends what was used, or all that is held; not executed gives it back.

    `actual` is in the reservation's currency. The word of a holder of `spend:write` is trusted for less than the hold:
    it could as well give back everything and record what it likes.
    """

    id: str
    credential_id: str
    reservation_id: str
    outcome: State
    actual: Decimal | None = None

    def wants(self, lane: Lane) -> None:
        """Ask for the reservation."""
        lane.effects.want(self.reservation_id)

    def run(self, lane: Lane) -> dict[str, Json] | Refusal:
        """Settle or release what is held, and record it."""
        caller = authorise(lane, self.credential_id, "spend:write")
        if isinstance(caller, Refusal):
            return caller
        reservation = lane.effects.get(self.reservation_id)
        if reservation is None or not _may_end(caller, reservation):
            return Refusal(RefusalKind.NOT_FOUND, f"there is no reservation {self.reservation_id}")
        actual = None if self.actual is None else Money(self.actual, reservation.currency)
        return report.tell(lane, caller, reservation, Said(self.outcome, actual), trusted=True)


def _may_end(caller: Caller, reservation: Admission) -> bool:
    own = reservation.principal == caller.principal or caller.may("report")
    return own and reservation.kind is Kind.METERING


def _covering(lane: Lane, scopes: Sequence[str]) -> list[tuple[Limit, str]]:
    limits = () if lane.policy is None else lane.policy.policy.limits
    return [(limit, scope) for limit in limits for scope in scopes if limit.matches(scope)]


def _mismatch(limit: Limit, scope: str, currency: str) -> Trigger | None:
    if limit.currency in {None, currency}:
        return None
    message = f"the limit {limit.name} on {scope} is in {limit.currency}, and this is in {currency}"
    values = {"limit": limit.name, "scope": scope, "currency": currency, "expected": limit.currency}
    return Trigger(Code.CURRENCY_MISMATCH, Outcome.DENY, message, values)


def _refusal(decision: Decision, *, sees_spend: bool) -> Refusal:
    first = decision.triggered[0]
    over = first.code is Code.SPEND_LIMIT_EXCEEDED
    return Refusal(
        RefusalKind.SPEND_LIMIT_EXCEEDED if over else RefusalKind.DENIED,
        decision.reason,
        code=first.code,
        values={"triggered": answers.of_triggers(decision.triggered, sees_spend=sees_spend)},
    )
