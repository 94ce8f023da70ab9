"""Weighing a call: all that a policy says of it without knowing what is stored."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from urllib.parse import quote

from app.core import checks, summary
from app.core.actions import Call, Caller
from app.core.codes import Code, Trigger
from app.core.money import Money
from app.core.outcomes import Outcome
from app.core.policy import costs, resolution, rules
from app.core.policy.actions import ActionPolicy
from app.core.policy.facts import Facts
from app.core.policy.knobs import Knobs
from app.core.policy.limits import Limit, LimitIndex
from app.core.policy.templates import OF_CALLERS, Template, UnresolvedError, plain_text
from app.core.policy.terms import Terms
from app.core.values import JsonObject

_ASSET_ARGUMENTS: Final = (
    "asset", "host", "hostname", "target", "resource", "resource_id", "account", "user", "username", "email",
    "order_id", "id", "ip", "url",
)  # fmt: skip

Covering = tuple[tuple[Limit, str], ...]
"""Limits, each with a scope of the call that it covers."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """What a policy made of a call.

    `triggered` has every check that needs no stored state. `labels` are all of them, sorted; `own_labels` those that
    the policy declares or derives, which approver rules match on; `caller_labels` what the caller says of itself.
    `asset` is fit to be shown: a typed summary unless `asset_shown`, that is unless a template or the caller named it.
    `named_asset` and `given_environment` are what conditions see: the asset in full, and "unknown" for an environment
    that only the caller names.
    `limits` has every limit with each scope of the call that it covers. `reads_now` tells that some condition of the
    action looks at the time, so that the same call may be weighed otherwise a moment later.
    """

    triggered: tuple[Trigger, ...]
    labels: tuple[str, ...]
    own_labels: frozenset[str]
    caller_labels: frozenset[str]
    environment: str
    kind: str
    tags: tuple[str, ...]
    blast_radius: int
    asset: str
    asset_shown: bool
    cost: Money | None
    effects: tuple[str, ...]
    scopes: tuple[str, ...]
    limits: Covering
    knobs: Knobs
    terms: Terms
    reads_now: bool
    arguments: JsonObject = field(repr=False)
    named_asset: str = field(repr=False)
    given_environment: str = field(repr=False)

    def message_for(self, outcome: Outcome) -> str | None:
        """Return what the action's user hears of this outcome, if the policy has a sentence that can be filled."""
        sentence = self.terms.refusal.get(outcome)
        return None if sentence is None else sentence.fill(self.arguments)

    def facts(self, call: Call, caller: Caller, now: datetime, wanted: AbstractSet[str]) -> Facts:
        """Return what a condition sees of the call after it was weighed, as the rules of its action have seen it."""
        facts = Facts(call, caller, now, wanted)
        facts.asset, facts.cost = self.named_asset, self.cost
        facts.change(
            environment=self.given_environment,
            kind=self.kind,
            blast_radius=self.blast_radius,
            labels=self.own_labels,
        )
        return facts


def weigh(
    policy: ActionPolicy, limits: LimitIndex, call: Call, caller: Caller, now: datetime, *, literal: bool
) -> Weighing:
    """Weigh a call of an action.

    `literal` takes labels, keys and scopes as they are given, as a what-if does: nothing is dropped from them, and
    nothing is put before them.
    """
    scale = Scale(policy, call, caller, Facts(call, caller, now, policy.reads), literal)
    scale.check_arguments()
    asset, asset_shown = scale.asset()
    cost = scale.cost()
    labels = scale.labels()
    scale.fired += rules.weigh(policy.rules, policy.name, scale.facts)
    every = labels.own | labels.callers
    scale.fired += checks.of_knobs(policy.knobs, every, labels.blast_radius, cost, call.finding)
    scopes = scale.scopes()
    return Weighing(
        effects=scale.effects(),
        limits=scale.covering(limits, scopes, cost),
        triggered=tuple(scale.fired),
        labels=tuple(sorted(every)),
        own_labels=labels.own,
        caller_labels=labels.callers,
        environment=labels.environment,
        kind=labels.kind,
        tags=tuple(sorted(labels.tags)),
        blast_radius=labels.blast_radius,
        asset=asset,
        asset_shown=asset_shown,
        cost=cost,
        scopes=scopes,
        knobs=policy.knobs,
        terms=policy.terms,
        reads_now="now" in policy.reads,
        arguments=call.action.arguments,
        named_asset=scale.facts.asset,
        given_environment=scale.facts.environment,
    )


@dataclass(slots=True)
class Scale:
    """A call on the scale, and what has fired so far. No check ends the others; each step is made once, in order."""

    policy: ActionPolicy
    call: Call
    caller: Caller
    facts: Facts
    literal: bool
    fired: list[Trigger] = field(default_factory=list)

    def check_arguments(self) -> None:
        """Check the arguments against their schema."""
        schema = self.policy.arguments
        wrong = None if schema is None else schema.check(self.facts.arguments)
        if wrong is not None:
            self.fired.append(wrong)

    def asset(self) -> tuple[str, bool]:
        """Return the asset as it may be shown, and whether somebody chose to publish it."""
        if self.policy.asset is not None:
            self.facts.asset = self._fill(self.policy.asset, "asset") or ""
            return self.facts.asset, True
        if self.call.action.asset:
            self.facts.asset = self.call.action.asset
            return self.facts.asset, True
        return self._guessed_asset(), False

    def _guessed_asset(self) -> str:
        arguments = self.call.action.arguments
        for name in _ASSET_ARGUMENTS:
            value = arguments.get(name)
            if value and isinstance(value, (str, int, float)) and not isinstance(value, bool):
                self.facts.asset = plain_text(name, value)
                return f"{name}={summary.typed(value)}"
        return ""

    def cost(self) -> Money | None:
        """Return what the call costs, if it costs something and that can be said."""
        found = costs.resolve(self.policy.cost, self.call.action.cost, self.call.action.arguments)
        if isinstance(found, Trigger):
            self.fired.append(found)
            return None
        self.facts.cost = found
        return found

    def labels(self) -> resolution.Labels:
        """Return the labels of the call, and let the conditions of the rules see them."""
        attested = self.literal or self.caller.may("attest")
        labels = resolution.resolve(self.policy, self.call.action, self.caller, self.facts, attested=attested)
        self.fired += labels.undetermined
        return labels

    def scopes(self) -> tuple[str, ...]:
        """Return the policy's scopes and the caller's own, each once."""
        filled = [self._fill(template, "spend") for template in self.policy.spend]
        return tuple(dict.fromkeys([*filter(None, filled), *map(self._callers, self.call.spend)]))

    def effects(self) -> tuple[str, ...]:
        """Return the policy's effect key and the caller's own: every one must be free."""
        filled = None if self.policy.effect is None else self._fill(self.policy.effect, "effect")
        own = None if self.call.effect is None else self._callers(self.call.effect)
        return tuple(dict.fromkeys(filter(None, (filled, own))))

    def covering(self, limits: LimitIndex, scopes: tuple[str, ...], cost: Money | None) -> Covering:
        """Return the limits that cover a scope. Those in another currency than the cost refuse the call instead."""
        found = limits.covering(scopes)
        if cost is None:
            return found
        foreign = [limit.currency for limit, _ in found if limit.currency not in {None, cost.currency}]
        over = self.policy.knobs.require_human_over
        if over is not None and over.currency != cost.currency:
            foreign.append(over.currency)
        if foreign:
            self.fired.append(costs.mismatch(cost.currency, filter(None, foreign)))
        return tuple((limit, scope) for limit, scope in found if limit.currency in {None, cost.currency})

    def _callers(self, key: str) -> str:
        """Return a key that the caller brings under its own name, where it can meet no other's."""
        return key if self.literal else f"{OF_CALLERS}{quote(self.caller.principal, safe='')}:{key}"

    def _fill(self, template: Template, where: str) -> str | None:
        try:
            return template.fill(self.call.action.arguments)
        except UnresolvedError as error:
            message = f"the {where} {template.text} cannot be filled: {error}"
            values = {"where": where, "template": template.text}
            self.fired.append(Trigger(Code.TEMPLATE_UNRESOLVED, Outcome.DENY, message, values))
            return None
