"""Bringing a revision into force: one audited step for all replicas, which ends what another version label asked.

Or bringing it in as a shadow, which is weighed beside the one in force and answers nothing.
"""

from dataclasses import dataclass

from app.approvals.questions import Withdrawal
from app.core.refusals import Refusal, RefusalKind
from app.db import books
from app.db.database import Database, Writer
from app.gate import moves
from app.gate.authorisation import authorise
from app.gate.lane import Lane, LaneBuilder
from app.policies.revisions import Revision


@dataclass(frozen=True, slots=True)
class Activation:
    """Asks that a stored revision is in force from now on, or, as a `shadow`, that it is weighed beside that one.

    `expected` is the revision that the caller believes to be in force; `unconditional` takes whatever is. Without a
    credential it is `operator` who asks: somebody with a shell on the service's machine.
    """

    credential_id: str | None
    revision: Revision
    expected: int | None = None
    unconditional: bool = False
    operator: str = ""
    shadow: bool = False


async def activate(database: Database, builder: LaneBuilder, tenant: str, wanted: Activation) -> Refusal | None:
    """Bring the revision into force, alone in its transaction, so that no group is decided under two.

    Raises:
        StoreUnavailableError: the database did not answer.
    """

    async def alone(tx: Writer) -> Refusal | None:
        lane = await builder.open(tx, tenant)
        by = _by(lane, wanted.credential_id, wanted.operator)
        if isinstance(by, Refusal):
            return by
        refusal = _why_not(lane, wanted)
        if refusal is not None:
            return refusal
        if wanted.shadow:
            _shadow(lane, wanted.revision, by)
        else:
            lane.approvals.want_other_versions(wanted.revision.version)
            await books.read(tx, tenant, lane.books)
            _activate(lane, wanted.revision, by)
        await books.write(tx, tenant, lane.books)
        return None

    return await database.transact(alone)


async def end_shadow(
    database: Database, builder: LaneBuilder, tenant: str, credential_id: str | None, operator: str = ""
) -> Refusal | None:
    """Weigh no revision beside the one in force any more.

    Raises:
        StoreUnavailableError: the database did not answer.
    """

    async def alone(tx: Writer) -> Refusal | None:
        lane = await builder.open(tx, tenant)
        by = _by(lane, credential_id, operator)
        if isinstance(by, Refusal):
            return by
        if lane.head.shadow_revision is None:
            return Refusal(RefusalKind.NOT_FOUND, "no revision is weighed as a shadow")
        _shadow(lane, None, by)
        await books.write(tx, tenant, lane.books)
        return None

    return await database.transact(alone)


def _by(lane: Lane, credential_id: str | None, operator: str) -> str | Refusal:
    """Return who activates, or why they may not."""
    if credential_id is None:
        return operator
    caller = authorise(lane, credential_id, "policy:activate")
    return caller if isinstance(caller, Refusal) else caller.principal


def _why_not(lane: Lane, wanted: Activation) -> Refusal | None:
    if wanted.unconditional or wanted.expected == lane.head.policy_revision:
        return None
    return Refusal(
        RefusalKind.PRECONDITION_FAILED,
        f"the revision in force is {lane.head.policy_revision}, not the one that was expected",
        values={"active": lane.head.policy_revision},
    )


def _activate(lane: Lane, revision: Revision, by: str) -> None:
    before = lane.head.policy_revision
    lane.head.policy_revision = revision.revision
    if lane.head.shadow_revision == revision.revision:
        lane.head.shadow_revision = None
    lane.journal.append("policy.activated", {**revision.named, "before": before, "by": by}, principal=by)
    for question in lane.approvals.of_other_versions(revision.version):
        moves.cancel(lane, question, by, Withdrawal.OTHER_VERSION)


def _shadow(lane: Lane, revision: Revision | None, by: str) -> None:
    before = lane.head.shadow_revision
    lane.head.shadow_revision = None if revision is None else revision.revision
    named = {"revision": None} if revision is None else revision.named
    lane.journal.append("policy.shadowed", {**named, "before": before, "by": by}, principal=by)
