"""Whatever a call holds, it is weighed: nothing that passes the door raises."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core import policy
from app.core.actions import Action, Call, Finding
from app.core.decision import decide
from app.core.outcomes import Outcome
from app.core.policy import Policy
from app.core.values import GREATEST_INTEGER, Fraction
from tests.core.policy.weighed import AGENT, NOW, eur, load

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
POLICIES = sorted(file for file in EXAMPLES.glob("*.yaml") if not file.name.endswith(".test.yaml"))

EVERYTHING = load(
    {
        "labels": {
            "derive": [
                {"when": {"arg": "a", "gt": 5}, "add_tags": "x"},
                {"when": {"arg": "a", "eq": {"a": [1, None]}}, "set_kind": "x"},
                {"when": {"arg": "b", "contains": "a"}, "set_environment": "x"},
                {"when": {"arg": "b", "in": [1, "a", None, True]}, "add_tags": ["y"]},
                {"blast_radius": {"arg": "a", "agg": "value", "default": 3}},
                {"blast_radius": {"arg": "b", "agg": "count"}},
                {"when": "arguments.a.exists(x, x == arguments.b)", "add_tags": "z"},
            ]
        },
        "asset": "thing/{a}",
        "cost": {"sum": "b[].price", "currency": "EUR"},
        "effect": "do:{a}-{b}",
        "spend": ["s:{a}", "t:{b}"],
        "rules": [
            {"when": "cost.amount > 5.0 && arguments.a > 3", "decision": "require_human"},
            {"when": "arguments.b.matches('^(a|b)+$') || context.a in arguments.b", "decision": "deny"},
            {"when": "size(arguments) < 100 && arguments.all(name, arguments[name] != context)", "decision": "allow"},
        ],
        "refusal": {"deny": "no {a}", "require_human": "{b}?"},
        "approval": {"show": ["a"], "bind": ["b"]},
    },
    limits=[{"scope": "*", "limit": {"amount": "5", "currency": "EUR"}}],
)

names = st.sampled_from(["a", "b", "price", "host", "id"]) | st.text(max_size=8)
texts = st.text(max_size=12) | st.sampled_from(["a", "5", "-1", "12.50", "caller:x", "{a}", "\u202e", "e\u0301"])
numbers = st.integers(-GREATEST_INTEGER, GREATEST_INTEGER) | st.floats(allow_nan=False, allow_infinity=False).map(
    lambda number: Fraction(repr(number))
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(names, values, max_size=4)


def weigh_and_speak(loaded: Policy, call: Call) -> Outcome:
    """Weigh a call and say everything that is said of it."""
    weighing = loaded.weigh(call, AGENT, NOW)
    decision = decide(weighing.triggered, call.advice)
    for outcome in Outcome:
        weighing.message_for(outcome)
    return decision.outcome


@settings(max_examples=200)
@given(
    arguments=objects, context=objects, name=st.sampled_from(["act", "other"]), radius=st.integers(0, GREATEST_INTEGER)
)
def test_any_arguments_are_weighed(arguments: Any, context: Any, name: str, radius: int) -> None:
    action = Action(name, arguments, blast_radius=radius, cost=eur("3"), tags=frozenset({"sandboxed", "\u202e"}))
    finding = Finding("", "high", 0.5, (), 0.5)
    weigh_and_speak(EVERYTHING, Call(action, context=context, finding=finding, effect="e", spend=("s",)))


@pytest.mark.parametrize("file", POLICIES, ids=lambda file: file.stem)
@settings(max_examples=40)
@given(data=st.data())
def test_the_examples_weigh_any_arguments(file: Path, data: st.DataObject) -> None:
    loaded = policy.load(file.read_text())
    action = loaded.actions[data.draw(st.sampled_from(sorted(loaded.actions)))]
    known = sorted(action.arguments.promises.names) if action.arguments else ["a"]
    arguments = data.draw(st.dictionaries(st.sampled_from(known), values))
    weigh_and_speak(loaded, Call(Action(action.name, arguments), context=data.draw(objects)))
