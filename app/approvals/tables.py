"""The tables of questions, votes, delegations and ended runs."""

from sqlalchemy import BigInteger, Column, DateTime, ForeignKeyConstraint, Index, Integer, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from app.approvals.rows import OPEN
from app.db.tables import metadata

approvals = Table(
    "approvals",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("status", Text, nullable=False),
    Column("principal", Text, nullable=False, comment="who asks"),
    Column("caller", JSONB, nullable=False, comment="what its credential said when it asked"),
    Column("action", Text, nullable=False),
    Column("asset", Text, nullable=False),
    Column("digest", Text, nullable=False, comment="of the call, bound to the policy's version label"),
    Column("key", Text, nullable=False, comment="of the call whatever the label: what a denial stands for"),
    Column("call", JSONB, comment="what was sent; null once erased"),
    Column("resolved", JSONB, nullable=False, comment="what the policy made of it, which a redemption may not exceed"),
    Column("edited_digest", Text, comment="of the call with an approver's values"),
    Column("edited_key", Text),
    Column("edited_arguments", JSONB, comment="null when nobody edited, and once erased"),
    Column("edited_resolved", JSONB),
    Column("reason", Text, nullable=False),
    Column("codes", JSONB, nullable=False),
    Column("summary", Text, nullable=False),
    Column("shown", JSONB, nullable=False, comment="what the policy shows approvers in full; empty once erased"),
    Column("context", JSONB, nullable=False, comment="approval_context; empty once erased"),
    Column("advice", JSONB, nullable=False, comment="what opened it, weighed on every repeat"),
    Column("precondition", Text, comment="the fingerprint that was sent with the first asking"),
    Column("run_id", Text),
    Column("policy_revision", BigInteger, nullable=False),
    Column("policy_version", Text, nullable=False),
    Column("policy_digest", Text, nullable=False),
    Column("ttl", Integer, nullable=False, comment="seconds for the votes, and that a denial stands"),
    Column("use_within", Integer, nullable=False, comment="seconds from the last vote to use it"),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("expires_at", DateTime(timezone=True), nullable=False, comment="the end of the votes, or of a denial"),
    Column("use_before", DateTime(timezone=True)),
    Column("due_at", DateTime(timezone=True), nullable=False, comment="when nothing comes of it without a change"),
    Column("decided_at", DateTime(timezone=True)),
    Column("decided_by", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("admission_id", Text, comment="what consumed it"),
    Column("changed_seq", BigInteger, nullable=False, comment="the seq of the record of its last change"),
    comment="Questions: one call each, held until people have decided",
)

# What a call meets when it is asked again: looked up by its key alone, and then asked where it stands.
Index("ix_approvals_tenant_key", approvals.c.tenant, approvals.c.key)
Index(
    "ix_approvals_tenant_edited_key",
    approvals.c.tenant,
    approvals.c.edited_key,
    postgresql_where=approvals.c.edited_key.is_not(None),
)
Index(
    "ix_approvals_tenant_principal",
    approvals.c.tenant,
    approvals.c.principal,
    postgresql_where=text(OPEN),
)
Index(
    "ix_approvals_tenant_status_created_at_id",
    approvals.c.tenant,
    approvals.c.status,
    approvals.c.created_at,
    approvals.c.id,
)
# What sweeps look for every second: open questions by their deadline, finished ones by how long they have been.
Index(
    "ix_approvals_tenant_open_due_at",
    approvals.c.tenant,
    approvals.c.due_at,
    postgresql_where=text(OPEN),
)
Index(
    "ix_approvals_tenant_finished_due_at",
    approvals.c.tenant,
    approvals.c.due_at,
    postgresql_where=text(f"NOT {OPEN} AND call IS NOT NULL"),
)
Index("ix_approvals_tenant_changed_seq", approvals.c.tenant, approvals.c.changed_seq)

approval_votes = Table(
    "approval_votes",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("approval_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("voter", Text, nullable=False, comment="whose vote it is"),
    Column("cast_by", Text, nullable=False, comment="who authenticated; another than the voter only if a bridge"),
    Column("verdict", Text, nullable=False, comment="approve or deny"),
    Column("comment", Text, nullable=False),
    Column("bases", JSONB, nullable=False, comment="the rules that it counted for when it was cast, and why"),
    Column("refusal", Text, nullable=False, comment="the code that says why it did not count; empty if it did"),
    Column("edited_key", Text, comment="the edit that it approves"),
    Column("at", DateTime(timezone=True), nullable=False),
    ForeignKeyConstraint(["tenant", "approval_id"], ["approvals.tenant", "approvals.id"]),
    comment="Every vote on a question, refused ones included",
)

delegations = Table(
    "delegations",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("lender", Text, nullable=False),
    Column("delegate", Text, nullable=False),
    Column("labels", JSONB, nullable=False, comment="empty: for every question that the lender may decide"),
    Column("granted_at", DateTime(timezone=True), nullable=False),
    Column("until", DateTime(timezone=True), nullable=False),
    Column("revoked_at", DateTime(timezone=True)),
    Column("revoked_by", Text),
    comment="Authority that one person lends another for a while",
)

Index("ix_delegations_tenant_lender", delegations.c.tenant, delegations.c.lender)
Index("ix_delegations_tenant_delegate", delegations.c.tenant, delegations.c.delegate)

runs_ended = Table(
    "runs_ended",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("principal", Text, primary_key=True),
    Column("run_id", Text, primary_key=True),
    Column("ended_at", DateTime(timezone=True), nullable=False),
    comment="Runs that their principal has ended: nothing of them is redeemed any more",
)
