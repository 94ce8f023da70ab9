"""Webhooks changed by an administrator or operator: every change is recorded, and none of a secret is.

A URL may hold what only its receiver should know, so the record says of it where it leads and its digest.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Protocol
from urllib.parse import urlsplit

from app.audit.lane import Lane
from app.core.chain import timestamp
from app.core.refusals import Refusal, RefusalKind
from app.core.values import Json
from app.outbox import deliveries, webhooks
from app.outbox.sealing import Sealed
from app.outbox.webhooks import Change, NewWebhook


class Challenger(Protocol):
    """Whoever asks a receiver whether it wants what will be sent to it."""

    async def challenge(self, url: str, secret: str) -> str | None:
        """Return why the receiver at the URL cannot be used, or None if it can."""
        ...


async def register(lane: Lane, new: NewWebhook, by: str) -> Refusal | None:
    """Register a webhook whose receiver has passed the challenge."""
    if await webhooks.count(lane.tx, lane.head.tenant) >= webhooks.MOST:
        return Refusal(RefusalKind.CONFLICT, f"a tenant has at most {webhooks.MOST} webhooks; delete one first")
    await webhooks.add(lane.tx, new, lane.now, by)
    said = {"events": list(new.events), "legacy_header": new.legacy_header, **_where(new.url)}
    _record(lane, new.id, "created", by, said)
    return None


async def change(lane: Lane, webhook_id: str, wanted: Change, by: str) -> Refusal | None:
    """Change a webhook; where the URL is another one, its receiver has passed the challenge."""
    if not await webhooks.change(lane.tx, lane.head.tenant, webhook_id, wanted):
        return unknown()
    said: dict[str, Json] = {} if wanted.url is None else _where(wanted.url)
    if wanted.events is not None:
        said["events"] = list(wanted.events)
    if wanted.legacy_header is not None:
        said["legacy_header"] = wanted.legacy_header
    _record(lane, webhook_id, "changed", by, said)
    return None


async def rotate(lane: Lane, secret: Sealed, until: datetime, by: str) -> Refusal | None:
    """Give a webhook another secret; until then messages are signed with both."""
    if not await webhooks.rotate(lane.tx, secret, until):
        return unknown()
    _record(lane, secret.webhook_id, "rotated", by, {"previous_until": timestamp(until)})
    return None


async def remove(lane: Lane, webhook_id: str, by: str) -> Refusal | None:
    """Remove a webhook and what is on its way to it."""
    if not await webhooks.remove(lane.tx, lane.head.tenant, webhook_id):
        return unknown()
    _record(lane, webhook_id, "removed", by, {})
    return None


async def redeliver(lane: Lane, webhook_id: str, message_id: str, by: str) -> Refusal | None:
    """Send a message to a webhook once more; one that is on its way is left alone."""
    if await webhooks.find(lane.tx, lane.head.tenant, webhook_id) is None:
        return unknown()
    begun = await deliveries.redeliver(lane.tx, lane.head.tenant, webhook_id, message_id)
    if begun is None:
        return Refusal(RefusalKind.NOT_FOUND, "there is no such delivery to this webhook")
    if begun:
        _record(lane, webhook_id, "redelivered", by, {"message": message_id})
    return None


def unknown() -> Refusal:
    """Return the refusal that answers for a webhook that is not there, or is another tenant's."""
    return Refusal(RefusalKind.NOT_FOUND, "there is no such webhook")


def _where(url: str) -> dict[str, Json]:
    parts = urlsplit(url)
    digest = hashlib.sha256(url.encode()).hexdigest()
    return {"origin": f"{parts.scheme}://{parts.netloc}", "url_digest": f"sha256:{digest}"}


def _record(lane: Lane, webhook_id: str, what: str, by: str, said: Mapping[str, Json]) -> None:
    lane.journal.append("webhook.changed", {"webhook": webhook_id, "change": what, "by": by, **said}, principal=by)
