"""The first schema."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0001"
down_revision: str | None = None
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

# Whoever waits for a lock on a table makes everybody else wait behind it: better that the migration fails.
LOCK_TIMEOUT = "SET LOCAL lock_timeout = '5s'"


def upgrade() -> None:
    op.execute(LOCK_TIMEOUT)
    op.create_table(
        "admissions",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False, comment="action, or metering: a reservation without an action"),
        sa.Column("state", sa.Text(), nullable=False, comment="reserved, executed, not_executed or unknown"),
        sa.Column("principal", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False, comment="of the call"),
        sa.Column("asset", sa.Text(), nullable=False),
        sa.Column(
            "effects",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="the effect keys that it reserved",
        ),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column(
            "scopes",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="the spend scopes that it holds on",
        ),
        sa.Column("amount", sa.Numeric(precision=24, scale=8), nullable=False, comment="held on each scope"),
        sa.Column("currency", sa.Text(), nullable=False, comment="empty when the call has no cost"),
        sa.Column(
            "actual",
            sa.Numeric(precision=24, scale=8),
            nullable=True,
            comment="what it cost in the end, where that was said",
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False, comment="the end of the lease"),
        sa.Column(
            "outcome_by", sa.Text(), nullable=False, comment="agent or report: whose 'not executed' frees key and hold"
        ),
        sa.Column(
            "settled", sa.Boolean(), nullable=False, comment="a person or a trusted report has spoken: it is final"
        ),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("result_digest", sa.Text(), nullable=True),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("approval_id", sa.Text(), nullable=True, comment="the approval that it consumed"),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("request_digest", sa.Text(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=False, comment="what was answered, for a replay"),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_admissions")),
        comment="The answers that permitted something, and what came of them",
    )
    op.create_index(
        "ix_admissions_tenant_digest",
        "admissions",
        ["tenant", "digest"],
        unique=False,
        postgresql_where=sa.text("state = 'reserved' AND approval_id IS NOT NULL"),
    )
    op.create_index(
        "ix_admissions_tenant_principal_idempotency_key",
        "admissions",
        ["tenant", "principal", "idempotency_key"],
        unique=False,
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    )
    op.create_index(
        "ix_admissions_tenant_run_id",
        "admissions",
        ["tenant", "run_id"],
        unique=False,
        postgresql_where=sa.text("run_id IS NOT NULL"),
    )
    op.create_index(
        "ix_admissions_tenant_state_expires_at",
        "admissions",
        ["tenant", "state", "expires_at"],
        unique=False,
        postgresql_where=sa.text("state IN ('reserved', 'unknown')"),
    )
    op.create_table(
        "audit_records",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("ts", sa.DateTime(timezone=True), nullable=False),
        sa.Column("event_type", sa.Text(), nullable=False),
        sa.Column("principal", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("action", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column(
            "command_id",
            sa.Text(),
            nullable=True,
            comment="of the command whose first record this is; finds a lost COMMIT",
        ),
        sa.Column("canonical", sa.Text(), nullable=False, comment="the bytes that were hashed"),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "seq", name=op.f("pk_audit_records")),
        comment="The chain; rows are only ever inserted",
    )
    op.create_index(
        "ix_audit_records_tenant_event_type_seq", "audit_records", ["tenant", "event_type", "seq"], unique=False
    )
    op.create_index(
        "uq_audit_records_tenant_command_id",
        "audit_records",
        ["tenant", "command_id"],
        unique=True,
        postgresql_where=sa.text("command_id IS NOT NULL"),
    )
    op.create_table(
        "effects",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False, comment="reserved, executed, not_executed or unknown"),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("admission_id", sa.Text(), nullable=False, comment="the admission that holds it, or held it last"),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "key", name=op.f("pk_effects")),
        comment="Consequences by name, each at most once",
    )
    op.create_table(
        "heads",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column(
            "seq", sa.BigInteger(), server_default=sa.text("0"), nullable=False, comment="the seq of the next record"
        ),
        sa.Column("hash", sa.Text(), nullable=False, comment="the hash of the last record; 64 zeros before the first"),
        sa.Column("key_id", sa.Text(), nullable=True),
        sa.Column("signature", sa.Text(), nullable=True),
        sa.Column("ts", sa.DateTime(timezone=True), server_default=sa.text("'epoch'"), nullable=False),
        sa.Column(
            "policy_revision",
            sa.BigInteger(),
            nullable=True,
            comment="the active revision; null before the first activation",
        ),
        sa.Column("authority_epoch", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("tenant", name=op.f("pk_heads")),
        comment="One row a tenant: its lane, its lock, and the end of its chain",
    )
    op.create_table(
        "signing_keys",
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("pem", sa.Text(), nullable=False),
        sa.Column("valid_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("valid_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("key_id", name=op.f("pk_signing_keys")),
        comment="The public keys that records were signed with; never deleted",
    )


def downgrade() -> None:
    op.execute(LOCK_TIMEOUT)
    op.drop_table("signing_keys")
    op.drop_table("heads")
    op.drop_table("effects")
    op.drop_index(
        "uq_audit_records_tenant_command_id",
        table_name="audit_records",
        postgresql_where=sa.text("command_id IS NOT NULL"),
    )
    op.drop_index("ix_audit_records_tenant_event_type_seq", table_name="audit_records")
    op.drop_table("audit_records")
    op.drop_index(
        "ix_admissions_tenant_state_expires_at",
        table_name="admissions",
        postgresql_where=sa.text("state IN ('reserved', 'unknown')"),
    )
    op.drop_index(
        "ix_admissions_tenant_run_id", table_name="admissions", postgresql_where=sa.text("run_id IS NOT NULL")
    )
    op.drop_index(
        "ix_admissions_tenant_principal_idempotency_key",
        table_name="admissions",
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    )
    op.drop_index(
        "ix_admissions_tenant_digest",
        table_name="admissions",
        postgresql_where=sa.text("state = 'reserved' AND approval_id IS NOT NULL"),
    )
    op.drop_table("admissions")
