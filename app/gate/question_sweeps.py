"""Sweeps over questions: those whose time is over are told so, and what was private of finished ones is forgotten."""

from dataclasses import dataclass

from app.gate import moves
from app.gate.lane import Lane


@dataclass(frozen=True, slots=True)
class SweepQuestions:
    """Expires up to a hundred questions of a tenant whose time is over; answers how many.

    Nothing depends on it but timeliness: whoever meets such a question first expires it.
    """

    id: str

    def wants(self, lane: Lane) -> None:
        """Ask for the longest overdue."""
        lane.approvals.want_due()

    def run(self, lane: Lane) -> int:
        """Expire each."""
        due = lane.approvals.due()
        for question in due:
            moves.meet(lane, question)
        return len(due)


@dataclass(frozen=True, slots=True)
class EraseQuestions:
    """Erases the arguments of up to a hundred questions that were finished long enough ago; answers how many."""

    id: str

    def wants(self, lane: Lane) -> None:
        """Ask for the longest finished."""
        lane.approvals.want_erasable(lane.now - lane.defaults.approval_keep)

    def run(self, lane: Lane) -> int:
        """Erase each."""
        found = lane.approvals.erasable(lane.now - lane.defaults.approval_keep)
        for question in found:
            moves.erase(lane, question)
        return len(found)
