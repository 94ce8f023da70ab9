"""`countersignd tenants`: make and list tenants."""

from typing import Annotated

import typer

from app.cli import store
from app.cli.refused import unless_refused
from app.cli.store import OPERATOR, Store
from app.db.database import Database
from app.identity import tenants
from app.identity.credentials import IssuedKey, NewKey
from app.identity.principals import Statement
from app.identity.rights import SYSTEM_TENANT

_PAGE = 200

app = typer.Typer(name="tenants", help="Make and list tenants: each is a lane, a chain and an authority of its own.")


@app.command()
def create(
    tenant: Annotated[str, typer.Argument(help="Its name: a-z, 0-9 and -. The tenant `system` makes tenants by HTTP.")],
    principal: Annotated[str, typer.Option(help="Whose the first key is.")] = "admin",
) -> None:
    """Make a tenant and print its first key, which may make further keys and principals. It is shown once."""
    bundle = "platform" if tenant == SYSTEM_TENANT else "admin"
    new_key = NewKey(Statement(principal, "human"), bundles=frozenset({bundle}))

    async def make(opened: Store) -> IssuedKey:
        return unless_refused(await tenants.create(opened.lanes, tenant, new_key, OPERATOR))

    typer.echo(store.change(make).key)


@app.command("list")
def show() -> None:
    """List the tenants and the length of their records."""

    async def names(database: Database) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        while page := await database.read(lambda reader: tenants.page(reader, found[-1][0] if found else "", _PAGE)):
            found.extend((row.tenant, row.seq) for row in page)
        return found

    for tenant, records in store.read(names):
        typer.echo(f"{tenant}\t{records} records")
