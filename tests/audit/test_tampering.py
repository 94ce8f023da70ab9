"""What somebody who writes to the database does to the record, and what the service then says of it."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from app.db.database import Database
from tests.ask import put_in_force

Asking = Callable[[str], httpx.AsyncClient]

POLICY = "{schema: countersign.policy/v1, actions: {read: {decision: allow}}}"

CHANGES = [
    ("UPDATE audit_records SET canonical = replace(canonical, 'e', 'a') WHERE seq = 3", 3),
    ("UPDATE audit_records SET hash = repeat('0', 64) WHERE seq = 3", 3),
    ("UPDATE audit_records SET signature = (SELECT signature FROM audit_records WHERE seq = 2) WHERE seq = 3", 3),
    ("UPDATE audit_records SET key_id = 'another' WHERE seq = 3", 3),
    ("UPDATE audit_records SET event_type = 'another' WHERE seq = 3", 3),
    ("UPDATE audit_records SET seq = CASE seq WHEN 3 THEN 9003 ELSE seq END", 3),
    ("DELETE FROM audit_records WHERE seq = 0", 0),
    ("DELETE FROM audit_records WHERE seq = 3", 3),
    ("DELETE FROM audit_records WHERE seq = (SELECT seq - 1 FROM heads WHERE tenant = 'dev')", None),
    ("DELETE FROM audit_records", None),
    ("UPDATE heads SET seq = seq + 1", None),
]


@pytest.fixture
async def auditor(asking: Asking) -> httpx.AsyncClient:
    """An auditor of a chain of several records."""
    await put_in_force(asking("policy_admin"), POLICY)
    return asking("auditor")


async def verified(auditor: httpx.AsyncClient) -> dict[str, Any]:
    found: dict[str, Any] = (await auditor.post("/v1/audit/verify")).json()
    return found


async def test_what_nobody_has_touched_holds(auditor: httpx.AsyncClient) -> None:
    found = await verified(auditor)
    assert (found["ok"], found["reason"]) == (True, None)
    assert found["records"] > 5


@pytest.mark.parametrize(("statement", "at"), CHANGES)
async def test_what_somebody_has_changed_is_found(
    auditor: httpx.AsyncClient, database: Database, statement: str, at: int | None
) -> None:
    await database.transact(lambda tx: tx.write(text(statement)))
    found = await verified(auditor)
    assert (found["ok"], found["broken_at"]) == (False, at)
    assert found["reason"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE heads SET seq = seq - 1",
        "UPDATE heads SET hash = (SELECT hash FROM audit_records r WHERE r.tenant = heads.tenant AND r.seq = 2)",
        "UPDATE heads SET seq = 3, hash = r.hash FROM audit_records r WHERE r.tenant = heads.tenant AND r.seq = 2",
    ],
)
async def test_a_head_of_another_record_is_found(
    auditor: httpx.AsyncClient, database: Database, statement: str
) -> None:
    await database.transact(lambda tx: tx.write(text(statement)))
    assert not (await verified(auditor))["ok"]


@pytest.mark.parametrize("canonical", ["", "{}", "no record", '{"seq":3}', '["seq"]'])
async def test_what_is_no_record_any_more_is_neither_found_nor_an_error_of_the_service(
    auditor: httpx.AsyncClient, database: Database, canonical: str
) -> None:
    change = text("UPDATE audit_records SET canonical = :canonical WHERE seq = 3")
    await database.transact(lambda tx: tx.write(change, {"canonical": canonical}))
    for path in ("/v1/audit/records?limit=100", "/v1/receipts/dev/3"):
        answer = await auditor.get(path)
        assert (answer.status_code, "/v1/audit/verify" in answer.json()["detail"]) == (409, True)
    assert (await verified(auditor))["broken_at"] == 3
