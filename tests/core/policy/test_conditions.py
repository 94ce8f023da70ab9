"""Conditions: what can never hold is found when the document loads, and none can stop the service."""

import time
from collections.abc import Mapping
from typing import Any

import pytest

from app.core import policy
from app.core.policy import DocumentError, effort, syntax
from app.core.values import Json
from tests.core.policy.weighed import codes, document, load, weigh

SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "required": ["amount"],
    "properties": {
        "amount": {"type": "number"},
        "count": {"type": "integer"},
        "text": {"type": "string"},
        "flag": {"type": "boolean"},
        "list": {"type": "array", "items": {"type": "string"}},
        "nested": {"type": "object", "properties": {"deep": {"type": "integer"}}},
        "shared": {"$ref": "#/$defs/word"},
        "choice": {"enum": ["a", "b"]},
        "any": {},
        "maybe": {"type": ["string", "null"]},
    },
    "$defs": {"word": {"type": "string"}},
}


def problems(condition: str) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        policy.load(document({"arguments": SCHEMA, "rules": [{"when": condition, "decision": "allow"}]}))
    return [problem.message for problem in caught.value.problems]


@pytest.mark.parametrize(
    "condition",
    [
        "arguments.amount > 3 && arguments.amount > 3.5 && arguments.count > 3.5",
        "arguments.amount in [1, 2.5] && arguments.count in [1.0]",
        "arguments.amount + arguments.count > 1",
        "arguments.count * 2 > 3.5 && 1 < 1.5 && 2 in [2.0] && size(arguments.list) != 1.5",
        "has(arguments.text) && arguments.text == 'x'",
        "has(arguments.amount) && has(arguments.nested.deep)",
        "has(arguments.nested) && arguments.nested.deep == 1.0",
        "arguments['amount'] > 3 && 'amount' in arguments",
        "arguments.list.exists(x, x.startsWith('a')) && 'b' in arguments.list",
        "arguments.all(name, name != 'x')",
        "arguments.any > 3 || arguments.any == 'x' || arguments.maybe == null",
        "arguments.choice == 'a' && arguments.shared.size() < 5",
        "arguments.flag",
        "arguments.elsewhere == 5",
        "context.shift == 5 && context.shift != 'x'",
        "size(arguments.list) > 1 && labels.exists(l, l == 'x')",
    ],
)
def test_what_may_hold_loads(condition: str) -> None:
    policy.load(document({"arguments": SCHEMA, "rules": [{"when": condition, "decision": "allow"}]}))


@pytest.mark.parametrize(
    "condition",
    [
        "arguments.amount > '300'",
        "arguments.count == 'three'",
        "arguments.text > 3",
        "arguments.text == 3.0",
        "arguments.flag == 1",
        "arguments.list == 'x'",
        "3 in arguments.list",
        "arguments.list.exists(x, x > 3)",
        "arguments.nested.deep == 'x'",
        "arguments.shared == 1",
        "arguments.choice == 1",
        "labels == 'live'",
        "now > 5",
        "asset == 1 || true",
        "has(arguments.text) && arguments.text > 3",
        "principal.roles == 'desk'",
    ],
)
def test_what_can_never_hold_is_an_error(condition: str) -> None:
    [message] = problems(condition)
    assert "found no matching overload" in message


def test_a_member_that_is_no_boolean_is_an_error() -> None:
    assert problems("arguments.text") == ["it can never hold: it gives string, not true or false"]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("[1].all(a, [1].all(b, [1].all(c, true)))", "macros such as all() and exists() nest at most 2 deep"),
        ("arguments.text.matches(arguments.choice)", "the pattern of matches() is written as a text"),
        ("arguments.text.matches('(a')", "not a regular expression"),
        ("arguments.text.matches('((a{1,30}){1,30}){1,30}')", "too heavy"),
        ("arguments.text.matches('\\\\pL{1,500}')", "too heavy"),
        ("true" + " && true" * 2_000, "longer than 4096 characters"),
        ("(" * 500 + "true" + ")" * 500, "recursion"),
    ],
)
def test_a_condition_that_could_take_long_is_refused(condition: str, message: str) -> None:
    [found] = problems(condition)
    assert message in found


LONG = "x" * 900_000


@pytest.mark.parametrize(
    ("condition", "arguments"),
    [
        ("arguments.l.all(a, arguments.l.all(b, a in arguments.l))", {"l": list(range(900))}),
        ("arguments.l.all(a, arguments.l + arguments.l + arguments.l == arguments.l)", {"l": list(range(900))}),
        ("arguments.l.map(a, arguments.s + arguments.s).size() > 1", {"l": list(range(900)), "s": LONG}),
        ("arguments.l.all(a, !arguments.s.contains('b'))", {"l": list(range(900)), "s": LONG}),
        ("arguments.l.all(a, arguments.s.matches('(x{1,20}){1,20}y'))", {"l": list(range(900)), "s": LONG}),
        ("arguments.s.matches('((x{1,10}){1,10}){1,10}y')", {"s": LONG}),
        ("1 in arguments.l", {"l": list(range(1_001))}),
        ("arguments.n.size() > 1", {"n": [[[1] * 400] * 3]}),
    ],
)
def test_a_bomb_is_stopped_quickly_and_the_call_held(condition: str, arguments: dict[str, Any]) -> None:
    loaded = load({"rules": [{"when": condition, "decision": "allow"}, {"decision": "allow"}]})
    begun = time.process_time()
    assert codes(weigh(loaded, arguments)) == ["condition_undetermined"]
    assert time.process_time() - begun < 0.5


@pytest.mark.parametrize(
    ("condition", "arguments"),
    [
        ("arguments.to.all(r, r.matches('^[a-z.]+@example[.]com$'))", {"to": ["someone@example.com"] * 900}),
        ("arguments.to.exists(r, r.endsWith('m') && r.startsWith('s'))", {"to": ["someone@example.com"] * 900}),
        ("arguments.lines.all(l, l.price + l.tax < 10.5)", {"lines": [{"price": 1.0, "tax": 0.5}] * 300}),
        ("arguments.body.contains('urgent') || arguments.body.size() > 10", {"body": LONG}),
        ("arguments.a.all(x, arguments.b.exists(y, x == y))", {"a": list(range(90)), "b": list(range(90))}),
    ],
)
def test_large_calls_are_evaluated(condition: str, arguments: dict[str, Any]) -> None:
    loaded = load({"rules": [{"when": condition, "decision": "allow"}]})
    assert codes(weigh(loaded, arguments)) == []


def test_the_bound_holds_what_conditions_really_take() -> None:
    """The worst that the bound lets through must be short; measured generously, since machines differ."""
    worst: list[tuple[str, dict[str, Any]]] = [
        ("arguments.l.all(a, a in arguments.l && !(-1 in arguments.l))", {"l": list(range(1_000))}),
        ("arguments.l.all(a, arguments.l == arguments.l)", {"l": list(range(990))}),
        ("!arguments.s.matches('(([ab]){1,30}a?){1,8}c')", {"s": "ab" * 50_000}),
    ]
    for condition, arguments in worst:
        loaded = load({"rules": [{"when": condition, "decision": "allow"}, {"decision": "allow"}]})
        begun = time.process_time()
        weigh(loaded, arguments)
        assert time.process_time() - begun < 20 * effort.MOST / 1e9


def test_the_tree_of_a_condition() -> None:
    [rule] = (
        load({"rules": [{"when": "has(arguments.x) && arguments['y'] < -2.5", "decision": "allow"}]})
        .actions["act"]
        .rules
    )
    assert rule.when is not None
    left, right = syntax.children(rule.when.tree)
    assert left == syntax.Select(syntax.Name("arguments"), "x", test=True)
    assert right == syntax.Apply(
        "_<_",
        (syntax.Apply("_[_]", (syntax.Name("arguments"), syntax.Constant("y"))), syntax.Constant(-2.5)),
    )
