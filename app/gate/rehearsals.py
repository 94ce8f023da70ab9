"""What is kept of a weighed call for replays, and the revision that is weighed beside the one in force.

Nothing of this touches an answer: a shadow that fails is a note on its row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from app.core import calls
from app.core.actions import Advice, Call, Caller, Verification
from app.core.chain import timestamp
from app.core.codes import Code, Trigger
from app.core.decision import Decision
from app.core.outcomes import Outcome
from app.core.rehearsal import NotRehearsableError, Room, StoredFacts, rehearse, room, room_of
from app.core.values import Json
from app.gate.asked import Asked
from app.gate.lane import Lane
from app.gate.stored_checks import verification_of
from app.policies.active import ActivePolicy

_FIXED: Final = frozenset(
    {
        Code.REVOKED,
        Code.NO_GRANT,
        Code.GRANT_EXPIRED,
        Code.GRANT_CONSTRAINT,
        Code.GRANT_BUDGET,
        Code.EFFECT_IN_PROGRESS,
        Code.EFFECT_ALREADY_DONE,
        Code.EFFECT_UNKNOWN,
        Code.ATTEMPTS_EXHAUSTED,
    }
)
"""What stored state has against a call under any policy."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """What the revision beside the one in force said, or why it said nothing."""

    revision: int
    decision: Decision | None = None
    error: str | None = None

    def recorded(self) -> Mapping[str, Json]:
        """Return what the record says of it."""
        if self.decision is None:
            return {"revision": self.revision, "error": self.error}
        codes = [trigger.code.value for trigger in self.decision.triggered]
        return {"revision": self.revision, "outcome": self.decision.outcome, "codes": codes}


@dataclass(frozen=True, slots=True)
class Noted:
    """The facts of a call's moment, and its shadow, taken before anything is reserved for it."""

    facts: StoredFacts
    shadow: Shadow | None = field(default=None)

    def recorded(self) -> Mapping[str, Json]:
        """Return what the record says of it; nothing without a shadow."""
        return {} if self.shadow is None else {"shadow": self.shadow.recorded()}


def want(lane: Lane, call: Call, caller: Caller) -> None:
    """Ask for what the shadow's limits look at."""
    if lane.shadow is None:
        return
    try:
        weighing = lane.shadow.policy.weigh(call, caller, lane.now)
    except Exception:  # noqa: BLE001 - whatever a shadow does, the call is answered; the failure is noted when it is
        return
    lane.spend.want(weighing.limits)


def note(lane: Lane, asked: Asked, decision: Decision, advice: Sequence[Advice]) -> Noted:
    """Take down the facts that the decision was made on, and what the shadow makes of them."""
    facts = StoredFacts(
        verification=verification_of(lane, asked),
        rooms=dict(_rooms(lane, asked)),
        effects=frozenset(asked.weighing.effects),
        fixed=tuple(trigger for trigger in decision.triggered if trigger.code in _FIXED),
        advice=tuple(advice),
    )
    return Noted(facts, None if lane.shadow is None else _shadow(lane, lane.shadow, asked, facts))


def keep(lane: Lane, asked: Asked, decision: Decision, noted: Noted, seq: int) -> None:
    """Keep the call for replays, under the record that has its answer."""
    shadow = noted.shadow
    said = None if shadow is None else shadow.decision
    lane.history.keep(
        {
            "seq": seq,
            "at": timestamp(lane.now),
            "revision": asked.policy.revision,
            "action": asked.call.action.name,
            "outcome": decision.outcome.value,
            "codes": [trigger.code.value for trigger in decision.triggered],
            "call": calls.to_json(asked.call),
            "caller": _caller(asked.caller),
            "facts": _facts(noted.facts),
            "shadow_revision": None if shadow is None else shadow.revision,
            "shadow_outcome": None if said is None else said.outcome.value,
            "shadow_codes": None if said is None else [trigger.code.value for trigger in said.triggered],
            "shadow_error": None if shadow is None else shadow.error,
        }
    )


def _shadow(lane: Lane, policy: ActivePolicy, asked: Asked, facts: StoredFacts) -> Shadow:
    try:
        rooms = {**facts.rooms, **_rooms_of_shadow(lane, policy, asked)}
        known = StoredFacts(facts.verification, rooms, facts.effects, facts.fixed, facts.advice)
        return Shadow(policy.revision, rehearse(policy.policy, asked.call, asked.caller, lane.now, known))
    except NotRehearsableError as error:
        return Shadow(policy.revision, error=str(error))
    except Exception as error:  # noqa: BLE001 - whatever a shadow does, the call is answered
        return Shadow(policy.revision, error=f"it failed: {type(error).__name__}")


def _rooms(lane: Lane, asked: Asked) -> Mapping[Room, tuple[Decimal, Decimal]]:
    """Return what is held and spent under the limits of a call, and on its scopes over all time."""
    weighing = asked.weighing
    found = {room_of(limit, scope): lane.spend.room(limit, scope) for limit, scope in weighing.limits}
    if weighing.cost is not None:
        for scope in weighing.scopes:
            sums = lane.spend.sums(scope, weighing.cost.currency)
            found[room(scope, weighing.cost.currency)] = (sums.held, sums.spent)
    return found


def _rooms_of_shadow(lane: Lane, policy: ActivePolicy, asked: Asked) -> Mapping[Room, tuple[Decimal, Decimal]]:
    weighing = policy.policy.weigh(asked.call, asked.caller, lane.now)
    return {room_of(limit, scope): lane.spend.room(limit, scope) for limit, scope in weighing.limits}


def _caller(caller: Caller) -> Mapping[str, Json]:
    return {
        "tenant": caller.tenant,
        "principal": caller.principal,
        "kind": caller.kind,
        "owner": caller.owner,
        "environment": caller.environment,
        "roles": sorted(caller.roles),
        "rights": sorted(caller.rights),
    }


def _facts(facts: StoredFacts) -> Mapping[str, Json]:
    verified = facts.verification
    return {
        "verification": None if verified is None else [verified.survives, verified.confidence],
        "rooms": {name: [str(held), str(spent)] for name, (held, spent) in facts.rooms.items()},
        "effects": sorted(facts.effects),
        "fixed": [[trigger.code, trigger.outcome, trigger.message] for trigger in facts.fixed],
        "advice": [[advice.outcome, advice.by, advice.note] for advice in facts.advice],
    }


def read_caller(row: Mapping[str, Any]) -> Caller:
    """Return the caller of a kept call."""
    return Caller(**{**row, "roles": frozenset(row["roles"]), "rights": frozenset(row["rights"])})


def read_facts(row: Mapping[str, Any]) -> StoredFacts:
    """Return the facts of a kept call."""
    return StoredFacts(
        verification=None if row["verification"] is None else Verification(*row["verification"]),
        rooms={name: (Decimal(held), Decimal(spent)) for name, (held, spent) in row["rooms"].items()},
        effects=frozenset(row["effects"]),
        fixed=tuple(Trigger(Code(code), Outcome(outcome), message) for code, outcome, message in row["fixed"]),
        advice=tuple(Advice(Outcome(outcome), by, note) for outcome, by, note in row["advice"]),
    )
