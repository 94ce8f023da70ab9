"""A webhook gets exactly what was written, signed, at the address that was checked; what it answers is a status."""

import asyncio
import gzip
import json
import time
from contextlib import suppress
from ipaddress import ip_address

import pytest
from standardwebhooks import Webhook

from app.outbox.deliveries import Parcel, Receipt
from app.outbox.sealing import Sealer, new_secret
from app.outbox.webhooks import Endpoint
from app.transports import signatures
from app.transports.addresses import IPAddress, Permitted
from app.transports.webhook import WebhookTransport
from tests.transports.certificates import Authority
from tests.transports.receiver import Receiver, echoing, hanging, status

HOST = "hooks.example"
BODY = '{"data":{"asset":"Zürich"},"type":"approval.requested"}'.encode()
SECRET = new_secret()
NO_ECHO = "the receiver did not echo the challenge"


class Names:
    """A name server that counts how often it is asked, and answers one thing after the other."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def resolve(self, host: str, port: int) -> list[IPAddress]:
        del host, port
        self.asked += 1
        return [ip_address(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])]


def transport(
    sealer: Sealer, authority: Authority, port: int, names: Names | None = None, patience: float = 10
) -> WebhookTransport:
    """Return a transport that finds `HOST` on loopback and may go there."""
    return WebhookTransport(
        sealer,
        Permitted.of([f"https://{HOST}:{port}", f"http://{HOST}:{port}"]),
        authority.trusting,
        resolve=(names or Names("127.0.0.1")).resolve,
        patience=patience,
    )


def parcel(sealer: Sealer, url: str, *secrets: str, legacy_header: bool = False) -> Parcel:
    """Return a message on its way to a webhook."""
    sealed = tuple(sealer.seal("acme", "whk_1", secret) for secret in secrets or (SECRET,))
    return Parcel(
        tenant="acme",
        channel="whk_1",
        message_id="msg_1",
        event="approval.requested",
        subject="apr_1",
        body=BODY,
        attempt=1,
        endpoint=Endpoint("whk_1", url, legacy_header, sealed),
        claim="clm_1",
    )


async def test_raw_bytes_verify_by_the_standards_own_library(sealer: Sealer, authority: Authority) -> None:
    older = new_secret()
    async with Receiver([status(204)], authority.serving(HOST)) as receiver:
        sent = parcel(sealer, f"https://{HOST}:{receiver.port}/in?to=desk", SECRET, older, legacy_header=True)
        receipt = await transport(sealer, authority, receiver.port).send(sent)
    assert receipt == Receipt(delivered=True, detail="answered 204")
    (got,) = receiver.received
    assert got.body == BODY
    for secret in (SECRET, older):
        assert Webhook(secret).verify(got.body, got.headers) == json.loads(BODY)
    assert got.headers["webhook-id"] == "msg_1"
    assert got.headers["content-type"] == "application/json"
    assert signatures.legacy_header(BODY, SECRET)["X-Adk-Signature"] == got.headers["x-adk-signature"]


async def test_the_legacy_header_is_sent_only_where_it_is_wanted(sealer: Sealer, authority: Authority) -> None:
    async with Receiver([status(204)], authority.serving(HOST)) as receiver:
        await transport(sealer, authority, receiver.port).send(parcel(sealer, f"https://{HOST}:{receiver.port}/"))
    assert "x-adk-signature" not in receiver.received[0].headers


async def test_the_checked_address_is_asked_for_by_the_name_of_the_url(sealer: Sealer, authority: Authority) -> None:
    names = Names("127.0.0.1", "10.0.0.1")
    async with Receiver([status(200)], authority.serving(HOST)) as receiver:
        sent = parcel(sealer, f"https://{HOST}:{receiver.port}/in")
        assert (await transport(sealer, authority, receiver.port, names).send(sent)).delivered
    assert names.asked == 1
    (got,) = receiver.received
    assert (got.line, got.headers["host"], got.server_name) == (
        "POST /in HTTP/1.1",
        f"{HOST}:{receiver.port}",
        HOST,
    )


async def test_a_name_that_means_something_private_later_is_checked_again(sealer: Sealer, authority: Authority) -> None:
    """The same webhook, another attempt: what was public when it was registered may be inside now."""
    async with Receiver([status(200)], authority.serving(HOST)) as receiver:
        strict = WebhookTransport(sealer, Permitted(), authority.trusting, resolve=Names("127.0.0.1").resolve)
        receipt = await strict.send(parcel(sealer, f"https://{HOST}:{receiver.port}/in"))
    assert receipt == Receipt(delivered=False, detail="the host of the URL has an address that is not public")
    assert receiver.received == []


async def test_a_certificate_of_another_host_is_not_accepted(sealer: Sealer, authority: Authority) -> None:
    async with Receiver([status(200)], authority.serving("other.example")) as receiver:
        receipt = await transport(sealer, authority, receiver.port).send(
            parcel(sealer, f"https://{HOST}:{receiver.port}/in")
        )
    assert receipt == Receipt(delivered=False, detail="its certificate is not valid for its host")
    assert receiver.received == []


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_redirects_are_not_followed(sealer: Sealer, authority: Authority, code: int) -> None:
    async with (
        Receiver([status(200)], authority.serving(HOST)) as elsewhere,
        Receiver([], authority.serving(HOST)) as receiver,
    ):
        receiver.answers = [status(code, b"", f"Location: https://{HOST}:{elsewhere.port}/")]
        receipt = await transport(sealer, authority, receiver.port).send(
            parcel(sealer, f"https://{HOST}:{receiver.port}/in")
        )
    assert receipt == Receipt(delivered=False, detail=f"answered {code}")
    assert elsewhere.received == []


async def test_a_proxy_of_the_environment_is_not_used(
    sealer: Sealer, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        Receiver([status(200)]) as proxy,
        Receiver([status(200)], authority.serving(HOST)) as receiver,
    ):
        for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "http_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        made = transport(sealer, authority, receiver.port)
        assert (await made.send(parcel(sealer, f"https://{HOST}:{receiver.port}/in"))).delivered
    assert proxy.received == []


async def test_a_receiver_that_hangs_is_left_in_time(sealer: Sealer, authority: Authority) -> None:
    async with Receiver([hanging], authority.serving(HOST)) as receiver:
        begun = time.monotonic()
        receipt = await transport(sealer, authority, receiver.port, patience=0.5).send(
            parcel(sealer, f"https://{HOST}:{receiver.port}/in")
        )
    assert time.monotonic() - begun < 2
    assert receipt == Receipt(delivered=False, detail="no answer in time")


async def test_a_receiver_that_trickles_is_left_in_time_too(sealer: Sealer, authority: Authority) -> None:
    left = asyncio.Event()

    async def trickle(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while not writer.is_closing():
                writer.write(b"H")
                await writer.drain()
                await asyncio.sleep(0.1)
        writer.close()
        left.set()

    server = await asyncio.start_server(trickle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    receipt = await transport(sealer, authority, port, patience=0.5).send(parcel(sealer, f"http://{HOST}:{port}/in"))
    server.close()
    await left.wait()
    assert receipt == Receipt(delivered=False, detail="no answer in time")


async def test_what_hangs_while_it_answers_has_answered(sealer: Sealer, authority: Authority) -> None:
    async with Receiver([b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"], authority.serving(HOST)) as receiver:
        receipt = await transport(sealer, authority, receiver.port, patience=2).send(
            parcel(sealer, f"https://{HOST}:{receiver.port}/in")
        )
    assert receipt.delivered


@pytest.mark.parametrize(("code", "final"), [(400, False), (404, False), (410, True), (429, False), (503, False)])
async def test_only_gone_means_that_nobody_should_try_again(
    sealer: Sealer,
    authority: Authority,
    code: int,
    final: bool,  # noqa: FBT001 - a case's data
) -> None:
    async with Receiver([status(code, b"secret words of the receiver")], authority.serving(HOST)) as receiver:
        receipt = await transport(sealer, authority, receiver.port).send(
            parcel(sealer, f"https://{HOST}:{receiver.port}/in")
        )
    assert receipt == Receipt(delivered=False, detail=f"answered {code}", final=final)


async def test_nobody_listening_is_no_connection(sealer: Sealer, authority: Authority) -> None:
    async with Receiver([status(200)]) as receiver:
        port = receiver.port
    receipt = await transport(sealer, authority, port).send(parcel(sealer, f"https://{HOST}:{port}/in"))
    assert receipt == Receipt(delivered=False, detail="no connection")


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 99999 No\r\n\r\n"])
async def test_what_does_not_speak_http_has_not_taken_it(sealer: Sealer, authority: Authority, answer: bytes) -> None:
    async with Receiver([answer], authority.serving(HOST)) as receiver:
        receipt = await transport(sealer, authority, receiver.port).send(
            parcel(sealer, f"https://{HOST}:{receiver.port}/in")
        )
    assert receipt == Receipt(delivered=False, detail="the connection broke before there was an answer")


async def test_a_secret_that_does_not_open_is_said_so_and_nothing_is_sent(sealer: Sealer, authority: Authority) -> None:
    async with Receiver([status(200)], authority.serving(HOST)) as receiver:
        stranger = transport(Sealer([b"another key"]), authority, receiver.port)
        receipt = await stranger.send(parcel(sealer, f"https://{HOST}:{receiver.port}/in"))
    assert not receipt.delivered
    assert "rotate" in receipt.detail
    assert receiver.received == []


async def test_a_receiver_that_echoes_passes_the_challenge(sealer: Sealer, authority: Authority) -> None:
    async with Receiver([echoing], authority.serving(HOST)) as receiver:
        made = transport(sealer, authority, receiver.port)
        assert await made.challenge(f"https://{HOST}:{receiver.port}/in", SECRET) is None
    (got,) = receiver.received
    assert Webhook(SECRET).verify(got.body, got.headers)["type"] == "webhook.challenge"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (status(200), NO_ECHO),
        (status(200, b'{"challenge": "guess"}'), NO_ECHO),
        (status(200, b'["challenge"]'), NO_ECHO),
        (status(200, b'{"challenge": "' + b"a" * 100_000 + b'"}'), NO_ECHO),
        (status(200, gzip.compress(b"0" * 1_000_000), "Content-Encoding: gzip"), NO_ECHO),
        (status(302, b"", "Location: https://elsewhere.example/"), "the receiver answered 302 to the challenge"),
        (status(500), "the receiver answered 500 to the challenge"),
        (hanging, "no answer in time"),
    ],
)  # fmt: skip
async def test_what_does_not_echo_does_not_pass(
    sealer: Sealer, authority: Authority, answer: bytes, reason: str
) -> None:
    async with Receiver([answer], authority.serving(HOST)) as receiver:
        made = transport(sealer, authority, receiver.port, patience=1)
        assert await made.challenge(f"https://{HOST}:{receiver.port}/in", SECRET) == reason
