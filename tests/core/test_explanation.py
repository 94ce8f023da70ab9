"""Explanations: every rule and check, what became of it, and what it saw."""

from app.core.actions import Action, Call
from app.core.decision import decide
from app.core.explanation import Explanation, Result, RuleSeen, explain
from app.core.policy import Policy
from tests.core.policy.weighed import AGENT, NOW, eur, load

POLICY = load(
    {
        "labels": {
            "environment": "live",
            "derive": [
                {"when": {"arg": "n", "gt": 5}, "add_tags": "big"},
                {"when": {"arg": "missing", "gt": 5}, "add_tags": "x"},
                {"blast_radius": {"arg": "n", "agg": "value"}},
                {"when": {"arg": "n"}, "add_tags": "x"},
            ],
        },
        "cost": {"currency": "EUR"},
        "rules": [
            {"when": "arguments.gone == 1", "decision": "deny"},
            {"when": "cost.amount > 100.0 && 'big' in labels", "decision": "deny"},
            {"when": "arguments['n'] == 7 && now.getHours() == 12", "decision": "require_human"},
            {"decision": "deny"},
        ],
    },
)


def explained(policy: Policy, call: Call) -> Explanation:
    weighing = policy.weigh(call, AGENT, NOW)
    return explain(policy, call, AGENT, NOW, weighing, decide(weighing.triggered))


def test_every_rule_says_what_became_of_it_and_what_it_saw() -> None:
    found = explained(POLICY, Call(Action("act", {"n": 7, "secret": "s"}, cost=eur("50"))))
    assert found.rules == (
        RuleSeen(1, "arguments.gone == 1", Result.UNDETERMINED, {}, "arguments.gone is missing", "deny"),
        RuleSeen(
            2,
            "cost.amount > 100.0 && 'big' in labels",
            Result.NOT_MATCHED,
            {"cost.amount": 50.0, "labels": ["act", "big", "live", "undetermined"]},
            None,
            "deny",
        ),
        RuleSeen(
            3,
            "arguments['n'] == 7 && now.getHours() == 12",
            Result.MATCHED,
            {"arguments.n": 7, "now": "2026-11-01T12:00:00+00:00"},
            None,
            "require_human",
        ),
        RuleSeen(4, None, Result.NOT_REACHED, decision="deny"),
    )


def test_label_rules_too() -> None:
    found = explained(POLICY, Call(Action("act", {"n": 7}, cost=eur("50"))))
    assert [(rule.when, rule.result, rule.saw) for rule in found.label_rules] == [
        ("n gt 5", Result.MATCHED, {"arguments.n": 7}),
        ("missing gt 5", Result.UNDETERMINED, {}),
        (None, Result.MATCHED, {"arguments.n": 7}),
        (None, Result.UNDETERMINED, {}),
    ]


def test_every_check_of_the_knobs_is_there_fired_or_not() -> None:
    found = explained(POLICY, Call(Action("act", {"n": 7}, cost=eur("50"))))
    assert len(found.checks) == 10
    [radius] = [check for check in found.checks if check.code == "blast_radius_exceeded"]
    assert (radius.fired, radius.saw) == (True, {"blast_radius": 7, "max_blast_radius": 1})
    assert sum(check.fired for check in found.checks) == 1


def test_an_unlisted_action_has_no_rules() -> None:
    found = explained(POLICY, Call(Action("other")))
    assert (found.rules, found.label_rules) == ((), ())
