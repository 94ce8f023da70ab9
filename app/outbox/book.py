"""The book of outgoing messages of one tenant, for the length of one group; a book that only writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from app.core.canonical import canonical_json
from app.core.values import Json
from app.db.books import Rows
from app.db.ids import new_id


@dataclass(frozen=True, slots=True)
class Outlets:
    """How the service reaches the outside: its public URL, and the channels that get every tenant's messages."""

    address: str
    channels: tuple[str, ...] = ()


class OutboxBook:
    """Messages that the group's commands post.

    Which webhooks get a message is looked up by the statement that writes it, so nothing is read before. A message
    that nobody would get is not written at all.
    """

    READS: ClassVar[Mapping[str, str]] = {}
    WRITES: ClassVar[Mapping[str, str]] = {
        "outbox_messages": """
            INSERT INTO messages (tenant, id, event, subject, body, created_at)
            SELECT :tenant, m.id, m.event, m.subject, m.body, m.created_at
            FROM jsonb_to_recordset(CAST(:outbox_messages AS jsonb)) AS m
                (id text, event text, subject text, body text, created_at timestamptz, channels jsonb)
            WHERE m.channels <> '[]' OR EXISTS (
                SELECT 1 FROM webhooks w WHERE w.tenant = :tenant AND w.events @> to_jsonb(m.event))
        """,
        "outbox_deliveries": """
            INSERT INTO deliveries (tenant, channel, message_id, state, attempts, due_at, detail)
            SELECT :tenant, reached.channel, m.id, 'pending', 0, m.created_at, ''
            FROM jsonb_to_recordset(CAST(:outbox_deliveries AS jsonb)) AS m
                (id text, event text, created_at timestamptz, channels jsonb)
            CROSS JOIN LATERAL (
                SELECT w.id AS channel FROM webhooks w WHERE w.tenant = :tenant AND w.events @> to_jsonb(m.event)
                UNION ALL
                SELECT jsonb_array_elements_text(m.channels)
            ) AS reached
        """,
    }

    def __init__(self, now: datetime, outlets: Outlets) -> None:
        self._now = now
        self._outlets = outlets
        self._messages: list[dict[str, Any]] = []

    @property
    def address(self) -> str:
        """The public URL of the service, for the links of a message."""
        return self._outlets.address

    def post(self, event: str, subject: str, timestamp: str, data: Mapping[str, Json]) -> None:
        """Post a message about a subject to everybody who gets such events.

        Its body is `{type, timestamp, data}`, as Standard Webhooks 1.0 recommends. What is in `data` leaves the
        service, so it must hold nothing private.
        """
        body = canonical_json({"type": event, "timestamp": timestamp, "data": dict(data)})
        self._messages.append(
            {
                "id": new_id("msg"),
                "event": event,
                "subject": subject,
                "body": body.decode(),
                "created_at": self._now.isoformat(),
                "channels": list(self._outlets.channels),
            }
        )

    def wants(self) -> Mapping[str, Sequence[Any]]:
        """Return nothing: posting reads nothing."""
        return {}

    def load(self, name: str, rows: Rows) -> None:
        """Refuse rows: the outbox reads none."""
        raise LookupError(f"{len(rows)} rows of {name}")

    def writes(self) -> Mapping[str, Rows]:
        """Return the messages, and what their deliveries are made from."""
        without_content = ("id", "event", "created_at", "channels")
        addressed = [{name: message[name] for name in without_content} for message in self._messages]
        return {"outbox_messages": self._messages, "outbox_deliveries": addressed}
