"""The pages of operators and auditors: outcomes to resolve, spend, the policy, and the record."""

from typing import Any

import httpx
import pytest
from sqlalchemy import text

from tests.approvals.conftest import Desk
from tests.web.conftest import Visiting, Visitor, words

POLICY: dict[str, Any] = {
    "actions": {
        "pay": {
            "labels": {"kind": "payout"},
            "cost": {"amount": "{amount}", "currency": "EUR"},
            "effect": "pay:{to}",
            "spend": ["desk", "to:{to}"],
            "decision": "allow",
        },
        "voucher": {"labels": {"kind": "payout"}, "decision": "require_human"},
    },
    "limits": [
        {"name": "desk limit", "scope": "desk", "limit": {"amount": "1000.00", "currency": "EUR"}},
        {"name": "calls", "scope": "desk", "metric": "count", "limit": 10, "window": {"rolling": "1h"}},
    ],
}

TAMPER = text("""UPDATE audit_records SET canonical = replace(canonical, '"', ' "') WHERE seq = 1""")


async def paid(desk: Desk, to: str, amount: int, outcome: str | None = "executed") -> str:
    """Admit a payment, say what came of it, and return the admission's id."""
    agent = desk.client("agent")
    answer = (
        await agent.post("/v1/admit", json={"action": {"name": "pay", "arguments": {"to": to, "amount": amount}}})
    ).json()
    assert answer["allowed"], answer
    admission_id: str = answer["admission"]["id"]
    if outcome is not None:
        said = await agent.post(f"/v1/admissions/{admission_id}/outcome", json={"outcome": outcome})
        assert said.is_success, said.text
    return admission_id


async def test_an_operator_resolves_what_nobody_knows(desk: Desk, visiting: Visiting) -> None:
    await desk.force(**POLICY)
    unknown = await paid(desk, "lena", 120, "unknown")
    operator = await visiting("operator")
    listed = await operator.get("/console/admissions")
    assert "120.00 EUR" in words(listed)
    assert unknown in listed.text
    fields = {"outcome": "executed", "actual": "118.50", "reason": "It is on the bank's statement."}
    assert (await operator.post(f"/console/admissions/{unknown}", **fields)).status_code == httpx.codes.SEE_OTHER
    page = words(await operator.get(f"/console/admissions/{unknown}"))
    assert "Happened" in page
    assert "118.50 EUR" in page
    assert "It is on the bank's statement." in page
    assert unknown not in (await operator.get("/console/admissions")).text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"reason": "I looked"}, "Say whether it happened."),
        ({"outcome": "reserved", "reason": "I looked"}, "Say whether it happened."),
        ({"outcome": "executed"}, "Say how you know"),
        ({"outcome": "executed", "reason": " \n"}, "Say how you know"),
        ({"outcome": "executed", "reason": "I looked", "actual": "-1"}, "What it cost is an amount"),
        ({"outcome": "executed", "reason": "I looked", "actual": "NaN"}, "What it cost is an amount"),
        ({"outcome": "not_executed", "reason": "I looked", "actual": "1"}, "What was not executed cost nothing"),
    ],
)
async def test_a_resolution_that_lacks_something_says_what_and_keeps_what_was_typed(
    desk: Desk, visiting: Visiting, fields: dict[str, str], said: str
) -> None:
    await desk.force(**POLICY)
    unknown = await paid(desk, "lena", 120, "unknown")
    answered = await (await visiting("operator")).post(f"/console/admissions/{unknown}", **fields)
    assert answered.status_code == httpx.codes.BAD_REQUEST
    assert said in words(answered)
    assert fields.get("reason", "").strip() in answered.text
    seen = (await desk.client("operator").get(f"/v1/admissions/{unknown}")).json()
    assert (seen["state"], seen["resolved"]) == ("unknown", False)


async def test_what_is_known_cannot_be_resolved_again(desk: Desk, visiting: Visiting) -> None:
    await desk.force(**POLICY)
    executed = await paid(desk, "lena", 120)
    operator = await visiting("operator")
    assert "Resolve it" not in words(await operator.get(f"/console/admissions/{executed}"))
    fields = {"outcome": "not_executed", "reason": "no"}
    answered = await operator.post(f"/console/admissions/{executed}", **fields)
    assert answered.status_code == httpx.codes.CONFLICT


async def test_another_tenants_admission_answers_like_an_unknown_one(
    desk: Desk, visiting: Visiting, stranger: Visitor
) -> None:
    await desk.force(**POLICY)
    unknown = await paid(desk, "lena", 120, "unknown")
    assert (await stranger.get(f"/console/admissions/{unknown}")).status_code == httpx.codes.FORBIDDEN
    assert (await (await visiting("operator")).get("/console/admissions/adm_no")).status_code == httpx.codes.NOT_FOUND


async def test_spend_stands_against_its_limits(desk: Desk, visiting: Visiting) -> None:
    await desk.force(**POLICY)
    await paid(desk, "lena", 250)
    await paid(desk, "omar", 150, None)
    operator = await visiting("operator")
    page = await operator.get("/console/spend", prefix="desk")
    assert "250.00 EUR spent 150.00 EUR held of 1,000.00 EUR" in words(page)
    assert "600.00 EUR left" in words(page)
    assert "1 spent 1 held of 10" in words(page)
    assert '<rect class="spent" width="25.00"' in page.text
    assert '<rect class="held" x="25.00" width="15.00"' in page.text
    assert "to:lena" not in page.text
    assert "no limit covers it" in words(await operator.get("/console/spend", prefix="to:"))


async def test_a_scope_shows_its_course_and_its_last_entries(desk: Desk, visiting: Visiting) -> None:
    await desk.force(**POLICY)
    await paid(desk, "lena", 250)
    operator = await visiting("operator")
    for over in ("month", "day"):
        page = await operator.get("/console/spend/scope", scope="desk", over=over)
        assert "The most was 250.00 EUR." in words(page)
        assert '<path class="line" d="M0.00 120.00' in page.text
        assert "600.00 0.00" in page.text
        assert "settle" in words(page)
    empty = await operator.get("/console/spend/scope", scope="nobody's <b>")
    assert "Nothing happened on it." in words(empty)
    assert "<b>" not in empty.text.partition("<main")[2]
    assert (await operator.get("/console/spend/scope")).status_code == httpx.codes.BAD_REQUEST


async def test_the_policy_in_force_and_its_revisions(desk: Desk, visiting: Visiting) -> None:
    revision = await desk.force(version="spring")
    operator = await visiting("operator")
    page = words(await operator.get("/console/policy"))
    assert f"In force: revision {revision}, spring" in page
    older = await operator.get("/console/policy/1")
    assert "Revision 1" in words(older)
    assert '<span class="pill approved">in force' not in older.text
    assert "a supervisor decides" in words(older)
    for unknown in ("99", "0", "active", "9" * 40, "-1"):
        assert (await operator.get(f"/console/policy/{unknown}")).status_code == httpx.codes.NOT_FOUND


async def test_an_auditor_finds_records_and_verifies_the_chain(desk: Desk, visiting: Visiting) -> None:
    asked = await desk.ask()
    await desk.vote("ada", asked["approval_id"], "deny", comment="no \u202e<b>")
    auditor = await visiting("auditor")
    page = await auditor.get("/console/record", event_type="approval.denied", principal="ada")
    assert page.text.count("<details>") == 1
    assert "<mark>U+202E</mark>" in page.text
    assert page.text.count("<b>") == 0
    verified = await auditor.post("/console/record/verify")
    assert "The chain holds." in words(verified)


async def test_a_chain_that_was_changed_is_said_to_be_broken(desk: Desk, visiting: Visiting) -> None:
    await desk.ask()
    await desk.app.state.house.database.transact(lambda tx: tx.write(TAMPER))
    verified = words(await (await visiting("auditor")).post("/console/record/verify"))
    assert "The chain is broken at record 1:" in verified


async def test_records_are_searched_by_day_and_paged(desk: Desk, visiting: Visiting) -> None:
    auditor = await visiting("auditor")
    for booking in range(20):
        await desk.ask(booking=f"B{booking}")
    first = await auditor.get("/console/record", since="2000-01-01")
    older = first.text.partition('href="/console/record?')[2].partition('"')[0].replace("&amp;", "&")
    assert older.startswith("since=2000-01-01&before=")
    assert first.text.count("<details>") + (await auditor.get(f"/console/record?{older}")).text.count("<details>") > 50
    assert (await auditor.get("/console/record", since="2100-01-01")).text.count("<details>") == 0
    assert (await auditor.get("/console/record", until="2100-01-01")).text.count("<details>") > 0
    for until in ("yesterday", "9999-12-31"):
        assert (await auditor.get("/console/record", until=until)).status_code == httpx.codes.BAD_REQUEST
