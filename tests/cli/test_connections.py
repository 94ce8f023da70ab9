"""Clients that are slow, silent or endless on purpose: their connections end, and nobody else's."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from app.cli.connections import BoundedConnection

_HEAD = b"POST / HTTP/1.1\r\nHost: here\r\n"
_Address = tuple[str, int]


class _Hasty(BoundedConnection):
    patience = 0.3


async def _length(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the length of the body."""
    body = await Request(scope, receive).body()
    await PlainTextResponse(str(len(body)))(scope, receive, send)


@pytest.fixture
async def address() -> AsyncIterator[_Address]:
    """A server behind connections whose patience is short."""
    configuration = uvicorn.Config(
        _length, http=_Hasty, ws="none", lifespan="off", log_level="error", timeout_keep_alive=1
    )
    server = uvicorn.Server(configuration)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        task = asyncio.create_task(server._serve(sockets=[listener]))  # noqa: SLF001 - without its handlers of signals
        yield listener.getsockname()
        server.should_exit = True
        await task


async def _answer(address: _Address, *pieces: bytes, pause: float = 0.0) -> bytes:
    """Send the pieces with a pause after each, and return all that comes until the server closes."""
    reader, writer = await asyncio.open_connection(*address)
    answered = asyncio.create_task(reader.read())
    with suppress(ConnectionError):
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)
    try:
        async with asyncio.timeout(5):
            return await answered
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def test_a_silent_connection_is_closed(address: _Address) -> None:
    assert await _answer(address) == b""


async def test_half_a_head_is_waited_for_no_longer_than_a_whole_request(address: _Address) -> None:
    trickle = [bytes([byte]) for byte in _HEAD]
    assert await _answer(address, *trickle, pause=0.05) == b""


async def test_half_a_body_too(address: _Address) -> None:
    assert await _answer(address, _HEAD, b"Content-Length: 9\r\n\r\n", b"half") == b""


@pytest.mark.parametrize("start", [b"GET /" + b"a" * 100, _HEAD + b"X-Endless: ", _HEAD])
async def test_a_head_without_end_is_refused_as_soon_as_it_is_too_large(address: _Address, start: bytes) -> None:
    more = b"X-More: " + b"b" * 1_000 + b"\r\n" if start is _HEAD else b"b" * 1_000
    answer = await _answer(address, start, *[more] * 1_000)
    assert answer.startswith(b"HTTP/1.1 400 ") or answer == b""


async def test_a_trailer_without_end_is_too(address: _Address) -> None:
    start = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Endless: "
    answer = await _answer(address, start, *[b"b" * 1_000] * 1_000)
    assert answer.startswith(b"HTTP/1.1 400 ") or answer == b""


async def test_a_body_may_come_in_many_small_pieces_and_requests_one_after_the_other(address: _Address) -> None:
    chunked = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 40_000 + b"0\r\n\r\n"
    plain = _HEAD + b"Content-Length: 3\r\n\r\nabc"
    answer = await _answer(address, chunked, *[plain] * 3, pause=0.2)
    assert answer.count(b"HTTP/1.1 200 OK") == 4
    assert b"\r\n\r\n40000" in answer
