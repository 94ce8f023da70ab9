"""Differences in words, with the way they turn; and what a policy covers."""

from typing import Any

import pytest

from app.core import policy
from app.core.drafting.coverage import coverage, uncovered
from app.core.drafting.differences import differences
from tests.core.policy.weighed import document, load

BEFORE = {
    "cost": {"currency": "EUR"},
    "rules": [
        {"when": "cost.amount <= 80.0", "decision": "allow"},
        {"when": "cost.amount <= 900.0", "decision": "require_human"},
        {"decision": "deny"},
    ],
}
LIMIT = {"name": "desk", "scope": "desk", "limit": {"amount": "100", "currency": "EUR"}}


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    found = differences(policy.load(before), policy.load(after))
    return [f"{one.about}: {one.sentence} ({one.turn})" for one in found]


def test_what_says_the_same_differs_in_nothing() -> None:
    assert changes(document(BEFORE), document({**BEFORE})) == []


def test_rules() -> None:
    rules = BEFORE["rules"]
    assert isinstance(rules, list)
    wider = [{"when": "cost.amount <= 100.0", "decision": "allow"}, *rules[1:]]
    assert changes(document(BEFORE), document({**BEFORE, "rules": wider})) == [
        "action act: no rule any more when cost.amount <= 80.0 (other)",
        "action act: a new rule when cost.amount <= 100.0: allow (other)",
    ]
    stricter = [rules[0], {**rules[1], "decision": "deny"}, rules[2]]
    assert changes(document(BEFORE), document({**BEFORE, "rules": stricter})) == [
        "action act: when cost.amount <= 900.0: deny instead of require_human (stricter)"
    ]
    assert changes(document(BEFORE), document({**BEFORE, "rules": rules[::-1]})) == [
        "action act: its rules stand in another order, and the first that matches decides (other)"
    ]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (
            {"version": "a"},
            {"version": "b"},
            "version: the version is b instead of a; activating it cancels open questions (other)",
        ),
        ({}, {"unlisted": "evaluate"}, "unlisted: unlisted actions: evaluate instead of deny (looser)"),
        ({"limits": [LIMIT]}, {}, "limit desk: it is gone (looser)"),
        ({}, {"limits": [LIMIT]}, "limit desk: it is new (stricter)"),
        (
            {"limits": [LIMIT]},
            {"limits": [{**LIMIT, "limit": {"amount": "250", "currency": "EUR"}}]},
            "limit desk: it is 250.00 EUR instead of 100.00 EUR (looser)",
        ),
        (
            {"limits": [LIMIT]},
            {"limits": [{**LIMIT, "window": {"rolling": "1h"}}]},
            "limit desk: its window is 1h instead of all time (other)",
        ),
        (
            {"approvers": [{"name": "a", "roles": ["x"], "quorum": 2}]},
            {"approvers": [{"name": "a", "roles": ["x"]}]},
            "approver rule a: its quorum is 1 instead of 2 (looser)",
        ),
        ({"actions": {}}, {}, "action act: it is new; so far it was unlisted, and so deny (other)"),
        ({}, {"actions": {}}, "action act: it is no longer listed, and so deny (other)"),
        ({}, {"actions": {"act": {"effect": "x"}}}, "action act: its effect key is new (other)"),
    ],
)  # fmt: skip
def test_what_stands_around_rules(before: dict[str, Any], after: dict[str, Any], change: str) -> None:
    assert changes(document(**before), document(**after)) == [change]


def test_knobs_of_everything_are_told_once() -> None:
    before = document(defaults={"max_blast_radius": 1, "deny_for": ["a"]})
    after = document(
        defaults={"max_blast_radius": 5, "deny_for": ["b"], "require_human_over": {"amount": 5, "currency": "EUR"}}
    )
    assert changes(before, after) == [
        "defaults: max_blast_radius is 5 instead of 1 (looser)",
        "defaults: deny_for no longer has a (looser)",
        "defaults: deny_for has b now (stricter)",
        "defaults: require_human_over is 5.00 EUR instead of not set (stricter)",
    ]


def test_what_a_policy_covers() -> None:
    loaded = load({"labels": {"kind": "payout"}, "decision": "require_human"}, defaults={"deny_for": ["data-export"]})
    found = {one.family: one for one in coverage(loaded)}
    assert found["money out"].actions == ("act",)
    assert found["data leaving"].labels == ("data-export",)
    assert list(uncovered(tuple(found.values()))) == [
        "destruction", "code execution", "outbound messages", "standing commitments", "identity and access",
        "fleet-wide configuration",
    ]  # fmt: skip


def test_an_action_that_is_always_allowed_covers_nothing() -> None:
    [destruction, *_] = coverage(load({"description": "Delete everything", "decision": "allow"}))
    assert (destruction.actions, destruction.covered) == (("act",), False)
