"""`countersign effects`: what became of consequences that may happen once."""

from typing import Annotated, Any
from urllib.parse import quote

import typer

from countersign.cli.screen import as_json, money, say, sheet, table
from countersign.cli.session import client_of, pages

app = typer.Typer(help="Look at effects, and say what came of those that nobody knows.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]


@app.command()
def show(
    context: typer.Context,
    key: Annotated[str, typer.Argument(help="The effect key, such as voucher:AB12.")],
    json: Json = False,
) -> None:
    """Show one effect: its state, its attempt, and the admission behind it."""
    with client_of(context) as client:
        found = client.request("GET", "/v1/effects", params={"key": key})
    as_json(found) if json else sheet(found)


@app.command()
def unknown(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 100,
    json: Json = False,
) -> None:
    """List the admissions of which nobody knows what came: they keep their effect and their money until resolved."""
    with client_of(context) as client:
        found = pages(client, "/v1/admissions", {"state": "unknown"}, limit)
    as_json(found) if json else table(
        ("admission", "action", "asset", "effect", "cost", "principal", "since"),
        map(_row, found),
        nothing="Nothing is unknown.",
    )


@app.command()
def resolve(
    context: typer.Context,
    admission: Annotated[str, typer.Argument(help="The id of the unknown admission.")],
    reason: Annotated[str, typer.Option(help="How you know; it goes into the record.")],
    executed: Annotated[bool, typer.Option("--executed/--not-executed", help="Whether it happened.")],
    json: Json = False,
) -> None:
    """Say what came of an unknown admission."""
    body = {"outcome": "executed" if executed else "not_executed", "reason": reason}
    with client_of(context) as client:
        made = client.request("POST", f"/v1/admissions/{quote(admission, safe='')}/resolve", body=body)
    as_json(made) if json else say(f"{admission} is {body['outcome']}.")


def _row(admission: dict[str, Any]) -> tuple[Any, ...]:
    return (
        admission.get("id"),
        admission.get("action"),
        admission.get("asset"),
        admission.get("effect"),
        money(admission.get("cost")),
        admission.get("principal"),
        admission.get("expires_at"),
    )
