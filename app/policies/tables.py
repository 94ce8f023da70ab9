"""The table of revisions."""

from sqlalchemy import BigInteger, Column, DateTime, Index, Table, Text

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
