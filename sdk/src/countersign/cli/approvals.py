"""`countersign approvals`: the questions that wait for people."""

from typing import Annotated, Any
from urllib.parse import quote

import typer

from countersign._client import Countersign
from countersign._json import load
from countersign.cli import questions
from countersign.cli.exits import REFUSED
from countersign.cli.screen import as_json, say
from countersign.cli.session import client_of, pages
from countersign.cli.watch import watch_queue

app = typer.Typer(help="See what agents ask for, and decide.", no_args_is_help=True)

PENDING = 3
"""The exit code of `show --exit-code` for a question that nobody has decided yet."""

Question = Annotated[str, typer.Argument(metavar="ID", help="The id of the question.")]
Comment = Annotated[str | None, typer.Option(help="Why; the agent is told.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]


@app.command("list")
def list_(
    context: typer.Context,
    status: Annotated[
        str | None, typer.Option(help="pending, approved, denied, expired, cancelled, superseded, consumed.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also those that you may see and not decide.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 100,
    json: Json = False,
) -> None:
    """List the questions that wait for you, the oldest first."""
    params = {"status": status or ("" if everything else "pending"), "mine": "" if everything else "true"}
    with client_of(context) as client:
        found = pages(client, "/v1/approvals", {name: value for name, value in params.items() if value}, limit)
    as_json(found) if json else questions.queue(found, nothing="Nothing waits for you.")


@app.command()
def show(
    context: typer.Context,
    question: Question,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with 0 if it is approved, 3 if it is pending, else 1.")
    ] = False,
    json: Json = False,
) -> None:
    """Show one question whole.

    What will happen, why it was held, who has voted and who is still needed.
    """
    with client_of(context) as client:
        found = _read(client, question)
    as_json(found) if json else questions.whole(found)
    if exit_code:
        raise typer.Exit({"approved": 0, "consumed": 0, "pending": PENDING}.get(str(found.get("status")), REFUSED))


@app.command()
def approve(
    context: typer.Context,
    question: Question,
    comment: Comment = None,
    edit: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Approve with another value; JSON, or else text."),
    ] = None,
    on_behalf_of: Annotated[str | None, typer.Option(help="The person who said so, if you are a bridge.")] = None,
    json: Json = False,
) -> None:
    """Approve a question: this call, once."""
    with client_of(context) as client:
        arguments = _edited(_read(client, question), edit) if edit else None
        body = {"decision": "approve", "comment": comment, "arguments": arguments, "on_behalf_of": on_behalf_of}
        _told(_decide(client, question, body), json)


@app.command()
def deny(
    context: typer.Context,
    question: Question,
    comment: Comment = None,
    on_behalf_of: Annotated[str | None, typer.Option(help="The person who said so, if you are a bridge.")] = None,
    json: Json = False,
) -> None:
    """Deny a question; one no is final."""
    with client_of(context) as client:
        body = {"decision": "deny", "comment": comment, "on_behalf_of": on_behalf_of}
        _told(_decide(client, question, body), json)


@app.command()
def watch(
    context: typer.Context,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two looks at the queue.")] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Ask about what waits now, and end.")] = False,
) -> None:
    """Ask in the terminal about each new question.

    Only a clear yes approves; any other answer denies. Ctrl-C, or the end of the input, leaves questions open.
    """
    with client_of(context) as client:
        watch_queue(client, every=every, once=once)


def _read(client: Countersign, question: str) -> dict[str, Any]:
    return client.request("GET", f"/v1/approvals/{quote(question, safe='')}")


def _decide(client: Countersign, question: str, body: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in body.items() if value is not None}
    return client.request("POST", f"/v1/approvals/{quote(question, safe='')}/decision", body=given)


def _told(found: dict[str, Any], json: bool) -> None:
    as_json(found) if json else say(f"{found.get('id')} is {found.get('status')}.")


def _edited(question: dict[str, Any], edits: list[str]) -> dict[str, Any]:
    """Return the question's arguments with other values.

    Raises:
        ValueError: an edit is not NAME=VALUE, names no argument, or the arguments are not for this key to see.
    """
    arguments = question.get("arguments")
    if not isinstance(arguments, dict):
        raise ValueError("the arguments of this question are not shown to you, so you cannot edit them")  # noqa: TRY004
    return {**arguments, **dict(_edit(each, arguments) for each in edits)}


def _edit(text: str, arguments: dict[str, Any]) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or name not in arguments:
        raise ValueError(f"--set is NAME=VALUE with one of: {', '.join(sorted(arguments))}")
    try:
        return name, load(value)
    except ValueError:
        return name, value
