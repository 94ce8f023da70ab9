"""The tables of the record."""

from sqlalchemy import BigInteger, Column, DateTime, Index, Table, Text, text

from app.db.tables import metadata

heads = Table(
    "heads",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("seq", BigInteger, nullable=False, server_default=text("0"), comment="the seq of the next record"),
    Column("hash", Text, nullable=False, comment="the hash of the last record; 64 zeros before the first"),
    Column("key_id", Text),
    Column("signature", Text),
    Column("ts", DateTime(timezone=True), nullable=False, server_default=text("'epoch'")),
    Column("policy_revision", BigInteger, comment="the active revision; null before the first activation"),
    Column("shadow_revision", BigInteger, comment="the revision that is weighed beside it, if there is one"),
    Column("authority_epoch", BigInteger, nullable=False, server_default=text("0")),
    comment="One row a tenant: its lane, its lock, and the end of its chain",
)

audit_records = Table(
    "audit_records",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("ts", DateTime(timezone=True), nullable=False),
    Column("event_type", Text, nullable=False),
    Column("principal", Text, nullable=False, server_default=text("''")),
    Column("action", Text, nullable=False, server_default=text("''")),
    Column("command_id", Text, comment="of the command whose first record this is; finds a lost COMMIT"),
    Column("canonical", Text, nullable=False, comment="the bytes that were hashed"),
    Column("hash", Text, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("signature", Text, nullable=False),
    comment="The chain; rows are only ever inserted",
)

Index(
    "uq_audit_records_tenant_command_id",
    audit_records.c.tenant,
    audit_records.c.command_id,
    unique=True,
    postgresql_where=audit_records.c.command_id.is_not(None),
)
Index("ix_audit_records_tenant_event_type_seq", audit_records.c.tenant, audit_records.c.event_type, audit_records.c.seq)

signing_keys = Table(
    "signing_keys",
    metadata,
    Column("key_id", Text, primary_key=True),
    Column("pem", Text, nullable=False),
    Column("valid_from", DateTime(timezone=True), nullable=False),
    Column("valid_until", DateTime(timezone=True)),
    comment="The public keys that records were signed with; never deleted",
)
