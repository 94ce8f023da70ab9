"""Deliveries come through: past failures, hanging receivers, restarts and dead workers; or are given up, on record."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import TypeAlias

import pytest
from standardwebhooks import Webhook

from app.audit.lane import Lanes
from app.core.chain import Signer
from app.db.database import Database
from app.gate import webhooks as registrations
from app.outbox.deliveries import CLAIM, Parcel, Receipt
from app.outbox.schedule import Schedule
from app.outbox.sealing import Sealer
from app.transports.addresses import Permitted
from app.transports.courier import Courier, Pace, Routes
from app.transports.webhook import WebhookTransport, authorities
from tests.outbox.posting import SECRET, TENANT, Outbox
from tests.transports.receiver import Receiver, hanging, status

PATIENCE = 0.3
SOON = Schedule(first=timedelta(milliseconds=10), factor=1, attempts=3)

MakeCourier: TypeAlias = Callable[..., Courier]


@pytest.fixture
def courier_of(database: Database, signer: Signer, sealer: Sealer) -> MakeCourier:
    """Make couriers over the test's database, or another connection to it; they may reach this machine."""

    def make(
        over: Database = database, schedule: Schedule = SOON, pace: Pace | None = None, patience: float = PATIENCE
    ) -> Courier:
        webhook = WebhookTransport(sealer, Permitted(loopback=True), authorities(), patience=patience)
        return Courier(over, Lanes(over, signer), Routes(webhook), schedule, pace)

    return make


@asynccontextmanager
async def running(courier: Courier) -> AsyncIterator[None]:
    """Run a courier until the block ends."""
    task = asyncio.create_task(courier.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def rounds(courier: Courier, outbox: Outbox, number: int) -> None:
    """Let a courier do some rounds, each when everything is due."""
    for _ in range(number):
        await outbox.let_pass(timedelta(seconds=1))
        assert await courier.round()


async def test_a_receiver_that_fails_twice_gets_the_same_message_a_third_time(
    outbox: Outbox, courier_of: MakeCourier
) -> None:
    async with Receiver([status(500), hanging, status(200)]) as receiver:
        await outbox.register(f"http://127.0.0.1:{receiver.port}/in")
        await outbox.post()
        await rounds(courier_of(), outbox, 3)
    assert await outbox.states() == ["delivered"]
    assert len(receiver.received) == 3
    assert len({(got.headers["webhook-id"], got.body) for got in receiver.received}) == 1
    for got in receiver.received:
        assert Webhook(SECRET).verify(got.body, got.headers)["type"] == "approval.requested"


async def test_retries_survive_a_restart(outbox: Outbox, courier_of: MakeCourier, database_url: str) -> None:
    async with Receiver([status(503), status(200)]) as receiver:
        await outbox.register(f"http://127.0.0.1:{receiver.port}/in")
        await outbox.post()
        await rounds(courier_of(), outbox, 1)
        assert await outbox.states() == ["pending"]
        await outbox.database.close()

        outbox.database = restarted = Database.at(database_url)
        await asyncio.sleep(0.05)
        assert await courier_of(restarted).round() == 1
        assert await outbox.states() == ["delivered"]
        await restarted.close()
    first, second = receiver.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"]


async def test_an_attempt_that_was_cut_off_is_made_again_when_its_claim_is_over(
    outbox: Outbox, courier_of: MakeCourier
) -> None:
    async with Receiver([hanging, status(200)]) as receiver:
        await outbox.register(f"http://127.0.0.1:{receiver.port}/in")
        await outbox.post()
        async with running(courier_of(pace=Pace(grace=0))):
            await receiver.got(1)
        assert await courier_of().round() == 0
        await outbox.let_pass(CLAIM)
        assert await courier_of().round() == 1
    assert await outbox.states() == ["delivered"]


async def test_what_is_in_flight_is_finished_when_the_courier_ends(outbox: Outbox, courier_of: MakeCourier) -> None:
    async with Receiver([lambda _: status(200)]) as receiver:
        await outbox.register(f"http://127.0.0.1:{receiver.port}/in")
        await outbox.post()
        async with running(courier_of()):
            await receiver.got(1)
    assert await outbox.states() == ["delivered"]


async def test_after_the_last_attempt_it_has_failed_and_the_record_says_so_once(
    outbox: Outbox, courier_of: MakeCourier
) -> None:
    async with Receiver([status(500, b"words of the receiver")]) as receiver:
        webhook = await outbox.register(f"http://127.0.0.1:{receiver.port}/in?token=hunter2")
        await outbox.post()
        courier = courier_of()
        await rounds(courier, outbox, 3)
        await outbox.let_pass()
        assert await courier.round() == 0
    assert len(receiver.received) == 3
    assert await outbox.states() == ["failed"]
    (record,) = await outbox.recorded("delivery.failed")
    payload = json.loads(record)["payload"]
    assert payload == {
        "message": receiver.received[0].headers["webhook-id"],
        "event": "approval.requested",
        "subject": "apr_1",
        "channel": webhook,
        "attempts": 3,
        "detail": "answered 500",
    }


async def test_a_receiver_that_is_gone_is_not_asked_again(outbox: Outbox, courier_of: MakeCourier) -> None:
    async with Receiver([status(410)]) as receiver:
        await outbox.register(f"http://127.0.0.1:{receiver.port}/in")
        await outbox.post()
        await rounds(courier_of(), outbox, 1)
    assert await outbox.states() == ["failed"]
    assert len(await outbox.recorded("delivery.failed")) == 1


async def test_workers_that_die_over_a_message_do_not_try_it_for_ever(outbox: Outbox, courier_of: MakeCourier) -> None:
    async with Receiver([status(200)]) as receiver:
        await outbox.register(f"http://127.0.0.1:{receiver.port}/in")
        await outbox.post()
        for _ in range(SOON.attempts):
            assert len(await outbox.claim()) == 1
            await outbox.let_pass(CLAIM)
        assert await courier_of().round() == 1
    assert receiver.received == []
    assert await outbox.states() == ["failed"]
    assert "used up" in (await outbox.recorded("delivery.failed"))[0]


async def test_a_receiver_that_hangs_keeps_nobody_else_waiting(outbox: Outbox, courier_of: MakeCourier) -> None:
    async with Receiver([hanging]) as slow, Receiver([status(200)]) as quick:
        await outbox.register(f"http://127.0.0.1:{slow.port}/in")
        await outbox.begin("other")
        await outbox.register(f"http://127.0.0.1:{quick.port}/in", tenant="other")
        for number in range(40):
            await outbox.post(f"apr_{number}")
        for number in range(20):
            await outbox.post(f"apr_{number}", tenant="other")
        async with running(courier_of(schedule=Schedule(), pace=Pace(most=8, each=4, look=0.02))):
            await quick.got(20)
        assert len(slow.received) < 40


async def test_couriers_side_by_side_deliver_everything_once(outbox: Outbox, courier_of: MakeCourier) -> None:
    async with Receiver([status(200)]) as receiver:
        await outbox.register(f"http://127.0.0.1:{receiver.port}/in")
        for number in range(60):
            await outbox.post(f"apr_{number}")
        # What is given up too early on a busy machine is sent again, as it should be, and is not what this is about.
        couriers = [courier_of(pace=Pace(look=0.01), patience=10) for _ in range(3)]
        async with running(couriers[0]), running(couriers[1]), running(couriers[2]):
            await receiver.got(60)
            await asyncio.sleep(0.2)
    assert len({got.headers["webhook-id"] for got in receiver.received}) == len(receiver.received) == 60


async def test_what_was_for_a_removed_webhook_is_not_sent(outbox: Outbox, courier_of: MakeCourier) -> None:
    async with Receiver([status(200)]) as receiver:
        webhook = await outbox.register(f"http://127.0.0.1:{receiver.port}/in")
        await outbox.post()
        await outbox.lanes.run(TENANT, lambda lane: registrations.remove(lane, webhook, "olga"))
        await rounds(courier_of(), outbox, 1)
    assert receiver.received == []
    assert await outbox.rows() == []
    assert await outbox.recorded("delivery.failed") == []


async def test_a_receiver_at_a_private_address_is_not_reached(outbox: Outbox, sealer: Sealer) -> None:
    async with Receiver([status(200)]) as receiver:
        await outbox.register(f"https://localhost:{receiver.port}/in")
        await outbox.post()
        strict = WebhookTransport(sealer, Permitted(), authorities(), patience=PATIENCE)
        await Courier(outbox.database, outbox.lanes, Routes(strict), SOON).round()
    assert receiver.received == []
    (row,) = await outbox.rows()
    assert row.detail == "the host of the URL has an address that is not public"


async def test_a_transport_that_breaks_counts_as_a_failed_attempt(outbox: Outbox) -> None:
    class Broken:
        async def send(self, parcel: Parcel) -> Receipt:
            raise RuntimeError(parcel.body)

        async def close(self) -> None:
            raise AssertionError

    await outbox.post(channels=("nats",))
    courier = Courier(outbox.database, outbox.lanes, Routes(Broken(), {"nats": Broken()}), SOON)
    await courier.round()
    (row,) = await outbox.rows()
    assert (row.state, row.attempts, row.detail) == ("pending", 1, "the transport failed")
