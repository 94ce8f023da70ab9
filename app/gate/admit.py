"""Admitting: the one command that can answer "run it"."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from app.core.actions import Call, Caller
from app.core.checks import spend_check, verification_check
from app.core.codes import Code, Trigger
from app.core.decision import Decision, decide
from app.core.outcomes import Outcome
from app.core.refusals import Refusal
from app.effects.admissions import LONGEST_LEASE, Admission
from app.gate import answers, asked, records, redemption, replay
from app.gate.answers import Answer
from app.gate.asked import Asked
from app.gate.authorisation import authorise
from app.gate.effect_checks import check_effects
from app.gate.lane import Lane


@dataclass(slots=True)
class Admit:
    """A call that wants to run. `id` becomes the admission's, if there is one; `prepared` is how it was weighed
    before the group, and is only used where weighing again could give nothing else."""

    id: str
    request_id: str
    credential_id: str
    call: Call
    prepared: Asked | None = None
    _caller: Caller | Refusal = field(init=False)
    _asked: Asked | None = field(init=False, default=None)
    _request_digest: str | None = field(init=False, default=None)

    def wants(self, lane: Lane) -> None:
        """Ask for all that the stored state could say about the call."""
        self._caller = authorise(lane, self.credential_id, "admit")
        if isinstance(self._caller, Refusal):
            return
        if self.call.idempotency_key is not None:
            self._request_digest = asked.request_digest(self.call, self._caller)
            since = lane.now - replay.KEPT
            lane.effects.want_idempotency_key(self._caller.principal, self.call.idempotency_key, since)
        self._asked = self._weigh(lane, self._caller)
        if self._asked is None:
            return
        lane.effects.want_effects(self._asked.weighing.effects)
        lane.effects.want_digest(self._asked.digest)
        lane.spend.want(self._asked.weighing.scopes, self._asked.weighing.limits)
        redemption.want(lane, self._asked)

    def _weigh(self, lane: Lane, caller: Caller) -> Asked | None:
        if lane.policy is None:
            return None
        if self.prepared is not None and self.prepared.holds_for(caller, lane.policy):
            return self.prepared
        return asked.weigh(self.call, caller, lane.policy, lane.now)

    def run(self, lane: Lane) -> Answer | Refusal:
        """Answer the call, and reserve for it what an allowed one uses."""
        if isinstance(self._caller, Refusal):
            return self._caller
        stored = self._stored_admission(lane, self._caller)
        if stored is not None and self._request_digest is not None:
            return replay.replay(lane, self._caller, stored, self._request_digest)
        if self._asked is None:
            return self._without_policy(lane, self._caller)
        decision = self._decide(lane, self._asked)
        consent = redemption.consult(lane, self._asked, decision)
        if consent.decision.outcome is Outcome.ALLOW:
            return self._admit(lane, self._asked, consent)
        return self._refuse(lane, self._asked, consent)

    def _stored_admission(self, lane: Lane, caller: Caller) -> Admission | None:
        if self.call.idempotency_key is None:
            return None
        return lane.effects.of_idempotency_key(caller.principal, self.call.idempotency_key)

    def _decide(self, lane: Lane, asked_: Asked) -> Decision:
        kept = redemption.kept_advice(lane, asked_)
        return decide([*asked_.weighing.triggered, *_stored_checks(lane, asked_)], (*self.call.advice, *kept))
