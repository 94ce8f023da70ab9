"""The rules of an action: the first that matches, and what cannot be evaluated, which is not false."""

from typing import Any

import pytest

from app.core.outcomes import Outcome
from app.core.values import Fraction
from tests.core.policy.weighed import codes, decided, eur, load, weigh

DENY_ABOVE = load(
    {"rules": [{"when": "arguments.amount > 1000", "decision": "deny"}, {"decision": "allow"}]},
)


@pytest.mark.parametrize("amount", [0, 1000, 1000.0, Fraction("999.5"), -5])
def test_a_deny_above_a_bound_lets_what_is_below_it_pass(amount: float) -> None:
    assert decided(DENY_ABOVE, {"amount": amount}).outcome is Outcome.ALLOW


@pytest.mark.parametrize("amount", [1001, Fraction("1000.01"), 2**53 - 1])
def test_a_deny_above_a_bound_denies_what_is_above_it(amount: float) -> None:
    found = decided(DENY_ABOVE, {"amount": amount})
    assert (found.outcome, [check.code for check in found.triggered]) == (Outcome.DENY, ["rule"])


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"amount": "5000"},
        {"amount": "5"},
        {"amount": None},
        {"amount": True},
        {"amount": [5000]},
        {"amount": {"value": 5000}},
        {"Amount": 5},
    ],
)
def test_a_deny_above_a_catch_all_is_not_passed_by_a_value_that_it_cannot_compare(arguments: dict[str, Any]) -> None:
    found = decided(DENY_ABOVE, arguments)
    assert found.outcome is Outcome.DENY
    assert [check.code for check in found.triggered] == ["condition_undetermined"]
    assert found.triggered[0].values["rule"] == 1


@pytest.mark.parametrize(
    ("condition", "arguments"),
    [
        ("arguments.n / 0 == 1", {"n": 1}),
        ("int(arguments.text) > 1", {"text": "x"}),
        ("arguments.text", {"text": "true"}),
        ("arguments.n", {"n": 1}),
        ("arguments.items.all(item, item > 1)", {"items": [2, "3"]}),
        ("arguments.items[5] == 1", {"items": []}),
        ("arguments.n > 1 && arguments.missing", {"n": 2}),
    ],
)
def test_a_condition_that_raises_or_is_no_boolean_holds_the_call(condition: str, arguments: dict[str, Any]) -> None:
    loaded = load({"rules": [{"when": condition, "decision": "allow"}, {"decision": "allow"}]})
    assert codes(weigh(loaded, arguments)) == ["condition_undetermined"]
    assert decided(loaded, arguments).outcome is Outcome.REQUIRE_HUMAN


def test_an_undetermined_rule_leaves_the_later_ones_their_say() -> None:
    rules = [
        {"when": "arguments.x == 1", "decision": "allow"},
        {"when": "arguments.y == 1", "decision": "deny"},
        {"decision": "allow"},
    ]
    found = decided(load({"rules": rules}), {"y": 1})
    assert found.outcome is Outcome.DENY
    assert [check.code for check in found.triggered] == ["rule", "condition_undetermined"]
    assert decided(load({"rules": rules}), {"y": 2}).outcome is Outcome.REQUIRE_HUMAN


def test_an_undetermined_last_rule_denies_since_nothing_else_matches() -> None:
    found = decided(load({"rules": [{"when": "arguments.x == 1", "decision": "allow"}]}))
    assert found.outcome is Outcome.DENY
    assert [check.code for check in found.triggered] == ["no_rule", "condition_undetermined"]


def test_the_cause_names_what_is_missing_and_never_a_value() -> None:
    loaded = load({"rules": [{"when": "arguments.table[arguments.secret] == 1", "decision": "allow"}]})
    [_, found] = decided(loaded, {"table": {}, "secret": "hunter2"}).triggered
    assert "hunter2" not in found.message
    [_, found] = decided(loaded, {"secret": "hunter2"}).triggered
    assert found.message == "rule 1 of act could not be evaluated: arguments.table is missing"


def test_rules_that_exist_and_do_not_match_deny() -> None:
    assert codes(weigh(load({"rules": [{"when": "false", "decision": "allow"}]}))) == ["no_rule"]


def test_no_rules_leave_the_knobs_to_decide() -> None:
    assert codes(weigh(load({}))) == []
    assert codes(weigh(load({"decision": "deny"}))) == ["rule"]


def test_the_reason_of_a_rule_is_what_is_said() -> None:
    assert decided(load({"rules": [{"decision": "deny", "reason": "never on a Sunday"}]})).reason == "never on a Sunday"


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("cost.amount <= 80.0", True),
        ("cost.amount <= 80", True),
        ("cost.amount < 80", False),
        ("cost.currency == 'EUR'", True),
        ("action.name == 'act' && action.environment == 'live' && action.kind == 'payout'", True),
        ("action.blast_radius == 3", True),
        ("principal.name == 'agent' && principal.owner == 'team' && 'desk' in principal.roles", True),
        ("principal.kind == 'agent' && principal.tenant == 'dev' && principal.environment == ''", True),
        ("asset == 'a/b'", True),
        ("labels == ['act', 'declared', 'live', 'payout']", True),
        ("'sneaky' in labels", False),
        ("'sneaky' in request.tags && request.environment == 'elsewhere' && request.kind == 'odd'", True),
        ("request.run_id == 'run-1' && request.effect == 'own' && request.spend == ['mine']", True),
        ("context.shift == 'night'", True),
        ("now == timestamp('2026-11-01T12:00:00Z') && now.getDayOfWeek() == 0", True),
        ("now.getHours('Europe/Berlin') == 13", True),
        ("has(arguments.x) && arguments['x'] == 1.0 && 'x' in arguments && !('y' in arguments)", True),
    ],
)
def test_what_a_condition_sees(condition: str, *, holds: bool) -> None:
    loaded = load(
        {
            "labels": {"environment": "live", "kind": "payout", "tags": "declared"},
            "cost": {"currency": "EUR"},
            "asset": "a/b",
            "rules": [{"when": condition, "decision": "allow"}],
        },
    )
    found = weigh(
        loaded,
        {"x": 1},
        environment="elsewhere",
        kind="odd",
        tags=frozenset({"sneaky"}),
        blast_radius=3,
        cost=eur("80"),
        call={"context": {"shift": "night"}, "run_id": "run-1", "effect": "own", "spend": ("mine",)},
    )
    assert ("no_rule" not in codes(found), "condition_undetermined" in codes(found)) == (holds, False)
    assert found.reads_now == ("now" in condition)
