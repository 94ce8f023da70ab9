"""The NATS transport: every tenant's messages on a subject of its own, `<root>.<tenant>`.

A message counts as delivered once the server has confirmed that it took it; whether anybody listens is the server's
business. Its id is in the header `Nats-Msg-Id`, by which a stream (JetStream) recognises what is sent again.
"""

import asyncio
import re
from typing import Final

from nats.aio.client import Client
from nats.errors import Error as NatsError

from app.outbox.deliveries import Parcel, Receipt

CHANNEL: Final = "nats"

_TOKEN = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_PATIENCE = 5
_CONTENT: Final = {"Content-Type": "application/json"}


class SubjectError(ValueError):
    """A root or tenant cannot be part of a subject; the configuration has to change."""


def subject(root: str, tenant: str) -> str:
    """Return the subject of a tenant.

    Raises:
        SubjectError: the root is not plain tokens between points, or the tenant not one plain token.
    """
    if not all(_TOKEN.fullmatch(token) for token in root.split(".")):
        raise SubjectError("the root of the subjects has to be tokens of A-Z, a-z, 0-9, _ and -, with points between")
    if not _TOKEN.fullmatch(tenant):
        raise SubjectError("the tenant's name is not one plain token, so it has no subject")
    return f"{root}.{tenant}"


class NatsTransport:
    """Publishes on one connection, which is made when it is first needed and again after it broke."""

    def __init__(self, url: str, root: str) -> None:
        subject(root, "any")
        self._url = url
        self._root = root
        self._turn = asyncio.Lock()
        self._client: Client | None = None
        self._complaints: list[Exception] = []

    async def send(self, parcel: Parcel) -> Receipt:
        """Publish a message, once, and wait until the server has taken it."""
        try:
            to = subject(self._root, parcel.tenant)
        except SubjectError as error:
            return Receipt(delivered=False, detail=str(error), final=True)
        async with self._turn:
            try:
                return await self._publish(to, parcel)
            except (NatsError, OSError, TimeoutError):
                await self.close()
                return Receipt(delivered=False, detail="the NATS server did not take it")

    async def close(self) -> None:
        """Close the connection, if there is one."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _publish(self, to: str, parcel: Parcel) -> Receipt:
        client = await self._connected()
        self._complaints.clear()
        await client.publish(to, parcel.body, headers={"Nats-Msg-Id": parcel.message_id, **_CONTENT})
        await client.flush(_PATIENCE)
        # What the server objects to comes before the answer to the flush, and not as an answer to the message.
        if self._complaints:
            return Receipt(delivered=False, detail="the NATS server refused it: may the service publish there?")
        return Receipt(delivered=True, detail="taken by the NATS server")

    async def _connected(self) -> Client:
        if self._client is not None and self._client.is_connected:
            return self._client
        await self.close()
        self._client = Client()
        await self._client.connect(
            self._url,
            name="countersign",
            connect_timeout=_PATIENCE,
            # The outbox tries again by itself; what the client kept back meanwhile would arrive twice.
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            # With room for one byte each message is on the wire before `publish` returns. The client's `flush` writes
            # its question ahead of what still waits, so the server's answer would say nothing of the message.
            pending_size=1,
            error_cb=self._complain,
        )
        return self._client

    async def _complain(self, error: Exception) -> None:
        self._complaints.append(error)
