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
        sa.Column(
            "actual_currency",
            sa.Text(),
            server_default=sa.text("''"),
            nullable=False,
            comment="empty where that was not said",
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False, comment="the end of the lease"),
        sa.Column(
            "outcome_by", sa.Text(), nullable=False, comment="agent or report: whose 'not executed' frees key and hold"
        ),
        sa.Column(
            "resolved", sa.Boolean(), nullable=False, comment="a holder of the right to resolve has spoken: it is final"
        ),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("result_digest", sa.Text(), nullable=True),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("approval_id", sa.Text(), nullable=True, comment="the approval that it consumed"),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("request_digest", sa.Text(), nullable=True),
        sa.Column(
            "grant_id",
            sa.Text(),
            nullable=True,
            comment="the grant that it was asked under, where the tenant required one",
        ),
        sa.Column(
            "budgets",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="the grants whose budgets it holds on, beside its scopes",
        ),
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
        "approvals",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("principal", sa.Text(), nullable=False, comment="who asks"),
        sa.Column(
            "caller",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="what its credential said when it asked",
        ),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("asset", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False, comment="of the call, bound to the policy's version label"),
        sa.Column("key", sa.Text(), nullable=False, comment="of the call whatever the label: what a denial stands for"),
        sa.Column(
            "call", postgresql.JSONB(astext_type=sa.Text()), nullable=True, comment="what was sent; null once erased"
        ),
        sa.Column(
            "resolved",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="what the policy made of it, which a redemption may not exceed",
        ),
        sa.Column("edited_digest", sa.Text(), nullable=True, comment="of the call with an approver's values"),
        sa.Column("edited_key", sa.Text(), nullable=True),
        sa.Column(
            "edited_arguments",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="null when nobody edited, and once erased",
        ),
        sa.Column("edited_resolved", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("codes", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column(
            "shown",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="what the policy shows approvers in full; empty once erased",
        ),
        sa.Column(
            "context",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="approval_context; empty once erased",
        ),
        sa.Column(
            "advice",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="what opened it, weighed on every repeat",
        ),
        sa.Column(
            "precondition", sa.Text(), nullable=True, comment="the fingerprint that was sent with the first asking"
        ),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("policy_revision", sa.BigInteger(), nullable=False),
        sa.Column("policy_version", sa.Text(), nullable=False),
        sa.Column("policy_digest", sa.Text(), nullable=False),
        sa.Column("ttl", sa.Integer(), nullable=False, comment="seconds for the votes, and that a denial stands"),
        sa.Column("use_within", sa.Integer(), nullable=False, comment="seconds from the last vote to use it"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "expires_at", sa.DateTime(timezone=True), nullable=False, comment="the end of the votes, or of a denial"
        ),
        sa.Column("use_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "due_at", sa.DateTime(timezone=True), nullable=False, comment="when nothing comes of it without a change"
        ),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("admission_id", sa.Text(), nullable=True, comment="what consumed it"),
        sa.Column("changed_seq", sa.BigInteger(), nullable=False, comment="the seq of the record of its last change"),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_approvals")),
        comment="Questions: one call each, held until people have decided",
    )
    op.create_index("ix_approvals_tenant_changed_seq", "approvals", ["tenant", "changed_seq"], unique=False)
    op.create_index(
        "ix_approvals_tenant_edited_key",
        "approvals",
        ["tenant", "edited_key"],
        unique=False,
        postgresql_where=sa.text("edited_key IS NOT NULL AND status IN ('pending', 'approved', 'denied', 'consumed')"),
    )
    op.create_index(
        "ix_approvals_tenant_finished_due_at",
        "approvals",
        ["tenant", "due_at"],
        unique=False,
        postgresql_where=sa.text("NOT status IN ('pending', 'approved') AND call IS NOT NULL"),
    )
    op.create_index(
        "ix_approvals_tenant_key",
        "approvals",
        ["tenant", "key"],
        unique=False,
        postgresql_where=sa.text("status IN ('pending', 'approved', 'denied', 'consumed')"),
    )
    op.create_index(
        "ix_approvals_tenant_open_due_at",
        "approvals",
        ["tenant", "due_at"],
        unique=False,
        postgresql_where=sa.text("status IN ('pending', 'approved')"),
    )
    op.create_index(
        "ix_approvals_tenant_principal",
        "approvals",
        ["tenant", "principal"],
        unique=False,
        postgresql_where=sa.text("status IN ('pending', 'approved')"),
    )
    op.create_index(
        "ix_approvals_tenant_status_created_at_id", "approvals", ["tenant", "status", "created_at", "id"], unique=False
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
        "delegations",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("lender", sa.Text(), nullable=False),
        sa.Column("delegate", sa.Text(), nullable=False),
        sa.Column(
            "labels",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="empty: for every question that the lender may decide",
        ),
        sa.Column("granted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_delegations")),
        comment="Authority that one person lends another for a while",
    )
    op.create_index("ix_delegations_tenant_delegate", "delegations", ["tenant", "delegate"], unique=False)
    op.create_index("ix_delegations_tenant_lender", "delegations", ["tenant", "lender"], unique=False)
    op.create_table(
        "effects",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column(
            "admission_id",
            sa.Text(),
            nullable=False,
            comment="that holds it, or held it last; its state is the effect's",
        ),
        sa.PrimaryKeyConstraint("tenant", "key", name=op.f("pk_effects")),
        comment="Consequences by name, each at most once",
    )
    op.create_table(
        "ended_sessions",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False, comment="when it would have ended by itself"),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_ended_sessions")),
        comment="Sessions of the console that somebody signed out of; those that run are kept nowhere",
    )
    op.create_table(
        "grant_switches",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("required", sa.Boolean(), nullable=False, comment="whether nothing is asked without a grant"),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", name=op.f("pk_grant_switches")),
        comment="The tenants that have ever switched grants on; elsewhere they play no part",
    )
    op.create_table(
        "grants",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("parent", sa.Text(), nullable=True, comment="the grant that it was delegated from; null for a root"),
        sa.Column("subject", sa.Text(), nullable=False, comment="the principal that may ask"),
        sa.Column(
            "bounds",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="actions, assets, environments, conditions and budgets",
        ),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True, comment="null: never"),
        sa.Column("delegable", sa.Boolean(), nullable=False, comment="whether its subject may delegate parts of it"),
        sa.Column("granted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("granted_by", sa.Text(), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_grants")),
        comment="Who may ask for what; their terms never change",
    )
    op.create_index("ix_grants_tenant_granted_by", "grants", ["tenant", "granted_by"], unique=False)
    op.create_index(
        "ix_grants_tenant_subject_expires_at",
        "grants",
        ["tenant", "subject", "expires_at"],
        unique=False,
        postgresql_where=sa.text("revoked_at IS NULL"),
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
        sa.Column(
            "shadow_revision",
            sa.BigInteger(),
            nullable=True,
            comment="the revision that is weighed beside it, if there is one",
        ),
        sa.Column("authority_epoch", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("tenant", name=op.f("pk_heads")),
        comment="One row a tenant: its lane, its lock, and the end of its chain",
    )
    op.create_table(
        "messages",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False, comment="the id of what it is about"),
        sa.Column("body", sa.Text(), nullable=False, comment="the very text that is sent and signed"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_messages")),
        comment="What is told to the outside, written with the change that it tells of",
    )
    op.create_index("ix_messages_created_at", "messages", ["created_at"], unique=False)
    op.create_index("ix_messages_tenant_subject", "messages", ["tenant", "subject"], unique=False)
    op.create_table(
        "policies",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("version", sa.Text(), nullable=False, comment="the label of the document; empty if it has none"),
        sa.Column("digest", sa.Text(), nullable=False, comment="over the canonical parsed form"),
        sa.Column("document", sa.Text(), nullable=False, comment="as it was sent, YAML or JSON"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "revision", name=op.f("pk_policies")),
        comment="Policy documents; rows are only ever inserted",
    )
    op.create_index("ix_policies_tenant_version", "policies", ["tenant", "version"], unique=False)
    op.create_table(
        "principals",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False, comment="agent, service or human"),
        sa.Column(
            "owner", sa.Text(), nullable=False, comment="whose it is; two principals of one owner are one person"
        ),
        sa.Column(
            "roles",
            sa.ARRAY(sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
            comment="read at the moment of a vote",
        ),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column(
            "changed_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.CheckConstraint("kind IN ('agent', 'service', 'human')", name=op.f("ck_principals_kind")),
        sa.PrimaryKeyConstraint("tenant", "name", name=op.f("pk_principals")),
        comment="Who can ask, own and decide",
    )
    op.create_table(
        "revocations",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("principal", sa.Text(), nullable=True),
        sa.Column("action", sa.Text(), nullable=True),
        sa.Column("whole_tenant", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("placed_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("placed_by", sa.Text(), nullable=False),
        sa.Column("lifted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lifted_by", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "num_nonnulls(principal, action) + whole_tenant::int = 1", name=op.f("ck_revocations_one_subject")
        ),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_revocations")),
        comment="The kill switch: what is in force is what has not been lifted",
    )
    op.create_table(
        "runs_ended",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("principal", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "principal", "run_id", name=op.f("pk_runs_ended")),
        comment="Runs that their principal has ended: nothing of them is redeemed any more",
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
    op.create_table(
        "spend_buckets",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(collation="C"), nullable=False),
        sa.Column(
            "width", sa.Integer(), autoincrement=False, nullable=False, comment="in seconds: 1, 60, 3600 or 86400"
        ),
        sa.Column("start", sa.DateTime(timezone=True), nullable=False, comment="a multiple of the width, in UTC"),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("spent", sa.Numeric(precision=38, scale=8), server_default=sa.text("0"), nullable=False),
        sa.Column("spent_count", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "width", "start", "currency", name=op.f("pk_spend_buckets")),
        comment="What was spent, by the second, minute, hour and day in which its hold was taken",
    )
    op.create_table(
        "spend_entries",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(collation="C"), nullable=False),
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False, comment="hold, settle, release, record or credit"),
        sa.Column("amount", sa.Numeric(precision=24, scale=8), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False, comment="empty when the call has no cost"),
        sa.Column("admission_id", sa.Text(), nullable=True, comment="null for record and credit"),
        sa.Column("action", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column(
            "overrun",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="it cost more than was held",
        ),
        sa.Column(
            "idempotency_key",
            sa.Text(),
            nullable=True,
            comment="with the principal before it; only of record and credit",
        ),
        sa.Column(
            "taken_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="when the hold was taken: decides the window",
        ),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "id", name=op.f("pk_spend_entries")),
        comment="The truth about money; rows are only ever inserted",
    )
    op.create_index(
        "ix_spend_entries_tenant_scope_taken_at",
        "spend_entries",
        ["tenant", "scope", "taken_at"],
        unique=False,
        postgresql_where=sa.text("kind IN ('settle', 'record')"),
    )
    op.create_index(
        "uq_spend_entries_tenant_idempotency_key",
        "spend_entries",
        ["tenant", "idempotency_key"],
        unique=True,
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    )
    op.create_table(
        "spend_totals",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(collation="C"), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("held", sa.Numeric(precision=38, scale=8), server_default=sa.text("0"), nullable=False),
        sa.Column("held_count", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("spent", sa.Numeric(precision=38, scale=8), server_default=sa.text("0"), nullable=False),
        sa.Column("spent_count", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("credited", sa.Numeric(precision=38, scale=8), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "scope", "currency", name=op.f("pk_spend_totals")),
        comment="The running sums of the entries, by scope and currency",
    )
    op.create_table(
        "verifications",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("action_digest", sa.Text(), nullable=False, comment="of the one call that it is for"),
        sa.Column("made_by", sa.Text(), nullable=False, comment="the principal that posted it"),
        sa.Column("survives", sa.Boolean(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False, comment="0..1"),
        sa.Column("refutations", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "admission_id",
            sa.Text(),
            nullable=True,
            comment="the admission that it served; null while it may serve one",
        ),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_verifications")),
        comment="What was made of findings, each for one call",
    )
    op.create_table(
        "webhooks",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column(
            "events",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="the types of messages that it gets",
        ),
        sa.Column("legacy_header", sa.Boolean(), nullable=False, comment="whether X-Adk-Signature is sent too"),
        sa.Column("secret", sa.Text(), nullable=False, comment="what messages are signed with, sealed"),
        sa.Column(
            "previous_secret",
            sa.Text(),
            nullable=True,
            comment="the one before the last rotation, sealed; signs too while it lasts",
        ),
        sa.Column("previous_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_webhooks")),
        comment="Where a tenant's messages are sent over HTTP",
    )
    op.create_table(
        "weighed_calls",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column(
            "seq", sa.BigInteger(), autoincrement=False, nullable=False, comment="of the record that has the answer"
        ),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False, comment="the policy that answered"),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False, comment="what the policy said, before people were heard"),
        sa.Column("codes", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("call", postgresql.JSONB(astext_type=sa.Text()), nullable=False, comment="what was sent"),
        sa.Column("caller", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column(
            "facts",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="what was stored at that moment and looked up",
        ),
        sa.Column("shadow_revision", sa.BigInteger(), nullable=True, comment="the policy that was weighed beside it"),
        sa.Column("shadow_outcome", sa.Text(), nullable=True, comment="null if it failed, or could not be told"),
        sa.Column("shadow_codes", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("shadow_error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "seq", name=op.f("pk_weighed_calls")),
        comment="The input of replays, outside the chain and for a while; rows are inserted and deleted",
    )
    op.create_index("ix_weighed_calls_at", "weighed_calls", ["at"], unique=False)
    op.create_index(
        "ix_weighed_calls_tenant_shadow_revision_seq",
        "weighed_calls",
        ["tenant", "shadow_revision", "seq"],
        unique=False,
        postgresql_where=sa.text("shadow_revision IS NOT NULL"),
    )
    op.create_table(
        "approval_votes",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("approval_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("voter", sa.Text(), nullable=False, comment="whose vote it is"),
        sa.Column(
            "cast_by", sa.Text(), nullable=False, comment="who authenticated; another than the voter only if a bridge"
        ),
        sa.Column("verdict", sa.Text(), nullable=False, comment="approve or deny"),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column(
            "bases",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="the rules that it counted for when it was cast, and why",
        ),
        sa.Column(
            "refusal", sa.Text(), nullable=False, comment="the code that says why it did not count; empty if it did"
        ),
        sa.Column("edited_key", sa.Text(), nullable=True, comment="the edit that it approves"),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "approval_id"],
            ["approvals.tenant", "approvals.id"],
            name=op.f("fk_approval_votes_tenant_approval_id"),
        ),
        sa.PrimaryKeyConstraint("tenant", "approval_id", "number", name=op.f("pk_approval_votes")),
        comment="Every vote on a question, refused ones included",
    )
    op.create_table(
        "credentials",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("principal", sa.Text(), nullable=False),
        sa.Column(
            "secret_sha256",
            sa.LargeBinary(),
            nullable=False,
            comment="the secret itself is shown once and kept nowhere",
        ),
        sa.Column("environment", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("bundles", sa.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column(
            "rights", sa.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False, comment="those given singly"
        ),
        sa.Column(
            "speak_for",
            sa.ARRAY(sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
            comment="principals it may name",
        ),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True, comment="null: never"),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant", "principal"],
            ["principals.tenant", "principals.name"],
            name=op.f("fk_credentials_tenant_principal"),
        ),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_credentials")),
        comment="API keys; revoked ones stay, so that a record that names one can be read",
    )
    op.create_table(
        "deliveries",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False, comment="a webhook's id, or the name of another transport"),
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False, comment="pending, delivered or failed"),
        sa.Column("attempts", sa.Integer(), nullable=False, comment="begun since it was last put on its way"),
        sa.Column(
            "due_at", sa.DateTime(timezone=True), nullable=False, comment="of the next attempt; a claim pushes it away"
        ),
        sa.Column(
            "claim",
            sa.Text(),
            nullable=True,
            comment="of whoever attempts it now; the only one that may say how it went",
        ),
        sa.Column("detail", sa.Text(), nullable=False, comment="how the last attempt went"),
        sa.Column("attempted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant", "message_id"],
            ["messages.tenant", "messages.id"],
            name=op.f("fk_deliveries_tenant_message_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant", "channel", "message_id", name=op.f("pk_deliveries")),
        comment="One message on its way over one channel",
    )
    op.create_index(
        "ix_deliveries_tenant_channel_due_at",
        "deliveries",
        ["tenant", "channel", "due_at"],
        unique=False,
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_index("ix_deliveries_tenant_message_id", "deliveries", ["tenant", "message_id"], unique=False)


def downgrade() -> None:
    op.execute(LOCK_TIMEOUT)
    op.drop_index("ix_deliveries_tenant_message_id", table_name="deliveries")
    op.drop_index(
        "ix_deliveries_tenant_channel_due_at", table_name="deliveries", postgresql_where=sa.text("state = 'pending'")
    )
    op.drop_table("deliveries")
    op.drop_table("credentials")
    op.drop_table("approval_votes")
    op.drop_index(
        "ix_weighed_calls_tenant_shadow_revision_seq",
        table_name="weighed_calls",
        postgresql_where=sa.text("shadow_revision IS NOT NULL"),
    )
    op.drop_index("ix_weighed_calls_at", table_name="weighed_calls")
    op.drop_table("weighed_calls")
    op.drop_table("webhooks")
    op.drop_table("verifications")
    op.drop_table("spend_totals")
    op.drop_index(
        "uq_spend_entries_tenant_idempotency_key",
        table_name="spend_entries",
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    )
    op.drop_index(
        "ix_spend_entries_tenant_scope_taken_at",
        table_name="spend_entries",
        postgresql_where=sa.text("kind IN ('settle', 'record')"),
    )
    op.drop_table("spend_entries")
    op.drop_table("spend_buckets")
    op.drop_table("signing_keys")
    op.drop_table("runs_ended")
    op.drop_table("revocations")
    op.drop_table("principals")
    op.drop_index("ix_policies_tenant_version", table_name="policies")
    op.drop_table("policies")
    op.drop_index("ix_messages_tenant_subject", table_name="messages")
    op.drop_index("ix_messages_created_at", table_name="messages")
    op.drop_table("messages")
    op.drop_table("heads")
    op.drop_index(
        "ix_grants_tenant_subject_expires_at", table_name="grants", postgresql_where=sa.text("revoked_at IS NULL")
    )
    op.drop_index("ix_grants_tenant_granted_by", table_name="grants")
    op.drop_table("grants")
    op.drop_table("grant_switches")
    op.drop_table("ended_sessions")
    op.drop_table("effects")
    op.drop_index("ix_delegations_tenant_lender", table_name="delegations")
    op.drop_index("ix_delegations_tenant_delegate", table_name="delegations")
    op.drop_table("delegations")
    op.drop_index(
        "uq_audit_records_tenant_command_id",
        table_name="audit_records",
        postgresql_where=sa.text("command_id IS NOT NULL"),
    )
    op.drop_index("ix_audit_records_tenant_event_type_seq", table_name="audit_records")
    op.drop_table("audit_records")
    op.drop_index("ix_approvals_tenant_status_created_at_id", table_name="approvals")
    op.drop_index(
        "ix_approvals_tenant_principal",
        table_name="approvals",
        postgresql_where=sa.text("status IN ('pending', 'approved')"),
    )
    op.drop_index(
        "ix_approvals_tenant_open_due_at",
        table_name="approvals",
        postgresql_where=sa.text("status IN ('pending', 'approved')"),
    )
    op.drop_index(
        "ix_approvals_tenant_key",
        table_name="approvals",
        postgresql_where=sa.text("status IN ('pending', 'approved', 'denied', 'consumed')"),
    )
    op.drop_index(
        "ix_approvals_tenant_finished_due_at",
        table_name="approvals",
        postgresql_where=sa.text("NOT status IN ('pending', 'approved') AND call IS NOT NULL"),
    )
    op.drop_index(
        "ix_approvals_tenant_edited_key",
        table_name="approvals",
        postgresql_where=sa.text("edited_key IS NOT NULL AND status IN ('pending', 'approved', 'denied', 'consumed')"),
    )
    op.drop_index("ix_approvals_tenant_changed_seq", table_name="approvals")
    op.drop_table("approvals")
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
