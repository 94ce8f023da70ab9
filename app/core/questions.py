"""The call that a question is about, and the digest that names it."""

from collections.abc import Iterable

from app.core.actions import Action, Call
from app.core.canonical import digest
from app.core.money import format_amount
from app.core.values import Json


def call_digest(*, tenant: str, principal: str, call: Call, policy_version: str, bind: Iterable[str]) -> str:
    """Return the digest of what was sent with its defaults filled: `sha256:` over its RFC 8785 form.

    `bind` names the context keys that belong to the call; other context, evidence and request ids do not. The order
    of keys, tags and scopes makes no difference, nor does writing 1 as 1.0; everything else does.
    """
    form: dict[str, Json] = {
        "tenant": tenant,
        "principal": principal,
        "action": _action(call.action),
        "effect": call.effect,
        "spend": sorted(set(call.spend)),
        "approval_context": dict(call.approval_context),
        "policy_version": policy_version,
        "context": {key: call.context[key] for key in bind if key in call.context},
    }
    return digest(form)


def _action(action: Action) -> dict[str, Json]:
    cost = action.cost
    return {
        "name": action.name,
        "arguments": action.arguments,
        "asset": action.asset,
        "environment": action.environment,
        "kind": action.kind,
        "tags": sorted(action.tags),
        "blast_radius": action.blast_radius,
        "cost": None if cost is None else {"amount": format_amount(cost.amount), "currency": cost.currency},
    }
