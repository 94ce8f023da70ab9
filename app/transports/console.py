"""The console transport: on a laptop, what is asked and how it ended appears where the service was started."""

import sys
from typing import Any, Final, TextIO

from app.core.strict_json import load
from app.outbox.deliveries import Parcel, Receipt

CHANNEL: Final = "console"


class ConsoleTransport:
    """Writes a message as two lines: what about which call, and where to look."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr

    async def send(self, parcel: Parcel) -> Receipt:
        """Write the message."""
        self._stream.write(lines(parcel))
        self._stream.flush()
        return Receipt(delivered=True, detail="written to the console")

    async def close(self) -> None:
        """Do nothing: the stream is the process's."""


def lines(parcel: Parcel) -> str:
    """Return the message as a person reads it; names that others chose cannot steer the terminal."""
    message: Any = load(parcel.body)
    data = message["data"]
    cost = "" if data["cost"] is None else f" for {data['cost']['amount']} {data['cost']['currency']}"
    what = f"{parcel.event}: {data['action']} {data['asset']}{cost}, asked by {data['principal']}"
    return f"{_printable(what)}\n  {_printable(data['links']['page'])}\n"


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in text)
