"""`countersign audit verify`: whether an export is what was recorded, with no service at hand."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from countersign._json import load
from countersign._records import GENESIS
from countersign._verification import STEPS, Verification, verify_export
from countersign.cli.screen import as_json, complain, say

app = typer.Typer(help="Verify the record, without the service.", no_args_is_help=True)

EXIT_CODES = {"proved": 0, "broken": 1, "unreadable": 2, "consistent": 3}


@app.callback()
def group() -> None:
    """Keep `verify` a command of its own."""


@app.command()
def verify(
    export: Annotated[Path, typer.Argument(metavar="EXPORT", help="The exported record, one JSON object a line.")],
    keys: Annotated[
        Path | None, typer.Option(help="Public keys that you trust: what /v1/audit/keys answers, or {name: PEM}.")
    ] = None,
    head: Annotated[
        str | None, typer.Option(metavar="HEX", help="The last hash, from where the service cannot write.")
    ] = None,
    from_seq: Annotated[int, typer.Option(metavar="N", min=0, help="The number of the first record of a range.")] = 0,
    prev: Annotated[str, typer.Option(metavar="HEX", show_default=False, help="The hash before a range.")] = GENESIS,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for a script.")] = False,
) -> None:
    """Verify an exported record: its numbers, links, hashes, times, signatures and end.

    Exit codes: 0 keys and head are given and all holds; 3 it is consistent, but not signed or not anchored; 1 it is
    broken; 2 it cannot be read as an export.
    """
    try:
        trusted = None if keys is None else _keys(keys)
        with export.open("rb") as lines:
            found = verify_export(lines, keys=trusted, head=head, from_seq=from_seq, prev=prev)
    except ImportError as error:
        complain(f"{error.name} is missing; install it with: pip install 'countersign[verify]'")
        raise typer.Exit(EXIT_CODES["unreadable"]) from None
    except (ValueError, OSError) as error:
        complain(_sentence(error))
        raise typer.Exit(EXIT_CODES["unreadable"]) from None
    as_json({**asdict(found), "ok": found.ok}) if json else _tell(found)
    raise typer.Exit(EXIT_CODES[found.verdict])


def _keys(path: Path) -> dict[str, Any]:
    try:
        document = load(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(document, dict):
        raise ValueError(f"{path}: it is not a JSON object of keys")  # noqa: TRY004 - a wrong value in a document
    return document


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _tell(found: Verification) -> None:
    for number, step in enumerate(STEPS, start=1):
        say(f"  {number}. {step}: {_state(found, number)}")
    say("")
    for sentence in _verdict(found):
        say(sentence)


def _state(found: Verification, number: int) -> str:
    asked = {6: found.signed, 7: found.anchored}.get(number, True)
    if not asked:
        return "not asked, no head given" if number == len(STEPS) else "not asked, no keys given"
    if number == found.failed:
        return "NO"
    if found.failed is None:
        return "yes"
    return f"yes, for {_records(found.records)}" if found.records and number < len(STEPS) else "not reached"


def _verdict(found: Verification) -> list[str]:
    end = found.first + found.records - 1
    what = f"{_records(found.records)}, {found.first} to {end}" if found.records else "no record"
    if found.verdict == "broken":
        place = "at the end" if found.broken_at is None else f"at record {found.broken_at} (line {found.line})"
        return [f"BROKEN {place}: {found.reason}."]
    if found.verdict == "unreadable":
        place = "" if found.line is None else f", line {found.line}"
        return [f"NOT READABLE{place}: {found.reason}."]
    if found.verdict == "proved":
        return [f"PROVED: {what}, signed by your keys, unchanged and complete to the head you gave.", *_before(found)]
    return [f"CONSISTENT, and no more: {what}.", *_unproved(found), *_before(found)]


def _unproved(found: Verification) -> list[str]:
    missing = [] if found.signed else ["Without --keys, the whole chain could have been made anew."]
    return missing if found.anchored else [*missing, "Without --head, records could be missing at the end."]


def _before(found: Verification) -> list[str]:
    return (
        [f"The records before {found.first} are not in this file, and nothing is said of them."] if found.first else []
    )


def _records(number: int) -> str:
    return "1 record" if number == 1 else f"{number} records"
