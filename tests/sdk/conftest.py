"""What the SDK's tests share: a scripted service, and both clients before it."""

from collections.abc import AsyncIterator, Iterator

import pytest

from countersign import AsyncCountersign, Countersign
from tests.sdk.scripted import Scripted, reply

REPORT = "POST /v1/admissions/adm_1/outcome"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COUNTERSIGN_URL", "COUNTERSIGN_KEY", "COUNTERSIGN_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def service() -> Scripted:
    """A service that takes every report."""
    return Scripted().on(REPORT, reply(200))


@pytest.fixture
def client(service: Scripted) -> Iterator[Countersign]:
    """A client that blocks."""
    with Countersign(key="key_1", transport=service.transport) as client:
        yield client


@pytest.fixture
async def async_client(service: Scripted) -> AsyncIterator[AsyncCountersign]:
    """A client that awaits."""
    async with AsyncCountersign(key="key_1", transport=service.transport) as client:
        yield client
