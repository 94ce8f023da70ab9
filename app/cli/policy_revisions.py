"""`countersignd policy` on the revisions of a tenant: storing them, and bringing one into force."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from app.audit import heads
from app.audit.lane import Lane
from app.cli import policy_files, store
from app.cli.refused import RefusedError, unless_refused
from app.cli.store import OPERATOR, Store
from app.core.refusals import Refusal
from app.db.database import Database
from app.db.ids import BEYOND_ANY
from app.gate.activation import Activation, activate, end_shadow
from app.gate.answers import audit_id
from app.gate.replays import replay
from app.policies import history, revisions
from app.policies.revisions import Revision

_PAGE = 200

Tenant = Annotated[str, typer.Option(help="The tenant.")]
Number = Annotated[int, typer.Argument(min=1, help="The revision.")]


def store_file(file: policy_files.File, tenant: Tenant) -> None:
    """Store a policy as a new revision. It is not in force by that."""
    document = policy_files.load(file)

    async def keep(lane: Lane) -> Revision | Refusal:
        return await revisions.store(lane, OPERATOR, file.read_text(), document.policy)

    stored = unless_refused(store.change(lambda opened: opened.lanes.run(tenant, keep)))
    typer.echo(f"revision {stored.revision} {stored.digest}")


def list_revisions(tenant: Tenant) -> None:
    """List the newest revisions, and which is in force."""

    async def read(database: Database) -> None:
        epochs = await database.read(lambda reader: heads.epochs(reader, tenant))
        found = await database.read(lambda reader: revisions.newest(reader, tenant, BEYOND_ANY, _PAGE))
        for one in found:
            state = "in force" if one.revision == epochs.policy_revision else ""
            typer.echo(f"{one.revision}\t{one.version or '-'}\t{one.digest}\t{one.created_by}\t{state}")

    store.read(read)


def show_revision(revision: Number, tenant: Tenant) -> None:
    """Print the document of a revision as it was stored."""
    typer.echo(store.read(lambda database: _find(database, tenant, revision)).document, nl=False)


def activate_revision(
    revision: Number,
    tenant: Tenant,
    expected: Annotated[int | None, typer.Option(help="Refuse unless this revision is in force now.")] = None,
) -> None:
    """Bring a revision into force, in one step for all replicas."""
    store.change(lambda opened: _bring_in(opened, tenant, revision, expected, shadow=False))
    typer.echo(f"Revision {revision} is in force.")


def shadow_revision(
    tenant: Tenant,
    revision: Annotated[int | None, typer.Argument(min=1, help="The revision; none: say how the shadow does.")] = None,
    stop: Annotated[bool, typer.Option("--stop", help="Weigh none beside the one in force any more.")] = False,
) -> None:
    """Weigh a revision beside the one in force, without its answers counting; or say how that goes, or end it."""
    if stop:
        unless_refused(store.change(lambda opened: end_shadow(opened.database, opened.builder, tenant, None, OPERATOR)))
        typer.echo("No revision is weighed as a shadow.")
    elif revision is None:
        store.read(lambda database: _tell_shadow(database, tenant))
    else:
        store.change(lambda opened: _bring_in(opened, tenant, revision, None, shadow=True))
        typer.echo(f"Revision {revision} is weighed as a shadow.")


def replay_file(
    file: policy_files.File,
    tenant: Tenant,
    last: Annotated[int, typer.Option(min=1, help="How many of the last calls.")] = 1_000,
) -> None:
    """Say what a policy would have answered to the calls that were recorded last."""
    candidate = policy_files.load(file).policy
    rows = store.read(lambda database: database.read(lambda reader: history.latest(reader, tenant, last)))
    found = replay(candidate, rows)
    told = found.told(tenant)
    for change in told["changes"]:
        typer.echo(_change(change))
    for reason in told["why_not"]:
        typer.echo(f"{reason['calls']}\tnot replayed: {reason['why']}")
    typer.echo(f"{told['replayed']} replayed, {told['changed']} changed, {told['not_replayed']} not replayed")


async def _bring_in(opened: Store, tenant: str, revision: int, expected: int | None, *, shadow: bool) -> None:
    wanted = Activation(
        credential_id=None,
        revision=await _find(opened.database, tenant, revision),
        expected=expected,
        unconditional=expected is None,
        operator=OPERATOR,
        shadow=shadow,
    )
    unless_refused(await activate(opened.database, opened.builder, tenant, wanted))


async def _tell_shadow(database: Database, tenant: str) -> None:
    revision = await database.read(lambda reader: history.shadow_revision(reader, tenant))
    if revision is None:
        typer.echo("No revision is weighed as a shadow.")
        return
    found = await database.read(lambda reader: history.shadowed(reader, tenant, revision))
    for change in found.divergences:
        typer.echo(_change({**change, "examples": [audit_id(tenant, seq) for seq in change["examples"]]}))
    for failure in found.failures:
        typer.echo(f"{failure['calls']}\tfailed: {failure['why']}")
    typer.echo(f"revision {revision}: {found.weighed} weighed, {sum(c['calls'] for c in found.divergences)} diverged")


def _change(change: Mapping[str, Any]) -> str:
    examples = ", ".join(change["examples"])
    return f"{change['calls']}\t{change['action']}: {change['from']} -> {change['to']}\t{examples}"


async def _find(database: Database, tenant: str, revision: int) -> Revision:
    found = await database.read(lambda reader: revisions.read(reader, tenant, revision))
    if found is None:
        raise RefusedError(f"{tenant} has no revision {revision}; `countersignd policy list` shows them")
    return found
