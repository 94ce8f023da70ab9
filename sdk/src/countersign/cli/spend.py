"""`countersign spend`: what is held and spent on each scope, and what is left."""

from collections.abc import Mapping
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
    """List the scopes, and what was ever held and spent on them."""
    with client_of(context) as client:
        found = pages(client, "/v1/spend", {"prefix": prefix} if prefix else {}, limit)
    if json:
        as_json(found)
        return
    rows = [(scope.get("scope"), *_sums(sums)) for scope in found for sums in scope.get("sums") or [{}]]
    table(("scope", "currency", "held", "spent", "credited", "calls"), rows, nothing=_NOTHING)


@app.command()
def show(
    context: typer.Context,
    scope: Annotated[str, typer.Argument(help="The scope, such as booking:AB12.")],
    json: Json = False,
) -> None:
    """Show every limit of one scope.

    What counts against it now, and what is left.
    """
    with client_of(context) as client:
        found = client.request("GET", "/v1/spend/scope", params={"scope": scope})
    if json:
        as_json(found)
        return
    rows = [_standing(limit) for limit in found.get("limits") or []]
    table(("limit", "window", "of", "held", "spent", "left"), rows, nothing="No limit covers this scope.")


@app.command()
def entries(
    context: typer.Context,
    scope: Annotated[str, typer.Argument(help="The scope, such as booking:AB12.")],
    limit: Limit = 100,
    json: Json = False,
) -> None:
    """List what happened on one scope.

    Holds, settlements, releases, records and credits, the newest first.
    """
    with client_of(context) as client:
        found = pages(client, "/v1/spend/entries", {"scope": scope}, limit)
    if json:
        as_json(found)
        return
    rows = [
        (each.get("at"), each.get("kind"), money(each), each.get("action"), each.get("admission_id")) for each in found
    ]
    table(("time", "kind", "amount", "action", "admission"), rows, nothing=_NOTHING)


def _sums(sums: Mapping[str, Any]) -> tuple[Any, ...]:
    calls = sum(int(sums.get(name) or 0) for name in ("held_count", "spent_count"))
    return (*(sums.get(name) for name in ("currency", "held", "spent", "credited")), calls)


def _standing(limit: Mapping[str, Any]) -> tuple[Any, ...]:
    stated = limit.get("limit")
    of = money(stated) or (f"{stated} calls" if limit.get("metric") == "count" else stated)
    return limit.get("name"), limit.get("window"), of, *(limit.get(name) for name in ("held", "spent", "left"))
