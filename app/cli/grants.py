"""`countersignd grants`: make, list, revoke and require grants."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import typer

from app.audit.lane import Lane
from app.cli import store
from app.cli.durations import duration
from app.cli.refused import unless_refused
from app.cli.store import OPERATOR
from app.core.refusals import Refusal
from app.core.values import Json
from app.db.database import Database
from app.db.statements import Row
from app.gate import granting
from app.gate.granting import Granter, Wish
from app.grants import queries
from app.grants.queries import Filter

_PAGE = 200

app = typer.Typer(name="grants", help="Make, list, revoke and require grants: who may ask for what.")

Tenant = Annotated[str, typer.Option(help="The tenant.")]


def _budget(text: str) -> dict[str, Json]:
    amount, _, currency = text.partition(" ")
    return {"amount": amount, "currency": currency}


@app.command()
def create(
    tenant: Tenant,
    subject: Annotated[str, typer.Option(help="The principal that may ask.")],
    action: Annotated[list[str], typer.Option(help="What for: a name, `prefix.*` or `prefix.**`. May be repeated.")],
    asset: Annotated[list[str] | None, typer.Option(help="On what, `*` for any run of characters.")] = None,
    environment: Annotated[list[str] | None, typer.Option(help="Where. May be repeated.")] = None,
    condition: Annotated[list[str] | None, typer.Option(help="CEL that has to hold. May be repeated.")] = None,
    budget: Annotated[list[str] | None, typer.Option(help="For all calls together, such as '500.00 EUR'.")] = None,
    expires_in: Annotated[timedelta | None, typer.Option(parser=duration, metavar="SPAN", help="Such as 30d.")] = None,
    delegable: Annotated[bool, typer.Option("--delegable", help="The subject may delegate parts of it.")] = False,
) -> None:
    """Make a root grant and print its id. What is not bounded is unbounded."""
    bounds: dict[str, Sequence[Json] | None] = {
        "actions": action,
        "assets": asset,
        "environments": environment,
        "conditions": condition,
        "budgets": [_budget(text) for text in budget or ()],
    }
    stated = {name: list(bound) for name, bound in bounds.items() if bound}
    wish = Wish(subject, stated, expires_in, delegable)

    async def make(lane: Lane) -> str | Refusal:
        return await granting.create(lane, OPERATOR, wish)

    typer.echo(unless_refused(store.change(lambda opened: opened.lanes.run(tenant, make))))


@app.command()
def revoke(tenant: Tenant, grant_id: Annotated[str, typer.Argument(help="As `grants list` shows it.")]) -> None:
    """End a grant, and all that was delegated from it, with the next request."""
    by = Granter(OPERATOR, administers=True)

    async def end(lane: Lane) -> Refusal | None:
        return await granting.revoke(lane, by, grant_id)

    unless_refused(store.change(lambda opened: opened.lanes.run(tenant, end)))
    typer.echo(f"{grant_id} is revoked, and with it all that was delegated from it.")


@app.command("list")
def show(
    tenant: Tenant,
    subject: Annotated[str | None, typer.Option(help="Only what this principal holds.")] = None,
) -> None:
    """List the grants of a tenant and whether it requires them."""
    required, grants = store.read(lambda database: _all(database, tenant, Filter(subject)))
    typer.echo(f"grants are {'required' if required else 'not required'} in {tenant}")
    for grant in grants:
        typer.echo("\t".join((grant.id, grant.subject, _actions(grant), f"from {grant.parent or '-'}", _state(grant))))


@app.command()
def require(
    tenant: Tenant,
    off: Annotated[bool, typer.Option("--off", help="Let grants play no part any more.")] = False,
) -> None:
    """Require a grant of every principal that asks, with the next request."""

    async def switch(lane: Lane) -> None:
        await granting.require(lane, OPERATOR, required=not off)

    store.change(lambda opened: opened.lanes.run(tenant, switch))
    typer.echo(f"Grants are {'not ' if off else ''}required in {tenant}.")


async def _all(database: Database, tenant: str, wanted: Filter) -> tuple[bool, list[Row]]:
    found: list[Row] = []
    while page := await _page(database, tenant, wanted, found[-1].id if found else ""):
        found.extend(page)
    return await database.read(lambda reader: queries.required(reader, tenant)), found


async def _page(database: Database, tenant: str, wanted: Filter, after: str) -> Sequence[Row]:
    return await database.read(lambda reader: queries.page(reader, tenant, wanted, after, _PAGE))


def _actions(grant: Row) -> str:
    bounds = grant.bounds if isinstance(grant.bounds, dict) else {}
    return " ".join(map(str, bounds.get("actions", ["unreadable"])))


def _state(grant: Row) -> str:
    if grant.revoked_at:
        return "revoked"
    return f"until {grant.expires_at:%Y-%m-%d %H:%M}" if grant.expires_at else "in force"
