"""The load where wrk is not installed: closed loops in a process of its own, each on one connection.

Takes a plan on standard input and says what it measured in one line, as `load.lua` does.
"""

import asyncio
import itertools
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.bench.scenarios import KEPT, NUMBER

_HEAD_ENDS = b"\r\n\r\n"
_LENGTH = b"content-length:"


@dataclass(slots=True)
class _Seen:
    """What came back: latencies in seconds, and answers that were not as they should be."""

    latencies: list[float] = field(default_factory=list)
    unexpected: int = 0
    lost: int = 0
    example: str = ""

    def percentile(self, share: float) -> float:
        """Return the latency, in milliseconds, that this share of the answers had at most."""
        ordered = sorted(self.latencies) or [0.0]
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def _run(plan: dict[str, Any]) -> str:
    seen, flows, loop = _Seen(), itertools.count(1), asyncio.get_running_loop()
    started = time.perf_counter()
    ends = started + plan["seconds"]
    loops = [
        (await loop.create_connection(lambda: _Loop(plan, flows, seen, ends), "127.0.0.1", plan["port"]))[1]
        for _ in range(plan["connections"])
    ]
    await asyncio.gather(*(each.done for each in loops))
    seconds = time.perf_counter() - started
    half, nearly_all, number = seen.percentile(0.5), seen.percentile(0.99), len(seen.latencies)
    example = " ".join(seen.example.split())
    return f"MEASURED {seconds:.6f} {number} {half:.3f} {nearly_all:.3f} {seen.unexpected} {seen.lost} {example}"


class _Loop(asyncio.Protocol):
    """One connection, that sends its next request when the last was answered; it knows just enough of HTTP for that."""

    def __init__(self, plan: dict[str, Any], flows: Iterator[int], seen: _Seen, ends: float) -> None:
        self._plan = plan
        self._flows = flows
        self._seen = seen
        self._ends = ends
        self._step, self._flow, self._kept = 0, next(flows), ""
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
            self._seen.latencies.append(time.perf_counter() - self._sent)
            self._received = b""
            self._take(head, body.decode())
            self._send()

    def connection_lost(self, _error: Exception | None) -> None:
        if not self.done.done():
            self._seen.lost += 1
            self.done.set_result(None)

    def _take(self, head: bytes, body: str) -> None:
        step = self._plan["steps"][self._step]
        if step["expects"] not in body:
            self._seen.unexpected += 1
            self._seen.example = f"{head[9:12].decode()} {body}"
        elif self._step + 1 < len(self._plan["steps"]):
            self._step += 1
            if step["keeps"]:
                self._kept = body.partition(step["keeps"])[2].partition('"')[0]
            return
        self._step, self._flow, self._kept = 0, next(self._flows), ""

    def _send(self) -> None:
        self._sent = time.perf_counter()
        if self._sent >= self._ends:
            self.done.set_result(None)
            self._transport.close()
            return
        self._transport.write(self._request())

    def _request(self) -> bytes:
        step = self._plan["steps"][self._step]
        key = step["keys"][self._flow % len(step["keys"])]
        body = self._filled(step["body"])
        return (
            f"POST {self._filled(step['path'])} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {key}\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        ).encode()

    def _filled(self, text: str) -> str:
        return text.replace(NUMBER, f"{self._plan['tag']}{self._flow}").replace(KEPT, self._kept)


def _length(head: bytes) -> int:
    lines = head.lower().split(b"\r\n")
    return next(int(line[len(_LENGTH) :]) for line in lines if line.startswith(_LENGTH))


if __name__ == "__main__":
    print(asyncio.run(_run(json.load(sys.stdin))))
