"""`countersignd policy` on the revisions of a tenant: storing them, and bringing one into force."""

from typing import Annotated

import typer

from app.audit import heads
from app.audit.lane import Lane
from app.cli import policy_files, store
from app.cli.refused import RefusedError, unless_refused
from app.cli.store import OPERATOR, Store
from app.core.refusals import Refusal
from app.gate.activation import Activation, activate
from app.policies import revisions
from app.policies.revisions import Revision

_PAGE = 200

Tenant = Annotated[str, typer.Option(help="The tenant.")]
Number = Annotated[int, typer.Argument(min=1, help="The revision.")]


def store_file(file: policy_files.File, tenant: Tenant) -> None:
    """Store a policy as a new revision. It is not in force by that."""
    document = policy_files.load(file)

    async def keep(lane: Lane) -> Revision | Refusal:
        return await revisions.store(lane, OPERATOR, file.read_text(), document.policy)

    stored = unless_refused(store.run(lambda opened: opened.lanes.run(tenant, keep)))
    typer.echo(f"revision {stored.revision} {stored.digest}")


def list_revisions(tenant: Tenant) -> None:
    """List the newest revisions, and which is in force."""

    async def read(opened: Store) -> None:
        epochs = await opened.database.read(lambda reader: heads.epochs(reader, tenant))
        found = await opened.database.read(lambda reader: revisions.newest(reader, tenant, 2**62, _PAGE))
        for one in found:
            state = "in force" if one.revision == epochs.policy_revision else ""
            typer.echo(f"{one.revision}\t{one.version or '-'}\t{one.digest}\t{one.created_by}\t{state}")

    store.run(read)


def show_revision(revision: Number, tenant: Tenant) -> None:
    """Print the document of a revision as it was stored."""
    typer.echo(store.run(lambda opened: _find(opened, tenant, revision)).document, nl=False)


def activate_revision(
    revision: Number,
    tenant: Tenant,
    expected: Annotated[int | None, typer.Option(help="Refuse unless this revision is in force now.")] = None,
) -> None:
    """Bring a revision into force, in one step for all replicas."""

    async def run(opened: Store) -> Refusal | None:
        wanted = Activation(
            credential_id=None,
            revision=await _find(opened, tenant, revision),
            expected=expected,
            unconditional=expected is None,
            operator=OPERATOR,
        )
        return await activate(opened.database, opened.builder, tenant, wanted)

    unless_refused(store.run(run))
    typer.echo(f"Revision {revision} is in force.")


async def _find(opened: Store, tenant: str, revision: int) -> Revision:
    found = await opened.database.read(lambda reader: revisions.read(reader, tenant, revision))
    if found is None:
        raise RefusedError(f"{tenant} has no revision {revision}; `countersignd policy list` shows them")
    return found
