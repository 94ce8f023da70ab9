"""Weighing a call before its group: from memory, guarded, so that what raises there is nobody else's error."""

from datetime import UTC, datetime

from app.core.actions import Call, Caller
from app.gate.asked import Asked, weigh
from app.gate.facts import FactCache

# Only a condition that reads the clock could tell, and such a call is weighed again under the lock.
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


def prepare(facts: FactCache, caller: Caller, call: Call) -> Asked | None:
    """Return the call weighed under the policy that memory holds, or None if it holds none.

    The desk weighs again where this turns out to be of another revision or another authority.
    """
    policy = facts.policies.newest(caller.tenant)
    return None if policy is None else weigh(call, caller, policy, _NO_TIME)
