"""The queue: questions as somebody may see them, read outside any lane."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.approvals import queries
from app.approvals.queries import Filter
from app.approvals.questions import Question
from app.core.values import Json
from app.db.database import Reader
from app.gate.question_views import Viewer
from app.outbox import deliveries
from app.outbox.deliveries import Standing

_BATCH: Final = 200
_FURTHEST: Final = 10  # batches: who may see few of many is not searched for without end


@dataclass(frozen=True, slots=True)
class Past:
    """Some finished questions, the newest first, and the id before which older ones are; None if there are none."""

    questions: Sequence[dict[str, Json]]
    before: str | None


async def one(reader: Reader, viewer: Viewer, question_id: str) -> dict[str, Json] | None:
    """Return a question as the viewer may see it, or None if for this viewer there is none."""
    question = await queries.question(reader, viewer.caller.tenant, question_id)
    return None if question is None else next(iter(await _seen(reader, viewer, [question])), None)


async def page(
    reader: Reader, viewer: Viewer, wanted: Filter, limit: int, *, mine: bool = False
) -> list[dict[str, Json]]:
    """Return up to `limit` questions that the viewer may see, or with `mine` decide, the oldest first."""
    found: list[dict[str, Json]] = []
    while True:
        batch = await queries.questions(reader, viewer.caller.tenant, wanted, _BATCH)
        found += await _seen(reader, viewer, [question for question in batch if not mine or viewer.decides(question)])
        if len(batch) < _BATCH or len(found) >= limit:
            return found[:limit]
        wanted = replace(wanted, after=batch[-1].id)


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
