"""A rehearsal: what another policy would have answered to a call, with the facts of that moment held fixed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TypeAlias

from app.core.actions import Advice, Call, Caller, Verification
from app.core.checks import spend_check, verification_check
from app.core.codes import Trigger
from app.core.decision import Decision, decide
from app.core.policy import Limit, Policy
from app.core.windows import Window, describe

Room: TypeAlias = str
"""What a limit looks at: a scope, a unit and a window, as text."""


class NotRehearsableError(Exception):
    """The policy asks for a fact of that moment that was not looked up then; the message says which kind."""


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """What was stored when a call was weighed.

    `rooms` has what was held and spent, `verification` what counted as verified. `fixed` are the checks that no policy
    changes (revocations, the state of the effects in `effects`), `advice` all that was weighed.
    """

    verification: Verification | None = None
    rooms: Mapping[Room, tuple[Decimal, Decimal]] = field(default_factory=dict)
    effects: frozenset[str] = frozenset()
    fixed: tuple[Trigger, ...] = ()
    advice: tuple[Advice, ...] = ()


def room_of(limit: Limit, scope: str) -> Room:
    """Return what a limit looks at on a scope, whatever its amount."""
    return room(scope, limit.currency, limit.window)


def room(scope: str, currency: str | None, window: Window | None = None) -> Room:
    """Return the name of a scope's money in a currency, or of its calls, over a window or over all time."""
    return json.dumps([scope, currency, describe(window)], sort_keys=True)


def rehearse(policy: Policy, call: Call, caller: Caller, now: datetime, facts: StoredFacts) -> Decision:
    """Return what the policy would have answered.

    Raises:
        NotRehearsableError: a limit or an effect of it looks at what was not looked up.
    """
    weighing = policy.weigh(call, caller, now)
    if not facts.effects.issuperset(weighing.effects):
        raise NotRehearsableError("its effect key is another, and nobody looked whether that one was free")
    cost = Decimal() if weighing.cost is None else weighing.cost.amount
    checks = [
        verification_check(weighing.knobs, facts.verification),
        *(
            spend_check(limit, scope, *_held_and_spent(limit, scope, facts), limit.takes(cost))
            for limit, scope in weighing.limits
        ),
    ]
    fired = [*weighing.triggered, *(check for check in checks if check is not None), *facts.fixed]
    return decide(fired, facts.advice)


def _held_and_spent(limit: Limit, scope: str, facts: StoredFacts) -> tuple[Decimal, Decimal]:
    found = facts.rooms.get(room_of(limit, scope))
    if found is None:
        raise NotRehearsableError("a limit looks at a scope or a window that nobody looked at")
    return found
