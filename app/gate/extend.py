"""Moving the end of a lease, for an agent that is still at work."""

from dataclasses import dataclass
from datetime import timedelta

from app.core.actions import Caller
from app.core.chain import timestamp
from app.core.durations import LONGEST_EXTENSION, LONGEST_LEASE
from app.core.refusals import Refusal, RefusalKind
from app.core.values import Json
from app.effects.admissions import Admission
from app.gate import answers, lapses, records
from app.gate.authorisation import authorise, revoked
from app.gate.lane import Lane
from app.gate.visibility import find_to_speak_for


@dataclass(frozen=True, slots=True)
class Extend:
    """Asks that an admission's lease ends `lease` from now: an hour at most, and 24 hours after it began."""

    id: str
    credential_id: str
    admission_id: str
    lease: timedelta

    def wants(self, lane: Lane) -> None:
        """Ask for the admission."""
        lane.effects.want(self.admission_id)

    def run(self, lane: Lane) -> dict[str, Json] | Refusal:
        """Move the end of the lease, and record it."""
        caller = authorise(lane, self.credential_id, "admit", "report")
        if isinstance(caller, Refusal):
            return caller
        found = find_to_speak_for(lane, caller, self.admission_id)
        if isinstance(found, Refusal):
            return found
        lapses.meet(lane, found)
        return self._why_not(lane, found) or self._extend(lane, caller, found)

    def _why_not(self, lane: Lane, admission: Admission) -> Refusal | None:
        stopped = revoked(lane.authority, admission.principal, admission.action)
        if stopped is not None:
            return Refusal(RefusalKind.CONFLICT, stopped.message, code=stopped.code, values=stopped.values)
        if not admission.open(lane.now):
            return Refusal(
                RefusalKind.CONFLICT,
                f"the lease is over: the admission is {admission.state}",
                values={"state": admission.state},
            )
        return None

    def _extend(self, lane: Lane, caller: Caller, admission: Admission) -> dict[str, Json] | Refusal:
        until = lane.now + min(self.lease, LONGEST_EXTENSION)
        admission.expires_at = max(admission.expires_at, min(until, admission.created_at + LONGEST_LEASE))
        lane.effects.touch(admission)
        lane.journal.append(
            "admission.extended",
            {**records.of_admission(admission), "by": caller.principal, "expires_at": timestamp(admission.expires_at)},
            principal=caller.principal,
            action=admission.action,
        )
        return answers.view(admission, lane.now)
