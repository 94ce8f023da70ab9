"""The command and its parts."""

from pathlib import Path
from typing import Annotated

import typer

from countersign.cli import approvals, audit, delegations, effects, spend
from countersign.cli.screen import as_json, sheet
from countersign.cli.session import Session, client_of

app = typer.Typer(
    name="countersign",
    help="Approve what agents ask for, look after effects and money, verify the record.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(approvals.app, name="approvals")
app.add_typer(delegations.app, name="delegations")
app.add_typer(effects.app, name="effects")
app.add_typer(spend.app, name="spend")
app.add_typer(audit.app, name="audit")


@app.callback()
def options(
    context: typer.Context,
    url: Annotated[
        str | None,
        typer.Option(envvar="COUNTERSIGN_URL", help="Where the service is; http://127.0.0.1:8321 if not said."),
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(envvar="COUNTERSIGN_KEY_FILE", help="A file with the key; without it COUNTERSIGN_KEY is the key."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--as", help="Which key, where the file is a JSON object of several.")
    ] = None,
) -> None:
    """Keep what stands before the command."""
    context.obj = Session(url, key_file, name)


@app.command()
def whoami(
    context: typer.Context, json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False
) -> None:
    """Say who the key belongs to, and what it may do."""
    with client_of(context) as client:
        found = client.request("GET", "/v1/whoami")
    as_json(found) if json else sheet(found)


def run() -> None:
    """Run the command."""
    app()
