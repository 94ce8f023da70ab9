"""Races, each in one process of the service and in two."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any, TypeAlias

import httpx
import pytest

from tests.ask import put_in_force
from tests.live import LiveService

Clients: TypeAlias = Callable[[str], httpx.AsyncClient]

POLICY = """
schema: countersign.policy/v1
defaults: {require_verification_score: 0, require_human_for: []}
actions:
  pay:
    cost: {currency: EUR}
    spend: ["desk:{desk}"]
    decision: allow
  pay.twice:
    cost: {currency: EUR}
    spend: ["first:{desk}", "second:{desk}"]
    decision: allow
  deliver:
    effect: "parcel:{parcel}"
    decision: allow
    max_attempts: 3
  wire:
    labels: {kind: payout}
    decision: require_human
limits:
  - {name: desk, scope: "desk:*", limit: {amount: "1000.00", currency: EUR}}
  - {name: first, scope: "first:*", limit: {amount: "1000.00", currency: EUR}}
  - {name: second, scope: "second:*", limit: {amount: "400.00", currency: EUR}}
approvers:
  - {name: payouts, labels: [payout], roles: [approver], quorum: 1}
"""


@pytest.fixture(params=[1, 2], ids=["one process", "two processes"])
async def racing(
    request: pytest.FixtureRequest, serve: Callable[..., LiveService], keys: dict[str, str]
) -> AsyncIterator[Clients]:
    """Clients of a service with the policy above in force."""
    service = serve(workers=request.param)
    async with AsyncExitStack() as stack:
        clients = {name: await stack.enter_async_context(_client(service.url, key)) for name, key in keys.items()}
        await put_in_force(clients["policy_admin"], POLICY)
        yield clients.__getitem__


def _client(url: str, key: str) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=128, max_keepalive_connections=128)
    return httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {key}"}, limits=limits, timeout=30)


async def together(client: httpx.AsyncClient, bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Send all admissions at once, and return the answers."""
    responses = await asyncio.gather(*(client.post("/v1/admit", json=body) for body in bodies))
    assert {response.status_code for response in responses} == {200}, {response.text for response in responses}
    return [response.json() for response in responses]
