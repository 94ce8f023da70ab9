"""Reporting what came of an admission, and resolving what nobody knows."""

from dataclasses import dataclass

from app.core.actions import Caller
from app.core.money import Money
from app.core.refusals import Refusal, RefusalKind
from app.core.values import Json
from app.effects.admissions import Admission, State
from app.gate import answers, lapses, records
from app.gate.authorisation import authorise
from app.gate.holds import hold_of
from app.gate.lane import Lane
from app.gate.visibility import find_to_speak_for, not_found
from app.spend.holds import Settlement


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody says came of an admission. `actual` is what it cost, where that is known."""

    outcome: State
    actual: Money | None = None
    detail: str = ""
    result_digest: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The word of the agent that acted, or of a holder of `report`, on one admission."""

    id: str
    credential_id: str
    admission_id: str
    said: Said

    def wants(self, lane: Lane) -> None:
        """Ask for the admission and what it holds."""
        lane.effects.want(self.admission_id)

    def run(self, lane: Lane) -> dict[str, Json] | Refusal:
        """Move the admission to what was said, settle or release its spend, and record it."""
        caller = authorise(lane, self.credential_id, "admit", "report")
        if isinstance(caller, Refusal):
            return caller
        found = find_to_speak_for(lane, caller, self.admission_id)
        if isinstance(found, Refusal):
            return found
        return tell(lane, caller, found, self.said, trusted=caller.may("report"))


def tell(lane: Lane, caller: Caller, admission: Admission, said: Said, *, trusted: bool) -> dict[str, Json] | Refusal:
    """Move the admission to what was said, settle or release its spend, record it, and return how it stands.

    `trusted` tells that the caller's word frees key and hold, and that a lower actual cost counts.
    """
    impossible = _cost_of_nothing(said)
    if impossible is not None:
        return impossible
    lapses.meet(lane, admission)
    state = _state(admission, said, trusted=trusted)
    # What an agent said and somebody trusted has confirmed since may be said again too.
    if _repeats(admission, state, said) or _repeats(admission, said.outcome, said):
        return answers.view(admission, lane.now)
    refusal = _contradicts(admission, said) or _wrong_currency(admission, said)
    if refusal is not None:
        return refusal
    settled = _close(lane, admission, state, said, resolved=False, trusted=trusted)
    lane.journal.append(
        "admission.performed",
        {
            **records.of_admission(admission),
            "reported_by": caller.principal,
            "said": said.outcome,
            "trusted": trusted,
            **_said(said, settled),
        },
        principal=caller.principal,
        action=admission.action,
    )
    return answers.view(admission, lane.now)


def _state(admission: Admission, said: Said, *, trusted: bool) -> State:
    """Return the state that the word leads to: an agent's "not executed" frees nothing where others must say."""
    if said.outcome is State.NOT_EXECUTED and admission.outcome_by == "report" and not trusted:
        return State.UNKNOWN
    return said.outcome


@dataclass(frozen=True, slots=True)
class Resolve:
    """A person's word on an admission that nobody knows the outcome of, with the reason; it is final."""

    id: str
    credential_id: str
    admission_id: str
    said: Said

    def wants(self, lane: Lane) -> None:
        """Ask for the admission and what it holds."""
        lane.effects.want(self.admission_id)

    def run(self, lane: Lane) -> dict[str, Json] | Refusal:
        """Settle or release what the admission holds, and record who said so and why."""
        caller = authorise(lane, self.credential_id, "resolve")
        if isinstance(caller, Refusal):
            return caller
        admission = lane.effects.get(self.admission_id)
        if admission is None:
            return not_found(self.admission_id)
        impossible = _cost_of_nothing(self.said)
        if impossible is not None:
            return impossible
        lapses.meet(lane, admission)
        return self._resolve(lane, caller, admission)

    def _resolve(self, lane: Lane, caller: Caller, admission: Admission) -> dict[str, Json] | Refusal:
        if admission.resolved and _repeats(admission, self.said.outcome, self.said):
            return answers.view(admission, lane.now)
        if admission.state is not State.UNKNOWN:
            return Refusal(
                RefusalKind.CONFLICT,
                f"only an unknown admission can be resolved, and this one is {admission.state}",
                values={"state": admission.state},
            )
        refusal = _wrong_currency(admission, self.said)
        if refusal is not None:
            return refusal
        settled = _close(lane, admission, self.said.outcome, self.said, resolved=True, trusted=True)
        lane.journal.append(
            "admission.resolved",
            {
                **records.of_admission(admission),
                "resolved_by": caller.principal,
                "reason": self.said.detail,
                **_said(self.said, settled),
            },
            principal=caller.principal,
            action=admission.action,
        )
        return answers.view(admission, lane.now)


def _repeats(admission: Admission, state: State, said: Said) -> bool:
    stored = (admission.actual, admission.actual_currency)
    same_cost = said.actual is None or (said.actual.amount, said.actual.currency) == stored
    return admission.closed_at is not None and admission.state is state and same_cost


def _contradicts(admission: Admission, said: Said) -> Refusal | None:
    if admission.state in {State.RESERVED, State.UNKNOWN}:
        return None
    detail = f"this admission is {admission.state} already, which {said.outcome} contradicts"
    if admission.state is said.outcome:
        detail = "this outcome was reported already, with another cost"
    return Refusal(RefusalKind.CONFLICT, detail, values={"state": admission.state})


def _cost_of_nothing(said: Said) -> Refusal | None:
    """Return the refusal of a word that contradicts itself: what did not happen cost nothing."""
    if said.outcome is not State.NOT_EXECUTED or said.actual is None:
        return None
    return Refusal(
        RefusalKind.BAD_INPUT,
        "what was not executed cost nothing: leave the actual cost out, or say what happened",
        pointer="/actual_cost",
    )


def _wrong_currency(admission: Admission, said: Said) -> Refusal | None:
    if said.actual is None or hold_of(admission).takes(said.actual):
        return None
    return Refusal(
        RefusalKind.BAD_INPUT,
        f"the actual cost must be in the currency that is held, {admission.currency}",
        pointer="/actual_cost/currency",
    )


def _close(
    lane: Lane, admission: Admission, state: State, said: Said, *, resolved: bool, trusted: bool
) -> Settlement | None:
    """Move the admission, and the spend with it; return what counts as spent, if it is settled.

    Executed is spent, not executed released, and unknown stays held.
    """
    settled = None
    if said.actual is not None:
        admission.actual, admission.actual_currency = said.actual.amount, said.actual.currency
    if state is State.EXECUTED:
        settled = lane.spend.settle(hold_of(admission), said.actual, trusted=trusted)
    elif state is State.NOT_EXECUTED:
        # A cost may have been noted while the outcome was unknown.
        admission.actual, admission.actual_currency = None, ""
        lane.spend.release(hold_of(admission))
    admission.result_digest = said.result_digest or admission.result_digest
    lane.effects.close(admission, state, resolved=resolved, detail=said.detail)
    return settled


def _said(said: Said, settled: Settlement | None) -> dict[str, Json]:
    recorded: dict[str, Json] = {"result_digest": said.result_digest}
    if said.actual is not None:
        recorded["actual_cost"] = said.actual.as_json()
    if settled is not None:
        recorded |= {"spent": Money(settled.amount, settled.currency).as_json(), "overrun": settled.overrun}
    return recorded
