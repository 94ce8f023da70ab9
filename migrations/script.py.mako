"""${message}."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
revision: str = ${repr(up_revision)}
down_revision: str | None = ${repr(down_revision)}
branch_labels: Sequence[str] | None = ${repr(branch_labels)}
depends_on: Sequence[str] | None = ${repr(depends_on)}

# Whoever waits for a lock on a table makes everybody else wait behind it: better that the migration fails.
LOCK_TIMEOUT = "SET LOCAL lock_timeout = '5s'"


def upgrade() -> None:
    op.execute(LOCK_TIMEOUT)
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    op.execute(LOCK_TIMEOUT)
    ${downgrades if downgrades else "pass"}
