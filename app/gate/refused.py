"""The record of requests that were turned away before they were decided: bounded, so that noise cannot fill a chain."""

from collections.abc import Callable
from dataclasses import dataclass, field

from app.core.refusals import Refusal
from app.gate import records
from app.gate.authorisation import identify
from app.gate.lane import Lane

_BURST = 20.0
_A_SECOND = 0.5


@dataclass(frozen=True, slots=True)
class RecordRefusal:
    """Appends that an authenticated caller's request was bad input or in conflict: what, where, and a digest of it."""

    id: str
    request_id: str
    credential_id: str
    code: str
    pointer: str
    body_sha256: str

    def wants(self, lane: Lane) -> None:
        """Need nothing."""

    def run(self, lane: Lane) -> Refusal | None:
        """Append the record."""
        caller = identify(lane, self.credential_id)
        if isinstance(caller, Refusal):
            return caller
        lane.journal.append(
            "admission.refused",
            {
                "request_id": self.request_id,
                **records.of_caller(caller),
                "code": self.code,
                "pointer": self.pointer,
                "body_digest": f"sha256:{self.body_sha256}",
            },
            principal=caller.principal,
        )
        return None


@dataclass(slots=True)
class RefusalBudget:
    """How many refusals of each credential are recorded: twenty at once, then one every two seconds, a process.

    `clock` gives seconds that only grow.
    """

    clock: Callable[[], float]
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)

    def take(self, credential_id: str) -> bool:
        """Return whether one more may be recorded now."""
        now = self.clock()
        left, since = self._left.get(credential_id, (_BURST, now))
        left = min(_BURST, left + (now - since) * _A_SECOND)
        if left < 1:
            self._left[credential_id] = (left, now)
            return False
        self._left[credential_id] = (left - 1, now)
        return True
