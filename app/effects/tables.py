"""The tables of admissions and effects."""

from sqlalchemy import Boolean, Column, DateTime, Index, Integer, Numeric, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from app.db.tables import metadata

admissions = Table(
    "admissions",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False, comment="action, or metering: a reservation without an action"),
    Column("state", Text, nullable=False, comment="reserved, executed, not_executed or unknown"),
    Column("principal", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("digest", Text, nullable=False, comment="of the call"),
    Column("asset", Text, nullable=False),
    Column("effects", JSONB, nullable=False, comment="the effect keys that it reserved"),
    Column("attempt", Integer, nullable=False),
    Column("scopes", JSONB, nullable=False, comment="the spend scopes that it holds on"),
    Column("amount", Numeric(24, 8), nullable=False, comment="held on each scope"),
    Column("currency", Text, nullable=False, comment="empty when the call has no cost"),
    Column("actual", Numeric(24, 8), comment="what it cost in the end, where that was said"),
    Column("actual_currency", Text, nullable=False, server_default=text("''"), comment="empty where that was not said"),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("expires_at", DateTime(timezone=True), nullable=False, comment="the end of the lease"),
    Column("outcome_by", Text, nullable=False, comment="agent or report: whose 'not executed' frees key and hold"),
    Column("resolved", Boolean, nullable=False, comment="a holder of the right to resolve has spoken: it is final"),
    Column("closed_at", DateTime(timezone=True)),
    Column("detail", Text, nullable=False),
    Column("result_digest", Text),
    Column("run_id", Text),
    Column("approval_id", Text, comment="the approval that it consumed"),
    Column("idempotency_key", Text),
    Column("request_digest", Text),
    Column("grant_id", Text, comment="the grant that it was asked under, where the tenant required one"),
    Column("budgets", JSONB, nullable=False, comment="the grants whose budgets it holds on, beside its scopes"),
    Column("answer", Text, nullable=False, comment="what was answered, for a replay"),
    comment="The answers that permitted something, and what came of them",
)

Index(
    "ix_admissions_tenant_state_expires_at",
    admissions.c.tenant,
    admissions.c.state,
    admissions.c.expires_at,
    postgresql_where=text("state IN ('reserved', 'unknown')"),
)
Index(
    "ix_admissions_tenant_principal_idempotency_key",
    admissions.c.tenant,
    admissions.c.principal,
    admissions.c.idempotency_key,
    postgresql_where=admissions.c.idempotency_key.is_not(None),
)
Index(
    "ix_admissions_tenant_digest",
    admissions.c.tenant,
    admissions.c.digest,
    postgresql_where=admissions.c.approval_id.is_not(None),
)
Index(
    "ix_admissions_tenant_run_id",
    admissions.c.tenant,
    admissions.c.run_id,
    postgresql_where=admissions.c.run_id.is_not(None),
)

effects = Table(
    "effects",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("attempt", Integer, nullable=False),
    Column("admission_id", Text, nullable=False, comment="that holds it, or held it last; its state is the effect's"),
    comment="Consequences by name, each at most once",
)
