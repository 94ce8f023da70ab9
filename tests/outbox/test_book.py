"""What is posted commits with the change that it tells of, for everybody who wants to be told."""

import json

import pytest
from sqlalchemy import text

from app.audit import heads
from app.db import books
from app.db.database import Writer
from app.outbox.book import OutboxBook, Outlets
from tests.outbox.posting import TENANT, Outbox


async def test_a_message_goes_to_every_webhook_that_wants_it_and_to_every_channel(outbox: Outbox) -> None:
    asked = await outbox.register("https://a.example", "approval.requested", "approval.denied")
    also = await outbox.register("https://b.example", "approval.requested")
    await outbox.register("https://c.example", "approval.denied")
    await outbox.post(channels=("nats",))
    assert {row.channel for row in await outbox.rows()} == {asked, also, "nats"}


async def test_a_message_stays_in_its_tenant(outbox: Outbox) -> None:
    await outbox.begin("other")
    await outbox.register(tenant="other")
    await outbox.post()
    assert await outbox.rows() == []


async def test_a_message_that_nobody_wants_is_not_kept(outbox: Outbox) -> None:
    await outbox.register("https://c.example", "approval.denied")
    await outbox.post()
    found = await outbox.database.read(lambda reader: reader.rows(text("SELECT * FROM messages")))
    assert found == []


async def test_a_change_that_is_rolled_back_tells_nobody(outbox: Outbox) -> None:
    await outbox.register()

    async def fail(tx: Writer) -> None:
        _, now = await heads.lock(tx, TENANT)
        book = OutboxBook(now, Outlets("https://countersign.test", ("nats",)))
        book.post("approval.requested", "apr_1", "2026-11-29T10:00:00.000000Z", {})
        await books.write(tx, TENANT, [book])
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await outbox.database.transact(fail)
    assert await outbox.rows() == []


async def test_a_body_has_type_timestamp_and_data(outbox: Outbox) -> None:
    await outbox.post(channels=("nats",))
    (parcel,) = await outbox.claim("nats")
    assert json.loads(parcel.body) == {
        "type": "approval.requested",
        "timestamp": "2026-11-29T10:00:00.000000Z",
        "data": {"approval_id": "apr_1", "asset": "Zürich"},
    }
