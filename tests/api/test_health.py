"""Alive, ready, and measured: what an orchestrator and a monitor ask."""

from collections.abc import Callable

import httpx
from pydantic import SecretStr
from sqlalchemy import text

from app.db.database import Database
from app.main import create_app
from app.settings import Settings
from tests.ask import call, put_in_force
from tests.conftest import ADDRESS
from tests.live import LiveService

Asking = Callable[[str], httpx.AsyncClient]

POLICY = """
schema: countersign.policy/v1
defaults: {require_verification_score: 0}
actions: {read: {decision: allow}}
"""


async def findings(client: httpx.AsyncClient) -> list[str]:
    """Return what the service says is amiss, and assert that the status says the same."""
    answered = await client.get("/readyz")
    found: list[str] = answered.json()["findings"]
    assert answered.status_code == (503 if found else 200)
    return found


async def change(database: Database, statement: str) -> None:
    await database.transact(lambda tx: tx.write(text(statement)))


async def test_a_service_that_can_decide_is_ready(asking: Asking) -> None:
    await put_in_force(asking("policy_admin"), POLICY)
    assert await findings(asking("agent")) == []


async def test_a_schema_that_is_behind_is_named(asking: Asking, database: Database) -> None:
    await change(database, "DELETE FROM alembic_version")
    (found,) = await findings(asking("agent"))
    assert "countersignd migrate" in found


async def test_a_schema_of_a_newer_release_serves_this_one_too(asking: Asking, database: Database) -> None:
    await change(database, "UPDATE alembic_version SET version_num = 'of a newer release'")
    assert await findings(asking("agent")) == []


async def test_a_retired_signing_key_is_named(asking: Asking, database: Database) -> None:
    await change(database, "UPDATE signing_keys SET valid_until = clock_timestamp()")
    assert "retired" in (await findings(asking("agent")))[0]


async def test_a_database_that_went_back_in_time_is_named(asking: Asking, database: Database) -> None:
    await asking("agent").get("/v1/whoami")
    assert await findings(asking("agent")) == []
    await change(database, "UPDATE heads SET seq = seq - 1")
    assert await findings(asking("agent")) == ["the record of the tenant dev is shorter than it was"]


async def test_a_record_that_has_grown_over_a_cut_is_named(asking: Asking, database: Database) -> None:
    await put_in_force(asking("policy_admin"), POLICY)
    await put_in_force(asking("policy_admin"), POLICY)
    assert await findings(asking("agent")) == []
    await change(database, "DELETE FROM audit_records WHERE seq >= (SELECT seq FROM heads) - 1")
    await change(
        database,
        "UPDATE heads SET seq = heads.seq - 1, hash = r.hash FROM audit_records r WHERE r.seq = heads.seq - 2",
    )
    assert await findings(asking("agent")) == ["the record of the tenant dev is shorter than it was"]
    await put_in_force(asking("policy_admin"), POLICY)
    assert await findings(asking("agent")) == ["the record of the tenant dev is not the one that it was"]


async def test_a_policy_that_does_not_load_here_is_named(asking: Asking, database: Database) -> None:
    await put_in_force(asking("policy_admin"), POLICY)
    await change(database, "UPDATE heads SET policy_revision = 7")
    assert await findings(asking("agent")) == ["the policy in force of the tenant dev does not load here: revision 7"]


async def test_a_process_without_its_database_lives_and_is_not_ready(settings: Settings) -> None:
    nowhere = SecretStr("postgresql+asyncpg://nobody@127.0.0.1:1/nothing")
    app = create_app(settings.model_copy(update={"database_url": nowhere}))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as client:
        assert (await client.get("/healthz")).status_code == 200
        assert await findings(client) == ["the database does not answer"]
        answered = await client.get("/v1/whoami", headers={"Authorization": f"Bearer csk_dev-{'0' * 20}_{'x' * 43}"})
        assert answered.status_code == 503
        assert answered.headers["retry-after"]


async def test_measures_name_routes_and_nobody(asking: Asking) -> None:
    await put_in_force(asking("policy_admin"), POLICY)
    body = call("read", {"card": "4111111111111111"}, spend=["a-scope"])
    assert (await asking("agent").post("/v1/admit", json=body)).status_code == 200
    assert (await asking("agent").get("/v1/admissions/adm_nobody-knows")).status_code == 404
    assert (await asking("agent").get("/some/path/nobody-knows")).status_code == 404
    measured = await asking("agent").get("/metrics")
    assert 'countersign_requests_total{method="POST",route="/v1/admit",status="200"}' in measured.text
    assert 'route="/v1/admissions/{admission_id}"' in measured.text
    for private in ("nobody-knows", "4111111111111111", "a-scope", "dev-", 'principal="'):
        assert private not in measured.text


async def test_answers_and_groups_are_measured(asking: Asking) -> None:
    await put_in_force(asking("policy_admin"), POLICY)
    before = (await asking("agent").get("/metrics")).text
    assert (await asking("agent").post("/v1/admit", json=call("read"))).json()["allowed"] is True
    after = (await asking("agent").get("/metrics")).text
    for measure in (
        'countersign_answers_total{allowed="true",outcome="allow",replayed="false"}',
        "countersign_group_commands_count",
        "countersign_group_seconds_count",
    ):
        assert value(after, measure) > value(before, measure)


def value(measured: str, measure: str) -> float:
    found = (line for line in measured.splitlines() if line.startswith(f"{measure} "))
    return float(next(found, f"{measure} 0").rpartition(" ")[2])


def test_any_of_several_processes_answers_for_all(serve: Callable[..., LiveService]) -> None:
    service = serve(workers=2)
    for _ in range(20):
        httpx.get(f"{service.url}/healthz")
    measure = 'countersign_requests_total{method="GET",route="/healthz",status="200"}'
    for _ in range(6):
        assert value(httpx.get(f"{service.url}/metrics").text, measure) >= 20
