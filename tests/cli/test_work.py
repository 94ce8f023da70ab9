"""`countersignd work`: a process that sweeps and delivers, beside services that only serve."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import environ
from pathlib import Path

import httpx
import pytest

from app.embedded import EmbeddedPostgres
from tests.ask import admit, call, put_in_force
from tests.live import LiveService
from tests.transports.natsd import free_port
from tests.transports.receiver import Receiver, echoing

COMMAND = Path(sys.executable).parent / "countersignd"
POLICY = {"schema": "countersign.policy/v1", "actions": {"pay": {"decision": "require_human"}}}


@contextmanager
def working(environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run the command until the block ends."""
    process = subprocess.Popen([COMMAND, "work"], env={**environ, **environment})
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


@pytest.fixture
def environment(environment: dict[str, str]) -> dict[str, str]:
    """Settings of services that only serve, and of a receiver on this machine."""
    port = free_port()
    return environment | {
        "COUNTERSIGN_WORKER": "false",
        "COUNTERSIGN_WEBHOOK_ORIGINS": f"http://127.0.0.1:{port}",
    }


async def test_what_a_service_writes_the_worker_delivers(
    serve: Callable[..., LiveService], keys: dict[str, str], environment: dict[str, str]
) -> None:
    address = environment["COUNTERSIGN_WEBHOOK_ORIGINS"]
    service = serve()

    def client(name: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=service.url, headers={"Authorization": f"Bearer {keys[name]}"}, timeout=10)

    async with (
        Receiver([echoing], port=int(address.rpartition(":")[2])) as receiver,
        client("operator") as operator,
        client("policy_admin") as admin,
        client("agent") as agent,
    ):
        made = await operator.post("/v1/webhooks", json={"url": address, "events": ["approval.requested"]})
        assert made.status_code == 201, made.text
        await put_in_force(admin, POLICY)
        await admit(agent, call("pay"))
        with working(environment) as process:
            await receiver.got(2)
            process.terminate()
            assert process.wait(10) == 0


def test_it_does_not_work_on_a_database_that_is_not_migrated(
    environment: dict[str, str], postgres: EmbeddedPostgres
) -> None:
    empty = environment | {"COUNTERSIGN_DATABASE_URL": postgres.url("postgres")}
    done = subprocess.run(
        [COMMAND, "work"], env={**environ, **empty}, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 1
    assert "run `countersignd migrate` first" in done.stderr
