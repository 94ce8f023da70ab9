"""The tables of grants."""

from sqlalchemy import Boolean, Column, DateTime, Index, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from app.db.tables import metadata

grants = Table(
    "grants",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("parent", Text, comment="the grant that it was delegated from; null for a root"),
    Column("subject", Text, nullable=False, comment="the principal that may ask"),
    Column("bounds", JSONB, nullable=False, comment="actions, assets, environments, conditions and budgets"),
    Column("expires_at", DateTime(timezone=True), comment="null: never"),
    Column("delegable", Boolean, nullable=False, comment="whether its subject may delegate parts of it"),
    Column("granted_at", DateTime(timezone=True), nullable=False),
    Column("granted_by", Text, nullable=False),
    Column("revoked_at", DateTime(timezone=True)),
    Column("revoked_by", Text),
    comment="Who may ask for what; their terms never change",
)

Index(
    "ix_grants_tenant_subject_expires_at",
    grants.c.tenant,
    grants.c.subject,
    grants.c.expires_at,
    postgresql_where=grants.c.revoked_at.is_(None),
)
Index("ix_grants_tenant_granted_by", grants.c.tenant, grants.c.granted_by)

grant_switches = Table(
    "grant_switches",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("required", Boolean, nullable=False, comment="whether nothing is asked without a grant"),
    Column("changed_at", DateTime(timezone=True), nullable=False),
    Column("changed_by", Text, nullable=False),
    comment="The tenants that have ever switched grants on; elsewhere they play no part",
)
