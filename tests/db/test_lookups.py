"""Whatever Postgres knows of its tables, a group finds what it asks for by its keys, and reads little else.

Statistics are missing in a table that has just grown, and out of date in one that grows fast. A statement whose plan
then goes by another index reads everything that is open in a tenant, for each group, and for the next a little more.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import pytest
from pydantic_core import to_json
from sqlalchemy import Boolean, Column, DateTime, Double, Integer, Numeric, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from app.approvals.book import ApprovalBook
from app.core.policy.limits import Limit, Metric
from app.core.windows import Rolling
from app.db import books
from app.db.database import Database, Writer
from app.effects.book import EffectBook
from app.evidence.book import EvidenceBook
from app.grants.lineages import HELD
from app.spend.book import SpendBook
from migrations.tables import every_table

if TYPE_CHECKING:
    from app.db.books import Book

NOW: Final = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)
MANY: Final = 5_000
MOST_BLOCKS: Final = 60
"""Of 8 KiB, for three keys. Reading all that is open in the tenant takes several hundred."""

_NEUTRAL: Final[tuple[tuple[type[Any], str], ...]] = (
    (Boolean, "false"), (Integer, "0"), (Numeric, "0"), (Double, "0"), (DateTime, ":now"), (JSONB, "'[]'"),
    (Text, "''"),
)  # fmt: skip

# Everything is open, of one principal in fifty runs, and each thing has a key of its own.
_FILLED: Final[Mapping[str, Mapping[str, str]]] = {
    "admissions": {
        "id": "'adm_' || n", "kind": "'action'", "state": "'reserved'", "principal": "'agent'",
        "digest": "'digest' || n", "run_id": "'run' || n % 50", "approval_id": "'apr_' || n",
        "idempotency_key": "'key' || n", "expires_at": "CAST(:now AS timestamptz) + n * interval '1 second'",
    },
    "effects": {"key": "'effect' || n", "admission_id": "'adm_' || n"},
    "spend_totals": {"scope": "'scope' || n", "currency": "'EUR'"},
    "spend_buckets": {
        "scope": "'scope' || n % 50", "width": "60", "currency": "'EUR'",
        "start": "CAST(:now AS timestamptz) - n * interval '1 minute'",
    },
    "spend_entries": {
        "scope": "'scope' || n % 50", "kind": "'record'", "currency": "'EUR'", "idempotency_key": "'entry' || n",
        "taken_at": "CAST(:now AS timestamptz) - n * interval '1 minute'",
    },
    "approvals": {
        "id": "'apr_' || n", "status": "'pending'", "principal": "'agent' || n % 500", "key": "'key' || n",
        "edited_key": "'edited' || n", "run_id": "'run' || n", "changed_seq": "n",
        "due_at": "CAST(:now AS timestamptz) + n * interval '1 second'",
    },
    "runs_ended": {"principal": "'agent'", "run_id": "'run' || n"},
    "verifications": {"id": "'ver_' || n", "action_digest": "'digest' || n"},
    "grants": {"id": "'grt_' || n", "subject": "'agent' || n"},
}  # fmt: skip


def filling(name: str) -> str:
    """Return the statement that fills a table with many rows."""
    values = dict(_FILLED[name])
    columns = {
        column.name: values.get(column.name) or _neutral(column)
        for column in every_table().tables[name].columns
        if column.name in values or not (column.nullable or column.identity)
    }
    columns["tenant"] = "'acme'"
    return (
        f"INSERT INTO {name} ({', '.join(columns)}) SELECT {', '.join(columns.values())} "
        f"FROM (SELECT n, CAST(:now AS timestamptz) AS now FROM generate_series(1, {MANY}) AS n) AS numbered"
    )


def _neutral(column: "Column[Any]") -> str:
    return next(sql for kind, sql in _NEUTRAL if isinstance(column.type, kind)).replace(":now", "now")


async def fill(tx: Writer) -> None:
    """Fill every table, and see that nothing is known of them but what was before."""
    for name in _FILLED:
        await tx.write(text(f"ALTER TABLE {name} SET (autovacuum_enabled = false)"))
        await tx.write(text(filling(name)), {"now": NOW})


async def know(tx: Writer) -> None:
    """Take statistics of the tables as they are now."""
    await tx.write(text("ANALYZE"))


def asked() -> dict[str, tuple[str, Sequence[Any]]]:
    """Return the fragment of every read of a group, with what it is asked for: three keys, in three of fifty runs."""
    effects, spend, approvals, evidence = EffectBook(NOW), SpendBook(NOW), ApprovalBook(NOW), EvidenceBook(NOW)
    month = Limit("month", "*", Metric.MONEY, Decimal(1), "EUR", Rolling(timedelta(minutes=20)))
    for number in (7, 77, 777):
        effects.want(f"adm_{number}")
        effects.want_idempotency_key("agent", f"key{number}", NOW - timedelta(days=7))
        effects.want_digest(f"digest{number}")
        effects.want_effects([f"effect{number}"])
        spend.want_totals([f"scope{number}"], "EUR")
        spend.want([(month, f"scope{number % 50}")])
        spend.want_entry(f"entry{number}")
        approvals.want(f"apr_{number}")
        approvals.want_call(f"key{number}")
        approvals.want_open_of(f"agent{number % 500}")
        approvals.want_run(f"agent{number % 500}", f"run{number}")
        evidence.want(f"ver_{number}")
    effects.want_lapsed()
    approvals.want_due()
    approvals.want_erasable(NOW)
    found: dict[str, tuple[str, Sequence[Any]]] = {"grants_held": (HELD, ["agent7", "agent77", "agent777"])}
    rooms: tuple[Book, ...] = (effects, spend, approvals, evidence)
    for book in rooms:
        found |= {name: (book.READS[name], wants) for name, wants in book.wants().items() if wants}
    return found


def blocks(plan: Mapping[str, Any]) -> int:
    """Return how many blocks a plan has read."""
    return int(plan["Shared Hit Blocks"]) + int(plan["Shared Read Blocks"])


def indexes(plan: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ways by which a plan reads tables."""
    if "Relation Name" in plan:
        yield f"{plan['Node Type']} {plan.get('Index Name', '')} of {plan['Relation Name']}"
    for part in plan.get("Plans", ()):
        yield from indexes(part)


async def _plan(tx: Writer, name: str, sql: str, wants: Sequence[Any]) -> Mapping[str, Any]:
    """Run a fragment as a prepared statement, and return how it was run."""
    prepared = books.reading([(name, sql)]).replace(":tenant", "$1").replace(f":{name}", "$2")
    value = to_json(wants).decode().replace(":", r"\:")  # a colon that begins no parameter
    await tx.write(text(f"PREPARE {name} (text, jsonb) AS {prepared}"))
    rows = await tx.rows(text(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE {name} ('acme', '{value}')"))
    plan: Mapping[str, Any] = json.loads(rows[0][0])[0]["Plan"]
    return plan


@pytest.fixture(scope="module")
def names() -> Sequence[str]:
    """Every fragment that a group reads, but for those that look at all open questions because they have to."""
    return sorted(asked())


@pytest.mark.parametrize("known", ["nothing", "that it was empty", "everything"])
@pytest.mark.parametrize("planned", ["force_custom_plan", "force_generic_plan"])
async def test_a_group_reads_by_its_keys(database: Database, names: Sequence[str], known: str, planned: str) -> None:
    if known == "that it was empty":
        await database.transact(know)
    await database.transact(fill)
    if known == "everything":
        await database.transact(know)
    wanted = asked()

    async def explain(tx: Writer) -> dict[str, Mapping[str, Any]]:
        await tx.rows(text(f"SET LOCAL plan_cache_mode = {planned}"))
        return {name: await _plan(tx, name, *wanted[name]) for name in names}

    plans = await database.transact(explain)
    greedy = [
        f"{name} reads {blocks(plan)} blocks by {', '.join(indexes(plan))}"
        for name, plan in plans.items()
        if blocks(plan) > MOST_BLOCKS
    ]
    assert not greedy, "\n".join(greedy)
