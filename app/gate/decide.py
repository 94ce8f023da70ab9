"""What the policy would say of a call: nothing is stored or used up, and no stored state is looked at."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from app.core.actions import Call, Caller
from app.core.checks import NO_POLICY, verification_check
from app.core.codes import Trigger
from app.core.decision import Decision, decide
from app.core.explanation import explain
from app.core.lineage import Case
from app.gate import answers, leave, skepticism
from app.gate.answers import Answer
from app.gate.asked import Asked, weigh
from app.gate.authorisation import revoked
from app.gate.facts import Facts

NOT_WEIGHED = ["spend", "effects", "approvals", "verifications"]
"""What decide leaves out: with it, it would be an unrecorded way to feel out a balance."""


def decide_call(call: Call, caller: Caller, facts: Facts, now: datetime, *, explained: bool = False) -> Answer:
    """Return the answer; `allowed` is false even where the outcome is allow, since only an admission permits.

    `facts` know what grants the caller holds (`FactCache.about`). `explained` adds what the policy made of the call,
    and every rule and check with what it saw.
    """
    if facts.policy is None:
        return Answer(answers.without_policy(decide([NO_POLICY], ())))
    asked = weigh(call, caller, facts.policy, now)
    decision = decide([*asked.weighing.triggered, *_checks(asked, facts, now)], call.advice)
    body = {**answers.of_decision(asked, decision), "not_weighed": NOT_WEIGHED}
    return Answer(body | _explained(asked, decision, now) if explained else body)


def _explained(asked: Asked, decision: Decision, now: datetime) -> dict[str, Any]:
    found = explain(asked.policy.policy, asked.call, asked.caller, now, asked.weighing, decision)
    return {"resolved": answers.resolved(asked), "explanation": asdict(found)}


def _checks(asked: Asked, facts: Facts, now: datetime) -> Sequence[Trigger]:
    checks = (
        revoked(facts.authority, asked.caller.principal, asked.call.action.name),
        leave.foretell(facts, Case(asked.call, asked.caller, asked.weighing, now)),
        verification_check(asked.weighing.knobs, skepticism.of_finding(asked.call, asked.caller)),
    )
    return [check for check in checks if check is not None]
