"""Webhooks: where a tenant wants its messages sent, and what they are signed with."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import text

from app.db.database import Reader, Writer
from app.db.statements import Row
from app.outbox.sealing import Sealed

LONGEST_URL: Final = 2_048

MOST: Final = 50
"""How many a tenant may have: every message is written once for each."""

_COUNT = text("SELECT count(*) AS number FROM webhooks WHERE tenant = :tenant")

_INSERT = text("""
    INSERT INTO webhooks (tenant, id, url, events, legacy_header, secret, created_at, created_by)
    VALUES (:tenant, :id, :url, :events, :legacy_header, :secret, :now, :by)
""")

_CHANGE = text("""
    UPDATE webhooks SET url = coalesce(:url, url), events = coalesce(:events, events),
        legacy_header = coalesce(:legacy_header, legacy_header)
    WHERE tenant = :tenant AND id = :id
""")

_ROTATE = text("""
    UPDATE webhooks SET previous_secret = secret, previous_until = :until, secret = :secret
    WHERE tenant = :tenant AND id = :id
""")

_REMOVE = text("DELETE FROM webhooks WHERE tenant = :tenant AND id = :id")

_ONE = text("""
    SELECT id, url, events, legacy_header, created_at, created_by, previous_until, secret
    FROM webhooks WHERE tenant = :tenant AND id = :id
""")

_PAGE = text("""
    SELECT id, url, events, legacy_header, created_at, created_by, previous_until
    FROM webhooks WHERE tenant = :tenant AND id > :after ORDER BY id LIMIT :limit
""")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What sending to a webhook takes. `secrets` are those in force, the newest first."""

    id: str
    url: str = field(repr=False)
    legacy_header: bool
    secrets: tuple[Sealed, ...]


@dataclass(frozen=True, slots=True)
class NewWebhook:
    """A webhook to be registered."""

    url: str
    events: tuple[str, ...]
    legacy_header: bool
    secret: Sealed

    @property
    def id(self) -> str:
        """Its id: the one that its secret was sealed for."""
        return self.secret.webhook_id


@dataclass(frozen=True, slots=True)
class Change:
    """What shall be different about a webhook; None stays."""

    url: str | None = None
    events: tuple[str, ...] | None = None
    legacy_header: bool | None = None


async def count(reader: Reader, tenant: str) -> int:
    """Return how many webhooks the tenant has."""
    row = await reader.row(_COUNT, {"tenant": tenant})
    return 0 if row is None else int(row.number)


async def add(tx: Writer, new: NewWebhook, now: datetime, by: str) -> None:
    """Register a webhook."""
    parameters = {
        "url": new.url,
        "events": list(new.events),
        "legacy_header": new.legacy_header,
        "secret": new.secret.text,
        "now": now,
        "by": by,
    }
    await tx.write(_INSERT, {"tenant": new.secret.tenant, "id": new.id, **parameters})


async def change(tx: Writer, tenant: str, webhook_id: str, wanted: Change) -> bool:
    """Change a webhook; return False if there is none of that id."""
    events = None if wanted.events is None else list(wanted.events)
    parameters = {"url": wanted.url, "events": events, "legacy_header": wanted.legacy_header}
    return bool(await tx.write(_CHANGE, {"tenant": tenant, "id": webhook_id, **parameters}))


async def rotate(tx: Writer, secret: Sealed, until: datetime) -> bool:
    """Give a webhook another secret; the one before signs too until then. Return False if there is none of that id."""
    parameters = {"tenant": secret.tenant, "id": secret.webhook_id, "secret": secret.text, "until": until}
    return bool(await tx.write(_ROTATE, parameters))


async def remove(tx: Writer, tenant: str, webhook_id: str) -> bool:
    """Remove a webhook; what is still on its way to it is dropped. Return False if there is none of that id."""
    return bool(await tx.write(_REMOVE, {"tenant": tenant, "id": webhook_id}))


async def find(reader: Reader, tenant: str, webhook_id: str) -> Row | None:
    """Return a webhook with its sealed secret, or None if there is none of that id."""
    return await reader.row(_ONE, {"tenant": tenant, "id": webhook_id})


async def page(reader: Reader, tenant: str, after: str, limit: int) -> Sequence[Row]:
    """Return up to `limit` webhooks in the order of their ids, those behind `after`; never their secrets."""
    return await reader.rows(_PAGE, {"tenant": tenant, "after": after, "limit": limit})
