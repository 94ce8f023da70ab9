"""Short ways for a test to write a policy of one action and to weigh a call of it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from app.core import policy
from app.core.actions import Action, Call, Caller
from app.core.decision import Decision, decide
from app.core.money import Money
from app.core.policy import Policy, Weighing

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
AGENT = Caller(tenant="dev", principal="agent", kind="agent", owner="team", roles=frozenset({"desk"}))
CALM = {"require_verification_score": 0, "require_human_for": []}


def document(action: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return the document of one action named `act`, whose knobs fire nothing; `more` are members beside it."""
    return {"schema": "countersign.policy/v1", "defaults": CALM, "actions": {"act": dict(action or {})}, **more}


def load(action: Mapping[str, Any] | None = None, **more: Any) -> Policy:
    """Return that document's policy."""
    return policy.load(document(action, **more))


def eur(amount: str) -> Money:
    """Return euros."""
    return Money(Decimal(amount), "EUR")


def weigh(
    loaded: Policy, arguments: Mapping[str, Any] | None = None, *, caller: Caller = AGENT, **more: Any
) -> Weighing:
    """Return what the policy makes of a call of `act`; `more` are fields of the action, or `call` for the whole."""
    around = more.pop("call", {})
    return loaded.weigh(Call(Action("act", arguments or {}, **more), **around), caller, NOW)


def decided(loaded: Policy, arguments: Mapping[str, Any] | None = None, **more: Any) -> Decision:
    """Return the decision over what the policy makes of a call of `act`."""
    return decide(weigh(loaded, arguments, **more).triggered)


def codes(weighing: Weighing) -> list[str]:
    """Return the codes that fired, in the table's order."""
    return [str(trigger.code) for trigger in decide(weighing.triggered).triggered]
