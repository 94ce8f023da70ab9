"""An approver's own values: the original call is refused with them, and the edited one runs."""

from typing import Any

import pytest

from tests.approvals.conftest import Desk, codes, voucher
from tests.ask import admit

EDIT = {"booking": "AB12", "amount": 60}


async def edited(desk: Desk, arguments: dict[str, Any] | None = None, **asked: Any) -> str:
    """Ask, approve with other values, and return the question's id."""
    approval_id: str = (await desk.ask(**asked))["approval_id"]
    answer = await desk.vote("ada", approval_id, arguments=arguments or EDIT)
    assert answer.status_code == 200, answer.text
    return approval_id


async def test_the_original_is_answered_with_the_edit_and_the_edited_call_redeems(desk: Desk) -> None:
    approval_id = await edited(desk)
    original = await desk.ask()
    assert (original["outcome"], codes(original)[-1]) == ("deny", "approval_edited")
    assert original["approval"]["arguments"] == EDIT

    by_id = await desk.ask(approval_id=approval_id)
    assert codes(by_id)[-1] == "approval_edited"

    redeemed = await admit(desk.client("agent"), voucher(amount=60))
    assert redeemed["allowed"]
    assert redeemed["approval_id"] == approval_id
    assert await desk.events() == [
        "approval.requested",
        "approval.edited",
        "approval.voted",
        "approval.approved",
        "approval.redeemed",
    ]


async def test_the_edit_is_used_once_and_still_stands_in_for_the_original(desk: Desk) -> None:
    approval_id = await edited(desk)
    assert (await admit(desk.client("agent"), voucher(amount=60, approval_id=approval_id)))["allowed"]
    again = await admit(desk.client("agent"), voucher(amount=60))
    assert codes(again)[-1] == "approval_consumed"
    assert codes(await desk.ask())[-1] == "approval_edited"


async def test_only_values_may_change(desk: Desk) -> None:
    approval_id = (await desk.ask())["approval_id"]
    for arguments, place in (
        ({"booking": "AB12"}, "/arguments/amount"),
        ({"booking": "AB12", "amount": 60, "note": "x"}, "/arguments/note"),
    ):
        answer = await desk.vote("ada", approval_id, arguments=arguments)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, place)
    assert (await desk.vote("ada", approval_id, "deny", arguments=EDIT)).status_code == 400
    assert await desk.events() == ["approval.requested"]


async def test_the_same_values_are_no_edit(desk: Desk) -> None:
    await edited(desk, {"amount": 100.0, "booking": "AB12"})
    assert (await desk.ask())["allowed"]


async def test_a_policys_deny_of_the_edited_call_refuses_it(desk: Desk) -> None:
    approval_id = (await desk.ask())["approval_id"]
    answer = await desk.vote("ada", approval_id, arguments={"booking": "AB12", "amount": 901377531})
    assert (answer.status_code, answer.json()["code"]) == (409, "rule")
    assert "901377531" not in answer.text
    assert (await desk.see(approval_id))["status"] == "pending"
    assert (await desk.see(approval_id))["refused"][0]["code"] == "rule"


async def test_rules_of_both_calls_have_to_be_met(desk: Desk) -> None:
    for amount, other in ((100, 600), (600, 100)):
        asked = await desk.ask(f"B{amount}", amount=amount)
        values = {"booking": f"B{amount}", "amount": other}
        first = await desk.vote("ada", asked["approval_id"], arguments=values)
        assert first.json()["status"] == "pending"
        assert {rule["name"] for rule in first.json()["rules"]} == {"payouts", "large"}
        second = await desk.vote("lead", asked["approval_id"], arguments=values)
        assert second.json()["status"] == "approved"
        assert (await admit(desk.client("agent"), voucher(f"B{amount}", other)))["allowed"]


@pytest.mark.parametrize("other", [None, {"booking": "AB12", "amount": 61}])
async def test_all_approve_the_same_edit(desk: Desk, other: dict[str, Any] | None) -> None:
    approval_id = await edited(desk, {"booking": "AB12", "amount": 650}, amount=600)
    answer = await desk.vote("lead", approval_id, arguments=other)
    assert (answer.status_code, answer.json()["code"]) == (409, "approval_conflict")


async def test_an_edit_after_a_plain_approval_is_a_conflict(desk: Desk) -> None:
    approval_id = (await desk.ask(amount=600))["approval_id"]
    await desk.vote("ada", approval_id)
    answer = await desk.vote("lead", approval_id, arguments={"booking": "AB12", "amount": 650})
    assert (answer.status_code, answer.json()["code"]) == (409, "approval_conflict")


async def test_the_same_edit_again_is_the_same_answer(desk: Desk) -> None:
    approval_id = await edited(desk)
    assert (await desk.vote("ada", approval_id, arguments=EDIT)).status_code == 200
    assert (await desk.vote("ada", approval_id)).status_code == 409


async def test_a_denial_is_of_the_call_however_others_edited_it(desk: Desk) -> None:
    approval_id = await edited(desk, {"booking": "AB12", "amount": 650}, amount=600)
    assert (await desk.vote("lead", approval_id, "deny")).json()["status"] == "denied"
    assert codes(await desk.ask(amount=600))[-1] == "approval_denied"


async def test_a_denial_of_the_edited_call_itself_refuses_it_too(desk: Desk) -> None:
    asked = await desk.ask(amount=60)
    await desk.vote("ben", asked["approval_id"], "deny")
    approval_id = await edited(desk)
    for more in ({}, {"approval_id": approval_id}):
        refused = await admit(desk.client("agent"), voucher(amount=60, **more))
        assert codes(refused)[-1] == "approval_denied"


async def test_someone_without_authority_edits_nothing(desk: Desk) -> None:
    approval_id = (await desk.ask())["approval_id"]
    answer = await desk.vote("dan", approval_id, arguments={"booking": "AB12", "amount": 901})
    assert (answer.status_code, answer.json()["code"]) == (403, "approval_no_authority")


async def test_the_requester_sees_the_edit_and_watchers_do_not(desk: Desk) -> None:
    approval_id = await edited(desk)
    assert (await desk.see(approval_id, "agent"))["edited_arguments"] == EDIT
    assert (await desk.see(approval_id, "ada"))["edited_arguments"] == EDIT
    assert "edited_arguments" not in await desk.see(approval_id, "auditor")
