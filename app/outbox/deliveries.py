"""Deliveries: claimed by a worker, attempted outside any transaction, and settled by whoever holds the claim.

A claim is a lease: it pushes `due_at` away, and what is not settled by then is due again. Claims take rows by SKIP
LOCKED, a few of every channel, so that a receiver that hangs is waited for by few.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import text

from app.db.database import Reader, Writer
from app.db.ids import new_id
from app.db.statements import Row
from app.outbox.sealing import Sealed
from app.outbox.webhooks import Endpoint

CLAIM: Final = timedelta(seconds=30)
"""How long a claim lasts: an attempt of 10 s, and time to say how it went."""

KEPT: Final = timedelta(days=30)
"""How long messages are kept."""

_CHUNK = 1_000

# Which channels have something on its way is found by skipping from one to the next in the index, so the cost grows
# with channels and not with what waits for them. Who is served first is left to chance.
_CLAIM = text("""
    WITH RECURSIVE waiting (tenant, channel) AS (
        (SELECT d.tenant, d.channel FROM deliveries d WHERE d.state = 'pending' ORDER BY d.tenant, d.channel LIMIT 1)
        UNION ALL
        SELECT following.tenant, following.channel FROM waiting CROSS JOIN LATERAL (
            SELECT d.tenant, d.channel FROM deliveries d
            WHERE d.state = 'pending' AND (d.tenant, d.channel) > (waiting.tenant, waiting.channel)
            ORDER BY d.tenant, d.channel LIMIT 1
        ) AS following
    ), served AS MATERIALIZED (
        SELECT tenant, channel FROM waiting
        WHERE (channel LIKE 'whk\\_%' OR channel = ANY (:channels))
            AND tenant || '/' || channel <> ALL (:busy)
        ORDER BY random()
    ), due AS (
        SELECT found.* FROM served CROSS JOIN LATERAL (
            SELECT d.tenant, d.channel, d.message_id FROM deliveries d
            WHERE d.tenant = served.tenant AND d.channel = served.channel AND d.state = 'pending'
                AND d.due_at <= clock_timestamp()
            ORDER BY d.due_at LIMIT :each FOR UPDATE SKIP LOCKED
        ) AS found
        LIMIT :most
    )
    UPDATE deliveries d
    SET claim = :claim, attempts = d.attempts + 1, due_at = clock_timestamp() + CAST(:lease AS interval),
        attempted_at = clock_timestamp()
    FROM due
    JOIN messages m ON m.tenant = due.tenant AND m.id = due.message_id
    LEFT JOIN webhooks w ON w.tenant = due.tenant AND w.id = due.channel
    WHERE d.tenant = due.tenant AND d.channel = due.channel AND d.message_id = due.message_id
    RETURNING d.tenant, d.channel, d.message_id, d.attempts, m.event, m.subject, m.body, w.id AS webhook_id, w.url,
        w.legacy_header, w.secret,
        CASE WHEN w.previous_until > clock_timestamp() THEN w.previous_secret END AS previous_secret
""")

_SETTLE = text("""
    UPDATE deliveries
    SET state = :state, claim = NULL, detail = :detail, due_at = clock_timestamp() + CAST(:wait AS interval)
    WHERE tenant = :tenant AND channel = :channel AND message_id = :message_id AND claim = :claim
""")

_DROP = text("""
    DELETE FROM deliveries
    WHERE tenant = :tenant AND channel = :channel AND message_id = :message_id AND claim = :claim
""")

_AGAIN = text("""
    UPDATE deliveries SET state = 'pending', attempts = 0, claim = NULL, due_at = clock_timestamp()
    WHERE tenant = :tenant AND channel = :channel AND message_id = :message_id AND state <> 'pending'
""")

_ONE = text("SELECT state FROM deliveries WHERE tenant = :tenant AND channel = :channel AND message_id = :message_id")

_PAGE = text("""
    SELECT d.message_id, m.event, m.subject, d.state, d.attempts, d.detail, m.created_at, d.attempted_at,
        CASE WHEN d.state = 'pending' THEN d.due_at END AS next_attempt_at
    FROM deliveries d JOIN messages m ON m.tenant = d.tenant AND m.id = d.message_id
    WHERE d.tenant = :tenant AND d.channel = :channel AND (:before = '' OR d.message_id < :before)
        AND (CAST(:state AS text) IS NULL OR d.state = CAST(:state AS text))
    ORDER BY d.message_id DESC LIMIT :limit
""")

_STANDINGS = text("""
    SELECT m.subject, bool_or(d.state = 'failed') AS failed, bool_or(d.state = 'pending') AS pending
    FROM messages m JOIN deliveries d ON d.tenant = m.tenant AND d.message_id = m.id
    WHERE m.tenant = :tenant AND m.subject = ANY (:subjects)
    GROUP BY m.subject
""")

_FORGET = text("""
    DELETE FROM messages WHERE (tenant, id) IN (
        SELECT m.tenant, m.id FROM messages m
        WHERE m.created_at < clock_timestamp() - CAST(:kept AS interval) AND NOT EXISTS (
            SELECT 1 FROM deliveries d
            WHERE d.tenant = m.tenant AND d.message_id = m.id AND d.state = 'pending')
        ORDER BY m.created_at LIMIT :chunk FOR UPDATE SKIP LOCKED)
""")


class Standing(StrEnum):
    """How the messages about a subject went, the worst first: one that failed, one still on its way, all arrived."""

    FAILED = "failed"
    RETRYING = "retrying"
    OK = "ok"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Parcel:
    """One claimed delivery: what is sent, and where to. `endpoint` is None for a channel that is no webhook."""

    tenant: str
    channel: str
    message_id: str
    event: str
    subject: str
    body: bytes = field(repr=False)
    attempt: int
    endpoint: Endpoint | None
    claim: str

    @property
    def orphaned(self) -> bool:
        """Return whether the webhook that it was for is there no more."""
        return self.endpoint is None and self.channel.startswith("whk_")


@dataclass(frozen=True, slots=True)
class Receipt:
    """How an attempt went. `detail` is ours and never the receiver's words; `final` says that no other would help."""

    delivered: bool
    detail: str
    final: bool = False


async def claim(
    tx: Writer, channels: Collection[str], busy: Collection[tuple[str, str]], each: int, most: int
) -> list[Parcel]:
    """Claim deliveries that are due: `most` at most, `each` of a channel at most, and none of a busy one.

    `channels` are those served besides webhooks; a busy channel is given with its tenant.
    """
    token = new_id("clm")
    parameters = {
        "channels": sorted(channels),
        "busy": [f"{tenant}/{channel}" for tenant, channel in busy],
        "each": each,
        "most": most,
        "claim": token,
        "lease": CLAIM,
    }
    return [_parcel(row, token) for row in await tx.rows(_CLAIM, parameters)]


async def succeed(tx: Writer, parcel: Parcel, receipt: Receipt) -> bool:
    """Note that it has arrived; return False if the claim is over."""
    return await _settle(tx, parcel, "delivered", receipt)


async def postpone(tx: Writer, parcel: Parcel, receipt: Receipt, wait: timedelta) -> bool:
    """Put off the next attempt; return False if the claim is over."""
    return await _settle(tx, parcel, "pending", receipt, wait)


async def fail(tx: Writer, parcel: Parcel, receipt: Receipt) -> bool:
    """Give it up; return False if the claim is over. Whoever calls this records it, in the same transaction."""
    return await _settle(tx, parcel, "failed", receipt)


async def drop(tx: Writer, parcel: Parcel) -> None:
    """Forget a delivery to a webhook that was removed."""
    await tx.write(_DROP, _held(parcel))


async def redeliver(tx: Writer, tenant: str, channel: str, message_id: str) -> bool | None:
    """Put a settled delivery on its way again; return False if it is on its way already, None if there is none."""
    named = {"tenant": tenant, "channel": channel, "message_id": message_id}
    if await tx.write(_AGAIN, named):
        return True
    return None if await tx.row(_ONE, named) is None else False


async def page(reader: Reader, tenant: str, channel: str, state: str | None, before: str, limit: int) -> Sequence[Row]:
    """Return up to `limit` deliveries of a channel, the newest message first, those older than `before`."""
    named = {"tenant": tenant, "channel": channel, "state": state, "before": before, "limit": limit}
    return await reader.rows(_PAGE, named)


async def standings(reader: Reader, tenant: str, subjects: Collection[str]) -> Mapping[str, Standing]:
    """Return how the messages about each subject went; a subject without messages is not among them."""
    rows = await reader.rows(_STANDINGS, {"tenant": tenant, "subjects": sorted(subjects)})
    return {row.subject: _standing(failed=row.failed, pending=row.pending) for row in rows}


async def forget(tx: Writer) -> int:
    """Delete a chunk of the messages that are older than `KEPT` and not on their way; return how many."""
    return await tx.write(_FORGET, {"kept": KEPT, "chunk": _CHUNK})


async def _settle(tx: Writer, parcel: Parcel, state: str, receipt: Receipt, wait: timedelta = timedelta()) -> bool:
    settled = {"state": state, "detail": receipt.detail, "wait": wait}
    return bool(await tx.write(_SETTLE, _held(parcel) | settled))


def _standing(*, failed: bool, pending: bool) -> Standing:
    if failed:
        return Standing.FAILED
    return Standing.RETRYING if pending else Standing.OK


def _parcel(row: Row, token: str) -> Parcel:
    return Parcel(
        tenant=row.tenant,
        channel=row.channel,
        message_id=row.message_id,
        event=row.event,
        subject=row.subject,
        body=row.body.encode(),
        attempt=row.attempts,
        endpoint=None if row.webhook_id is None else _endpoint(row),
        claim=token,
    )


def _endpoint(row: Row) -> Endpoint:
    sealed = (text_ for text_ in (row.secret, row.previous_secret) if text_ is not None)
    secrets = tuple(Sealed(row.tenant, row.webhook_id, text_) for text_ in sealed)
    return Endpoint(row.webhook_id, row.url, row.legacy_header, secrets)


def _held(parcel: Parcel) -> dict[str, Any]:
    return {
        "tenant": parcel.tenant,
        "channel": parcel.channel,
        "message_id": parcel.message_id,
        "claim": parcel.claim,
    }
