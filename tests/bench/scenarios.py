"""What the load sends: flows of one request or several, written so that two generators can send the same."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

NUMBER = "@number@"
"""Stands in a body for the flow's own number, which no other flow of any round has."""

KEPT = "@kept@"
"""Stands in a path or body for what the answer before it was to be remembered for."""

Keys = Mapping[str, tuple[str, ...]]
"""API keys by part: one of `agent`, `approver` and the others, and of many `askers`, that each ask a little."""

HOT = "hot"
CAPPED = "capped:till"

_ALLOWED = '"allowed":true'
_ADMISSION = '"admission":{"id":"'
_APPROVAL = '"approval_id":"'


@dataclass(frozen=True, slots=True)
class Step:
    """One POST of a flow. An answer without `expects` in it counts as unexpected.

    `keys` are taken in turns, by the flow's number. `keeps` is the text before what the next steps need of the answer;
    what is kept ends at the next quote.
    """

    path: str
    body: str
    keys: tuple[str, ...]
    expects: str
    keeps: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A flow under the name that the table has for it."""

    name: str
    steps: tuple[Step, ...]


def scenarios(keys: Keys) -> tuple[Scenario, ...]:
    """Return what is measured at every number of connections; the first is what the others are compared with."""
    agent, own = keys["agent"], _payment(account=NUMBER)
    admit = Step("/v1/admit", own, agent, _ALLOWED, keeps=_ADMISSION)
    return (
        Scenario("no-op", (Step("/v1/noop", own, agent, '"action":"bench.pay"'),)),
        Scenario("decide", (Step("/v1/decide", own, agent, '"outcome":"allow"'),)),
        Scenario("admit, own scopes", (admit,)),
        Scenario("admit, one hot scope", (replace(admit, body=_payment(account=HOT)),)),
        Scenario("admit and report", (admit, _report(agent))),
        Scenario("hold and redeem", _hold_and_redeem(keys)),
    )


def capped(keys: Keys) -> Scenario:
    """Return admissions on one scope whose cap is reached after 83: nearly all of them are refused, and recorded."""
    body = _call("bench.pay_capped", account=CAPPED.partition(":")[2], amount=12)
    return Scenario("admit, cap reached", (Step("/v1/admit", body, keys["agent"], '"allowed":'),))


def decision(name: str, action: str, key: str) -> Scenario:
    """Return decisions about one action that its policy allows."""
    return Scenario(name, (Step("/v1/decide", _call(action, amount=12), (key,), '"outcome":"allow"'),))


def _report(agent: tuple[str, ...]) -> Step:
    return Step(f"/v1/admissions/{KEPT}/outcome", '{"outcome":"executed"}', agent, '"state":"executed"')


def _hold_and_redeem(keys: Keys) -> tuple[Step, ...]:
    asked = _payment(account=NUMBER, amount=500)
    approved = _payment(account=NUMBER, amount=500, approval_id=KEPT)
    return (
        Step("/v1/admit", asked, keys["askers"], '"outcome":"require_human"', keeps=_APPROVAL),
        Step(f"/v1/approvals/{KEPT}/decision", '{"decision":"approve"}', keys["approver"], '"status":"approved"'),
        Step("/v1/admit", approved, keys["askers"], _ALLOWED),
    )


def _payment(account: str, amount: int = 12, **beside: str) -> str:
    return _call("bench.pay", beside, account=account, amount=amount)


def _call(action: str, beside: Mapping[str, str] | None = None, /, **arguments: str | int) -> str:
    body = {"action": {"name": action, "arguments": {"invoice": NUMBER, **arguments}}, **(beside or {})}
    return json.dumps(body, separators=(",", ":"))
