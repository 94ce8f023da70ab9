"""A policy: one compiled document."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from app.core.actions import Call, Caller
from app.core.codes import Code, Trigger
from app.core.outcomes import Outcome
from app.core.policy import weighing
from app.core.policy.actions import ActionPolicy
from app.core.policy.approvers import ApproverRule
from app.core.policy.knobs import Knobs
from app.core.policy.limits import Limit, LimitIndex
from app.core.policy.weighing import Weighing


class Unlisted(StrEnum):
    """What happens to an action that the policy does not list; `evaluate` weighs it by the knobs alone."""

    DENY = "deny"
    REQUIRE_HUMAN = "require_human"
    EVALUATE = "evaluate"


@dataclass(frozen=True, slots=True)
class Policy:
    """A document, compiled. `canonical` is its RFC 8785 form, `digest` the `sha256:` of that.

    `version` is a label for people, "" if there is none.
    """

    version: str
    digest: str
    canonical: str = field(repr=False)
    defaults: Knobs
    unlisted: Unlisted
    actions: Mapping[str, ActionPolicy] = field(repr=False)
    limits: tuple[Limit, ...]
    approvers: tuple[ApproverRule, ...]
    _index: LimitIndex = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Order the limits by what they cover."""
        object.__setattr__(self, "_index", LimitIndex(self.limits))

    def weigh(self, call: Call, caller: Caller, now: datetime, *, literal: bool = False) -> Weighing:
        """Return what the policy makes of a call; `now` is what its conditions take for the time.

        `literal` takes everything given as attested and as it is, as a what-if does.
        """
        action = self.action(call.action.name)
        found = weighing.weigh(action, self._index, call, caller, now, literal=literal)
        return found if action.listed else replace(found, triggered=(*self._refusal(action.name), *found.triggered))

    def action(self, name: str) -> ActionPolicy:
        """Return what the policy says of an action; of one that it does not list, its knobs and nothing else."""
        return self.actions.get(name) or ActionPolicy(name, self.defaults, listed=False)

    def _refusal(self, name: str) -> tuple[Trigger, ...]:
        if self.unlisted is Unlisted.EVALUATE:
            return ()
        message = f"the policy does not list the action {name}"
        return (Trigger(Code.UNLISTED_ACTION, Outcome(self.unlisted.value), message, {"action": name}),)
