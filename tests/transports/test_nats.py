"""Messages on NATS, over a real server: each tenant's on its own subject, and confirmed or not delivered."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import nats
import pytest
from nats.aio.msg import Msg

from app.outbox.deliveries import Parcel, Receipt
from app.transports.nats import NatsTransport, SubjectError, subject

SERVER = Path(sys.executable).parent / "nats-server"
BODY = '{"data":{"asset":"Zürich"},"type":"approval.requested"}'.encode()


def parcel(tenant: str = "acme", body: bytes = BODY) -> Parcel:
    return Parcel(tenant, "nats", "msg_1", "approval.requested", "apr_1", body, 1, None, "clm_1")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def serving(port: int, *options: str | Path) -> Iterator[None]:
    """Run a NATS server until the block ends."""
    command = [SERVER, "--addr", "127.0.0.1", "--port", str(port), *options]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]})
    try:
        yield
    finally:
        process.terminate()
        process.wait(10)


async def listening(port: int) -> None:
    """Wait until something listens on the port."""
    for _ in range(200):
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(0.05)
    raise TimeoutError


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """The port of a NATS server."""
    found = free_port()
    with serving(found):
        await listening(found)
        yield found


@asynccontextmanager
async def subscribed(port: int, to: str) -> AsyncIterator["asyncio.Queue[Msg]"]:
    """Listen to a subject."""
    client, got = await nats.connect(f"nats://127.0.0.1:{port}"), asyncio.Queue[Msg]()
    await client.subscribe(to, cb=got.put)
    await client.flush()
    yield got
    await client.close()


async def test_a_message_arrives_on_its_tenants_subject_as_it_was_written(port: int) -> None:
    transport = NatsTransport(f"nats://127.0.0.1:{port}", "countersign.notices")
    async with subscribed(port, "countersign.notices.*") as got:
        assert await transport.send(parcel()) == Receipt(delivered=True, detail="taken by the NATS server")
        message = await asyncio.wait_for(got.get(), 5)
    await transport.close()
    assert (message.subject, message.data) == ("countersign.notices.acme", BODY)
    assert message.headers == {"Nats-Msg-Id": "msg_1", "Content-Type": "application/json"}


async def test_many_at_once_arrive(port: int) -> None:
    transport = NatsTransport(f"nats://127.0.0.1:{port}", "countersign")
    async with subscribed(port, "countersign.>") as got:
        receipts = await asyncio.gather(*(transport.send(parcel(f"t{number}")) for number in range(50)))
        assert all(receipt.delivered for receipt in receipts)
        subjects = {(await asyncio.wait_for(got.get(), 5)).subject for _ in receipts}
    await transport.close()
    assert len(subjects) == 50


async def test_a_server_that_is_down_takes_nothing_and_later_does_again() -> None:
    port = free_port()
    transport = NatsTransport(f"nats://127.0.0.1:{port}", "countersign")
    not_taken = Receipt(delivered=False, detail="the NATS server did not take it")
    assert await transport.send(parcel()) == not_taken
    with serving(port):
        await listening(port)
        assert (await transport.send(parcel())).delivered
    assert await transport.send(parcel()) == not_taken
    with serving(port):
        await listening(port)
        assert (await transport.send(parcel())).delivered
    await transport.close()


async def test_what_the_server_does_not_allow_is_not_delivered(tmp_path: Path) -> None:
    port, configuration = free_port(), tmp_path / "nats.conf"
    configuration.write_text(
        'authorization: {users: [{user: s, password: p, permissions: {publish: {deny: ["countersign.acme"]}}}]}'
    )
    transport = NatsTransport(f"nats://s:p@127.0.0.1:{port}", "countersign")
    with serving(port, "--config", configuration):
        await listening(port)
        refused = await transport.send(parcel())
        allowed = await transport.send(parcel("other"))
        stranger = NatsTransport(f"nats://s:wrong@127.0.0.1:{port}", "countersign")
        unknown = await stranger.send(parcel("other"))
        await transport.close()
    assert not refused.delivered
    assert "may the service publish there?" in refused.detail
    assert allowed.delivered
    assert unknown == Receipt(delivered=False, detail="the NATS server did not take it")


async def test_a_message_that_is_too_large_for_the_server_is_not_delivered(port: int) -> None:
    transport = NatsTransport(f"nats://127.0.0.1:{port}", "countersign")
    assert not (await transport.send(parcel(body=b"0" * 2_000_000))).delivered
    assert (await transport.send(parcel())).delivered
    await transport.close()


@pytest.mark.parametrize("tenant", ["", "a.b", "a b", "*", ">", "a\r\nPUB x 0", "zürich"])
async def test_a_tenant_that_is_not_one_plain_token_has_no_subject(tenant: str) -> None:
    with pytest.raises(SubjectError):
        subject("countersign", tenant)
    receipt = await NatsTransport("nats://127.0.0.1:1", "countersign").send(parcel(tenant))
    assert not receipt.delivered
    assert receipt.final


@pytest.mark.parametrize("root", ["", ".", "a.", ".a", "a..b", "a.*", "a.>", "a b"])
def test_a_root_that_is_not_plain_tokens_is_refused_at_the_start(root: str) -> None:
    with pytest.raises(SubjectError):
        NatsTransport("nats://127.0.0.1:1", root)
