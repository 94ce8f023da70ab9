"""`countersignd keys`: make, list and revoke API keys."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Annotated

import typer

from app.audit.lane import Lane
from app.cli import store
from app.cli.durations import duration
from app.cli.refused import unless_refused
from app.cli.store import OPERATOR, Store
from app.core.refusals import Refusal
from app.db.database import Database
from app.db.statements import Row
from app.identity import credentials
from app.identity.credentials import IssuedKey, NewKey
from app.identity.principals import Statement
from app.identity.rights import BUNDLES, SINGLY

_PAGE = 200
_BUNDLES = f"Rights by bundle: {', '.join(BUNDLES)}. May be repeated."
_RIGHTS = f"Further rights: {', '.join(sorted(SINGLY))}. May be repeated."
_SPAN = "When it expires, such as 30d; by default never."

app = typer.Typer(name="keys", help="Make, list and revoke API keys.")


class Kind(StrEnum):
    """What a principal is."""

    AGENT = "agent"
    SERVICE = "service"
    HUMAN = "human"


def _bundle(text: str) -> str:
    return _one_of(text, BUNDLES)


def _right(text: str) -> str:
    return _one_of(text, SINGLY)


def _one_of(text: str, names: Iterable[str]) -> str:
    if text not in names:
        raise typer.BadParameter(f"one of {', '.join(sorted(names))}")
    return text


@app.command()
def create(
    tenant: Annotated[str, typer.Option(help="The tenant.")],
    principal: Annotated[str, typer.Option(help="Whose key it is; made if there is none of that name.")],
    kind: Annotated[Kind, typer.Option(help="What the principal is.")],
    bundle: Annotated[list[str] | None, typer.Option(parser=_bundle, metavar="NAME", help=_BUNDLES)] = None,
    right: Annotated[list[str] | None, typer.Option(parser=_right, metavar="NAME", help=_RIGHTS)] = None,
    role: Annotated[list[str] | None, typer.Option(help="Roles that approver rules use; may be repeated.")] = None,
    owner: Annotated[str | None, typer.Option(help="Whose principal it is; by default its own.")] = None,
    environment: Annotated[str, typer.Option(help="Where its calls come from, such as production.")] = "",
    speak_for: Annotated[list[str] | None, typer.Option(help="Principals it may name as who asks.")] = None,
    expires_in: Annotated[timedelta | None, typer.Option(parser=duration, metavar="SPAN", help=_SPAN)] = None,
) -> None:
    """Make a key and print it. It is shown once."""
    roles = frozenset(role) if role else None
    new_key = NewKey(
        principal=Statement(principal, kind, owner, roles),
        bundles=frozenset(bundle or ()),
        rights=frozenset(right or ()),
        speak_for=frozenset(speak_for or ()),
        environment=environment,
        expires_in=expires_in,
    )
    issued = store.change(lambda opened: _issue(opened, tenant, new_key))
    for finding in issued.findings:
        typer.echo(f"note: {finding}", err=True)
    typer.echo(issued.key)


@app.command()
def revoke(key_id: Annotated[str, typer.Argument(help="The key's id, as `keys list` shows it.")]) -> None:
    """End a key for good, on every replica with the next request."""
    tenant, _, _ = key_id.rpartition("-")

    async def end(opened: Store) -> Refusal | None:
        return await opened.lanes.run(tenant, lambda lane: credentials.revoke(lane, key_id, OPERATOR))

    unless_refused(store.change(end))
    typer.echo(f"{key_id} is revoked.")


@app.command("list")
def show(tenant: Annotated[str, typer.Option(help="The tenant.")]) -> None:
    """List the keys of a tenant, never their secrets."""
    for key in store.read(lambda database: _all(database, tenant)):
        rights = " ".join([*key.bundles, *key.rights])
        state = "revoked" if key.revoked_at else f"until {key.expires_at:%Y-%m-%d}" if key.expires_at else "in force"
        typer.echo(f"{key.id}\t{key.principal} ({key.kind} of {key.owner})\t{rights}\t{state}")


async def _issue(opened: Store, tenant: str, new_key: NewKey) -> IssuedKey:
    async def issue(lane: Lane) -> IssuedKey | Refusal:
        return await credentials.issue(lane, new_key, OPERATOR)

    return unless_refused(await opened.lanes.run(tenant, issue))


async def _all(database: Database, tenant: str) -> list[Row]:
    found: list[Row] = []
    while page := await _page(database, tenant, found[-1].id if found else ""):
        found.extend(page)
    return found


async def _page(database: Database, tenant: str, after: str) -> Sequence[Row]:
    return await database.read(lambda reader: credentials.page(reader, tenant, None, after, _PAGE))
