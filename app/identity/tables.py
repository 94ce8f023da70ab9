"""The tables of principals, credentials and revocations."""

from sqlalchemy import ARRAY, Boolean, Column, DateTime, LargeBinary, Table, Text, func, text
from sqlalchemy.schema import CheckConstraint, ForeignKeyConstraint

from app.db.tables import metadata

principals = Table(
    "principals",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("kind", Text, nullable=False, comment="agent, service or human"),
    Column("owner", Text, nullable=False, comment="whose it is; two principals of one owner are one person"),
    Column("roles", ARRAY(Text), nullable=False, server_default=text("'{}'"), comment="read at the moment of a vote"),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("changed_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    CheckConstraint("kind IN ('agent', 'service', 'human')", name="kind"),
    comment="Who can ask, own and decide",
)

credentials = Table(
    "credentials",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("principal", Text, nullable=False),
    Column("secret_sha256", LargeBinary, nullable=False, comment="the secret itself is shown once and kept nowhere"),
    Column("environment", Text, nullable=False, server_default=text("''")),
    Column("bundles", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Column("rights", ARRAY(Text), nullable=False, server_default=text("'{}'"), comment="those given singly"),
    Column("speak_for", ARRAY(Text), nullable=False, server_default=text("'{}'"), comment="principals it may name"),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("created_by", Text, nullable=False),
    Column("expires_at", DateTime(timezone=True), comment="null: never"),
    Column("revoked_at", DateTime(timezone=True)),
    ForeignKeyConstraint(["tenant", "principal"], ["principals.tenant", "principals.name"]),
    comment="API keys; revoked ones stay, so that a record that names one can be read",
)

revocations = Table(
    "revocations",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("principal", Text),
    Column("action", Text),
    Column("whole_tenant", Boolean, nullable=False, server_default=text("false")),
    Column("reason", Text, nullable=False),
    Column("placed_at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
    Column("placed_by", Text, nullable=False),
    Column("lifted_at", DateTime(timezone=True)),
    Column("lifted_by", Text),
    CheckConstraint("num_nonnulls(principal, action) + whole_tenant::int = 1", name="one_subject"),
    comment="The kill switch: what is in force is what has not been lifted",
)

ended_sessions = Table(
    "ended_sessions",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("until", DateTime(timezone=True), nullable=False, comment="when it would have ended by itself"),
    comment="Sessions of the console that somebody signed out of; those that run are kept nowhere",
)
