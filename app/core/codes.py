"""The closed, ordered table of what can fire, and the shape of a check that fired.

Codes are public: adding one is a minor change, removing or reusing one a major change.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from app.core.outcomes import Outcome
from app.core.values import Json


class Code(StrEnum):
    """Every code of an answer, in the order in which an answer lists them."""

    REVOKED = "revoked"
    NO_POLICY = "no_policy"
    UNLISTED_ACTION = "unlisted_action"
    NO_GRANT = "no_grant"
    GRANT_EXPIRED = "grant_expired"
    GRANT_CONSTRAINT = "grant_constraint"
    GRANT_BUDGET = "grant_budget"
    ARGUMENTS_INVALID = "arguments_invalid"
    TEMPLATE_UNRESOLVED = "template_unresolved"
    COST_UNDETERMINED = "cost_undetermined"
    COST_NEGATIVE = "cost_negative"
    CURRENCY_MISMATCH = "currency_mismatch"
    NO_RULE = "no_rule"
    RULE = "rule"
    CONDITION_UNDETERMINED = "condition_undetermined"
    LABEL_DENIED = "label_denied"
    SANDBOX_REQUIRED = "sandbox_required"
    SEVERITY_BELOW_MINIMUM = "severity_below_minimum"
    VERIFICATION_MISSING = "verification_missing"
    VERIFICATION_REFUTED = "verification_refuted"
    VERIFICATION_BELOW_BAR = "verification_below_bar"
    BLAST_RADIUS_EXCEEDED = "blast_radius_exceeded"
    COST_OVER_LIMIT = "cost_over_limit"
    SPEND_LIMIT_EXCEEDED = "spend_limit_exceeded"
    LABEL_REQUIRES_HUMAN = "label_requires_human"
    TOO_MANY_QUESTIONS = "too_many_questions"
    RUN_ENDED = "run_ended"
    APPROVAL_PENDING = "approval_pending"
    APPROVAL_DENIED = "approval_denied"
    APPROVAL_EXPIRED = "approval_expired"
    APPROVAL_EDITED = "approval_edited"
    APPROVAL_MISMATCH = "approval_mismatch"
    APPROVAL_CONSUMED = "approval_consumed"
    APPROVAL_CANCELLED = "approval_cancelled"
    APPROVAL_SUPERSEDED = "approval_superseded"
    APPROVAL_INSUFFICIENT = "approval_insufficient"
    PRECONDITION_CHANGED = "precondition_changed"
    PRECONDITION_MISSING = "precondition_missing"
    PRECONDITION_UNAVAILABLE = "precondition_unavailable"
    EFFECT_IN_PROGRESS = "effect_in_progress"
    EFFECT_ALREADY_DONE = "effect_already_done"
    EFFECT_UNKNOWN = "effect_unknown"
    ATTEMPTS_EXHAUSTED = "attempts_exhausted"
    ADMISSION_CLOSED = "admission_closed"
    ADVICE = "advice"


_ORDER = {code: place for place, code in enumerate(Code)}


@dataclass(frozen=True, slots=True)
class Trigger:
    """One check that fired.

    `message` and `values` are for whoever asked: what it sent, or what the policy states. `private` holds stored
    facts (totals, what is left) that only the record and holders of `spend:read` may see.
    """

    code: Code
    outcome: Outcome
    message: str
    values: Mapping[str, Json] = field(default_factory=dict)
    private: Mapping[str, Json] = field(default_factory=dict)


def in_order(triggers: Iterable[Trigger]) -> tuple[Trigger, ...]:
    """Return the triggers in the table's order; those of one code keep theirs."""
    return tuple(sorted(triggers, key=lambda trigger: _ORDER[trigger.code]))
