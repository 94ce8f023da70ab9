"""A tenant's outbox, used as the service uses it: webhooks registered in its lane, messages posted by a group."""

from datetime import timedelta

from sqlalchemy import text

from app.audit import heads
from app.audit.lane import Lane, Lanes
from app.core.chain import Signer
from app.db import books
from app.db.database import Database, Writer
from app.db.ids import new_id
from app.db.statements import Row
from app.gate import webhooks as registrations
from app.outbox import deliveries
from app.outbox.book import OutboxBook, Outlets
from app.outbox.deliveries import Parcel
from app.outbox.sealing import Sealer
from app.outbox.webhooks import NewWebhook

TENANT = "acme"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

_PASSED = text("UPDATE deliveries SET due_at = due_at - CAST(:time AS interval)")
_ROWS = text("SELECT * FROM deliveries ORDER BY message_id, channel")
_RECORDS = text("SELECT canonical FROM audit_records WHERE event_type = :event_type ORDER BY tenant, seq")


class Outbox:
    """What tests do with the outbox of a database."""

    def __init__(self, database: Database, signer: Signer, sealer: Sealer) -> None:
        self.database = database
        self.lanes = Lanes(database, signer)
        self.sealer = sealer

    async def begin(self, tenant: str = TENANT) -> None:
        """Make a tenant."""

        async def first(lane: Lane) -> bool:
            lane.journal.append("tenant.changed", {"tenant": tenant})
            return True

        await self.lanes.begin(tenant, first)

    async def register(
        self,
        url: str = "https://hooks.example/in",
        *events: str,
        tenant: str = TENANT,
        secret: str = SECRET,
        legacy_header: bool = False,
    ) -> str:
        """Register a webhook, by default for questions, and return its id."""
        sealed = self.sealer.seal(tenant, new_id("whk"), secret)
        new = NewWebhook(url, events or ("approval.requested",), legacy_header, sealed)
        assert await self.lanes.run(tenant, lambda lane: registrations.register(lane, new, "olga")) is None
        return new.id

    async def post(
        self,
        subject: str = "apr_1",
        event: str = "approval.requested",
        *,
        tenant: str = TENANT,
        channels: tuple[str, ...] = (),
    ) -> None:
        """Post a message about a subject."""

        async def write(tx: Writer) -> None:
            _, now = await heads.lock(tx, tenant)
            book = OutboxBook(now, Outlets("https://countersign.test", channels))
            book.post(event, subject, "2026-11-29T10:00:00.000000Z", {"approval_id": subject, "asset": "Zürich"})
            await books.write(tx, tenant, [book])

        await self.database.transact(write)

    async def claim(
        self, *channels: str, busy: tuple[tuple[str, str], ...] = (), each: int = 10, most: int = 100
    ) -> list[Parcel]:
        """Claim what is due."""
        return await self.database.transact(lambda tx: deliveries.claim(tx, channels, busy, each, most))

    async def let_pass(self, time: timedelta = timedelta(days=1)) -> None:
        """Let time pass for what is on its way: it is due that much sooner."""
        await self.database.transact(lambda tx: tx.write(_PASSED, {"time": time}))

    async def rows(self) -> list[Row]:
        """Return the deliveries as they stand, by message and channel."""
        return list(await self.database.read(lambda reader: reader.rows(_ROWS)))

    async def states(self) -> list[str]:
        """Return the states of the deliveries."""
        return [row.state for row in await self.rows()]

    async def recorded(self, event_type: str) -> list[str]:
        """Return the records of a type, as they were hashed."""
        rows = await self.database.read(lambda reader: reader.rows(_RECORDS, {"event_type": event_type}))
        return [row.canonical for row in rows]
