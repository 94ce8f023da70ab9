"""Lint: every remark has its cause, and what is well written has none."""

from pathlib import Path
from typing import Any

import pytest

from app.core import policy
from app.core.drafting.lint import lint
from app.core.drafting.scopes import meet
from tests.core.policy.weighed import document

SCHEMA = {
    "type": "object",
    "required": ["id"],
    "additionalProperties": False,
    "properties": {"id": {"type": "string"}, "amount": {"type": "number", "minimum": 0}, "free": {"type": "number"}},
}
GOOD = {
    "arguments": SCHEMA,
    "labels": {"environment": "live", "kind": "payout"},
    "asset": "order/{id}",
    "cost": {"amount": "{amount}", "currency": "EUR"},
    "effect": "pay:{id}",
    "spend": ["desk"],
    "rules": [{"when": "cost.amount <= 80.0", "decision": "allow"}, {"decision": "deny"}],
}
PEOPLE = [{"name": "people", "roles": ["approver"]}]


def remarks(action: dict[str, Any], without: str = "", **more: Any) -> list[tuple[str, str, str]]:
    written = {name: value for name, value in {**GOOD, **action}.items() if name != without}
    found = lint(policy.load(document(written, **{"approvers": PEOPLE, **more})))
    return [(remark.level.value, remark.code, "/".join(map(str, remark.path))) for remark in found]


def test_what_is_well_written_has_no_remarks() -> None:
    assert remarks({}) == []


@pytest.mark.parametrize(
    ("rules", "place"),
    [
        ([{"decision": "deny"}, {"when": "cost.amount < 5", "decision": "allow"}], 1),
        ([{"when": "true", "decision": "deny"}, {"decision": "allow"}], 1),
        ([{"when": "cost.amount <= 900", "decision": "deny"}, {"when": "cost.amount <= 80", "decision": "allow"}], 1),
        ([{"when": "cost.amount < 5", "decision": "deny"}, {"when": "3 >= cost.amount", "decision": "allow"}], 1),
        ([{"when": "cost.amount > 5", "decision": "deny"}, {"when": "cost.amount == 9", "decision": "allow"}], 1),
        (
            [
                {"when": "'x' in labels", "decision": "deny"},
                {"when": "cost.amount < 5 && 'x' in labels", "decision": "allow"},
            ],
            1,
        ),
    ],
)
def test_a_rule_that_is_never_reached(rules: list[dict[str, Any]], place: int) -> None:
    assert ("warning", "unreachable-rule", f"actions/act/rules/{place}") in remarks({"rules": rules})


@pytest.mark.parametrize(
    "rules",
    [
        [{"when": "cost.amount <= 80", "decision": "allow"}, {"when": "cost.amount <= 900", "decision": "deny"}],
        [{"when": "cost.amount < 5", "decision": "deny"}, {"when": "cost.amount <= 5", "decision": "allow"}],
        [
            {"when": "cost.amount < 5 && asset == ''", "decision": "deny"},
            {"when": "cost.amount < 5", "decision": "deny"},
        ],
        [{"when": "cost.amount > 5", "decision": "deny"}, {"when": "cost.amount < 9", "decision": "allow"}],
        [{"when": "'x' in labels", "decision": "deny"}, {"when": "'y' in labels", "decision": "allow"}],
    ],
)
def test_a_rule_that_may_be_reached(rules: list[dict[str, Any]]) -> None:
    assert remarks({"rules": rules}) == []


@pytest.mark.parametrize(
    ("action", "remark"),
    [
        (
            {"labels": {"environment": "live", "kind": "k", "derive": [{"when": {"arg": "id"}, "add_tags": "x"}]}},
            ("error", "malformed-rule", "actions/act/labels/derive/0"),
        ),
        (
            {
                "rules": [
                    {"when": "has(arguments.free) && arguments.free < 5", "decision": "allow"},
                    {"decision": "deny"},
                ]
            },
            ("warning", "one-sided-bound", "actions/act/rules/0/when"),
        ),
        (
            {
                "labels": {
                    "environment": "l",
                    "kind": "k",
                    "derive": [{"when": {"arg": "free", "gt": 5}, "add_tags": "x"}],
                }
            },
            ("warning", "one-sided-bound", "actions/act/labels/derive/0/when"),
        ),
        (
            {"rules": [{"when": "arguments.amount < 5", "decision": "allow"}, {"decision": "deny"}]},
            ("warning", "unguarded-argument", "actions/act/rules/0/when"),
        ),
        ({"effect": "pay:{order}"}, ("warning", "unknown-argument", "actions/act/effect")),
        ({"spend": ["desk", "b:{bookin}"]}, ("warning", "unknown-argument", "actions/act/spend/1")),
        ({"approval": {"show": ["idd"]}}, ("warning", "unknown-argument", "actions/act/approval/show/0")),
        ({"refusal": {"deny": "no {ammount}"}}, ("warning", "unknown-argument", "actions/act/refusal/deny")),
        ({"labels": {"kind": "k"}}, ("warning", "environment-open", "actions/act")),
        ({"labels": {"environment": "e"}}, ("warning", "kind-open", "actions/act")),
        ({"cost": {"currency": "EUR"}}, ("warning", "cost-by-caller", "actions/act")),
        (
            {"arguments": {**SCHEMA, "properties": {**SCHEMA["properties"], "id": {"type": "string", "maxLenght": 5}}}},  # type: ignore[dict-item]
            ("warning", "schema-keyword", "actions/act/arguments/properties/id/maxLenght"),
        ),
    ],
)
def test_what_is_remarked_on_an_action(action: dict[str, Any], remark: tuple[str, str, str]) -> None:
    assert remark in remarks(action)


@pytest.mark.parametrize(
    ("without", "code"),
    [("rules", "no-rules"), ("effect", "cost-without-effect"), ("arguments", "no-schema")],
)
def test_what_is_missing_is_remarked_on(without: str, code: str) -> None:
    assert ("warning", code, "actions/act") in remarks({}, without)


def limit(scope: str) -> list[dict[str, Any]]:
    return [{"scope": scope, "metric": "count", "limit": 1}]


def test_a_limit_that_nothing_reaches() -> None:
    assert ("warning", "limit-unreached", "limits/0/scope") in remarks({}, limits=limit("dest"))
    assert remarks({}, limits=limit("d*k")) == remarks({}, limits=limit("caller:*:x")) == []


@pytest.mark.parametrize(
    ("one", "other", "some"),
    [
        ("a*", "*b", True),
        ("a*c", "ab*", True),
        ("a*c", "abd", False),
        ("booking:*", "booking:*:leg:*", True),
        ("x", "x", True),
        ("x", "y", False),
        ("", "*", True),
        ("a*b*c", "a*d*c", True),
    ],
)
def test_patterns_that_some_text_meets(one: str, other: str, *, some: bool) -> None:
    assert meet(one, other) == meet(other, one) == some


@pytest.mark.parametrize(
    "approver",
    [
        {"name": "a"},
        {"name": "a", "principals": ["ada"], "quorum": 2},
        {"name": "a", "labels": ["x"], "via": ["slack"]},
    ],
)
def test_a_quorum_that_nobody_can_reach(approver: dict[str, Any]) -> None:
    assert ("error", "quorum-unreachable", "approvers/0") in remarks({}, approvers=[approver])


def test_a_question_that_nobody_could_decide() -> None:
    held = {"rules": [{"decision": "require_human"}]}
    elsewhere = [{"name": "others", "labels": ["elsewhere"], "roles": ["approver"]}]
    assert ("warning", "no-approver", "actions/act") in remarks(held, approvers=elsewhere)
    assert ("warning", "no-approver", "actions/act") in remarks(held, approvers=[])
    assert remarks(held, approvers=[{"name": "live", "labels": ["live"], "roles": ["approver"]}]) == []
    assert ("warning", "no-approver", "unlisted") in remarks({}, approvers=elsewhere, unlisted="require_human")


def test_the_first_policy_has_no_remarks() -> None:
    text = (Path(__file__).parents[3] / "docs" / "examples" / "policy.yaml").read_text()
    assert lint(policy.load(text)) == ()
