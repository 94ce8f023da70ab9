"""`countersign spend`: what is held and spent on each scope, and what is left."""

from typing import Annotated, Any

import typer

from countersign.cli.screen import as_json, money, table
from countersign.cli.session import client_of, pages

app = typer.Typer(help="See what is held, spent and left.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]
Limit = Annotated[int, typer.Option(min=1, help="How many at most.")]

_NOTHING = "Nothing is held or spent there."


@app.command("list")
def list_(
    context: typer.Context,
    prefix: Annotated[str, typer.Option(help="Only scopes that begin like this.")] = "",
    limit: Limit = 100,
    json: Json = False,
) -> None:
    """List the scopes and their limits."""
    with client_of(context) as client:
        found = pages(client, "/v1/spend", {"prefix": prefix} if prefix else {}, limit)
    as_json(found) if json else _table(found)


@app.command()
def show(
    context: typer.Context,
    scope: Annotated[str, typer.Argument(help="The scope, such as booking:AB12.")],
    json: Json = False,
) -> None:
    """Show every limit of one scope."""
    with client_of(context) as client:
        found = client.request("GET", "/v1/spend/scope", params={"scope": scope})
    as_json(found) if json else _table([found])


@app.command()
def entries(
    context: typer.Context,
    scope: Annotated[str, typer.Argument(help="The scope, such as booking:AB12.")],
    limit: Limit = 100,
    json: Json = False,
) -> None:
    """List the entries of one scope: what was held, settled, released, recorded and credited."""
    with client_of(context) as client:
        found = pages(client, "/v1/spend/entries", {"scope": scope}, limit)
    if json:
        as_json(found)
        return
    rows = [
        (
            each.get("at") or each.get("time"),
            each.get("kind"),
            money(each),
            each.get("action"),
            each.get("admission_id"),
        )
        for each in found
    ]
    table(("time", "kind", "amount", "action", "admission"), rows, nothing=_NOTHING)


def _table(scopes: list[dict[str, Any]]) -> None:
    rows = [(scope.get("scope"), *_limit(limit)) for scope in scopes for limit in scope.get("limits") or [{}]]
    table(("scope", "limit", "window", "of", "held", "spent", "left"), rows, nothing=_NOTHING)


def _limit(limit: dict[str, Any]) -> tuple[Any, ...]:
    return (
        limit.get("name"),
        limit.get("window"),
        _amount(limit.get("limit")),
        *(_amount(limit.get(name)) for name in ("held", "spent", "left")),
    )


def _amount(value: Any) -> Any:
    return money(value) or value
