"""Notices: what the outside is told of a question, in the transaction that changes it.

A notice says what a queue may show: what is asked, about what, for how much, by whom, until when, and where to look.
It never holds an argument, a comment or a context, and no answer to it decides anything.
"""

from collections.abc import Mapping
from typing import Final

from app.core.chain import timestamp
from app.core.values import Json
from app.gate.lane import Lane

EVENTS: Final = ("approval.requested", "approval.approved", "approval.denied", "approval.expired")
"""The events that the outside is told of."""

_LONGEST_SUMMARY: Final = 2_048

_SHOWN = (
    "approval_id",
    "status",
    "principal",
    "action",
    "asset",
    "digest",
    "labels",
    "cost",
    "codes",
    "reason",
    "run_id",
    "expires_at",
    "use_before",
)


def post(lane: Lane, event: str, facts: Mapping[str, Json], decided_by: str) -> None:
    """Post a notice of the event if it is one of those that the outside is told of.

    `facts` are what the record says of the question; what a notice may not hold is left out here.
    """
    if event not in EVENTS:
        return
    approval_id = str(facts["approval_id"])
    data: dict[str, Json] = {name: facts[name] for name in _SHOWN}
    data |= {
        "tenant": lane.tenant,
        "summary": _shortened(str(facts["summary"])),
        "decided_by": decided_by or None,
        "links": {
            "approval": f"{lane.outbox.address}/v1/approvals/{approval_id}",
            "page": f"{lane.outbox.address}/console/approvals/{approval_id}",
        },
    }
    lane.outbox.post(event, approval_id, timestamp(lane.now), data)


def _shortened(summary: str) -> str:
    """Return the summary, cut where a call has so many arguments that receivers would refuse the notice."""
    return summary if len(summary) <= _LONGEST_SUMMARY else summary[: _LONGEST_SUMMARY - 1] + "…"
