"""The processes of the service: those behind one listening socket, and one that only works.

They make what they need from the environment and are found by name, since the app is assembled outside the CLI's ring.
"""

import os
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Never

import typer
import uvicorn
from typing_extensions import override
from uvicorn.supervisors import Multiprocess

from app.cli.connections import BoundedConnection

_ASSEMBLY = "app.main"
_APP = f"{_ASSEMBLY}:from_environment"
_GRACE = 20  # seconds for what is in flight: longer than any request but the long poll, which ends early
_PATIENCE = 60  # seconds that a worker may take to answer its supervisor: a busy machine is slow, not dead
_BACKLOG = 2048

_told = threading.Event()


class AddressInUseError(Exception):
    """Something else listens there, or it is not an address of this machine."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at the address; port 0 takes a free one.

    Raises:
        AddressInUseError: it cannot listen there.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise AddressInUseError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from error


def serve(listener: socket.socket, workers: int, welcome: str = "") -> None:
    """Serve until the process is told to end: stop accepting, finish what is in flight, and end.

    The app's settings are in the environment of the process. `welcome` is printed when the service answers.

    Raises:
        SystemExit: it has ended, or the app did not start and its log says why; or it was told to end before.
    """
    _unless_told()
    configuration = uvicorn.Config(
        _APP,
        factory=True,
        workers=workers,
        loop="uvloop",
        http=BoundedConnection,
        ws="none",
        lifespan="on",
        # The service logs its requests itself, without arguments. Whom a proxy names is for no decision here.
        access_log=False,
        log_level="warning",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        timeout_worker_healthcheck=_PATIENCE,
    )
    if workers > 1:
        typer.echo(welcome, nl=bool(welcome))
        with _shared_measures():
            _Workers(configuration, sockets=[listener]).run()
        return
    server = _Server(configuration, welcome)
    server.run(sockets=[listener])
    if not server.started:
        raise SystemExit(1)


@contextmanager
def _shared_measures() -> Iterator[None]:
    """Give the worker processes one folder for their measures, so that any of them can answer for all."""
    with tempfile.TemporaryDirectory(prefix="countersign-measures-") as folder:
        os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", folder)
        yield


def work() -> None:
    """Sweep and deliver until the process is told to end, if it has not been before."""
    _unless_told()
    import_module(_ASSEMBLY).work()


class _Workers(Multiprocess):
    """Processes behind one socket, which their supervisor lets go of as well when they are told to end.

    As long as anybody holds it the kernel takes connections. With the workers gone nobody would answer them: they
    would hang until the last request in flight is finished, and be reset then.
    """

    @override
    def terminate_all(self) -> None:
        """Tell all workers to end; only they answer from here on, until each has closed its own end of the socket."""
        for listener in self.sockets:
            listener.close()
        super().terminate_all()


class _Server(uvicorn.Server):
    """A server that says when it answers."""

    def __init__(self, configuration: uvicorn.Config, welcome: str) -> None:
        super().__init__(configuration)
        self._welcome = welcome

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self.started:
            typer.echo(self._welcome, nl=bool(self._welcome))


def end_when_told() -> None:
    """Make SIGTERM and Ctrl-C raise SystemExit, so that whatever was opened is closed again.

    While uvicorn serves they are its own: it finishes what is in flight, and then raises them again.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)


def _end(_signal: int, _frame: FrameType | None) -> Never:
    _told.set()
    raise SystemExit(0)


def _unless_told() -> None:
    """End here where the exception was swallowed by whatever was called from C, or collected, at that moment."""
    if _told.is_set():
        raise SystemExit(0)
