"""A call weighed under one policy for one caller: all that does not depend on stored state."""

from dataclasses import dataclass
from datetime import datetime

from app.core.actions import Call, Caller
from app.core.policy.weighing import Weighing
from app.core.questions import call_digest
from app.policies.active import ActivePolicy


@dataclass(frozen=True, slots=True)
class Asked:
    """The call, who makes it, the policy it was weighed under, and the digest that names it."""

    call: Call
    caller: Caller
    policy: ActivePolicy
    weighing: Weighing
    digest: str

    def holds_for(self, caller: Caller, policy: ActivePolicy) -> bool:
        """Return whether weighing again for this caller under this policy could only give the same."""
        return not self.weighing.reads_now and caller == self.caller and policy.revision == self.policy.revision


def weigh(call: Call, caller: Caller, policy: ActivePolicy, now: datetime) -> Asked:
    """Weigh the call and name it."""
    weighing = policy.policy.weigh(call, caller, now)
    digest = call_digest(
        tenant=caller.tenant,
        principal=caller.principal,
        call=call,
        policy_version=policy.policy.version,
        bind=weighing.terms.bind,
    )
    return Asked(call, caller, policy, weighing, digest)


def request_digest(call: Call, caller: Caller) -> str:
    """Return the digest of what was sent, without version label and bound context: what an idempotency key names."""
    return call_digest(tenant=caller.tenant, principal=caller.principal, call=call, policy_version="", bind=())
