"""What an operator sets: the defaults of waits, leases and keeping, and that the service goes by them."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import ValidationError
from sqlalchemy import text

from app.core.defaults import Defaults
from app.db.database import Database, Reader, Writer
from app.settings import PREFIX, Settings
from tests.ask import admit, call, put_in_force

Asking = Callable[[str], httpx.AsyncClient]

POLICY = """
schema: countersign.policy/v1
defaults: {require_verification_score: 0, require_human_for: []}
actions:
  read: {decision: allow}
  pay: {decision: require_human}
approvers:
  - {name: all, roles: [approver]}
"""

OTHERS = {
    "approval_ttl": "2h",
    "approval_use_within": "3h",
    "approval_keep": "1d",
    "lease": "1h",
    "live_questions": "2",
    "verification": "4h",
    "idempotency_keep": "1m",
    "replay_keep": "2d",
}


def span(since: str, until: str) -> timedelta:
    return datetime.fromisoformat(until) - datetime.fromisoformat(since)


@pytest.fixture
def environment(environment: dict[str, str]) -> dict[str, str]:
    return environment | {f"{PREFIX}{name.upper()}": value for name, value in OTHERS.items()}


@pytest.fixture
async def agent(asking: Asking) -> httpx.AsyncClient:
    await put_in_force(asking("policy_admin"), POLICY)
    return asking("agent")


async def look(client: httpx.AsyncClient, approval_id: str) -> dict[str, Any]:
    found: dict[str, Any] = (await client.get(f"/v1/approvals/{approval_id}")).json()
    return found


def test_they_are_those_of_the_contract_where_nothing_is_set() -> None:
    assert Settings.model_validate({}).defaults == Defaults()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("approval_ttl", "31d"),
        ("approval_use_within", "31d"),
        ("lease", "25h"),
        ("live_questions", "0"),
        ("verification", "31d"),
        ("approval_keep", "900"),
        ("idempotency_keep", "0s"),
        ("replay_keep", "a week"),
    ],
)
def test_bounds_are_hard_and_a_span_has_its_unit(name: str, value: str) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({name: value})


async def test_a_question_waits_and_its_yes_lasts_as_set(agent: httpx.AsyncClient, asking: Asking) -> None:
    approval_id = (await admit(agent, call("pay", {"n": 1})))["approval_id"]
    asked = await look(agent, approval_id)
    assert span(asked["created_at"], asked["expires_at"]) == timedelta(hours=2)
    await asking("approver").post(f"/v1/approvals/{approval_id}/decision", json={"decision": "approve"})
    approved = await look(agent, approval_id)
    assert span(approved["decided_at"], approved["use_before"]) == timedelta(hours=3)


async def test_a_principal_has_as_many_questions_as_set(agent: httpx.AsyncClient) -> None:
    answers = [await admit(agent, call("pay", {"n": number})) for number in range(3)]
    assert [answer["outcome"] for answer in answers] == ["require_human", "require_human", "deny"]
    assert answers[2]["triggered"][-1]["code"] == "too_many_questions"


async def test_a_lease_lasts_as_set(agent: httpx.AsyncClient) -> None:
    admission_id = (await admit(agent, call("read")))["admission"]["id"]
    found = (await agent.get(f"/v1/admissions/{admission_id}")).json()
    assert span(found["created_at"], found["expires_at"]) == timedelta(hours=1)


async def test_an_idempotency_key_is_free_again_as_set(agent: httpx.AsyncClient, database: Database) -> None:
    body = call("read", idempotency_key="k")
    first = await admit(agent, body)
    assert (await admit(agent, body))["admission"]["id"] == first["admission"]["id"]
    await database.transact(lambda tx: tx.write(text("UPDATE admissions SET created_at = created_at - interval '1m'")))
    assert (await admit(agent, body))["admission"]["id"] != first["admission"]["id"]


async def test_arguments_and_weighed_calls_are_kept_as_set(
    agent: httpx.AsyncClient, app: FastAPI, database: Database
) -> None:
    approval_id = (await admit(agent, call("pay", {"n": 1})))["approval_id"]
    await agent.post(f"/v1/approvals/{approval_id}/cancel")
    for kept in ((1, 1), (0, 1), (0, 0)):
        await app.state.worker.sweep()
        await app.state.worker.forget()
        assert await database.read(count_kept) == kept
        await database.transact(over_a_day_later)


async def over_a_day_later(tx: Writer) -> None:
    await tx.write(
        text("""
            UPDATE approvals SET created_at = created_at - interval '27 h', expires_at = expires_at - interval '27 h',
                due_at = due_at - interval '27 h'
        """)
    )
    await tx.write(text("UPDATE weighed_calls SET at = at - interval '27 h'"))


async def count_kept(reader: Reader) -> tuple[int, int]:
    row = await reader.row(
        text("SELECT (SELECT count(call) FROM approvals) AS calls, (SELECT count(*) FROM weighed_calls) AS weighed")
    )
    return (row.calls, row.weighed) if row else (0, 0)
