"""`countersign effects`: what became of consequences that may happen once."""

from typing import Annotated, Any
from urllib.parse import quote

import typer

from countersign._calls import Money
from countersign.cli.screen import as_json, money, say, sheet, table
from countersign.cli.session import client_of, pages

app = typer.Typer(help="Look at effects, and clear up the unknown ones.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]


@app.command()
def show(
    context: typer.Context,
    key: Annotated[str, typer.Argument(help="The effect key, such as voucher:AB12.")],
    json: Json = False,
) -> None:
    """Show one effect.

    Its state, its attempt, and the admission behind it.
    """
    with client_of(context) as client:
        found = client.request("GET", "/v1/effects", params={"key": key})
    as_json(found) if json else sheet(found)


@app.command()
def unknown(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 100,
    json: Json = False,
) -> None:
    """List admissions whose outcome nobody knows.

    They keep their effect and their money until they are resolved.
    """
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
    cost: Annotated[
        str | None, typer.Option("--actual-cost", metavar="'12.50 EUR'", help="What it cost, if not what was held.")
    ] = None,
    json: Json = False,
) -> None:
    """Say what came of an unknown admission; it is final."""
    body: dict[str, Any] = {"outcome": "executed" if executed else "not_executed", "reason": reason}
    if cost is not None:
        body["actual_cost"] = _money(cost)
    with client_of(context) as client:
        made = client.request("POST", f"/v1/admissions/{quote(admission, safe='')}/resolve", body=body)
    as_json(made) if json else say(f"{admission} is {body['outcome']}.")


def _money(text: str) -> dict[str, str]:
    try:
        return Money(*text.split(" ")).as_json()
    except (TypeError, ValueError):
        raise typer.BadParameter("an amount and a currency, such as '12.50 EUR'", param_hint="--actual-cost") from None


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
