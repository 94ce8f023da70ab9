"""Cases: what a file of them says, and what it says when a case fails."""

from datetime import UTC, datetime

import pytest

from app.core.drafting.cases import read_cases, run
from app.core.policy import DocumentError
from tests.core.policy.weighed import NOW, load

POLICY = load(
    {
        "labels": {"environment": "live"},
        "cost": {"currency": "EUR"},
        "spend": ["desk"],
        "rules": [
            {"when": "now > timestamp('2030-01-01T00:00:00Z')", "decision": "deny"},
            {"when": "cost.amount <= 80.0 && principal.name == 'ada'", "decision": "allow"},
            {"decision": "require_human", "reason": "too much"},
        ],
    },
    limits=[{"scope": "desk", "limit": {"amount": "100", "currency": "EUR"}}],
)
CASES = """
policy: payouts.yaml
cases:
  - name: a small one
    action: {name: act, cost: {amount: 50, currency: EUR}}
    facts: {principal: ada, spent: {desk: 50}}
    outcome: allow
    codes: []
  - name: over the limit
    action: {name: act, cost: {amount: 50.01, currency: EUR}}
    facts: {principal: {name: ada, roles: [desk]}, spent: {desk: "50"}}
    outcome: deny
    codes: [spend_limit_exceeded]
  - action: {name: act, cost: {amount: 1, currency: EUR}}
    facts: {advice: [{outcome: deny, by: reviewer}], finding: {severity: high}}
    outcome: require_human
  - name: later
    action: {name: act, cost: {amount: 1, currency: EUR}}
    facts: {principal: ada, now: "2031-01-01T00:00:00Z"}
    outcome: deny
    codes: [rule]
"""


def test_cases_are_run_and_a_failed_one_says_what_decided() -> None:
    file = read_cases(CASES)
    assert file.policy == "payouts.yaml"
    verdicts = run(POLICY, file.cases, NOW)
    assert [(verdict.case.name, verdict.passed) for verdict in verdicts] == [
        ("a small one", True),
        ("over the limit", True),
        ("case 3", False),
        ("later", True),
    ]
    failed = verdicts[2]
    assert (failed.outcome, failed.codes) == ("deny", ("rule", "advice"))
    assert failed.decided_by == ("reviewer advises deny",)


def test_the_time_of_a_case_is_that_of_the_run_unless_it_names_one() -> None:
    [verdict, *_] = run(POLICY, read_cases(CASES).cases, datetime(2030, 6, 1, tzinfo=UTC))
    assert verdict.outcome == "deny"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("cases: [{outcome: allow}]", "line 1, column 9: /cases/0: the key action is missing"),
        ("cases: [{action: {name: a}, outcome: alow}]", "did you mean allow?"),
        ("cases: [{action: {name: a}, outcome: deny, codes: [rules]}]", "no code of a check: did you mean rule?"),
        ("cases: [{action: {name: a}, outcome: deny, facts: {verfication: {}}}]", "did you mean verification?"),
        ("cases: [{action: {name: a}, outcome: deny, facts: {now: yesterday}}]", "expected a time with its offset"),
        ("cases: [{action: {name: a, cost: {amount: -1, currency: EUR}}, outcome: deny}]", "the amount is negative"),
        ("schema: x", "unknown key 'schema'"),
        ("cases: 5", "expected a list"),
    ],
)
def test_what_is_wrong_with_a_file_is_placed(text: str, problem: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_cases(text)
    assert problem in str(caught.value)
