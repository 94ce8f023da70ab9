"""A load of closed loops: so many connections, each sending its next request when the last was answered."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

_HEAD_ENDS = b"\r\n\r\n"
_LENGTH = b"content-length:"


@dataclass(slots=True)
class Measured:
    """What came back: latencies in seconds, how often each status, and how long the load ran."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    bodies: list[bytes] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        """The latency, in milliseconds, that this share of the answers had at most."""
        ordered = sorted(self.latencies)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def run(port: int, seconds: float, connections: int, next_request: Callable[[], bytes]) -> Measured:
    """Put the load on a port of loopback for so many seconds."""
    measured, loop = Measured(), asyncio.get_running_loop()
    started = time.perf_counter()
    ends = started + seconds
    loops = [
        (await loop.create_connection(lambda: _Loop(measured, next_request, ends), "127.0.0.1", port))[1]
        for _ in range(connections)
    ]
    await asyncio.gather(*(each.done for each in loops))
    measured.seconds = time.perf_counter() - started
    return measured


class _Loop(asyncio.Protocol):
    """One connection. It parses just enough of HTTP to know where an answer ends."""

    def __init__(self, measured: Measured, next_request: Callable[[], bytes], ends: float) -> None:
        self._measured = measured
        self._next_request = next_request
        self._ends = ends
        self._received = b""
        self._sent = 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, body = self._received.partition(_HEAD_ENDS)
        if found and len(body) >= _length(head):
            self._account(head, body)
            self._send()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or ConnectionError("the service closed the connection"))

    def _send(self) -> None:
        self._sent = time.perf_counter()
        if self._sent >= self._ends:
            self.done.set_result(None)
            self._transport.close()
            return
        self._transport.write(self._next_request())

    def _account(self, head: bytes, body: bytes) -> None:
        self._measured.latencies.append(time.perf_counter() - self._sent)
        self._measured.statuses[int(head[9:12])] += 1
        self._measured.bodies.append(body)
        self._received = b""


def _length(head: bytes) -> int:
    lines = head.lower().split(b"\r\n")
    return next(int(line[len(_LENGTH) :]) for line in lines if line.startswith(_LENGTH))
