"""A large policy loads in about the time that its conditions take to compile, and weighs a call like a small one."""

import time
from collections.abc import Callable
from typing import Any

from cel_expr_python import cel

from app.core import policy
from app.core.actions import Action, Call
from app.core.policy.facts import VARIABLES
from tests.core.policy.weighed import AGENT, NOW, document

RULES = 5


def action(number: int) -> dict[str, Any]:
    bounds = [{"when": f"cost.amount <= {number * 10 + rule}.0", "decision": "allow"} for rule in range(RULES)]
    return {
        "arguments": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
        "labels": {"environment": "live", "kind": "payout", "tags": ["goodwill"]},
        "asset": "thing/{id}",
        "cost": {"amount": "5", "currency": "EUR"},
        "effect": "thing:{id}",
        "rules": [*bounds, {"decision": "deny"}],
    }


def of_size(actions: int) -> dict[str, Any]:
    return {**document(), "actions": {f"act.n{number}": action(number) for number in range(actions)}}


def seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def compile_all() -> None:
    """Compile as many conditions as the large policy has, twice: what no loading can do without."""
    environment = cel.NewEnv(variables=dict.fromkeys(VARIABLES, cel.Type.DYN))
    for number in range(2 * 1_000 * RULES):
        environment.compile(f"cost.amount <= {number}.5")


def test_a_large_policy_loads_in_about_the_time_that_compiling_takes() -> None:
    large = of_size(1_000)
    assert seconds(lambda: policy.load(large)) < 10 * seconds(compile_all)


def test_a_call_costs_the_same_under_a_large_policy_as_under_a_small_one() -> None:
    call = Call(Action("act.n7", {"id": "x"}))
    small, large = (policy.load(of_size(actions)) for actions in (10, 1_000))
    assert _best(large, call) < 1.6 * _best(small, call)


def _best(loaded: policy.Policy, call: Call) -> float:
    """Return what a hundred weighings take at best, since other programs run beside."""

    def weigh_often() -> None:
        for _ in range(100):
            loaded.weigh(call, AGENT, NOW)

    return min(seconds(weigh_often) for _ in range(20))
