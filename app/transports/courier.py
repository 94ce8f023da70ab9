"""The courier: claims what is due, attempts it, and says how it went; no transaction is open in between."""

import asyncio
from collections import Counter as Tally
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

import structlog
from prometheus_client import Counter

from app.audit.lane import Lanes
from app.db.database import Database, StoreUnavailableError
from app.db.loops import told_to_end
from app.gate import undelivered
from app.outbox import deliveries
from app.outbox.deliveries import Parcel, Receipt
from app.outbox.schedule import Schedule

_log = structlog.get_logger(__name__)

_ATTEMPTS: Final = Counter("countersign_delivery_attempts_total", "Attempts to deliver", ["transport", "result"])

_USED_UP = Receipt(delivered=False, detail="its attempts are used up")
_BROKE = Receipt(delivered=False, detail="the transport failed")
_LATE = Receipt(delivered=False, detail="no answer in time")


class Transport(Protocol):
    """A way out of the service."""

    async def send(self, parcel: Parcel) -> Receipt:
        """Attempt a delivery once. What goes wrong is a receipt, not an exception."""
        ...

    async def close(self) -> None:
        """Give up what it holds open; nothing is sent afterwards."""
        ...


@dataclass(frozen=True, slots=True)
class Pace:
    """Attempts at the same time, in all and of one channel; and seconds.

    The seconds are those that an attempt may take, between two looks, and for what is in flight when the courier ends.
    """

    most: int = 32
    each: int = 4
    attempt: float = 12.0
    look: float = 0.5
    grace: float = 3.0


@dataclass(frozen=True, slots=True)
class Routes:
    """The transport of webhooks, and those of the other channels by name."""

    webhook: Transport
    others: Mapping[str, Transport] = field(default_factory=dict)

    def of(self, parcel: Parcel) -> Transport:
        """Return the transport of a delivery."""
        return self.others.get(parcel.channel, self.webhook)

    async def close(self) -> None:
        """Close every transport."""
        for transport in (self.webhook, *self.others.values()):
            await transport.close()


class Courier:
    """Delivers for all tenants. Any number of couriers may run: a delivery is claimed by one at a time."""

    def __init__(
        self,
        database: Database,
        lanes: Lanes,
        routes: Routes,
        schedule: Schedule | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._database = database
        self._lanes = lanes
        self._routes = routes
        self._schedule = schedule or Schedule()
        self._pace = pace or Pace()
        self._busy: Tally[tuple[str, str]] = Tally()
        # What is said of many attempts at once must not keep the desk from its connections.
        self._settling = asyncio.Semaphore(2)

    async def run(self) -> None:
        """Deliver until cancelled; then wait a little for what is in flight.

        An attempt that is cut off is made again when its claim is over.
        """
        attempts: set[asyncio.Task[None]] = set()
        try:
            while not told_to_end():
                for parcel in await self._claim():
                    attempt = asyncio.create_task(self._carry(parcel))
                    attempts.add(attempt)
                    attempt.add_done_callback(attempts.discard)
                await asyncio.sleep(self._pace.look)
        finally:
            await _finished(attempts, self._pace.grace)

    async def round(self) -> int:
        """Claim what is due once, deliver it, and return how much it was."""
        parcels = await self._claim()
        await asyncio.gather(*(self._carry(parcel) for parcel in parcels))
        return len(parcels)

    async def _claim(self) -> list[Parcel]:
        free = self._pace.most - self._busy.total()
        if free <= 0:
            return []
        full = [channel for channel, number in self._busy.items() if number >= self._pace.each]
        try:
            parcels = await self._database.transact(
                lambda tx: deliveries.claim(tx, self._routes.others, full, self._pace.each, free)
            )
        except StoreUnavailableError:
            return []
        self._busy.update((parcel.tenant, parcel.channel) for parcel in parcels)
        return parcels

    async def _carry(self, parcel: Parcel) -> None:
        try:
            receipt = await self._attempt(parcel)
            async with self._settling:
                await self._settle(parcel, receipt)
        except Exception as error:  # noqa: BLE001 - its claim ends, and others must not be cut off with it
            _log.warning("delivery_not_settled", message=parcel.message_id, error=type(error).__name__)
        finally:
            self._release(parcel)

    def _release(self, parcel: Parcel) -> None:
        channel = (parcel.tenant, parcel.channel)
        self._busy[channel] -= 1
        if not self._busy[channel]:
            del self._busy[channel]

    async def _attempt(self, parcel: Parcel) -> Receipt:
        if parcel.orphaned or parcel.attempt > self._schedule.attempts:
            return _USED_UP
        try:
            async with asyncio.timeout(self._pace.attempt):
                receipt = await self._routes.of(parcel).send(parcel)
        except TimeoutError:
            receipt = _LATE
        except Exception as error:  # noqa: BLE001 - whatever a transport does, the delivery has to be settled
            # Its own words could name an address that only the receiver should know.
            _log.error("transport_failed", message=parcel.message_id, error=type(error).__name__)
            receipt = _BROKE
        transport = "webhook" if parcel.endpoint else parcel.channel
        _ATTEMPTS.labels(transport, "delivered" if receipt.delivered else "failed").inc()
        return receipt

    async def _settle(self, parcel: Parcel, receipt: Receipt) -> None:
        if parcel.orphaned:
            await self._database.transact(lambda tx: deliveries.drop(tx, parcel))
        elif receipt.delivered:
            await self._database.transact(lambda tx: deliveries.succeed(tx, parcel, receipt))
        elif receipt.final or parcel.attempt >= self._schedule.attempts:
            await self._lanes.run(parcel.tenant, lambda lane: undelivered.give_up(lane, parcel, receipt))
        else:
            wait = self._schedule.wait_after(parcel.attempt)
            await self._database.transact(lambda tx: deliveries.postpone(tx, parcel, receipt, wait))


async def _finished(attempts: set["asyncio.Task[None]"], grace: float) -> None:
    """Wait for the attempts, and cut off those that take longer."""
    if attempts:
        _, late = await asyncio.wait(attempts, timeout=grace)
        for attempt in late:
            attempt.cancel()
        await asyncio.gather(*late, return_exceptions=True)
