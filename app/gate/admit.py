"""Admitting: the one command that can answer "run it"."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from pydantic_core import to_json

from app.core.actions import Advice, Call, Caller
from app.core.chain import timestamp
from app.core.checks import NO_POLICY
from app.core.decision import Decision, decide
from app.core.durations import LONGEST_LEASE
from app.core.outcomes import Outcome
from app.core.refusals import Refusal, RefusalKind
from app.core.summary import summarise
from app.core.values import Json
from app.effects.admissions import Admission
from app.gate import answers, asked, idempotency, leave, permits, records, redemption, rehearsals, tokens
from app.gate.answers import Answer
from app.gate.asked import Asked
from app.gate.authorisation import authorise
from app.gate.holds import hold_of
from app.gate.lane import Lane
from app.gate.leave import Leave
from app.gate.redemption import Consent
from app.gate.stored_checks import check_stored


@dataclass(slots=True)
class Admit:
    """A call that wants to run; `id` becomes the admission's, if there is one.

    `prepared` is how it was weighed before the group, and is only used where weighing again could give nothing else.
    """

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
        self._asked = self._weigh(lane, self._caller)
        if self.call.idempotency_key is not None:
            self._request_digest = _request_digest(self._asked, self.call, self._caller)
            since = lane.now - lane.defaults.idempotency_keep
            lane.effects.want_idempotency_key(self._caller.principal, self.call.idempotency_key, since)
        if self._asked is None:
            return
        leave.want(lane, self._asked)
        lane.effects.want_effects(self._asked.weighing.effects)
        lane.spend.want(self._asked.weighing.limits)
        lane.spend.want_totals(self._asked.weighing.scopes, _currency(self._asked))
        if self.call.verification_id is not None:
            lane.evidence.want(self.call.verification_id)
        redemption.want(lane, self._asked)
        rehearsals.want(lane, self.call, self._caller)

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
            return idempotency.replay(lane, self._caller, stored, self._request_digest)
        if self._asked is None:
            return self._without_policy(lane, self._caller)
        permitted = leave.find(lane, self._asked)
        advice = self._advice(lane, self._asked)
        decision = self._decide(lane, self._asked, permitted, advice)
        noted = rehearsals.note(lane, self._asked, decision, advice)
        consent = redemption.consult(lane, self._asked, decision, self.id)
        if consent.decision.outcome is Outcome.ALLOW:
            answered, seq = self._admit(lane, self._asked, consent, permitted, noted.recorded())
        else:
            answered, seq = self._refuse(lane, self._asked, consent, noted.recorded())
        rehearsals.keep(lane, self._asked, decision, noted, seq)
        return answered

    def weighed(self, lane: Lane) -> tuple[Asked, Decision] | Refusal:
        """Return the call as it was weighed and what is decided before people are heard, for who only asks them."""
        if isinstance(self._caller, Refusal):
            return self._caller
        if self._asked is None:
            return Refusal(RefusalKind.CONFLICT, NO_POLICY.message, code=NO_POLICY.code)
        advice = self._advice(lane, self._asked)
        return self._asked, self._decide(lane, self._asked, leave.find(lane, self._asked), advice)

    def _stored_admission(self, lane: Lane, caller: Caller) -> Admission | None:
        if self.call.idempotency_key is None:
            return None
        return lane.effects.of_idempotency_key(caller.principal, self.call.idempotency_key)

    def _advice(self, lane: Lane, asked_: Asked) -> Sequence[Advice]:
        return (*self.call.advice, *redemption.kept_advice(lane, asked_))

    def _decide(self, lane: Lane, asked_: Asked, permitted: Leave, advice: Sequence[Advice]) -> Decision:
        unpermitted = [] if permitted.refusal is None else [permitted.refusal]
        return decide([*asked_.weighing.triggered, *unpermitted, *check_stored(lane, asked_)], advice)

    def _admit(
        self, lane: Lane, asked_: Asked, consent: Consent, permitted: Leave, shadow: Mapping[str, Json]
    ) -> tuple[Answer, int]:
        admission = self._admission(lane, asked_, consent, permitted)
        lane.effects.admit(admission)
        lane.spend.hold(hold_of(admission))
        if self.call.verification_id is not None:
            lane.evidence.use(self.call.verification_id, admission.id)
        token = tokens.for_provider(lane.tenant, admission.id)
        seq = self._record(
            lane,
            asked_,
            consent,
            {
                **shadow,
                **permitted.recorded(lane.spend, admission.currency),
                "admission": {**records.of_admission(admission), "expires_at": timestamp(admission.expires_at)},
            },
        )
        body = answers.of_decision(asked_, consent.decision) | {
            **consent.said,
            "allowed": True,
            "audit_id": answers.audit_id(lane.tenant, seq),
            "admission": answers.of_admission(admission, token),
        }
        if self.call.permit:
            body["decision_token"] = permits.issue(lane, admission, self.call)
        admission.answer = to_json(body).decode()
        return Answer(body), seq

    def _refuse(self, lane: Lane, asked_: Asked, consent: Consent, shadow: Mapping[str, Json]) -> tuple[Answer, int]:
        seq = self._record(lane, asked_, consent, shadow)
        body = answers.of_decision(asked_, consent.decision)
        return Answer({**body, **consent.said, "audit_id": answers.audit_id(lane.tenant, seq)}), seq

    def _admission(self, lane: Lane, asked_: Asked, consent: Consent, permitted: Leave) -> Admission:
        weighing, cost = asked_.weighing, asked_.weighing.cost
        lease = min(self.call.lease or weighing.terms.lease or lane.defaults.lease, LONGEST_LEASE)
        return Admission(
            id=self.id,
            principal=asked_.caller.principal,
            created_at=lane.now,
            expires_at=lane.now + lease,
            action=self.call.action.name,
            digest=asked_.digest,
            asset=weighing.asset,
            effects=list(weighing.effects),
            attempt=lane.effects.attempt(weighing.effects),
            scopes=list(weighing.scopes),
            amount=Decimal(0) if cost is None else cost.amount,
            currency=_currency(asked_),
            outcome_by=weighing.terms.outcome_by,
            run_id=self.call.run_id,
            approval_id=consent.consumed,
            idempotency_key=self.call.idempotency_key,
            request_digest=self._request_digest,
            grant_id=permitted.grant_id,
            budgets=list(permitted.budgets),
        )

    def _record(self, lane: Lane, asked_: Asked, consent: Consent, also: Mapping[str, Json]) -> int:
        payload = {
            **records.of_call(self.request_id, asked_),
            **records.of_decision(consent.decision),
            "totals": records.of_totals(lane.spend, asked_.weighing.scopes, _currency(asked_)),
            **consent.recorded,
            **also,
        }
        return lane.journal.append(
            "admission.decided", payload, principal=asked_.caller.principal, action=self.call.action.name
        )

    def _without_policy(self, lane: Lane, caller: Caller) -> Answer:
        """Deny a call that no policy can weigh: none is active yet."""
        decision = decide([NO_POLICY], ())
        action = self.call.action.name
        payload = {
            "request_id": self.request_id,
            **records.of_caller(caller),
            "action": action,
            "summary": summarise(self.call.action.arguments),
            **records.of_decision(decision),
        }
        seq = lane.journal.append("admission.decided", payload, principal=caller.principal, action=action)
        return Answer(answers.without_policy(decision) | {"audit_id": answers.audit_id(lane.tenant, seq)})


def _request_digest(weighed: Asked | None, call: Call, caller: Caller) -> str:
    return asked.request_digest(call, caller) if weighed is None else weighed.request_digest()


def _currency(asked_: Asked) -> str:
    cost = asked_.weighing.cost
    return "" if cost is None else cost.currency
