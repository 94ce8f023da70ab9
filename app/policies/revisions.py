"""Storing and reading the revisions of a tenant's policy."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text

from app.audit.lane import Lane
from app.core.policy import Policy
from app.core.refusals import Refusal, RefusalKind
from app.core.values import Json
from app.db.database import Reader
from app.db.statements import Row

_NEXT = text("SELECT coalesce(max(revision), 0) + 1 AS revision FROM policies WHERE tenant = :tenant")

_OTHER_HASH = text("""
    SELECT revision FROM policies WHERE tenant = :tenant AND version = :version AND digest <> :digest LIMIT 1
""")

_STORE = text("""
    INSERT INTO policies (tenant, revision, version, digest, document, created_at, created_by)
    VALUES (:tenant, :revision, :version, :digest, :document, :created_at, :created_by)
""")

_READ = text("""
    SELECT revision, version, digest, document, created_at, created_by FROM policies
    WHERE tenant = :tenant AND revision = :revision
""")

_LIST = text("""
    SELECT revision, version, digest, '' AS document, created_at, created_by FROM policies
    WHERE tenant = :tenant AND revision < :before ORDER BY revision DESC LIMIT :limit
""")


@dataclass(frozen=True, slots=True)
class Revision:
    """One document of a tenant. `document` is as it was sent; empty in a list."""

    revision: int
    version: str
    digest: str
    document: str
    created_at: datetime
    created_by: str

    @property
    def named(self) -> dict[str, Json]:
        """Its revision, label and hash."""
        return named(self.revision, self.version, self.digest)


def named(revision: int | None, version: str, digest: str) -> dict[str, Json]:
    """Return how answers and records name a policy: by its revision, its label and its hash.

    `revision` is None for a document that is not stored.
    """
    return {"revision": revision, "version": version, "digest": digest}


async def store(lane: Lane, principal: str, document: str, policy: Policy) -> Revision | Refusal:
    """Keep a document that has loaded as the next revision, and record it. It is not in force by that."""
    tenant = lane.head.tenant
    named = {"tenant": tenant, "version": policy.version, "digest": policy.digest}
    other = await lane.tx.row(_OTHER_HASH, named) if policy.version else None
    if other is not None:
        return Refusal(
            RefusalKind.CONFLICT,
            f"the version label names the document of revision {other.revision} for ever; choose another label",
            pointer="/version",
        )
    row = await lane.tx.row(_NEXT, {"tenant": tenant})
    revision = Revision(row.revision if row else 1, policy.version, policy.digest, document, lane.now, principal)
    await lane.tx.write(
        _STORE,
        {
            **named,
            "revision": revision.revision,
            "document": document,
            "created_at": lane.now,
            "created_by": principal,
        },
    )
    lane.journal.append(
        "policy.stored",
        {**revision.named, "by": principal},
        principal=principal,
    )
    return revision


async def read(reader: Reader, tenant: str, revision: int) -> Revision | None:
    """Return a revision with its document, or None if there is none."""
    row = await reader.row(_READ, {"tenant": tenant, "revision": revision})
    return None if row is None else _revision(row)


async def newest(reader: Reader, tenant: str, before: int, limit: int) -> Sequence[Revision]:
    """Return up to `limit` revisions below `before`, the newest first, without their documents."""
    rows = await reader.rows(_LIST, {"tenant": tenant, "before": before, "limit": limit})
    return [_revision(row) for row in rows]


def _revision(row: Row) -> Revision:
    return Revision(row.revision, row.version, row.digest, row.document, row.created_at, row.created_by)
