"""Reading grants with all that they were delegated from."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import structlog

from app.core import grants
from app.core.lineage import Grant, Lineage, trace

_log = structlog.get_logger(__name__)

# Each row is looked for by its key, so that what a walk costs depends on its length and not on the size of the table;
# UNION ends it where a row that was tampered with leads back to one that was passed.
_WALK = """
    WITH RECURSIVE walk (id, parent) AS (
        {start}
        UNION
        SELECT above.id, above.parent FROM walk CROSS JOIN LATERAL (
            SELECT g.id, g.parent FROM grants g WHERE g.tenant = :tenant AND g.id = walk.parent OFFSET 0
        ) AS above
    )
    SELECT jsonb_build_object('id', passed.id, 'parent', passed.parent, 'subject', passed.subject,
        'bounds', passed.bounds, 'expires_at', passed.expires_at, 'delegable', passed.delegable,
        'revoked', passed.revoked_at IS NOT NULL) AS item
    FROM walk CROSS JOIN LATERAL (
        SELECT g.* FROM grants g WHERE g.tenant = :tenant AND g.id = walk.id OFFSET 0
    ) AS passed
"""

HELD = _WALK.format(
    start="""
        SELECT held.id, held.parent
        FROM unnest(ARRAY(SELECT jsonb_array_elements_text(CAST(:grants_held AS jsonb)))) AS wanted (subject)
        CROSS JOIN LATERAL (
            (SELECT g.id, g.parent FROM grants g
                WHERE g.tenant = :tenant AND g.subject = wanted.subject AND g.revoked_at IS NULL
                AND (g.expires_at IS NULL OR g.expires_at > now()))
            UNION ALL
            (SELECT g.id, g.parent FROM grants g
                WHERE g.tenant = :tenant AND g.subject = wanted.subject AND g.revoked_at IS NULL
                AND g.expires_at <= now()
                ORDER BY g.expires_at DESC LIMIT 16)
        ) AS held
    """
)
"""The fragment `grants_held`: what subjects hold, of what has expired the last 16, with all that it comes from.

Of an array Postgres expects ten elements, of a set of jsonb a hundred: from that it would reckon the walk so costly
that it compiled it first, which takes longer than a hundred of them.
"""

ONE = _WALK.format(start="SELECT g.id, g.parent FROM grants g WHERE g.tenant = :tenant AND g.id = :id")
"""One grant with all that it comes from."""


def of_subjects(rows: Iterable[Mapping[str, Any]], subjects: Iterable[str]) -> dict[str, tuple[Lineage, ...]]:
    """Return what each subject holds, in the order of its making; what is broken or revoked is held by nobody."""
    known = {grant.id: grant for grant in map(_grant, rows) if grant is not None}
    held: dict[str, list[Lineage]] = {subject: [] for subject in subjects}
    for grant in sorted(known.values(), key=lambda grant: grant.id):
        lineage = trace(grant.id, known) if grant.subject in held else None
        if lineage is not None:
            held[grant.subject].append(lineage)
    return {subject: tuple(lineages) for subject, lineages in held.items()}


def of_grant(rows: Iterable[Mapping[str, Any]], grant_id: str) -> Lineage | None:
    """Return the lineage of one grant, or None if it is broken or revoked."""
    return trace(grant_id, {grant.id: grant for grant in map(_grant, rows) if grant is not None})


def _grant(row: Mapping[str, Any]) -> Grant | None:
    """Return the grant of a row; None if it cannot be read, which is told to whoever runs the service."""
    try:
        expires_at = None if row["expires_at"] is None else datetime.fromisoformat(row["expires_at"])
        bounds = grants.read(row["bounds"], expires_at)
    except ValueError:
        _log.error("grant_unreadable", grant=row["id"])
        return None
    return Grant(row["id"], row["subject"], bounds, row["delegable"], row["parent"], row["revoked"])
