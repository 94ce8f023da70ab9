"""Asking people without acting: opens a call's question ahead of time, and admits nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.core.actions import Call
from app.core.decision import Decision
from app.core.outcomes import Outcome
from app.core.refusals import Refusal, RefusalKind
from app.gate import answers, redemption
from app.gate.admit import Admit
from app.gate.asked import Asked
from app.gate.lane import Lane
from app.gate.question_views import Viewer


@dataclass(frozen=True, slots=True)
class Asking:
    """The question of the call as its requester sees it, and whether it was opened just now."""

    body: Mapping[str, Any]
    opened: bool


@dataclass(slots=True)
class Ask:
    """A call that people shall decide before it is sent; it is weighed as an admission is, up to its question."""

    admit: Admit

    @property
    def id(self) -> str:
        """Return the command's id."""
        return self.admit.id

    @property
    def call(self) -> Call:
        """Return the call."""
        return self.admit.call

    def wants(self, lane: Lane) -> None:
        """Ask for what an admission of the call would ask for."""
        self.admit.wants(lane)

    def run(self, lane: Lane) -> Asking | Refusal:
        """Open the question, or name the live one; refused where the policy decides the call by itself."""
        if self.call.approval_id is not None:
            detail = "an approval_id redeems an approval: send it to /v1/admit"
            return Refusal(RefusalKind.BAD_INPUT, detail, pointer="/approval_id")
        weighed = self.admit.weighed(lane)
        if isinstance(weighed, Refusal):
            return weighed
        asked, decision = weighed
        consent = redemption.ask(lane, asked, decision)
        if consent.question is None or consent.decision.outcome is not Outcome.REQUIRE_HUMAN:
            return _needs_nobody(asked, consent.decision)
        return Asking(Viewer(asked.caller, lane, lane.now).see(consent.question) or {}, consent.opened)


def _needs_nobody(asked: Asked, decision: Decision) -> Refusal:
    """Return why there is nothing to ask people: the call is allowed or denied without them."""
    advice = "send it to /v1/admit" if decision.outcome is Outcome.ALLOW else "`triggered` says why"
    return Refusal(
        RefusalKind.CONFLICT,
        f"the answer to this call is {decision.outcome} without asking anybody; {advice}",
        values={
            "outcome": decision.outcome,
            "reason": decision.reason,
            "triggered": answers.of_triggers(decision.triggered, sees_spend=asked.caller.may("spend:read")),
        },
    )
