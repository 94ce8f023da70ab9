"""The tables of webhooks, messages and their deliveries."""

from sqlalchemy import Boolean, Column, DateTime, ForeignKeyConstraint, Index, Integer, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from app.db.tables import metadata

webhooks = Table(
    "webhooks",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("url", Text, nullable=False),
    Column("events", JSONB, nullable=False, comment="the types of messages that it gets"),
    Column("legacy_header", Boolean, nullable=False, comment="whether X-Adk-Signature is sent too"),
    Column("secret", Text, nullable=False, comment="what messages are signed with, sealed"),
    Column("previous_secret", Text, comment="the one before the last rotation, sealed; signs too while it lasts"),
    Column("previous_until", DateTime(timezone=True)),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("created_by", Text, nullable=False),
    comment="Where a tenant's messages are sent over HTTP",
)

messages = Table(
    "messages",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("event", Text, nullable=False),
    Column("subject", Text, nullable=False, comment="the id of what it is about"),
    Column("body", Text, nullable=False, comment="the very text that is sent and signed"),
    Column("created_at", DateTime(timezone=True), nullable=False),
    comment="What is told to the outside, written with the change that it tells of",
)
Index("ix_messages_tenant_subject", messages.c.tenant, messages.c.subject)
Index("ix_messages_created_at", messages.c.created_at)

deliveries = Table(
    "deliveries",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("channel", Text, primary_key=True, comment="a webhook's id, or the name of another transport"),
    Column("message_id", Text, primary_key=True),
    Column("state", Text, nullable=False, comment="pending, delivered or failed"),
    Column("attempts", Integer, nullable=False, comment="begun since it was last put on its way"),
    Column("due_at", DateTime(timezone=True), nullable=False, comment="of the next attempt; a claim pushes it away"),
    Column("claim", Text, comment="of whoever attempts it now; the only one that may say how it went"),
    Column("detail", Text, nullable=False, comment="how the last attempt went"),
    Column("attempted_at", DateTime(timezone=True)),
    ForeignKeyConstraint(["tenant", "message_id"], ["messages.tenant", "messages.id"], ondelete="CASCADE"),
    comment="One message on its way over one channel",
)
Index("ix_deliveries_tenant_message_id", deliveries.c.tenant, deliveries.c.message_id)
Index(
    "ix_deliveries_tenant_channel_due_at",
    deliveries.c.tenant,
    deliveries.c.channel,
    deliveries.c.due_at,
    postgresql_where=text("state = 'pending'"),
)
