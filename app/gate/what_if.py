"""A what-if: what a policy would answer to a call, with every fact given and nothing stored."""

from datetime import datetime

from app.core.actions import Caller
from app.core.evaluation import WhatIf, evaluate
from app.core.policy import Policy
from app.gate import answers
from app.gate.answers import Answer
from app.gate.asked import Asked, request_digest
from app.policies import revisions
from app.policies.active import ActivePolicy


def answer_what_if(policy: Policy, revision: int | None, what_if: WhatIf, caller: Caller, now: datetime) -> Answer:
    """Return the answer that the policy would give, and what it made of the call; `allowed` stays false.

    `revision` is None for a document that is not stored.
    """
    found = evaluate(policy, what_if, caller, now)
    digest = request_digest(what_if.call, caller)
    asked = Asked(what_if.call, caller, ActivePolicy(revision or 0, policy), found.weighing, digest, digest)
    body = answers.of_decision(asked, found.decision)
    named = revisions.named(revision, policy.version, policy.digest)
    return Answer({**body, "policy": named, "resolved": answers.resolved(asked)})
