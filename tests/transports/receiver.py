"""A receiver of webhooks that keeps the raw bytes of what it got, and answers as a test wants it to."""

import asyncio
import json
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

Answer = Callable[["Received"], bytes | None]


@dataclass(frozen=True)
class Received:
    """One request: its first line, its headers by lower-case name, its body, and the name that TLS asked for."""

    line: str
    headers: dict[str, str]
    body: bytes
    server_name: str | None = None


def status(code: int, body: bytes = b"", *headers: str) -> bytes:
    """Return a whole answer."""
    lines = [f"HTTP/1.1 {code} Whatever", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def echoing(received: Received) -> bytes:
    """Answer a challenge as a receiver should, and take everything else."""
    message = json.loads(received.body)
    if message["type"] != "webhook.challenge":
        return status(204)
    return status(200, json.dumps({"challenge": message["data"]["challenge"]}).encode())


def hanging(_: Received) -> None:
    """Take the request, and never answer."""


@dataclass
class Receiver:
    """Listens on loopback. `answers` are used up one after the other, the last one for all that follows."""

    answers: list[bytes | Answer]
    certificate: ssl.SSLContext | None = None
    host: str = "127.0.0.1"
    received: list[Received] = field(default_factory=list)
    port: int = 0
    _names: list[str | None] = field(default_factory=list)
    _arrival: asyncio.Event = field(default_factory=asyncio.Event)
    _connections: set["asyncio.Task[None]"] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        """Begin to listen."""
        if self.certificate is not None:
            self.certificate.sni_callback = lambda _socket, name, _context: self._names.append(name)
        self._server = await asyncio.start_server(self._serve, self.host, self.port, ssl=self.certificate)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Listen no more, and leave whoever still waits for an answer."""
        self._server.close()
        for connection in self._connections:
            connection.cancel()

    async def got(self, number: int) -> list[Received]:
        """Wait until so many requests have come, and return all that have."""
        async with asyncio.timeout(30):
            while len(self.received) < number:
                self._arrival.clear()
                await self._arrival.wait()
        return self.received

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
            received = await self._read(reader)
            self.received.append(received)
            self._arrival.set()
            answer = self._next()
            content = answer if isinstance(answer, bytes) else answer(received)
            if content is None:
                await asyncio.sleep(3600)
            else:
                writer.write(content)
                await writer.drain()
        writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Received:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *lines = head.rstrip("\r\n").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line_.partition(":") for line_ in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        return Received(line, headers, body, self._names[-1] if self._names else None)

    def _next(self) -> bytes | Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
