"""What a group looks up is found by its key alone."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

# Whoever waits for a lock on a table makes everybody else wait behind it: better that the migration fails.
LOCK_TIMEOUT = "SET LOCAL lock_timeout = '5s'"

# Indexes that named a status invited the planner to go by the status instead, and to read all that is open.
_STANDING = "status IN ('pending', 'approved', 'denied', 'consumed')"


def upgrade() -> None:
    op.execute(LOCK_TIMEOUT)
    op.drop_index("ix_admissions_tenant_digest", table_name="admissions")
    op.create_index(
        "ix_admissions_tenant_digest",
        "admissions",
        ["tenant", "digest"],
        postgresql_where=sa.text("approval_id IS NOT NULL"),
    )
    op.drop_index("ix_approvals_tenant_key", table_name="approvals")
    op.create_index("ix_approvals_tenant_key", "approvals", ["tenant", "key"])
    op.drop_index("ix_approvals_tenant_edited_key", table_name="approvals")
    op.create_index(
        "ix_approvals_tenant_edited_key",
        "approvals",
        ["tenant", "edited_key"],
        postgresql_where=sa.text("edited_key IS NOT NULL"),
    )


def downgrade() -> None:
    op.execute(LOCK_TIMEOUT)
    op.drop_index("ix_approvals_tenant_edited_key", table_name="approvals")
    op.create_index(
        "ix_approvals_tenant_edited_key",
        "approvals",
        ["tenant", "edited_key"],
        postgresql_where=sa.text(f"edited_key IS NOT NULL AND {_STANDING}"),
    )
    op.drop_index("ix_approvals_tenant_key", table_name="approvals")
    op.create_index("ix_approvals_tenant_key", "approvals", ["tenant", "key"], postgresql_where=sa.text(_STANDING))
    op.drop_index("ix_admissions_tenant_digest", table_name="admissions")
    op.create_index(
        "ix_admissions_tenant_digest",
        "admissions",
        ["tenant", "digest"],
        postgresql_where=sa.text("state = 'reserved' AND approval_id IS NOT NULL"),
    )
