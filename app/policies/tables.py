"""The tables of revisions, and of the calls that were weighed under them."""

from sqlalchemy import BigInteger, Column, DateTime, Index, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from app.db.tables import metadata

policies = Table(
    "policies",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("revision", BigInteger, primary_key=True, autoincrement=False),
    Column("version", Text, nullable=False, comment="the label of the document; empty if it has none"),
    Column("digest", Text, nullable=False, comment="over the canonical parsed form"),
    Column("document", Text, nullable=False, comment="as it was sent, YAML or JSON"),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("created_by", Text, nullable=False),
    comment="Policy documents; rows are only ever inserted",
)

Index("ix_policies_tenant_version", policies.c.tenant, policies.c.version)

weighed_calls = Table(
    "weighed_calls",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False, comment="of the record that has the answer"),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("revision", BigInteger, nullable=False, comment="the policy that answered"),
    Column("action", Text, nullable=False),
    Column("outcome", Text, nullable=False, comment="what the policy said, before people were heard"),
    Column("codes", JSONB, nullable=False),
    Column("call", JSONB, nullable=False, comment="what was sent"),
    Column("caller", JSONB, nullable=False),
    Column("facts", JSONB, nullable=False, comment="what was stored at that moment and looked up"),
    Column("shadow_revision", BigInteger, comment="the policy that was weighed beside it"),
    Column("shadow_outcome", Text, comment="null if it failed, or could not be told"),
    Column("shadow_codes", JSONB),
    Column("shadow_error", Text),
    comment="The input of replays, outside the chain and for a while; rows are inserted and deleted",
)

Index("ix_weighed_calls_at", weighed_calls.c.at)
Index(
    "ix_weighed_calls_tenant_shadow_revision_seq",
    weighed_calls.c.tenant,
    weighed_calls.c.shadow_revision,
    weighed_calls.c.seq,
    postgresql_where=weighed_calls.c.shadow_revision.is_not(None),
)
