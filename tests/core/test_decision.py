"""The decision: the strongest stands, in the table's order; more caution in never gives less caution out."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import policy
from app.core.actions import Action, Advice, Call, Caller, Finding, Verification
from app.core.codes import Code, Trigger
from app.core.decision import Decision, decide
from app.core.evaluation import WhatIf, evaluate
from app.core.money import Money
from app.core.outcomes import Outcome, stronger, strongest
from app.core.policy import Policy

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
AGENT = Caller(tenant="dev", principal="agent", kind="agent", owner="team")
ATTESTING = replace(AGENT, rights=frozenset({"attest"}))
LABELS = ("production", "payment", "irreversible", "unknown", "sandboxed")

outcomes = st.sampled_from(Outcome)
labels = st.sampled_from(LABELS)
amounts = st.decimals(0, 300, places=2).map(abs)


def test_nothing_fired_allows() -> None:
    assert decide([]) == Decision(Outcome.ALLOW, (), "no check fired", Outcome.ALLOW)


@given(st.lists(st.tuples(st.sampled_from(Code), outcomes)))
def test_the_strongest_outcome_stands_and_the_table_orders(fired: list[tuple[Code, Outcome]]) -> None:
    found = decide(Trigger(code, outcome, str(number)) for number, (code, outcome) in enumerate(fired))
    assert found.outcome is strongest(outcome for _, outcome in fired)
    places = [list(Code).index(trigger.code) for trigger in found.triggered]
    assert places == sorted(places)
    assert len(found.triggered) == len(fired)
    assert found.reason == ("; ".join(trigger.message for trigger in found.triggered) or "no check fired")


@pytest.mark.parametrize(("policys", "advised"), list(product(Outcome, Outcome)))
def test_advice_only_raises(policys: Outcome, advised: Outcome) -> None:
    fired = [] if policys is Outcome.ALLOW else [Trigger(Code.RULE, policys, "a rule")]
    found = decide(fired, [Advice(advised, "reviewer", "smells")])
    raised = stronger(advised, policys)
    assert found.outcome is strongest([policys, advised])
    assert (found.policy_outcome, found.advised_outcome, found.escalated) == (policys, advised, raised)
    assert ("advice" in [trigger.code for trigger in found.triggered]) == raised
    assert ("reviewer advises" in found.reason) == raised


def sets() -> st.SearchStrategy[list[str]]:
    return st.lists(labels, max_size=3, unique=True)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Draw a policy with knobs, a limit, and an action with label rules and rules of its own."""
    bound = draw(st.integers(0, 300))
    return policy.load(
        {
            "schema": "countersign.policy/v1",
            "unlisted": draw(st.sampled_from(["deny", "require_human", "evaluate"])),
            "defaults": {
                "require_verification_score": draw(st.sampled_from([0, 0.5, 0.8, 1])),
                "max_blast_radius": draw(st.integers(0, 5)),
                "require_human_for": draw(sets()),
                "deny_for": draw(sets()),
                "require_sandbox_for": draw(sets()),
                "min_severity": draw(st.sampled_from(["info", "low", "high"])),
                "require_human_over": draw(st.none() | st.just({"amount": str(bound), "currency": "EUR"})),
            },
            "actions": {
                "listed": {
                    "labels": {
                        "environment": draw(st.sampled_from(["", "production"])),
                        "derive": [{"when": {"arg": "n", "gt": bound}, "add_tags": draw(labels)}],
                    },
                    "cost": {"currency": "EUR"},
                    "spend": ["desk"],
                    "rules": [
                        {"when": f"cost.amount <= {bound}.0", "decision": "allow"},
                        {"decision": draw(st.sampled_from(["require_human", "deny"]))},
                    ],
                }
            },
            "limits": [{"scope": "*", "limit": {"amount": "250", "currency": "EUR"}}],
        }
    )


@st.composite
def calls(draw: st.DrawFn) -> Call:
    """Draw a call of the listed action, or of one that is not."""
    return Call(
        Action(
            name=draw(st.sampled_from(["listed", "other"])),
            arguments=draw(st.sampled_from([{}, {"n": 1}, {"n": 299}, {"n": "x"}])),
            environment=draw(labels),
            kind=draw(labels),
            tags=draw(st.frozensets(labels, max_size=3)),
            blast_radius=draw(st.integers(0, 6)),
            cost=Money(draw(amounts), "EUR"),
        ),
        finding=draw(st.none() | st.just(Finding("t", "low", 0.9, ("r", "s"), 0.9))),
        advice=tuple(draw(st.lists(outcomes.map(Advice), max_size=2))),
        spend=("own",),
    )


def answer(loaded: Policy, call: Call, caller: Caller) -> Decision:
    """Return the decision of policy and skeptic, as for a call of this caller."""
    weighing = loaded.weigh(call, caller, NOW)
    return decide(weighing.triggered, call.advice)


def not_lower(before: Decision, after: Decision) -> bool:
    return not stronger(before.outcome, after.outcome) and fired(before) <= fired(after)


def fired(decision: Decision) -> set[Code]:
    return {trigger.code for trigger in decision.triggered} - {Code.ADVICE}


@given(policies(), calls(), st.text(min_size=1, max_size=3) | labels)
def test_a_further_tag_never_lowers(loaded: Policy, call: Call, tag: str) -> None:
    more = replace(call, action=replace(call.action, tags=call.action.tags | {tag}))
    assert not_lower(answer(loaded, call, AGENT), answer(loaded, more, AGENT))
    if tag != "sandboxed":
        assert not_lower(answer(loaded, call, ATTESTING), answer(loaded, more, ATTESTING))


@given(policies(), calls(), amounts, st.integers(0, 10))
def test_a_greater_cost_or_radius_never_lowers(loaded: Policy, call: Call, cost: Decimal, radius: int) -> None:
    assert call.action.cost is not None
    dearer = Money(call.action.cost.amount + cost, "EUR")
    more = replace(call, action=replace(call.action, cost=dearer, blast_radius=call.action.blast_radius + radius))
    assert not_lower(answer(loaded, call, AGENT), answer(loaded, more, AGENT))


@given(policies(), calls(), outcomes)
def test_further_advice_never_lowers(loaded: Policy, call: Call, outcome: Outcome) -> None:
    more = replace(call, advice=(*call.advice, Advice(outcome)))
    before, after = answer(loaded, call, AGENT), answer(loaded, more, AGENT)
    assert not_lower(before, after)
    assert after.policy_outcome is before.policy_outcome


@given(policies(), calls())
def test_the_same_call_gets_the_same_answer(loaded: Policy, call: Call) -> None:
    assert answer(loaded, call, AGENT) == answer(loaded, call, AGENT)


@given(policies(), calls(), st.sampled_from([None, (True, 0.9), (True, 0.1), (False, 1.0)]), amounts)
def test_every_check_is_made_and_none_ends_the_others(
    loaded: Policy, call: Call, verified: tuple[bool, float] | None, spent: Decimal
) -> None:
    verification = None if verified is None else Verification(*verified)
    found = evaluate(loaded, WhatIf(call, verification, {"desk": spent, "own": spent}), AGENT, NOW)
    assert found.decision.policy_outcome is strongest(trigger.outcome for trigger in _but_advice(found.decision))
    assert found.decision.outcome is strongest(trigger.outcome for trigger in found.decision.triggered)
    assert {trigger.code for trigger in found.weighing.triggered} <= {check.code for check in found.decision.triggered}


def _but_advice(decision: Decision) -> Iterable[Any]:
    return (trigger for trigger in decision.triggered if trigger.code is not Code.ADVICE)
