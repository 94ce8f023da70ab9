"""What people see: tables and sheets of text that others wrote, shown as text and never obeyed by the terminal."""

import json
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

_PIPE_WIDTH = 200
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def console(*, errors: bool = False) -> Console:
    """Return where output goes; a pipe gets wide lines, so that nothing is cut."""
    stream = sys.stderr if errors else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    return Console(stderr=errors, width=width, highlight=False, markup=False, emoji=False)


def complain(message: str) -> None:
    """Say on standard error what went wrong."""
    console(errors=True).print(Text(f"countersign: {plain(message)}"), soft_wrap=True)


def say(message: str) -> None:
    """Say a sentence."""
    console().print(Text(plain(message)), soft_wrap=True)


def as_json(value: Any) -> None:
    """Print a value for a script."""
    sys.stdout.write(json.dumps(value, ensure_ascii=True, indent=2) + "\n")


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, nothing: str) -> None:
    """Print rows under their columns, or say that there are none."""
    listed = list(rows)
    if not listed:
        say(nothing)
        return
    grid = Table(*columns, box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for row in listed:
        grid.add_row(*map(cell, row))
    console().print(grid)


def sheet(facts: Mapping[str, Any]) -> None:
    """Print one thing: a name and what it is, a line each; what is empty is left out."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column(overflow="fold")
    for name, value in facts.items():
        if value not in (None, "", [], {}):
            grid.add_row(name, cell(value))
    console().print(grid)


def cell(value: Any) -> Text:
    """Return a value as text: lists with commas, a line for each member of an object, nothing as a dash."""
    if value in (None, "", []):
        return Text("-", style="dim")
    if isinstance(value, list):
        return Text(", ".join(str(cell(element)) for element in value))
    if isinstance(value, Mapping):
        return Text(
            "\n".join(plain(f"{name} = {json.dumps(each, ensure_ascii=False)}") for name, each in value.items())
        )
    return Text(plain(str(value)))


def plain(text: str) -> str:
    """Return the text with what a terminal would obey, or a person not see, written out as an escape."""
    return "".join(f"\\u{ord(each):04x}" if unicodedata.category(each) in _INVISIBLE else each for each in text)


def money(value: Any) -> str:
    """Return money as people write it: `12.50 EUR`."""
    return f"{value.get('amount')} {value.get('currency')}" if isinstance(value, Mapping) else ""


def time_left(moment: Any) -> str:
    """Return how long it is until a moment: `12 min`, or `over`."""
    try:
        seconds = int((datetime.fromisoformat(moment) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return ""
    if seconds <= 0:
        return "over"
    for length, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"
