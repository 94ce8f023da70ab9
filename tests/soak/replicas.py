"""Two processes of the service behind one wire to Postgres, and a client that asks until it is answered."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.live import LiveService

_PATIENCE = 120
"""Seconds that a request may stay without an answer: many times what it takes to start a process again."""

_NUMBER = 2


class Replicas:
    """The processes, the keys of those who ask them, and how often each status was answered."""

    def __init__(self, services: list[LiveService], clients: list[httpx.AsyncClient], keys: Mapping[str, str]) -> None:
        self.services = services
        self._clients = clients
        self._keys = keys
        self.statuses: Counter[str] = Counter()

    async def ask(
        self, who: str, method: str, path: str, body: dict[str, Any] | None = None, **parameters: str
    ) -> httpx.Response:
        """Send a request, again and again and to either process, until one answers it."""
        headers = {"Authorization": f"Bearer {self._keys[who]}"}
        async with asyncio.timeout(_PATIENCE):
            while True:
                client = random.choice(self._clients)
                try:
                    answer = await client.request(method, path, json=body, params=parameters, headers=headers)
                except httpx.TransportError as error:
                    self.statuses[type(error).__name__] += 1
                else:
                    self.statuses[str(answer.status_code)] += 1
                    if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                        return answer
                await asyncio.sleep(random.uniform(0.05, 0.3))


@asynccontextmanager
async def replicas(environment: Mapping[str, str], keys: Mapping[str, str], folder: Path) -> AsyncIterator[Replicas]:
    """Serve with two processes until the context ends; each has its log in the folder."""
    async with AsyncExitStack() as stack:
        services, clients = [], []
        for number in range(_NUMBER):
            service = await asyncio.to_thread(LiveService, environment, 1, folder / f"service-{number}.log")
            stack.push_async_callback(asyncio.to_thread, service.stop)
            services.append(service)
        for service in services:
            client = httpx.AsyncClient(base_url=service.url, timeout=10)
            clients.append(await stack.enter_async_context(client))
        yield Replicas(services, clients, keys)
