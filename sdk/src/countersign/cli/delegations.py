"""`countersign delegations`: lending one's vote."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

import typer

from countersign.cli.screen import as_json, say, table, time_left
from countersign.cli.session import client_of, pages

app = typer.Typer(help="Lend your vote to somebody for a while.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]


@app.command("list")
def list_(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 100,
    json: Json = False,
) -> None:
    """List what you have lent and borrowed, ended ones too."""
    with client_of(context) as client:
        found = pages(client, "/v1/delegations", {}, limit)
    if json:
        as_json(found)
        return
    rows = [(each.get("id"), each.get("from"), each.get("to"), each.get("labels"), _left(each)) for each in found]
    table(("id", "from", "to", "labels", "left"), rows, nothing="No votes are lent.")


@app.command()
def lend(
    context: typer.Context,
    to: Annotated[str, typer.Argument(help="The principal who may vote in your place.")],
    duration: Annotated[str, typer.Option("--for", help="How long, such as 90m, 8h or 5d.")],
    label: Annotated[
        list[str] | None, typer.Option(help="Only for questions with this label; may be repeated.")
    ] = None,
    json: Json = False,
) -> None:
    """Let somebody vote in your place for a while."""
    body = {"to": to, "expires_in": duration, **({"labels": label} if label else {})}
    with client_of(context) as client:
        made = client.request("POST", "/v1/delegations", body=body)
    as_json(made) if json else say(f"{to} may vote in your place for {duration} ({made.get('id')}).")


@app.command()
def end(context: typer.Context, delegation: Annotated[str, typer.Argument(help="Its id.")]) -> None:
    """End a delegation now."""
    with client_of(context) as client:
        client.request("DELETE", f"/v1/delegations/{quote(delegation, safe='')}")
    say("Ended.")


def _left(delegation: Mapping[str, Any]) -> str:
    return "ended" if delegation.get("revoked_at") else time_left(delegation.get("expires_at"))
