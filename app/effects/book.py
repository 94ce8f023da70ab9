"""The book of admissions and effects of one tenant, for the length of one group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from app.db.books import SWEEP, Rows
from app.effects.admissions import Admission, State, from_row

ADMISSION = """
    jsonb_build_object(
        'id', a.id, 'kind', a.kind, 'state', a.state, 'principal', a.principal, 'action', a.action,
        'digest', a.digest, 'asset', a.asset, 'effects', a.effects, 'attempt', a.attempt, 'scopes', a.scopes,
        'amount', a.amount::text, 'currency', a.currency, 'actual', a.actual::text,
        'actual_currency', a.actual_currency, 'created_at', a.created_at,
        'expires_at', a.expires_at, 'outcome_by', a.outcome_by, 'resolved', a.resolved, 'closed_at', a.closed_at,
        'detail', a.detail, 'result_digest', a.result_digest, 'run_id', a.run_id, 'approval_id', a.approval_id,
        'idempotency_key', a.idempotency_key, 'request_digest', a.request_digest,
        'grant_id', a.grant_id, 'budgets', a.budgets, 'answer', a.answer)
"""
"""An admission `a` as the JSON that `from_row` takes."""

_COLUMNS = """
    id text, kind text, state text, principal text, action text, digest text, asset text, effects jsonb,
    attempt integer, scopes jsonb, amount numeric, currency text, actual numeric, actual_currency text,
    created_at timestamptz, expires_at timestamptz, outcome_by text, resolved boolean, closed_at timestamptz,
    detail text, result_digest text, run_id text, approval_id text, idempotency_key text, request_digest text,
    grant_id text, budgets jsonb, answer text
"""
_NAMES = ", ".join(column.split()[0] for column in _COLUMNS.split(","))


@dataclass(frozen=True, slots=True)
class Effect:
    """A consequence by name: the attempt that it is at, and the admission that holds it or held it last.

    Its state is that admission's: stored twice, the two could disagree.
    """

    key: str
    attempt: int
    holder: Admission

    @property
    def state(self) -> State:
        """Return where it stands."""
        return self.holder.state


class EffectBook:
    """Admissions by id, by idempotency key, by the digest of an approved call, and effects by key.

    Later commands of a group see what earlier ones changed. A deadline is kept by the clock: `lapse` is for whoever
    meets an admission whose lease has ended.
    """

    READS: ClassVar[Mapping[str, str]] = {
        "admissions_by_id": f"""
            SELECT {ADMISSION} FROM admissions a WHERE a.tenant = :tenant
            AND a.id = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST(:admissions_by_id AS jsonb))))
        """,
        "admissions_by_idempotency_key": f"""
            SELECT {ADMISSION}
            FROM jsonb_to_recordset(CAST(:admissions_by_idempotency_key AS jsonb))
                AS wanted (principal text, key text, since timestamptz)
            CROSS JOIN LATERAL (
                SELECT * FROM admissions WHERE tenant = :tenant AND principal = wanted.principal
                AND idempotency_key IS NOT NULL AND idempotency_key = wanted.key OFFSET 0
            ) AS a
            WHERE a.created_at > wanted.since
        """,
        "admissions_by_digest": f"""
            SELECT {ADMISSION}
            FROM jsonb_array_elements_text(CAST(:admissions_by_digest AS jsonb)) AS wanted (digest)
            CROSS JOIN LATERAL (
                SELECT * FROM admissions
                WHERE tenant = :tenant AND approval_id IS NOT NULL AND digest = wanted.digest OFFSET 0
            ) AS a
            WHERE a.state = 'reserved'
        """,
        "effects_by_key": f"""
            SELECT jsonb_build_object('key', e.key, 'attempt', e.attempt, 'holder', {ADMISSION})
            FROM effects e JOIN admissions a ON a.tenant = e.tenant AND a.id = e.admission_id
            WHERE e.tenant = :tenant
            AND e.key = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST(:effects_by_key AS jsonb))))
        """,
        "admissions_lapsed": f"""
            SELECT {ADMISSION} FROM admissions a WHERE a.tenant = :tenant AND a.state = 'reserved'
            AND a.expires_at <= (CAST(:admissions_lapsed AS jsonb) ->> 0)::timestamptz
            ORDER BY a.expires_at LIMIT {SWEEP}
        """,
    }
    WRITES: ClassVar[Mapping[str, str]] = {
        "admissions_made": f"""
            INSERT INTO admissions (tenant, {_NAMES}) SELECT :tenant, {_NAMES}
            FROM jsonb_to_recordset(CAST(:admissions_made AS jsonb)) AS made ({_COLUMNS})
        """,
        "admissions_changed": f"""
            UPDATE admissions SET state = changed.state, actual = changed.actual,
                actual_currency = changed.actual_currency, expires_at = changed.expires_at,
                resolved = changed.resolved, closed_at = changed.closed_at, detail = changed.detail,
                result_digest = changed.result_digest
            FROM jsonb_to_recordset(CAST(:admissions_changed AS jsonb)) AS changed ({_COLUMNS})
            WHERE admissions.tenant = :tenant AND admissions.id = changed.id
            AND admissions.id = ANY (ARRAY(
                SELECT entry ->> 'id' FROM jsonb_array_elements(CAST(:admissions_changed AS jsonb)) AS entry))
        """,
        "effects_reserved": """
            INSERT INTO effects (tenant, key, attempt, admission_id)
            SELECT :tenant, key, attempt, admission_id
            FROM jsonb_to_recordset(CAST(:effects_reserved AS jsonb)) AS reserved
                (key text, attempt integer, admission_id text)
            ON CONFLICT (tenant, key) DO UPDATE SET attempt = excluded.attempt, admission_id = excluded.admission_id
        """,
    }

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._wants: dict[str, dict[Any, Any]] = {name: {} for name in self.READS}
        self._admissions: dict[str, Admission] = {}
        self._by_idempotency_key: dict[tuple[str, str], str] = {}
        self._by_digest: dict[str, set[str]] = {}
        self._effects: dict[str, Effect] = {}
        self._made: set[str] = set()
        self._changed: set[str] = set()
        self._reserved: set[str] = set()

    # what a group asks for before it is read

    def want(self, admission_id: str) -> None:
        """Ask for an admission."""
        self._wants["admissions_by_id"][admission_id] = admission_id

    def want_idempotency_key(self, principal: str, key: str, since: datetime) -> None:
        """Ask for the admission under a caller's key, if one was made after `since`; an older one is forgotten."""
        wanted = {"principal": principal, "key": key, "since": since.isoformat()}
        self._wants["admissions_by_idempotency_key"][principal, key] = wanted

    def want_digest(self, digest: str) -> None:
        """Ask for the open admissions that consumed an approval of this call."""
        self._wants["admissions_by_digest"][digest] = digest

    def want_effects(self, keys: Sequence[str]) -> None:
        """Ask for effects, and for the admissions that hold them."""
        for key in keys:
            self._wants["effects_by_key"][key] = key

    def want_lapsed(self) -> None:
        """Ask for admissions whose lease has ended, as many as a sweep takes, the longest ended first."""
        self._wants["admissions_lapsed"]["now"] = self._now.isoformat()

    def wants(self) -> Mapping[str, Sequence[Any]]:
        """Return what was asked for and not read yet."""
        wanted = {name: list(keys.values()) for name, keys in self._wants.items()}
        self._wants = {name: {} for name in self.READS}
        return wanted

    def load(self, name: str, rows: Rows) -> None:
        """Take in what was found."""
        for row in rows:
            if name == "effects_by_key":
                self._effects[row["key"]] = Effect(row["key"], row["attempt"], self._file(row["holder"]))
            else:
                self._file(row)

    def _file(self, row: Mapping[str, Any]) -> Admission:
        """Return the admission of a row: the one that the group knows already, if it does."""
        known = self._admissions.get(row["id"])
        return self._index(from_row(dict(row))) if known is None else known

    def _index(self, admission: Admission) -> Admission:
        self._admissions[admission.id] = admission
        if admission.idempotency_key is not None:
            self._by_idempotency_key[admission.principal, admission.idempotency_key] = admission.id
        if admission.approval_id is not None:
            self._by_digest.setdefault(admission.digest, set()).add(admission.id)
        return admission

    # what a command sees

    def get(self, admission_id: str) -> Admission | None:
        """Return the admission of that id."""
        return self._admissions.get(admission_id)

    def of_idempotency_key(self, principal: str, key: str) -> Admission | None:
        """Return the admission under the caller's key."""
        found = self._by_idempotency_key.get((principal, key))
        return None if found is None else self._admissions[found]

    def open_of_digest(self, digest: str) -> Admission | None:
        """Return an open admission that consumed an approval of this call."""
        candidates = (self._admissions[found] for found in self._by_digest.get(digest, ()))
        return next((admission for admission in candidates if admission.open(self._now)), None)

    def effect(self, key: str) -> Effect | None:
        """Return the effect, or None if nobody has reserved it yet."""
        return self._effects.get(key)

    def lapsed(self) -> list[Admission]:
        """Return the admissions read whose lease has ended without a word."""
        return [admission for admission in self._admissions.values() if admission.lapsed(self._now)]

    def attempt(self, keys: Sequence[str]) -> int:
        """Return the number that the next attempt at these effects has: one more than the most tried of them."""
        return 1 + max((effect.attempt for effect in map(self._effects.get, keys) if effect is not None), default=0)

    # what a command changes

    def admit(self, admission: Admission) -> None:
        """File a new admission and reserve its effects for it; each counts its own attempts."""
        self._index(admission)
        self._made.add(admission.id)
        for key in admission.effects:
            self._effects[key] = Effect(key, self.attempt([key]), admission)
            self._reserved.add(key)

    def close(self, admission: Admission, state: State, *, resolved: bool = False, detail: str = "") -> None:
        """Move an admission to a state with an outcome, and with it the effects that it holds."""
        admission.state, admission.closed_at = state, self._now
        admission.resolved, admission.detail = resolved, detail or admission.detail
        self.touch(admission)

    def touch(self, admission: Admission) -> None:
        """Note that an admission changed."""
        if admission.id not in self._made:
            self._changed.add(admission.id)

    def writes(self) -> Mapping[str, Rows]:
        """Return the admissions made and changed, and the effects."""
        return {
            "admissions_made": [self._admissions[made].as_row() for made in sorted(self._made)],
            "admissions_changed": [self._admissions[changed].as_row() for changed in sorted(self._changed)],
            "effects_reserved": [self._effect_row(key) for key in sorted(self._reserved)],
        }

    def _effect_row(self, key: str) -> dict[str, Any]:
        effect = self._effects[key]
        return {"key": key, "attempt": effect.attempt, "admission_id": effect.holder.id}
