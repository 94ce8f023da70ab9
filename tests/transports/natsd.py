"""A real NATS server, from its wheel."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import nats
from nats.aio.msg import Msg

_SERVER = Path(sys.executable).parent / "nats-server"


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@asynccontextmanager
async def serving(port: int, *options: str | Path) -> AsyncIterator[None]:
    """Run a server until the block ends."""
    command = [_SERVER, "--addr", "127.0.0.1", "--port", str(port), *options]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]})  # noqa: ASYNC220 - it returns at once
    try:
        await _listening(port)
        yield
    finally:
        process.terminate()
        process.wait(10)


@asynccontextmanager
async def subscribed(port: int, to: str) -> AsyncIterator["asyncio.Queue[Msg]"]:
    """Listen to a subject."""
    client, got = await nats.connect(f"nats://127.0.0.1:{port}"), asyncio.Queue[Msg]()
    await client.subscribe(to, cb=got.put)
    await client.flush()
    yield got
    await client.close()


async def _listening(port: int) -> None:
    async with asyncio.timeout(20):
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            await asyncio.sleep(0.05)
