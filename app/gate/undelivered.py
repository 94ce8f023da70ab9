"""Giving up a delivery: the one step of it that is in the record, and so needs the tenant's lane."""

from app.audit.lane import Lane
from app.outbox import deliveries
from app.outbox.deliveries import Parcel, Receipt


async def give_up(lane: Lane, parcel: Parcel, receipt: Receipt) -> None:
    """Let a delivery rest as failed and record it, unless somebody else holds it by now."""
    if await deliveries.fail(lane.tx, parcel, receipt):
        lane.journal.append(
            "delivery.failed",
            {
                "message": parcel.message_id,
                "event": parcel.event,
                "subject": parcel.subject,
                "channel": parcel.channel,
                "attempts": parcel.attempt,
                "detail": receipt.detail,
            },
        )
