"""Whom the command asks, and as whom."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from countersign._client import Countersign
from countersign._json import load
from countersign.cli.exits import told


@dataclass(frozen=True, slots=True)
class Session:
    """The options before the command. A key comes from a file or the environment, never from the command line."""

    url: str | None
    key_file: Path | None
    name: str | None

    def client(self) -> Countersign:
        """Return a client.

        Raises:
            ValueError: there is no key, or it cannot be read.
        """
        key = os.environ.get("COUNTERSIGN_KEY") if self.key_file is None else read_key(self.key_file, self.name)
        if not key:
            raise ValueError("no key: set COUNTERSIGN_KEY, or give --key-file")
        return Countersign(self.url, key)


def read_key(path: Path, name: str | None) -> str:
    """Return the key in a file: its only line, or the member `name` of its JSON object.

    Raises:
        ValueError: the file cannot be read, or holds no such key.
    """
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"the key file cannot be read: {type(error).__name__}") from None
    if not text.startswith("{"):
        return text
    keys: dict[str, Any] = load(text)
    if name is None:
        raise ValueError(f"the key file has several keys; say --as with one of: {', '.join(sorted(keys))}")
    if name not in keys:
        raise ValueError(f"the key file has no key {name!r}; it has: {', '.join(sorted(keys))}")
    return str(keys[name])


@contextmanager
def client_of(context: typer.Context) -> Iterator[Countersign]:
    """Give the session's client, and end the command with a sentence and an exit code if something goes wrong."""
    session: Session = context.obj
    with told(), session.client() as client:
        yield client


def pages(client: Countersign, path: str, params: Mapping[str, str], limit: int) -> list[dict[str, Any]]:
    """Return up to `limit` items of a list, following its cursor."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while len(found) < limit:
        page = client.request("GET", path, params={**params, **cursor})
        found += [item for item in page.get("data") or [] if isinstance(item, dict)]
        if not isinstance(page.get("next_cursor"), str):
            break
        cursor = {"cursor": page["next_cursor"]}
    return found[:limit]
