"""The book of questions of one tenant, for the length of one group."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from app.approvals import rows
from app.approvals.questions import Question, Vote
from app.db.books import SWEEP, Rows


class ApprovalBook:
    """Questions by id, by the call that they are about, by who asks and by run; and the votes on them.

    Later commands of a group see what earlier ones changed. Rows are found by what the database knows; whether a
    deadline is over is asked of the group's clock.
    """

    READS: ClassVar[Mapping[str, str]] = {
        "approvals_by_id": f"""
            SELECT {rows.QUESTION} FROM approvals a WHERE a.tenant = :tenant
            AND a.id = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST(:approvals_by_id AS jsonb))))
        """,
        "approvals_by_key": f"""
            SELECT {rows.QUESTION} FROM (
                SELECT met.id
                FROM jsonb_to_recordset(CAST(:approvals_by_key AS jsonb)) AS wanted (key text, now timestamptz)
                CROSS JOIN LATERAL (
                    (SELECT id, status, due_at FROM approvals
                        WHERE tenant = :tenant AND key = wanted.key OFFSET 0)
                    UNION ALL
                    (SELECT id, status, due_at FROM approvals
                        WHERE tenant = :tenant AND edited_key IS NOT NULL AND edited_key = wanted.key OFFSET 0)
                ) AS met
                WHERE met.{rows.STANDING} AND (met.{rows.OPEN} OR met.due_at > wanted.now)
                GROUP BY met.id
            ) AS found
            CROSS JOIN LATERAL (SELECT * FROM approvals WHERE tenant = :tenant AND id = found.id OFFSET 0) AS a
        """,
        "approvals_open_of": f"""
            SELECT jsonb_build_object('principal', a.principal, 'id', a.id, 'deadline', a.due_at)
            FROM jsonb_array_elements_text(CAST(:approvals_open_of AS jsonb)) AS wanted (principal)
            CROSS JOIN LATERAL (
                SELECT * FROM approvals WHERE tenant = :tenant AND principal = wanted.principal AND {rows.OPEN} OFFSET 0
            ) AS a
        """,
        "approvals_of_run": f"""
            SELECT {rows.QUESTION}
            FROM jsonb_to_recordset(CAST(:approvals_of_run AS jsonb)) AS wanted (principal text, run_id text)
            CROSS JOIN LATERAL (
                SELECT * FROM approvals WHERE tenant = :tenant AND principal = wanted.principal AND {rows.OPEN} OFFSET 0
            ) AS a
            WHERE a.run_id = wanted.run_id
        """,
        "approvals_runs_ended": """
            SELECT jsonb_build_object('principal', r.principal, 'run_id', r.run_id)
            FROM jsonb_to_recordset(CAST(:approvals_runs_ended AS jsonb)) AS wanted (principal text, run_id text)
            CROSS JOIN LATERAL (
                SELECT * FROM runs_ended
                WHERE tenant = :tenant AND principal = wanted.principal AND run_id = wanted.run_id OFFSET 0
            ) AS r
        """,
        "approvals_due": f"""
            SELECT {rows.QUESTION} FROM approvals a
            WHERE a.tenant = :tenant AND a.{rows.OPEN}
            AND a.due_at <= (CAST(:approvals_due AS jsonb) ->> 0)::timestamptz
            ORDER BY a.due_at LIMIT {SWEEP}
        """,
        "approvals_erasable": f"""
            SELECT {rows.QUESTION} FROM approvals a
            WHERE a.tenant = :tenant AND NOT a.{rows.OPEN} AND a.call IS NOT NULL
            AND a.due_at <= (CAST(:approvals_erasable AS jsonb) ->> 0)::timestamptz
            ORDER BY a.due_at LIMIT {SWEEP}
        """,
        "approvals_of_other_versions": f"""
            SELECT {rows.QUESTION} FROM approvals a WHERE a.tenant = :tenant AND a.{rows.OPEN}
            AND a.policy_version <> (CAST(:approvals_of_other_versions AS jsonb) ->> 0)
        """,
    }
    WRITES: ClassVar[Mapping[str, str]] = {
        "approvals_written": f"""
            INSERT INTO approvals (tenant, {rows.names(rows.COLUMNS)}) SELECT :tenant, {rows.names(rows.COLUMNS)}
            FROM jsonb_to_recordset(CAST(:approvals_written AS jsonb)) AS written ({rows.COLUMNS})
            ON CONFLICT (tenant, id) DO UPDATE SET status = excluded.status, call = excluded.call,
                resolved = excluded.resolved, edited_digest = excluded.edited_digest,
                edited_key = excluded.edited_key, edited_arguments = excluded.edited_arguments,
                edited_resolved = excluded.edited_resolved, shown = excluded.shown, context = excluded.context,
                expires_at = excluded.expires_at, use_before = excluded.use_before, due_at = excluded.due_at,
                decided_at = excluded.decided_at, decided_by = excluded.decided_by, comment = excluded.comment,
                admission_id = excluded.admission_id, changed_seq = excluded.changed_seq
        """,
        "approvals_votes": f"""
            INSERT INTO approval_votes (tenant, {rows.names(rows.VOTE_COLUMNS)})
            SELECT :tenant, {rows.names(rows.VOTE_COLUMNS)}
            FROM jsonb_to_recordset(CAST(:approvals_votes AS jsonb)) AS cast_vote ({rows.VOTE_COLUMNS})
        """,
        "approvals_runs": """
            INSERT INTO runs_ended (tenant, principal, run_id, ended_at)
            SELECT :tenant, principal, run_id, ended_at
            FROM jsonb_to_recordset(CAST(:approvals_runs AS jsonb)) AS run
                (principal text, run_id text, ended_at timestamptz)
            ON CONFLICT DO NOTHING
        """,
    }

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._wants: dict[str, dict[Any, Any]] = {name: {} for name in self.READS}
        self._questions: dict[str, Question] = {}
        self._by_key: dict[str, list[str]] = {}
        self._deadlines: dict[str, dict[str, datetime]] = {}
        self._ended: set[tuple[str, str]] = set()
        self._newly_ended: set[tuple[str, str]] = set()
        self._changed: dict[str, None] = {}
        self._votes: list[tuple[str, int]] = []

    # what a group asks for before it is read

    def want(self, question_id: str) -> None:
        """Ask for a question."""
        self._wants["approvals_by_id"][question_id] = question_id

    def want_call(self, key: str) -> None:
        """Ask for every question that the call of this key could meet, as it was sent or as somebody edited it."""
        self._wants["approvals_by_key"][key] = {"key": key, "now": self._now.isoformat()}

    def want_open_of(self, principal: str) -> None:
        """Ask how many open questions somebody has."""
        self._wants["approvals_open_of"][principal] = principal

    def want_run(self, principal: str, run_id: str) -> None:
        """Ask whether somebody's run has ended, and for its open questions."""
        run = {"principal": principal, "run_id": run_id}
        self._wants["approvals_runs_ended"][principal, run_id] = run
        self._wants["approvals_of_run"][principal, run_id] = run

    def want_due(self) -> None:
        """Ask for open questions whose time is over, up to a chunk, the longest over first."""
        self._wants["approvals_due"]["now"] = self._now.isoformat()

    def want_erasable(self, until: datetime) -> None:
        """Ask for questions that were finished by then and still hold arguments, up to a chunk, the oldest first."""
        self._wants["approvals_erasable"]["until"] = until.isoformat()

    def want_other_versions(self, version: str) -> None:
        """Ask for all open questions that another version label of the policy opened."""
        self._wants["approvals_of_other_versions"]["version"] = version

    def wants(self) -> Mapping[str, Sequence[Any]]:
        """Return what was asked for and not read yet."""
        wanted = {name: list(keys.values()) for name, keys in self._wants.items()}
        self._wants = {name: {} for name in self.READS}
        return wanted

    def load(self, name: str, rows_: Rows) -> None:
        """Take in what was found."""
        if name == "approvals_open_of":
            for row in rows_:
                deadline = datetime.fromisoformat(row["deadline"])
                self._deadlines.setdefault(row["principal"], {})[row["id"]] = deadline
        elif name == "approvals_runs_ended":
            self._ended.update((row["principal"], row["run_id"]) for row in rows_)
        else:
            for row in rows_:
                if row["id"] not in self._questions:
                    self._file(rows.question(row))

    def _file(self, question: Question) -> None:
        self._questions[question.id] = question
        self._index(question.key, question.id)
        if question.edit is not None:
            self._index(question.edit.key, question.id)

    def _index(self, key: str, question_id: str) -> None:
        filed = self._by_key.setdefault(key, [])
        if question_id not in filed:
            filed.append(question_id)

    # what a command sees

    def get(self, question_id: str) -> Question | None:
        """Return the question of that id."""
        return self._questions.get(question_id)

    def of_call(self, key: str) -> list[Question]:
        """Return the questions that are about the call of this key, or that somebody edited into it, oldest first."""
        found = (self._questions[question_id] for question_id in self._by_key.get(key, ()))
        return sorted(found, key=lambda question: (question.created_at, question.id))

    def of_run(self, principal: str, run_id: str) -> list[Question]:
        """Return the open questions of somebody's run."""
        return [
            question
            for question in self._questions.values()
            if question.open and question.principal == principal and question.run_id == run_id
        ]

    def of_other_versions(self, version: str) -> list[Question]:
        """Return the open questions that another version label opened."""
        return [found for found in self._questions.values() if found.open and found.policy_version != version]

    def due(self) -> list[Question]:
        """Return the questions read whose time is over."""
        return [question for question in self._questions.values() if question.overdue(self._now)]

    def erasable(self, until: datetime) -> list[Question]:
        """Return the questions read that were finished by then and still hold arguments."""
        return [found for found in self._questions.values() if found.call is not None and found.finished_by(until)]

    def open_count(self, principal: str) -> int:
        """Return how many questions of somebody are open, those of this group included."""
        read = self._deadlines.get(principal, {})
        unchanged = sum(deadline > self._now for found, deadline in read.items() if found not in self._questions)
        known = (question for question in self._questions.values() if question.principal == principal)
        return unchanged + sum(question.live(self._now) for question in known)

    def run_ended(self, principal: str, run_id: str | None) -> bool:
        """Return whether somebody's run has ended."""
        return run_id is not None and (principal, run_id) in self._ended

    # what a command changes

    def open(self, question: Question) -> None:
        """File a new question."""
        self._file(question)
        self.touch(question)

    def touch(self, question: Question) -> None:
        """Note that a question changed."""
        self._changed[question.id] = None
        if question.edit is not None:
            self._index(question.edit.key, question.id)

    def cast(self, question: Question, vote: Vote) -> None:
        """Add a vote to a question, counted or refused."""
        self._votes.append((question.id, len(question.votes)))
        question.votes.append(vote)

    def end_run(self, principal: str, run_id: str) -> None:
        """Note that somebody's run has ended."""
        self._ended.add((principal, run_id))
        self._newly_ended.add((principal, run_id))

    def writes(self) -> Mapping[str, Rows]:
        """Return the questions opened and changed, the votes, and the runs that ended."""
        return {
            "approvals_written": [rows.of_question(self._questions[changed]) for changed in self._changed],
            "approvals_votes": [rows.of_vote(self._questions[of], number) for of, number in self._votes],
            "approvals_runs": list(self._run_rows()),
        }

    def _run_rows(self) -> Iterable[dict[str, Any]]:
        for principal, run_id in sorted(self._newly_ended):
            yield {"principal": principal, "run_id": run_id, "ended_at": self._now.isoformat()}
