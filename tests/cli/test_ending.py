"""Told to end, a service refuses new connections at once and finishes what is in flight, however many processes."""

import socket
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from tests.live import LiveService

_BODY = b'{"action": {"name": "booking.read"}}'


def half_asked(service: LiveService, key: str) -> socket.socket:
    """Return a connection on which a request is under way: its head has been sent, and half of its body."""
    head = f"POST /v1/admit HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
    connection = socket.create_connection(("127.0.0.1", service.port), timeout=15)
    connection.sendall(f"{head}Content-Length: {len(_BODY)}\r\n\r\n".encode() + _BODY[:9])
    return connection


def wait_until_refused(service: LiveService) -> None:
    """Ask again and again until a connection is refused; whoever gets one before that is answered."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            connection = socket.create_connection(("127.0.0.1", service.port), timeout=5)
        except ConnectionRefusedError:
            return
        with connection, suppress(ConnectionError):  # the last one may find the door closing
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n")
            connection.recv(1 << 16)
    raise AssertionError("it still takes connections")


@pytest.mark.parametrize("workers", [1, 2])
def test_new_connections_are_refused_and_what_is_in_flight_is_answered(
    serve: Callable[..., LiveService], keys: dict[str, str], workers: int
) -> None:
    service = serve(workers=workers)
    with half_asked(service, keys["agent"]) as connection:
        time.sleep(0.5)
        service.process.terminate()
        wait_until_refused(service)
        assert service.process.poll() is None
        connection.sendall(_BODY[9:])
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"connection: close\r\n" in answer.lower()
    assert service.stop() == 0
