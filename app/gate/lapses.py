"""Leases that ended without a word: the admission becomes unknown, by a sweep or by whoever meets it first."""

from dataclasses import dataclass

from app.effects.admissions import Admission, State
from app.gate import records
from app.gate.lane import Lane


def meet(lane: Lane, admission: Admission) -> None:
    """Make the admission unknown if its lease is over, and record it. Key and hold stay."""
    if not admission.lapsed(lane.now):
        return
    lane.effects.close(admission, State.UNKNOWN, detail=admission.detail)
    lane.journal.append(
        "admission.lapsed",
        {**records.of_admission(admission), "by": "system:lease"},
        principal=admission.principal,
        action=admission.action,
    )


@dataclass(frozen=True, slots=True)
class SweepLapses:
    """Makes up to a hundred ended leases of a tenant unknown; answers how many it met."""

    id: str

    def wants(self, lane: Lane) -> None:
        """Ask for the longest ended."""
        lane.effects.want_lapsed()

    def run(self, lane: Lane) -> int:
        """Meet each."""
        lapsed = lane.effects.lapsed()
        for admission in lapsed:
            meet(lane, admission)
        return len(lapsed)
