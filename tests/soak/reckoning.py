"""The reckoning: what is stored, what was answered and what is in the record have to be the same."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import text

from app.db.database import Reader
from countersign import Verification
from tests.soak.answers import Answers

CAP = Decimal(200)
_SETTLED = {"executed", "not_executed"}

_ADMISSIONS = text("SELECT id, state, effects, attempt, approval_id FROM admissions WHERE tenant = :tenant")
_QUESTIONS = text("SELECT id, status, admission_id FROM approvals WHERE tenant = :tenant")
_EFFECTS = text("SELECT key, attempt, admission_id FROM effects WHERE tenant = :tenant")
_TOTALS = text("SELECT scope, held + spent AS used FROM spend_totals WHERE tenant = :tenant AND scope LIKE 'desk:%'")


@dataclass(frozen=True, slots=True)
class Admission:
    """An admission as it is stored."""

    id: str
    state: str
    effects: Sequence[str]
    attempt: int
    approval_id: str | None


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it is stored."""

    id: str
    status: str
    admission_id: str | None


@dataclass(frozen=True, slots=True)
class Books:
    """What is stored, what is recorded, what was answered. `used` is held and spent, by scope."""

    admissions: Mapping[str, Admission]
    questions: Mapping[str, Question]
    effects: Sequence[Any]
    used: Mapping[str, Decimal]
    wrong_sums: Sequence[Any]
    records: Sequence[dict[str, Any]]
    verified: Verification
    answers: Answers

    def recorded(self, *events: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the records of these events: event and payload."""
        return ((each["event_type"], each["payload"]) for each in self.records if each["event_type"] in events)


async def read(reader: Reader, tenant: str) -> dict[str, Any]:
    """Return what is stored, by the names that `Books` has for it."""
    parameters = {"tenant": tenant}
    return {
        "admissions": {row.id: Admission(**row) for row in await reader.rows(_ADMISSIONS, parameters)},
        "questions": {row.id: Question(**row) for row in await reader.rows(_QUESTIONS, parameters)},
        "effects": await reader.rows(_EFFECTS, parameters),
        "used": {row.scope: row.used for row in await reader.rows(_TOTALS, parameters)},
    }


def faults(books: Books) -> list[str]:
    """Return everything that is not as it should be, in sentences."""
    return [fault for check in _CHECKS for fault in check(books)]


def _chain_is_whole(books: Books) -> Iterator[str]:
    if books.verified.verdict != "proved":
        yield f"the record does not verify: {books.verified}"


def _sums_are_those_of_entries(books: Books) -> Iterator[str]:
    yield from (f"a sum is not that of its entries: {tuple(row)}" for row in books.wrong_sums)


def _no_cap_is_passed(books: Books) -> Iterator[str]:
    yield from (f"{scope} has {used} under a cap of {CAP}" for scope, used in books.used.items() if used > CAP)


def _every_admission_is_recorded_once(books: Books) -> Iterator[str]:
    admitted = Counter(
        payload["admission"]["admission_id"]
        for _, payload in books.recorded("admission.decided")
        if payload["outcome"] == "allow"
    )
    yield from (f"{id_} was recorded as admitted {times} times" for id_, times in admitted.items() if times != 1)
    yield from (f"{id_} is stored and not recorded" for id_ in books.admissions.keys() - admitted.keys())
    yield from (f"{id_} is recorded and not stored" for id_ in admitted.keys() - books.admissions.keys())


def _every_state_is_explained(books: Books) -> Iterator[str]:
    states = {row.id: "reserved" for row in books.admissions.values()}
    for _, payload in books.recorded("admission.performed", "admission.lapsed", "admission.resolved"):
        states[payload["admission_id"]] = payload["state"]
    for id_, row in books.admissions.items():
        if row.state != states[id_]:
            yield f"{id_} is {row.state}, and the record says {states[id_]}"
        if row.state == "reserved":
            yield f"{id_} is still reserved after its lease"


def _every_question_is_explained(books: Books) -> Iterator[str]:
    statuses = {
        payload["approval_id"]: payload["status"]
        for event, payload in ((each["event_type"], each["payload"]) for each in books.records)
        if event.startswith("approval.")
    }
    yield from (f"{id_} is recorded and not stored" for id_ in statuses.keys() - books.questions.keys())
    redeemed = Counter(payload["approval_id"] for _, payload in books.recorded("approval.redeemed"))
    for id_, row in books.questions.items():
        if row.status != statuses.get(id_):
            yield f"{id_} is {row.status}, and the record says {statuses.get(id_)}"
        if row.status in {"pending", "approved"}:
            yield f"{id_} is still {row.status} after its time"
        if redeemed[id_] != (row.status == "consumed"):
            yield f"{id_} is {row.status} and was redeemed {redeemed[id_]} times"


def _every_consent_made_one_admission(books: Books) -> Iterator[str]:
    used = {row.approval_id: row.id for row in books.admissions.values() if row.approval_id is not None}
    consumed = {row.id: row.admission_id for row in books.questions.values() if row.status == "consumed"}
    if used != consumed:
        yield f"approvals and admissions name each other differently: {used.items() ^ consumed.items()}"


def _no_effect_happens_twice(books: Books) -> Iterator[str]:
    attempts: defaultdict[str, list[Admission]] = defaultdict(list)
    for row in books.admissions.values():
        for key in row.effects:
            attempts[key].append(row)
    for key, rows in attempts.items():
        if sum(row.state != "not_executed" for row in rows) > 1:
            yield f"{key} may have happened more than once: {[(row.id, row.state) for row in rows]}"
        if sorted(row.attempt for row in rows) != list(range(1, len(rows) + 1)):
            yield f"the attempts at {key} are not numbered one after the other"
    last = {(key, tried.attempt, tried.id) for key, tried in _last(attempts)}
    stored = {(effect.key, effect.attempt, effect.admission_id) for effect in books.effects}
    yield from (f"an effect does not name its last attempt: {effect}" for effect in last ^ stored)


def _last(attempts: Mapping[str, Sequence[Admission]]) -> Iterator[tuple[str, Admission]]:
    return ((key, max(rows, key=lambda row: row.attempt)) for key, rows in attempts.items())


def _every_answer_is_recorded(books: Books) -> Iterator[str]:
    by_seq = {record["seq"]: record for record in books.records}
    audit_ids = Counter(answer["audit_id"] for answer in books.answers.all())
    yield from (f"{id_} was given to {times} answers" for id_, times in audit_ids.items() if times > 1)
    for answer in books.answers.all():
        record = by_seq.get(int(answer["audit_id"].rpartition("/")[2]))
        if record is None or _permits(record) != answer["allowed"]:
            yield f"{answer['audit_id']} does not say what was answered: {answer}"
        elif answer["allowed"] and _admission_of(record["payload"]) != answer["admission"]["id"]:
            yield f"{answer['audit_id']} is about another admission than was answered"


def _permits(record: Mapping[str, Any]) -> bool:
    payload = record["payload"]
    return bool(payload["allowed"]) if record["event_type"] == "admission.replayed" else payload["outcome"] == "allow"


def _admission_of(payload: Mapping[str, Any]) -> Any:
    return payload.get("admission", payload)["admission_id"]


def _every_request_is_admitted_once(books: Books) -> Iterator[str]:
    for key, answers in books.answers.by_key.items():
        admitted = [answer for answer in answers if answer["allowed"]]
        if len({answer["admission"]["id"] for answer in admitted}) > 1:
            yield f"the request {key} was admitted as several admissions"
        if sum(not answer.get("replayed", False) for answer in admitted) > 1:
            yield f"the request {key} was admitted afresh more than once"


def _what_was_told_still_holds(books: Books) -> Iterator[str]:
    for id_, state in books.answers.told.items():
        stored = books.admissions[id_].state if id_ in books.admissions else "not stored"
        if state in _SETTLED and stored != state:
            yield f"{id_} was told to be {state} and is {stored}"


_CHECKS: Sequence[Callable[[Books], Iterator[str]]] = (
    _chain_is_whole,
    _sums_are_those_of_entries,
    _no_cap_is_passed,
    _every_admission_is_recorded_once,
    _every_state_is_explained,
    _every_question_is_explained,
    _every_consent_made_one_admission,
    _no_effect_happens_twice,
    _every_answer_is_recorded,
    _every_request_is_admitted_once,
    _what_was_told_still_holds,
)
