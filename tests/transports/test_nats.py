"""Messages on NATS, over a real server: each tenant's on its own subject, and confirmed or not delivered."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.outbox.deliveries import Parcel, Receipt
from app.transports.nats import NatsTransport, SubjectError, subject
from tests.transports.natsd import free_port, serving, subscribed

BODY = '{"data":{"asset":"Zürich"},"type":"approval.requested"}'.encode()


def parcel(tenant: str = "acme", body: bytes = BODY) -> Parcel:
    return Parcel(tenant, "nats", "msg_1", "approval.requested", "apr_1", body, 1, None, "clm_1")


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """The port of a NATS server."""
    found = free_port()
    async with serving(found):
        yield found


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
    async with serving(port):
        assert (await transport.send(parcel())).delivered
    assert await transport.send(parcel()) == not_taken
    async with serving(port):
        assert (await transport.send(parcel())).delivered
    await transport.close()


async def test_what_the_server_does_not_allow_is_not_delivered(tmp_path: Path) -> None:
    port, configuration = free_port(), tmp_path / "nats.conf"
    configuration.write_text(
        'authorization: {users: [{user: s, password: p, permissions: {publish: {deny: ["countersign.acme"]}}}]}'
    )
    transport = NatsTransport(f"nats://s:p@127.0.0.1:{port}", "countersign")
    async with serving(port, "--config", configuration):
        refused = await transport.send(parcel())
        allowed = await transport.send(parcel("other"))
        stranger = NatsTransport(f"nats://s:wrong@127.0.0.1:{port}", "countersign")
        unknown = await stranger.send(parcel("other"))
        await transport.close()
    assert not refused.delivered
    assert "may the service publish there?" in refused.detail
    assert allowed.delivered
    assert unknown == Receipt(delivered=False, detail="the NATS server did not take it")


async def test_the_server_is_asked_for_its_word_only_after_it_has_the_message() -> None:
    seen: list[bytes] = []

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'INFO {"headers":true,"max_payload":1048576,"proto":1}\r\n')
        while line := await reader.readline():
            seen.append(line.split()[0])
            if line.startswith(b"HPUB"):
                await reader.readexactly(int(line.split()[-1]) + 2)
                writer.write(b"-ERR 'Permissions Violation for Publish to \"countersign.acme\"'\r\n")
            if line.startswith(b"PING"):
                writer.write(b"PONG\r\n")
        writer.close()

    async with await asyncio.start_server(converse, "127.0.0.1", 0) as server:
        transport = NatsTransport(f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}", "countersign")
        receipts = [await transport.send(parcel()) for _ in range(3)]
        await transport.close()
    assert [receipt.delivered for receipt in receipts] == [False] * 3
    assert seen == [b"CONNECT", b"PING", *[b"HPUB", b"PING"] * 3]


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
