"""The labels of a call: what the policy says, what the caller adds, and that it cannot make itself safer."""

from dataclasses import replace
from typing import Any

import pytest

from app.core.actions import Action, Call
from app.core.values import GREATEST_INTEGER, Fraction
from tests.core.policy.weighed import AGENT, NOW, codes, load, weigh

ATTESTING = replace(AGENT, rights=frozenset({"attest"}))
DECLARED = load({"labels": {"environment": "live", "kind": "payout", "tags": ["goodwill"]}})


def test_what_the_caller_says_comes_beside_what_the_policy_says() -> None:
    found = weigh(DECLARED, environment="test", kind="read", tags=frozenset({"urgent"}))
    assert (found.environment, found.kind) == ("live", "payout")
    assert found.tags == ("act", "goodwill", "urgent")
    assert found.labels == ("act", "goodwill", "live", "payout", "read", "test", "urgent")
    assert found.own_labels == {"act", "goodwill", "live", "payout"}
    assert found.caller_labels == {"read", "test", "urgent"}


def test_a_caller_that_says_nothing_adds_nothing() -> None:
    assert weigh(DECLARED).labels == ("act", "goodwill", "live", "payout")


def test_where_the_policy_says_nothing_the_credential_counts_and_then_the_caller() -> None:
    bare = load({})
    assert weigh(bare).environment == "unknown"
    assert weigh(bare).labels == ("act", "unknown")
    assert weigh(bare, environment="test", kind="read").labels == ("act", "read", "test")
    found = weigh(bare, environment="test", caller=replace(AGENT, environment="production"))
    assert (found.environment, found.labels) == ("production", ("act", "production", "test"))
    assert found.own_labels == {"act", "production"}


@pytest.mark.parametrize(
    "said", [{"tags": frozenset({"sandboxed"})}, {"kind": "sandboxed"}, {"environment": "sandboxed"}]
)
def test_sandboxed_counts_only_from_who_may_attest(said: dict[str, Any]) -> None:
    unsafe = load({"knobs": {"require_sandbox_for": ["act"]}})
    assert codes(weigh(unsafe, **said)) == ["sandbox_required"]
    assert "sandboxed" not in weigh(unsafe, **said).labels
    assert codes(weigh(unsafe, **said, caller=ATTESTING)) == []


def test_an_unlisted_action_is_not_sandboxed_by_its_name() -> None:
    loaded = load(unlisted="evaluate", defaults={"require_sandbox_for": ["unknown"], "require_verification_score": 0})
    call = Call(Action("sandboxed"))
    assert codes(loaded.weigh(call, AGENT, NOW)) == ["sandbox_required"]
    assert codes(loaded.weigh(call, ATTESTING, NOW)) == []


def test_the_name_of_an_unlisted_action_is_the_callers_word() -> None:
    found = load(unlisted="require_human").weigh(Call(Action("payout")), AGENT, NOW)
    assert codes(found) == ["unlisted_action"]
    assert found.own_labels == frozenset()
    assert found.labels == ("payout", "unknown")


@pytest.mark.parametrize(
    ("caller", "declared", "resolved"),
    [(1, 1, 1), (5, 1, 5), (1, 7, 7), (0, 0, 0), (GREATEST_INTEGER, 2, GREATEST_INTEGER)],
)
def test_the_radius_is_the_greatest_that_anybody_says(caller: int, declared: int, resolved: int) -> None:
    assert weigh(load({"labels": {"blast_radius": declared}}), blast_radius=caller).blast_radius == resolved


@pytest.mark.parametrize(
    ("value", "radius"),
    [
        (12, 12),
        (Fraction("12.9"), 12),
        (Fraction("-3.5"), 1),
        ("12", 12),
        ("-12", 1),
        ("9" * 5_000, GREATEST_INTEGER),
        (Fraction("1e300"), GREATEST_INTEGER),
    ],
)
def test_an_argument_that_states_a_radius(value: Any, radius: int) -> None:
    loaded = load({"labels": {"derive": [{"blast_radius": {"arg": "n", "agg": "value"}}]}})
    found = weigh(loaded, {"n": value})
    assert (found.blast_radius, "undetermined" in found.labels) == (radius, False)


@pytest.mark.parametrize("value", ["1.5", "twelve", "", " 12", "1_000", "١٢", True, None, [1], {"a": 1}])
def test_an_argument_that_states_no_radius(value: Any) -> None:
    loaded = load({"labels": {"derive": [{"blast_radius": {"arg": "n", "agg": "value", "default": 4}}]}})
    found = weigh(loaded, {"n": value})
    assert found.blast_radius == 4
    assert "condition_undetermined" in codes(found)
    assert "undetermined" in found.own_labels


def test_a_rule_that_cannot_be_evaluated_holds_the_call_and_is_named() -> None:
    loaded = load({"labels": {"derive": [{"when": {"arg": "n", "gt": 1}, "add_tags": "big"}]}})
    found = weigh(loaded, {"n": "many"})
    assert found.labels == ("act", "undetermined", "unknown")
    [check] = found.triggered
    assert check.message == "label rule 1 of act could not be evaluated: the argument 'n' cannot be compared by gt"


def test_a_default_does_not_apply_when_the_condition_cannot_be_evaluated() -> None:
    rule = {"when": {"arg": "x", "gt": 1}, "blast_radius": {"arg": "n", "agg": "count", "default": 50}}
    loaded = load({"labels": {"derive": [rule]}})
    assert weigh(loaded, {"x": "?", "n": []}).blast_radius == 1
    assert weigh(loaded, {"x": 2}).blast_radius == 50
    assert weigh(loaded, {"x": 0}).blast_radius == 1


@pytest.mark.parametrize(
    "rule",
    [
        {"when": {"gt": 1}, "add_tags": "x"},
        {"when": {"arg": "n"}, "add_tags": "x"},
        {"when": {"arg": "n", "gt": 1, "lt": 5}, "add_tags": "x"},
        {"when": {"arg": "n", "in": "abc"}, "add_tags": "x"},
        {"when": {"arg": "n", "gt": 1}},
        {"add_tags": "x"},
        {"when": {"arg": "n", "gt": 1}, "add_tags": "x", "blast_radius": {"arg": "n", "agg": "value"}},
        {"blast_radius": {"agg": "value"}},
    ],
)
def test_a_malformed_rule_loads_and_is_undetermined_on_every_call(rule: dict[str, Any]) -> None:
    loaded = load({"labels": {"derive": [rule]}})
    for arguments in ({}, {"n": 3}, {"n": "x"}):
        assert "undetermined" in weigh(loaded, arguments).labels


def test_derived_labels_are_seen_by_the_rules_and_declared_ones_by_the_derivation() -> None:
    loaded = load(
        {
            "labels": {"tags": "a", "derive": [{"when": "'a' in labels && !('b' in labels)", "add_tags": ["b"]}]},
            "rules": [{"when": "'b' in labels", "decision": "allow"}],
        },
    )
    assert codes(weigh(loaded)) == []


@pytest.mark.parametrize(
    ("operator", "value", "argument", "holds"),
    [
        ("eq", 1, 1.0, True),
        ("eq", 1, True, False),
        ("eq", None, None, True),
        ("eq", {"a": [1, 2]}, {"a": [1.0, 2]}, True),
        ("eq", {"a": 1}, {"a": True}, False),
        ("eq", [1, 2], [2, 1], False),
        ("ne", "1", 1, True),
        ("in", [1, "x"], "x", True),
        ("in", [True], 1, False),
        ("contains", "ell", "hello", True),
        ("contains", 2, [1, 2.0], True),
        ("contains", True, [1], False),
        ("gte", 5, 5.0, True),
        ("lt", 5, 5, False),
    ],
)
def test_comparisons(operator: str, value: Any, argument: Any, *, holds: bool) -> None:
    loaded = load({"labels": {"derive": [{"when": {"arg": "x", operator: value}, "add_tags": "yes"}]}})
    found = weigh(loaded, {"x": argument})
    assert ("yes" in found.labels, "undetermined" in found.labels) == (holds, False)


@pytest.mark.parametrize(
    ("operator", "value", "argument"),
    [
        ("gt", 1, True),
        ("gt", 1, "2"),
        ("gt", "1", 2),
        ("contains", 1, "1"),
        ("contains", "a", {"a": 1}),
        ("lte", 1, None),
    ],
)
def test_comparisons_that_cannot_be_made(operator: str, value: Any, argument: Any) -> None:
    loaded = load({"labels": {"derive": [{"when": {"arg": "x", operator: value}, "add_tags": "yes"}]}})
    assert "undetermined" in weigh(loaded, {"x": argument}).labels
