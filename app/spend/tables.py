"""The tables of spend. Scopes are compared by their bytes, so that a prefix is a range of the index."""

from sqlalchemy import BigInteger, Boolean, Column, DateTime, Identity, Index, Integer, Numeric, Table, Text, text

from app.db.tables import metadata


def _amount(name: str) -> "Column[object]":
    return Column(name, Numeric(24, 8), nullable=False)


def _sum(name: str) -> "Column[object]":
    # Wider than an amount: no number of greatest amounts on one scope may fail the group that adds them.
    return Column(name, Numeric(38, 8), nullable=False, server_default=text("0"))


def _count(name: str) -> "Column[object]":
    return Column(name, BigInteger, nullable=False, server_default=text("0"))


def _scope() -> "Column[object]":
    return Column("scope", Text(collation="C"), primary_key=True)


spend_entries = Table(
    "spend_entries",
    metadata,
    Column("tenant", Text, primary_key=True),
    _scope(),
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("kind", Text, nullable=False, comment="hold, settle, release, record or credit"),
    _amount("amount"),
    Column("currency", Text, nullable=False, comment="empty when the call has no cost"),
    Column("admission_id", Text, comment="null for record and credit"),
    Column("action", Text, nullable=False, server_default=text("''")),
    Column("overrun", Boolean, nullable=False, server_default=text("false"), comment="it cost more than was held"),
    Column("idempotency_key", Text, comment="with the principal before it; only of record and credit"),
    Column("taken_at", DateTime(timezone=True), nullable=False, comment="when the hold was taken: decides the window"),
    Column("at", DateTime(timezone=True), nullable=False),
    comment="The truth about money; rows are only ever inserted",
)

Index(
    "ix_spend_entries_tenant_scope_taken_at",
    spend_entries.c.tenant,
    spend_entries.c.scope,
    spend_entries.c.taken_at,
    postgresql_where=text("kind IN ('settle', 'record')"),
)

Index(
    "uq_spend_entries_tenant_idempotency_key",
    spend_entries.c.tenant,
    spend_entries.c.idempotency_key,
    unique=True,
    postgresql_where=spend_entries.c.idempotency_key.is_not(None),
)

spend_totals = Table(
    "spend_totals",
    metadata,
    Column("tenant", Text, primary_key=True),
    _scope(),
    Column("currency", Text, primary_key=True),
    _sum("held"),
    _count("held_count"),
    _sum("spent"),
    _count("spent_count"),
    _sum("credited"),
    comment="The running sums of the entries, by scope and currency",
)

spend_buckets = Table(
    "spend_buckets",
    metadata,
    Column("tenant", Text, primary_key=True),
    _scope(),
    Column("width", Integer, primary_key=True, autoincrement=False, comment="in seconds: 1, 60, 3600 or 86400"),
    Column("start", DateTime(timezone=True), primary_key=True, comment="a multiple of the width, in UTC"),
    Column("currency", Text, primary_key=True),
    _sum("spent"),
    _count("spent_count"),
    comment="What was spent, by the second, minute, hour and day in which its hold was taken",
)
