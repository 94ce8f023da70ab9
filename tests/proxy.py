"""A wire between the service and Postgres that can be cut at a chosen moment."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit, urlunsplit

_SOCKET = ".s.PGSQL.5432"


class Wire:
    """Carries bytes both ways until the service sends what the wire was told to stop at.

    `reached` is set at that moment, and from then on nothing passes on that connection until `cut`.
    """

    def __init__(self, target: Path, directory: Path) -> None:
        self.directory = directory
        self.reached = asyncio.Event()
        self._target = target
        self._marks: tuple[bytes, ...] = ()
        self._keeps_answer = False
        self._writers: set[asyncio.StreamWriter] = set()

    def stop_at(self, *marks: bytes, keeps_answer: bool) -> None:
        """Stop once, where one connection has sent all the marks, in their order.

        The message with the last one is kept from Postgres, or with `keeps_answer` answered and the answer kept.
        """
        self._marks, self._keeps_answer = marks, keeps_answer
        self.reached.clear()

    def cut(self) -> None:
        """Break every connection."""
        for writer in self._writers:
            writer.close()
        self._writers.clear()

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection."""
        onward_reader, onward_writer = await asyncio.open_unix_connection(self._target)
        self._writers |= {writer, onward_writer}
        stopped = asyncio.Event()
        await asyncio.gather(self._forth(reader, onward_writer, stopped), self._back(onward_reader, writer, stopped))

    async def _forth(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stopped: asyncio.Event) -> None:
        sent = 0
        async for chunk in _chunks(reader):
            while sent < len(self._marks) and self._marks[sent] in chunk:
                sent += 1
            if self._marks and sent == len(self._marks):
                self._marks = ()
                stopped.set()
                if not self._keeps_answer:
                    self.reached.set()
                    return
            await _send(writer, chunk)
        writer.close()

    async def _back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stopped: asyncio.Event) -> None:
        async for chunk in _chunks(reader):
            if stopped.is_set():
                self.reached.set()
                return
            await _send(writer, chunk)
        writer.close()


@asynccontextmanager
async def wired(database_url: str) -> AsyncIterator[tuple[Wire, str]]:
    """Put a wire before the Postgres of a URL whose host is a folder; yields it and the URL through it."""
    target = Path(parse_qs(urlsplit(database_url).query)["host"][0]) / _SOCKET
    with tempfile.TemporaryDirectory() as folder:
        wire = Wire(target, Path(folder))
        server = await asyncio.start_unix_server(wire.connect, Path(folder) / _SOCKET)
        try:
            yield wire, urlunsplit(urlsplit(database_url)._replace(query=f"host={folder}"))
        finally:
            wire.cut()
            server.close()


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while True:
        try:
            chunk = await reader.read(1 << 16)
        except ConnectionError:
            return
        if not chunk:
            return
        yield chunk


async def _send(writer: asyncio.StreamWriter, chunk: bytes) -> None:
    try:
        writer.write(chunk)
        await writer.drain()
    except (ConnectionError, RuntimeError):
        return
