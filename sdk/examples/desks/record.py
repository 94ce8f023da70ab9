"""The record of the day: exported, verified without the service, tampered with, and verified again."""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from countersign import Countersign
from desks.laptop import Laptop

_COMMAND = Path(sys.executable).parent / "countersign"


@dataclass(frozen=True, slots=True)
class Export:
    """What an auditor takes away: the records, the public keys, and the head to which they lead."""

    records: Path
    keys: Path
    head: str

    def events(self) -> Counter[str]:
        """How many records there are of each type."""
        return Counter(record["event_type"] for record in self.read())

    def read(self) -> list[Mapping[str, Any]]:
        """Return the records."""
        return [json.loads(line) for line in self.records.read_text().splitlines()]


def exported(laptop: Laptop, auditor: Countersign) -> Export:
    """Fetch the record as an auditor does."""
    head = auditor.request("GET", "/v1/audit/head")
    keys = laptop.folder / "keys.json"
    keys.write_text(json.dumps(auditor.request("GET", "/v1/audit/keys")))
    records = laptop.folder / "export.jsonl"
    with httpx.Client(base_url=laptop.url, trust_env=False, timeout=60) as http:
        export = http.get("/v1/audit/export", headers={"Authorization": f"Bearer {laptop.keys['auditor']}"})
        records.write_bytes(export.raise_for_status().content)
    return Export(records, keys, head["hash"])


def verified(export: Export, records: Path | None = None) -> tuple[int, str]:
    """Verify the export, or another file in its place, offline; return the exit status and what was said."""
    wanted = ["--keys", str(export.keys), "--head", export.head]
    command = [str(_COMMAND), "audit", "verify", str(records or export.records), *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def with_a_smaller_amount(export: Export) -> Path:
    """Write a copy in which somebody made one amount a little smaller."""
    lines = export.records.read_text().splitlines(keepends=True)
    for place, line in enumerate(lines):
        changed, number = re.subn(r'("amount":"[0-9]*)[1-9]([0-9]\.)', r"\g<1>0\g<2>", line, count=1)
        if number:
            lines[place] = changed
            break
    return _written(export, "tampered.jsonl", lines)


def without_its_end(export: Export) -> Path:
    """Write a copy that ends one record early."""
    return _written(export, "shortened.jsonl", export.records.read_text().splitlines(keepends=True)[:-1])


def _written(export: Export, name: str, lines: list[str]) -> Path:
    path = export.records.with_name(name)
    path.write_text("".join(lines))
    return path
