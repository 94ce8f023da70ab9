"""The HTTP server: one listening socket, and any number of worker processes behind it."""

import os
import socket
from collections.abc import Mapping

import uvicorn
from uvicorn.supervisors import Multiprocess

# By name: each worker process makes its own app from the environment.
_APP = "app.main:from_environment"
_GRACE = 20  # seconds for what is in flight: longer than any request but the long poll, which ends early
_BACKLOG = 2048


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


def serve(listener: socket.socket, workers: int, environment: Mapping[str, str]) -> None:
    """Serve until Ctrl-C or SIGTERM: stop accepting, finish what is in flight, return or raise SystemExit.

    `environment` is what the app reads its settings from, besides the process's own.

    Raises:
        SystemExit: the app did not start; its log says why.
    """
    os.environ.update(environment)
    configuration = uvicorn.Config(
        _APP,
        factory=True,
        workers=workers,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="on",
        # The service logs its requests itself, without arguments. Whom a proxy names is for no decision here.
        access_log=False,
        log_level="warning",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
    )
    try:
        _run(configuration, listener)
    except KeyboardInterrupt:
        return  # uvicorn raises it again when it has finished what was in flight


def _run(configuration: uvicorn.Config, listener: socket.socket) -> None:
    if configuration.workers > 1:
        Multiprocess(configuration, sockets=[listener]).run()
        return
    server = uvicorn.Server(configuration)
    server.run(sockets=[listener])
    if not server.started:
        raise SystemExit(1)
