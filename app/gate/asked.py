"""A call weighed under one policy for one caller: all that does not depend on stored state."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.core.actions import Call, Caller
from app.core.calls import call_digest
from app.core.policy.weighing import Weighing
from app.policies.active import ActivePolicy


@dataclass(frozen=True, slots=True)
class Asked:
    """The call, who makes it, the policy it was weighed under, and the digests that name it.

    `digest` is bound to the policy's version label; `key` is the same call under any label.
    """

    call: Call
    caller: Caller
    policy: ActivePolicy
    weighing: Weighing
    digest: str
    key: str

    def holds_for(self, caller: Caller, policy: ActivePolicy) -> bool:
        """Return whether weighing again for this caller under this policy could only give the same."""
        return not self.weighing.reads_now and caller == self.caller and policy.revision == self.policy.revision

    def request_digest(self) -> str:
        """Return the digest of what was sent, without version label and bound context."""
        return self.key if not self.weighing.terms.bind else request_digest(self.call, self.caller)


def weigh(call: Call, caller: Caller, policy: ActivePolicy, now: datetime) -> Asked:
    """Weigh the call and name it."""
    weighing = policy.policy.weigh(call, caller, now)
    bind, version = weighing.terms.bind, policy.policy.version
    key = _digest(call, caller, "", bind)
    digest = _digest(call, caller, version, bind) if version else key
    return Asked(call, caller, policy, weighing, digest, key)


def request_digest(call: Call, caller: Caller) -> str:
    """Return the digest that a call has as a request, whatever policy may weigh it."""
    return _digest(call, caller, "", ())


def _digest(call: Call, caller: Caller, version: str, bind: Sequence[str]) -> str:
    return call_digest(tenant=caller.tenant, principal=caller.principal, call=call, policy_version=version, bind=bind)
