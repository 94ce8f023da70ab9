"""A database with very many records: one admission and its report, as the service wrote them, over and over again.

The rows are those of a real sample with other names in them, and the records follow the sample's in the same chain,
hashed and signed. So the tables look as after so much of the load "admit and report", and the chain verifies.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import asyncpg
import httpx
from sqlalchemy.engine import make_url

from app.core import chain
from app.core.chain import Signer
from tests.bench.grounds import TENANT, Grounds

_SAMPLE: Final = "@sample@"
"""What the sample names as its invoice and account; each copy has a name of its own there."""

_RECORDS_EACH: Final = 2
_CHUNK: Final = 5_000

_TABLES: Final = ("admissions", "effects", "spend_entries", "spend_totals", "spend_buckets", "weighed_calls")
_COLUMNS: Final = (
    "tenant", "seq", "ts", "event_type", "principal", "action", "command_id", "canonical", "hash", "key_id",
    "signature",
)  # fmt: skip

_RECORDS = """
    SELECT event_type, principal, action, canonical FROM audit_records
    WHERE tenant = $1 AND event_type IN ('admission.decided', 'admission.performed') ORDER BY seq
"""
_HEAD = "SELECT seq, hash FROM heads WHERE tenant = $1 FOR UPDATE"
_MOVE_HEAD = "UPDATE heads SET seq = $2, hash = $3, ts = $4, key_id = $5, signature = $6 WHERE tenant = $1"
_ADMISSION = "SELECT id FROM admissions WHERE tenant = $1"

# Every row of the sample again, with the names and the seq of copy n in it; a row without a seq has no use for one.
_COPIES = """
    INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT copied.* FROM {table} AS sample
    CROSS JOIN generate_series($3::int, $4::int) AS n
    CROSS JOIN LATERAL (SELECT replace(to_jsonb(sample)::text, $2, 'adm_' || lpad(n::text, 26, '0'))) AS own (row)
    CROSS JOIN LATERAL jsonb_populate_record(NULL::{table},
        replace(own.row, '{sample}', 'filling' || n)::jsonb || jsonb_build_object('seq', $5::bigint + {each} * n)
    ) AS copied
    WHERE sample.tenant = $1 AND to_jsonb(sample)::text LIKE '%{sample}%'
"""


@dataclass(slots=True)
class _Chain:
    """The end of the chain that the copies are added to."""

    seq: int
    hash: str
    signer: Signer

    def append(self, ts: datetime, event_type: str, payload: dict[str, Any]) -> tuple[Any, ...]:
        """Return the next record as a row."""
        said = chain.canonical(self.seq, chain.timestamp(ts), event_type, payload, self.hash)
        self.hash, seq = chain.hash_of(said), self.seq
        self.seq += 1
        principal, action = payload["principal"], payload["action"]
        signature = self.signer.sign(self.hash)
        return (
            TENANT, seq, ts, event_type, principal, action, f"cmd_{seq:026}", said, self.hash, self.signer.key_id,
            signature,
        )  # fmt: skip


def fill(grounds: Grounds, name: str, records: int) -> str:
    """Make a database in which the tenant's chain has so many records more than the prepared one; return its name."""
    grounds.copy(name)
    with grounds.serving(name, 1) as service:
        _admit_and_report(service.url, grounds.tenants.keys["agent"][0])
    asyncio.run(_fill(grounds, name, records // _RECORDS_EACH))
    return name


def _admit_and_report(url: str, key: str) -> None:
    arguments = {"invoice": _SAMPLE, "account": _SAMPLE, "amount": 12}
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30) as agent:
        admitted = agent.post("/v1/admit", json={"action": {"name": "bench.pay", "arguments": arguments}}).json()
        place = f"/v1/admissions/{admitted['admission']['id']}/outcome"
        agent.post(place, json={"outcome": "executed"}).raise_for_status()


async def _fill(grounds: Grounds, name: str, copies: int) -> None:
    url = make_url(grounds.url(name))
    connection = await asyncpg.connect(host=url.query["host"], user=url.username, database=name)
    try:
        async with connection.transaction():
            await _append(connection, grounds.signer, copies)
        # What autovacuum would get round to in the middle of a round.
        await connection.execute("VACUUM ANALYZE")
        await connection.execute("CHECKPOINT")
    finally:
        await connection.close()


async def _append(connection: Any, signer: Signer, copies: int) -> None:
    admission = await connection.fetchval(_ADMISSION, TENANT)
    sample = [dict(row) for row in await connection.fetch(_RECORDS, TENANT)]
    head = await connection.fetchrow(_HEAD, TENANT)
    end = _Chain(head["seq"], head["hash"], signer)
    for first in range(0, copies, _CHUNK):
        last = min(first + _CHUNK, copies) - 1
        ts = datetime.now(UTC)
        rows = list(_rows(end, ts, sample, admission, range(first, last + 1)))
        await connection.copy_records_to_table("audit_records", records=rows, columns=_COLUMNS)
        for table in _TABLES:
            statement = _COPIES.format(table=table, sample=_SAMPLE, each=_RECORDS_EACH)
            await connection.execute(statement, TENANT, admission, first, last, head["seq"])
        await connection.execute(_MOVE_HEAD, TENANT, end.seq, end.hash, ts, signer.key_id, signer.sign(end.hash))


def _rows(
    end: _Chain, ts: datetime, sample: Sequence[dict[str, Any]], admission: str, numbers: range
) -> Iterator[tuple[Any, ...]]:
    payloads = [(record["event_type"], json.dumps(json.loads(record["canonical"])["payload"])) for record in sample]
    for number in numbers:
        for event_type, payload in payloads:
            said = payload.replace(admission, f"adm_{number:026}").replace(_SAMPLE, f"filling{number}")
            yield end.append(ts, event_type, json.loads(said))
