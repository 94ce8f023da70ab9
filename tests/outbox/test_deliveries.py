"""A delivery is attempted by one worker at a time, again if that one died, and is settled by whoever holds it."""

import asyncio
from datetime import timedelta

from sqlalchemy import text

from app.gate import webhooks as registrations
from app.outbox import deliveries
from app.outbox.deliveries import CLAIM, KEPT, Parcel, Receipt, Standing
from tests.outbox.posting import TENANT, Outbox

ARRIVED = Receipt(delivered=True, detail="answered 204")
BROKE = Receipt(delivered=False, detail="no connection")
A_MINUTE = timedelta(minutes=1)


async def succeed(outbox: Outbox, parcel: Parcel) -> bool:
    return await outbox.database.transact(lambda tx: deliveries.succeed(tx, parcel, ARRIVED))


async def postpone(outbox: Outbox, parcel: Parcel) -> bool:
    return await outbox.database.transact(lambda tx: deliveries.postpone(tx, parcel, BROKE, A_MINUTE))


async def fail(outbox: Outbox, parcel: Parcel) -> bool:
    return await outbox.database.transact(lambda tx: deliveries.fail(tx, parcel, BROKE))


async def standing(outbox: Outbox, subject: str) -> Standing | None:
    return (await outbox.database.read(lambda reader: deliveries.standings(reader, TENANT, [subject]))).get(subject)


async def test_of_many_workers_one_gets_a_delivery(outbox: Outbox) -> None:
    await outbox.register()
    for number in range(20):
        await outbox.post(f"apr_{number}")
    claimed = await asyncio.gather(*(outbox.claim(each=5) for _ in range(8)))
    ids = [parcel.message_id for parcels in claimed for parcel in parcels]
    assert len(ids) == len(set(ids)) == 20


async def test_a_claim_holds_no_lock(outbox: Outbox) -> None:
    await outbox.register()
    await outbox.post()
    (parcel,) = await outbox.claim()
    waiting = text("SELECT count(*) AS number FROM pg_locks WHERE locktype IN ('tuple', 'transactionid')")
    row = await outbox.database.read(lambda reader: reader.row(waiting))
    assert row is not None
    assert row.number == 0
    assert await outbox.claim() == []
    assert await succeed(outbox, parcel)


async def test_what_a_dead_worker_held_is_claimed_again_and_its_word_comes_too_late(outbox: Outbox) -> None:
    await outbox.register()
    await outbox.post()
    (dead,) = await outbox.claim()
    await outbox.let_pass(CLAIM)
    (alive,) = await outbox.claim()
    assert (alive.message_id, alive.body, alive.attempt) == (dead.message_id, dead.body, 2)
    assert not await fail(outbox, dead)
    assert await succeed(outbox, alive)
    assert await outbox.states() == ["delivered"]


async def test_what_is_postponed_is_due_when_the_wait_is_over(outbox: Outbox) -> None:
    await outbox.register()
    await outbox.post()
    (parcel,) = await outbox.claim()
    await postpone(outbox, parcel)
    assert await outbox.claim() == []
    await outbox.let_pass(A_MINUTE)
    assert [again.attempt for again in await outbox.claim()] == [2]


async def test_a_channel_with_much_to_do_leaves_room_for_others(outbox: Outbox) -> None:
    busy, idle = await outbox.register("https://a.example"), await outbox.register("https://b.example")
    for number in range(30):
        await outbox.post(f"apr_{number}")
    claimed = await outbox.claim(each=4)
    assert sorted(parcel.channel for parcel in claimed) == sorted([busy] * 4 + [idle] * 4)
    assert {parcel.channel for parcel in await outbox.claim(busy=((TENANT, busy),))} == {idle}


async def test_a_worker_leaves_channels_alone_that_it_does_not_serve(outbox: Outbox) -> None:
    await outbox.post(channels=("nats", "console"))
    assert [parcel.channel for parcel in await outbox.claim("console")] == ["console"]


async def test_the_endpoint_of_a_delivery_is_the_one_of_now(outbox: Outbox) -> None:
    webhook = await outbox.register(legacy_header=True)
    await outbox.post()
    sealed = outbox.sealer.seal(TENANT, webhook, "whsec_bmV3ZXI=")

    async def rotate(until: timedelta) -> None:
        await outbox.lanes.run(TENANT, lambda lane: registrations.rotate(lane, sealed, lane.now + until, "olga"))

    await rotate(timedelta(hours=1))
    (parcel,) = await outbox.claim()
    assert parcel.endpoint is not None
    assert parcel.endpoint.legacy_header
    newer, older = (outbox.sealer.open(secret) for secret in parcel.endpoint.secrets)
    assert (newer, older) == ("whsec_bmV3ZXI=", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")

    await rotate(timedelta())
    await outbox.let_pass()
    (parcel,) = await outbox.claim()
    assert parcel.endpoint is not None
    assert len(parcel.endpoint.secrets) == 1


async def test_what_was_for_a_removed_webhook_is_dropped(outbox: Outbox) -> None:
    webhook = await outbox.register()
    await outbox.post()
    await outbox.lanes.run(TENANT, lambda lane: registrations.remove(lane, webhook, "olga"))
    (parcel,) = await outbox.claim()
    assert parcel.orphaned
    await outbox.database.transact(lambda tx: deliveries.drop(tx, parcel))
    assert await outbox.rows() == []


async def test_an_approval_shows_how_its_messages_went(outbox: Outbox) -> None:
    assert await standing(outbox, "apr_1") is None
    await outbox.register("https://a.example")
    await outbox.register("https://b.example")
    await outbox.post()
    assert await standing(outbox, "apr_1") is Standing.RETRYING
    one, other = await outbox.claim()
    await succeed(outbox, one)
    assert await standing(outbox, "apr_1") is Standing.RETRYING
    await fail(outbox, other)
    assert await standing(outbox, "apr_1") is Standing.FAILED
    await outbox.lanes.run(TENANT, lambda lane: registrations.redeliver(lane, other.channel, other.message_id, "olga"))
    (again,) = await outbox.claim()
    await succeed(outbox, again)
    assert await standing(outbox, "apr_1") is Standing.OK


async def test_what_has_arrived_or_failed_can_be_sent_once_more_from_its_first_attempt(outbox: Outbox) -> None:
    webhook = await outbox.register()
    await outbox.post()
    (parcel,) = await outbox.claim()
    await fail(outbox, parcel)

    async def redeliver() -> bool | None:
        named = (TENANT, webhook, parcel.message_id)
        return await outbox.database.transact(lambda tx: deliveries.redeliver(tx, *named))

    assert await redeliver() is True
    assert await redeliver() is False
    (again,) = await outbox.claim()
    assert (again.attempt, again.body) == (1, parcel.body)
    assert not await fail(outbox, parcel)


async def test_messages_are_forgotten_after_a_month_unless_they_are_on_their_way(outbox: Outbox) -> None:
    await outbox.register()
    for subject in ("apr_old", "apr_pending", "apr_new"):
        await outbox.post(subject)
    for parcel in await outbox.claim():
        if parcel.subject != "apr_pending":
            await succeed(outbox, parcel)
    age = text("UPDATE messages SET created_at = created_at - CAST(:kept AS interval) WHERE subject <> 'apr_new'")
    await outbox.database.transact(lambda tx: tx.write(age, {"kept": KEPT}))
    assert await outbox.database.transact(deliveries.forget) == 1
    assert await standing(outbox, "apr_old") is None
    assert await outbox.states() == ["pending", "delivered"]


async def test_the_list_of_a_webhooks_deliveries_begins_with_the_newest(outbox: Outbox) -> None:
    webhook = await outbox.register()
    for number in range(5):
        await outbox.post(f"apr_{number}")
    for parcel in await outbox.claim():
        await (fail if parcel.subject in {"apr_1", "apr_3"} else succeed)(outbox, parcel)

    async def subjects(state: str | None, before: str = "", limit: int = 10) -> list[tuple[str, str]]:
        rows = await outbox.database.read(lambda reader: deliveries.page(reader, TENANT, webhook, state, before, limit))
        return [(row.subject, row.message_id) for row in rows]

    everything = await subjects(None)
    assert [subject for subject, _ in everything] == ["apr_4", "apr_3", "apr_2", "apr_1", "apr_0"]
    assert [subject for subject, _ in await subjects("failed")] == ["apr_3", "apr_1"]
    assert await subjects(None, before=everything[1][1], limit=2) == everything[2:4]
