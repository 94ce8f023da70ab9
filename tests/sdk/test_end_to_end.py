"""The SDK against the real service: the story of one held call, and what the two promise each other."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

import countersign
from countersign import Answer, AsyncCountersign, Money, NotExecuted, current_admission, verify_export, verify_permit
from tests.conftest import ADDRESS

POLICY = Path(__file__).parents[2] / "docs" / "examples" / "policy.yaml"

Client = Callable[[str], AsyncCountersign]


@pytest.fixture
async def clients(app: FastAPI, keys: dict[str, str]) -> AsyncIterator[Client]:
    """Clients of the service in this process, under the example policy: `clients("agent")`."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    made = {name: AsyncCountersign(ADDRESS, key, transport=transport) for name, key in keys.items()}
    policy_admin = made["policy_admin"]
    stored = await policy_admin.request("POST", "/v1/policies", body={"document": POLICY.read_text()})
    async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as http:
        activated = await http.post(
            f"/v1/policies/{stored['revision']}/activate",
            json={"mode": "enforce"},
            headers={"If-Match": "*", "Authorization": f"Bearer {keys['policy_admin']}"},
        )
        assert activated.status_code == 200, activated.text
    yield made.__getitem__
    for client in made.values():
        await client.close()


async def decide(client: AsyncCountersign, question: str, decision: str, **more: object) -> dict[str, Any]:
    return await client.request("POST", f"/v1/approvals/{question}/decision", body={"decision": decision, **more})


async def test_a_small_voucher_is_issued_once(clients: Client) -> None:
    issued: list[str] = []

    @clients("agent").protect("voucher.issue")
    async def issue(booking: str, amount: int) -> str:
        issued.append(current_admission().id)
        return f"{booking}:{amount}"

    assert await issue("AB12", 40) == "AB12:40"
    with pytest.raises(countersign.Denied) as raised:
        await issue("AB12", 40)
    assert raised.value.answer.codes == ("effect_already_done",)
    assert str(raised.value) == "A voucher of 40 euros cannot be given."
    admission = await clients("agent").request("GET", f"/v1/admissions/{issued[0]}")
    assert len(issued) == 1
    assert admission["state"] == "executed"


async def test_a_held_voucher_waits_for_a_person_and_then_runs(clients: Client) -> None:
    pending: asyncio.Queue[Answer] = asyncio.Queue()

    @clients("agent").protect("voucher.issue", on_refusal="wait", on_pending=pending.put)
    async def issue(booking: str, amount: int) -> str:
        await asyncio.sleep(0)
        return f"{booking}:{amount}"

    call = asyncio.create_task(issue("AB12", 400))
    question = (await pending.get()).approval_id
    assert question is not None
    await decide(clients("approver"), question, "approve", comment="fine")
    assert await call == "AB12:400"
    assert (await clients("agent").wait_for_approval(question)).status == "consumed"


@pytest.mark.parametrize("run_id", ["day/7", "..", "/7/end", "50%2F"])
async def test_a_run_is_ended_whatever_it_is_called(clients: Client, run_id: str) -> None:
    held = await clients("agent").admit("voucher.issue", {"booking": "AB12", "amount": 400}, run_id=run_id)
    assert held.approval_id is not None
    await clients("agent").end_run(run_id)
    assert (await clients("agent").wait_for_approval(held.approval_id)).status == "cancelled"


async def test_a_no_is_heard_with_its_comment(clients: Client) -> None:
    pending: asyncio.Queue[Answer] = asyncio.Queue()

    @clients("agent").protect("voucher.issue", on_refusal="wait", on_pending=pending.put)
    async def issue(booking: str, amount: int) -> str:
        raise AssertionError(f"it must not run: {booking}, {amount}")

    call = asyncio.create_task(issue("AB12", 400))
    question = (await pending.get()).approval_id
    assert question is not None
    await decide(clients("approver"), question, "deny", comment="not this one")
    with pytest.raises(countersign.DeniedByPerson) as raised:
        await call
    assert raised.value.answer.approval is not None
    assert raised.value.answer.approval.comment == "not this one"


async def test_an_edit_is_run_as_edited(clients: Client) -> None:
    pending: asyncio.Queue[Answer] = asyncio.Queue()

    @clients("agent").protect("voucher.issue", on_refusal="wait", on_pending=pending.put, accepts_edits=True)
    async def issue(booking: str, amount: int) -> str:
        await asyncio.sleep(0)
        return f"{booking}:{amount}"

    call = asyncio.create_task(issue("AB12", 400))
    question = (await pending.get()).approval_id
    assert question is not None
    await decide(clients("approver"), question, "approve", arguments={"booking": "AB12", "amount": 150})
    assert await call == "AB12:150"


async def test_giving_up_takes_the_question_back(clients: Client) -> None:
    pending: asyncio.Queue[Answer] = asyncio.Queue()

    @clients("agent").protect("voucher.issue", on_refusal="wait", on_pending=pending.put)
    async def issue(booking: str, amount: int) -> str:
        raise AssertionError(f"it must not run: {booking}, {amount}")

    call = asyncio.create_task(issue("AB12", 400))
    question = (await pending.get()).approval_id
    assert question is not None
    await asyncio.sleep(0.1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await clients("agent").wait_for_approval(question)).status == "cancelled"


async def test_requires_approval_asks_a_person_where_the_policy_would_not(clients: Client) -> None:
    @clients("agent").protect("voucher.issue", requires_approval=lambda amount: amount > 10)
    async def issue(booking: str, amount: int) -> str:
        await asyncio.sleep(0)
        return f"{booking}:{amount}"

    assert await issue("AB12", 5) == "AB12:5"
    with pytest.raises(countersign.Held) as raised:
        await issue("CD34", 20)
    assert raised.value.answer.codes == ("advice",)


async def test_not_executed_frees_the_key_and_every_other_exception_does_not(clients: Client) -> None:
    errors: list[type[Exception]] = [NotExecuted, TimeoutError]

    @clients("agent").protect("voucher.issue")
    async def issue(booking: str, amount: int) -> str:
        raise errors.pop(0)(f"{booking}, {amount}")

    with pytest.raises(NotExecuted):
        await issue("AB12", 40)
    with pytest.raises(TimeoutError):
        await issue("AB12", 40)
    with pytest.raises(countersign.Denied) as raised:
        await issue("AB12", 40)
    assert raised.value.answer.codes == ("effect_unknown",)


async def test_reconcile_clears_the_doubt_that_an_earlier_run_left(clients: Client) -> None:
    errors: list[type[Exception]] = [TimeoutError]

    async def issue(booking: str, amount: int) -> str:
        await asyncio.sleep(0)
        if errors:
            raise errors.pop()
        return f"{booking}:{amount}"

    with pytest.raises(TimeoutError):
        await clients("agent").protect("voucher.issue")(issue)("AB12", 40)
    again = clients("agent").protect("voucher.issue", reconcile=lambda _: "not_executed")(issue)
    assert await again("AB12", 40) == "AB12:40"


async def test_a_second_use_of_a_key_is_no_second_licence(clients: Client) -> None:
    answer = await clients("agent").admit("booking.read", {"booking": "AB12"}, idempotency_key="k-1")
    assert answer.allowed
    again = await clients("agent").admit("booking.read", {"booking": "AB12"}, idempotency_key="k-1")
    assert (again.allowed, again.replayed, again.raw["allowed"]) == (False, True, True)
    with pytest.raises(countersign.Conflict):
        await clients("agent").admit("booking.read", {"booking": "CD34"}, idempotency_key="k-1")


async def test_ending_a_run_cancels_its_questions(clients: Client) -> None:
    answer = await clients("agent").admit("voucher.issue", {"booking": "AB12", "amount": 400}, run_id="run-7")
    assert answer.approval_id is not None
    await clients("agent").end_run("run-7")
    assert (await clients("agent").wait_for_approval(answer.approval_id)).status == "cancelled"


async def test_a_permit_is_good_for_its_call_and_no_other(clients: Client) -> None:
    arguments = {"booking": "AB12", "amount": 40}
    answer = await clients("agent").admit("voucher.issue", arguments, permit=True)
    assert answer.admission is not None
    assert answer.admission.permit is not None
    jwks = await clients("agent").request("GET", "/.well-known/jwks.json")
    permit = verify_permit(answer.admission.permit, "voucher.issue", arguments, keys=jwks, tenant="dev")
    assert (permit.admission, permit.effects) == (answer.admission.id, ("voucher:AB12",))
    with pytest.raises(countersign.PermitError):
        verify_permit(answer.admission.permit, "voucher.issue", {**arguments, "amount": 41}, keys=jwks, tenant="dev")


async def test_errors_point_to_the_place(clients: Client) -> None:
    with pytest.raises(countersign.BadRequest) as raised:
        await clients("agent").admit("voucher.issue", {}, context={"deep": _nested(70)})
    assert raised.value.errors[0]["pointer"].startswith("/context/deep")
    with pytest.raises(countersign.Forbidden):
        await clients("approver").admit("voucher.issue", {"booking": "AB12", "amount": 40})
    with pytest.raises(countersign.NotFound):
        await clients("agent").report("adm_nobody", "executed")


async def test_the_export_of_all_this_is_proved_offline(clients: Client, app: FastAPI, keys: dict[str, str]) -> None:
    for amount in (40, 400, 4000):
        await clients("agent").admit("voucher.issue", {"booking": "AB12", "amount": amount}, cost=Money(amount, "EUR"))
    auditor = clients("auditor")
    trusted = await auditor.request("GET", "/v1/audit/keys")
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url=ADDRESS, headers={"Authorization": f"Bearer {keys['auditor']}"}
    ) as http:
        export = await http.get("/v1/audit/export")
    found = verify_export(export.content.splitlines(), keys=trusted, head=export.headers["X-Audit-Head"])
    assert found.verdict == "proved"
    assert found.records == int(export.headers["X-Audit-Records"])


def _nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value
