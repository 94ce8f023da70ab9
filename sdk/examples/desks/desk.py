"""One service desk: asks before it acts, acts once, and says what came of it."""

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum

from countersign import Admission, Answer, BadRequest, Countersign, Money, NotExecuted
from desks.calls import ToolCall
from desks.ledger import AnswerLostError, Ledger
from desks.supervisors import Supervisors


class Ending(Enum):
    """How a call ended: its mark on the strip, and in words."""

    READ = ("·", "read")
    DONE = ("●", "done")
    CONFIRMED = ("◐", "held, approved by a person, done")
    FAILED = ("○", "admitted, but the world said no")
    LOST = ("?", "admitted, and the answer was lost")
    PERSON_SAID_NO = ("✋", "held, and a person said no")
    REPEAT = ("=", "stopped: this very thing was done, or may have been")
    CAPPED = ("$", "stopped: a cap had no room")
    NEGATIVE = ("-", "refused at the door: a negative amount")
    DENIED = ("x", "denied for another reason")

    @property
    def mark(self) -> str:
        """One character."""
        return self.value[0]

    @property
    def words(self) -> str:
        """What happened."""
        return self.value[1]


_REPEATS = {"effect_already_done", "effect_unknown", "effect_in_progress"}


@dataclass(slots=True)
class Desk:
    """A desk of one agent, with what has become of each of its calls."""

    name: str
    agent: Countersign
    supervisors: Supervisors
    ledger: Ledger
    endings: list[tuple[ToolCall, Ending]] = field(default_factory=list)
    admitted: Counter[str] = field(default_factory=Counter)

    def serve(self, call: ToolCall) -> Ending:
        """Play one call to its end."""
        ending = self._ending(call)
        self.endings.append((call, ending))
        return ending

    def _ending(self, call: ToolCall) -> Ending:
        if call.amount is not None and call.amount < 0:
            return self._send_as_it_is(call)
        answer = self._ask(call)
        asked_a_person = answer.held
        if answer.held and answer.approval_id is not None:
            self.supervisors.decide(answer.approval_id, call.amount)
            answer = self._ask(call)
        if not answer.allowed or answer.admission is None:
            return _why_not(answer)
        ending = self._act(call, answer.admission)
        return Ending.CONFIRMED if asked_a_person and ending is Ending.DONE else ending

    def _ask(self, call: ToolCall) -> Answer:
        return self.agent.admit(
            call.action,
            call.arguments,
            cost=Money(call.amount, "USD") if call.states_cost and call.amount is not None else None,
            effect=call.effect,
            spend=[f"customer:{call.customer}"] if call.consequential else None,
            run_id=call.run,
        )

    def _act(self, call: ToolCall, admission: Admission) -> Ending:
        self.admitted[admission.id] += 1
        try:
            self.ledger.perform(call)
        except NotExecuted:
            self.agent.report(admission, "not_executed")
            return Ending.FAILED
        except AnswerLostError:
            self.agent.report(admission, "unknown")
            return Ending.LOST
        self.agent.report(admission, "executed")
        return Ending.DONE if call.consequential else Ending.READ

    def _send_as_it_is(self, call: ToolCall) -> Ending:
        cost = {"amount": format(call.amount or Decimal(0), "f"), "currency": "USD"}
        action = {"name": call.action, "arguments": dict(call.arguments), "cost": cost}
        try:
            self.agent.request("POST", "/v1/admit", body={"action": action})
        except BadRequest:
            return Ending.NEGATIVE
        return Ending.DENIED


def _why_not(answer: Answer) -> Ending:
    if "approval_denied" in answer.codes:
        return Ending.PERSON_SAID_NO
    if "spend_limit_exceeded" in answer.codes:
        return Ending.CAPPED
    return Ending.REPEAT if _REPEATS & set(answer.codes) else Ending.DENIED
