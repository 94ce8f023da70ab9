"""The queue: questions as somebody may see them, read outside any lane."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from app.approvals import queries
from app.approvals.queries import Filter
from app.approvals.questions import Question
from app.core.values import Json
from app.db.database import Reader
from app.gate.looks import Looks
from app.gate.question_views import Viewer
from app.outbox import deliveries
from app.outbox.deliveries import Standing

_BATCH: Final = 200
_SWATH: Final = 5_000  # how many questions are looked through at once for those that somebody may see
_FURTHEST: Final = 10  # batches: who may see few of many is not searched for without end


@dataclass(frozen=True, slots=True)
class Past:
    """Some finished questions, the newest first, and the id before which older ones are; None if there are none."""

    questions: Sequence[dict[str, Json]]
    before: str | None


async def one(looks: Looks, viewer: Viewer, question_id: str) -> dict[str, Json] | None:
    """Return a question as the viewer may see it, or None if for this viewer there is none."""
    found = await looks.at(viewer.caller.tenant, question_id)
    return None if found is None else viewer.see(found.question, found.delivery)


async def page(
    reader: Reader, viewer: Viewer, wanted: Filter, limit: int, *, mine: bool = False
) -> list[dict[str, Json]]:
    """Return up to `limit` questions that the viewer may see, or with `mine` decide, the oldest first."""
    visible = viewer.decides if mine else viewer.sees
    found: list[str] = []
    while True:
        matters = await queries.matters(reader, viewer.caller.tenant, wanted, _SWATH)
        found += sorted(chain.from_iterable(ids for matter, ids in matters if visible(matter)))
        read = [question_id for _, ids in matters for question_id in ids]
        if len(read) < _SWATH or len(found) >= limit:
            break
        wanted = replace(wanted, after=max(read))
    tenant = viewer.caller.tenant
    questions = await queries.these(reader, [(tenant, question_id) for question_id in found[:limit]])
    return await _seen(reader, viewer, sorted(questions.values(), key=lambda question: question.id))


async def past(reader: Reader, viewer: Viewer, before: str, limit: int) -> Past:
    """Return up to `limit` questions that are over and that the viewer may see, of those made before an id."""
    found: list[dict[str, Json]] = []
    for _ in range(_FURTHEST):
        batch = await queries.finished(reader, viewer.caller.tenant, viewer.now, before, _BATCH)
        found += await _seen(reader, viewer, batch)
        if len(found) > limit:
            return Past(found[:limit], str(found[limit - 1]["id"]))
        if len(batch) < _BATCH:
            return Past(found, None)
        before = batch[-1].id
    return Past(found, before)


async def _seen(reader: Reader, viewer: Viewer, questions: Sequence[Question]) -> list[dict[str, Json]]:
    told = await deliveries.standings(reader, viewer.caller.tenant, [question.id for question in questions])
    return [seen for question in questions if (seen := viewer.see(question, _delivery(told, question))) is not None]


def _delivery(told: Mapping[str, Standing], question: Question) -> Standing:
    return told.get(question.id, Standing.NONE)
