"""Durations as an operator types them."""

from datetime import timedelta

import typer

from app.core.durations import DurationError, parse_duration


def duration(text: str) -> timedelta:
    """Return the duration that the text says, such as 30d.

    Raises:
        BadParameter: it says none.
    """
    try:
        return parse_duration(text)
    except DurationError as error:
        raise typer.BadParameter(str(error)) from error
