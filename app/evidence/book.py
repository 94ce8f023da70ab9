"""The book of verifications of one tenant, for the length of one group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from app.core.actions import Verification
from app.db.books import Rows


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verification that may serve the call, and the principal that posted it."""

    verification: Verification
    made_by: str


class EvidenceBook:
    """Verifications by id; a later command of the group sees that an earlier one used one up."""

    READS: ClassVar[Mapping[str, str]] = {
        "verifications_by_id": """
            SELECT jsonb_build_object('id', v.id, 'action_digest', v.action_digest, 'survives', v.survives,
                'confidence', v.confidence, 'expires_at', v.expires_at, 'made_by', v.made_by)
            FROM verifications v WHERE v.tenant = :tenant AND v.admission_id IS NULL
            AND v.id = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST(:verifications_by_id AS jsonb))))
        """,
    }
    WRITES: ClassVar[Mapping[str, str]] = {
        "verifications_used": """
            UPDATE verifications SET admission_id = used.admission_id
            FROM jsonb_to_recordset(CAST(:verifications_used AS jsonb)) AS used (id text, admission_id text)
            WHERE verifications.tenant = :tenant AND verifications.id = used.id
            AND verifications.id = ANY (ARRAY(
                SELECT entry ->> 'id' FROM jsonb_array_elements(CAST(:verifications_used AS jsonb)) AS entry))
        """,
    }

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._wanted: set[str] = set()
        self._unused: dict[str, Mapping[str, Any]] = {}
        self._used: list[dict[str, Any]] = []

    def want(self, verification_id: str) -> None:
        """Ask for a verification."""
        self._wanted.add(verification_id)

    def wants(self) -> Mapping[str, Sequence[Any]]:
        """Return what was asked for and not read yet."""
        wanted, self._wanted = sorted(self._wanted), set()
        return {"verifications_by_id": wanted}

    def load(self, name: str, rows: Rows) -> None:
        """Take in the verifications that have served nobody yet."""
        del name
        self._unused |= {row["id"]: row for row in rows}

    def counting(self, verification_id: str, action_digest: str) -> Evidence | None:
        """Return the verification if it is for this call, has served none, and is not over."""
        row = self._unused.get(verification_id)
        if row is None or row["action_digest"] != action_digest:
            return None
        if datetime.fromisoformat(row["expires_at"]) <= self._now:
            return None
        return Evidence(Verification(row["survives"], row["confidence"]), row["made_by"])

    def use(self, verification_id: str, admission_id: str) -> None:
        """Note that the verification has served an admission; it serves no other."""
        if self._unused.pop(verification_id, None) is not None:
            self._used.append({"id": verification_id, "admission_id": admission_id})

    def writes(self) -> Mapping[str, Rows]:
        """Return the verifications that were used up."""
        return {"verifications_used": self._used}
