"""Connections of clients that may be slow, silent or endless on purpose."""

from asyncio import TimerHandle, Transport
from typing import ClassVar

from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class BoundedConnection(HttpToolsProtocol):
    """An HTTP connection on which a request has to arrive in time, and without more around its body than it needs.

    The server bounds neither: a client that opens connections and says nothing keeps them for good, and one whose
    head never ends fills the memory, both without a key. How large a body may be is the app's to say.
    """

    patience: ClassVar[float] = 30.0
    """Seconds from the first byte of a request, or from the connection's begin, until the request is whole."""

    most_around: ClassVar[int] = 1 << 16
    """Bytes that may come without any of a body among them: of a head, between two pieces, or behind the last."""

    _due: TimerHandle | None = None
    _around = 0

    @override
    def connection_made(self, transport: Transport) -> None:  # type: ignore[override] # as the class above does
        super().connection_made(transport)
        self._wait()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_longer()
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        self._around += len(data)
        super().data_received(data)
        if self._around > self.most_around and not self.transport.is_closing():
            self.send_400_response("The request's head or trailer is too large.")

    @override
    def on_message_begin(self) -> None:
        self._around = 0
        self._wait()
        super().on_message_begin()

    @override
    def on_body(self, body: bytes) -> None:
        self._around = 0
        super().on_body(body)

    @override
    def on_message_complete(self) -> None:
        self._around = 0
        self._wait_no_longer()
        super().on_message_complete()

    def _wait(self) -> None:
        self._wait_no_longer()
        self._due = self.loop.call_later(self.patience, self._end)

    def _wait_no_longer(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _end(self) -> None:
        if self.flow.read_paused:  # it is the service that is slow
            self._wait()
        else:
            self.transport.close()
