"""One policy, three ways to ask: evaluate, decide and admit agree on any call that nothing stored is against."""

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any, TypeAlias

import httpx
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.ask import put_in_force

Asking: TypeAlias = Callable[[str], httpx.AsyncClient]

A_SECOND = 1.01
_numbers = count()

labels = st.sampled_from(["live", "payment", "irreversible", "odd"])
outcomes = st.sampled_from(["allow", "require_human", "deny"])
conditions = st.sampled_from(
    [
        "cost.amount <= 50.0",
        "arguments.n > 5",
        "has(arguments.n) && arguments.n >= 3",
        "'payment' in labels",
        "'odd' in request.tags",
        "principal.name == 'agent'",
        "arguments.list.exists(x, x == arguments.n)",
        "context.shift == 'night'",
    ]
)
rules = st.fixed_dictionaries({"decision": outcomes}, optional={"when": conditions})
derived = st.sampled_from(
    [
        {"when": {"arg": "n", "gt": 4}, "add_tags": "payment"},
        {"when": {"arg": "text", "contains": "x"}, "set_kind": "irreversible"},
        {"blast_radius": {"arg": "list", "agg": "count", "default": 2}},
        {"when": {"arg": "n", "in": [1, 2]}, "set_environment": "live"},
    ]
)
actions = st.fixed_dictionaries(
    {
        "cost": st.just({"currency": "EUR"}),
        "rules": st.lists(rules, min_size=1, max_size=3),
        "labels": st.fixed_dictionaries(
            {"derive": st.lists(derived, max_size=3)}, optional={"environment": labels, "kind": labels}
        ),
        "knobs": st.fixed_dictionaries(
            {},
            optional={
                "max_blast_radius": st.integers(0, 3),
                "deny_for": st.lists(labels, max_size=1),
                "require_human_for": st.lists(labels, max_size=2, unique=True),
                "require_human_over": st.just({"amount": "80", "currency": "EUR"}),
            },
        ),
    },
    optional={"asset": st.just("thing/{n}"), "spend": st.just(["desk:{text}"])},
)
policies = st.fixed_dictionaries(
    {
        "schema": st.just("countersign.policy/v1"),
        "unlisted": st.sampled_from(["deny", "require_human", "evaluate"]),
        "defaults": st.fixed_dictionaries({"require_verification_score": st.sampled_from([0, 0.5])}),
        "actions": st.fixed_dictionaries({"one": actions, "two": actions}),
        "limits": st.just([{"scope": "desk:*", "limit": {"amount": "60", "currency": "EUR"}}]),
    }
)
calls = st.fixed_dictionaries(
    {
        "action": st.fixed_dictionaries(
            {
                "name": st.sampled_from(["one", "two", "three"]),
                "arguments": st.fixed_dictionaries(
                    {},
                    optional={
                        "n": st.integers(0, 9) | st.floats(0, 9) | st.just("x") | st.none(),
                        "list": st.lists(st.integers(0, 9), max_size=4),
                        "text": st.text("xy:{} é", max_size=4),
                    },
                ),
                "cost": st.integers(0, 100).map(lambda amount: {"amount": str(amount), "currency": "EUR"}),
            },
            optional={
                "environment": labels,
                "kind": labels,
                "tags": st.lists(labels, max_size=2, unique=True),
                "blast_radius": st.integers(0, 4),
            },
        )
    },
    optional={
        "context": st.just({"shift": "night"}),
        "advice": st.lists(st.fixed_dictionaries({"outcome": outcomes}), max_size=1),
    },
)

AGENT = {"name": "agent", "kind": "agent", "owner": "agent"}
NO_STORED_STATE = {"spend_limit_exceeded"}


async def answers(asking: Asking, policy: dict[str, Any], call: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what each way answers."""
    asked = {
        "evaluate": ("policy_admin", "/v1/policies/evaluate", {**call, "policy": policy, "principal": AGENT}),
        "decide": ("agent", "/v1/decide", call),
        # Each call is one that nobody asked before, so that no question or denial of it stands.
        "admit": ("agent", "/v1/admit", {**call, "approval_context": {"number": str(next(_numbers))}}),
    }
    found = {}
    for way, (who, path, body) in asked.items():
        response = await asking(who).post(path, json=body)
        assert response.status_code == 200, response.text
        found[way] = response.json()
    return found


def said(answer: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """Return the labels, and the codes and sentences of the checks that need no stored state."""
    checks = [check for check in answer["triggered"] if check["code"] not in NO_STORED_STATE]
    return answer["labels"], [check["code"] for check in checks], [check["message"] for check in checks]


@settings(
    max_examples=4,
    phases=[Phase.generate],
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(policy=policies, calls=st.lists(calls, min_size=12, max_size=12))
async def test_evaluate_decide_and_admit_agree(
    asking: Asking, policy: dict[str, Any], calls: list[dict[str, Any]]
) -> None:
    # Another version label ends the questions that the last policy has left open.
    policy = {**policy, "version": f"v{next(_numbers)}"}
    await put_in_force(asking("policy_admin"), policy)
    await asyncio.sleep(A_SECOND)
    for call in calls:
        found = await answers(asking, policy, call)
        assert said(found["evaluate"]) == said(found["decide"]) == said(found["admit"]), call
        if not any(check["code"] in NO_STORED_STATE for check in found["admit"]["triggered"]):
            assert found["evaluate"]["outcome"] == found["decide"]["outcome"] == found["admit"]["outcome"], call
