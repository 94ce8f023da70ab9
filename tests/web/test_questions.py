"""One question on one page: who sees what of it, what counts, and text of others that is only text."""

from typing import Any

import httpx
import pytest

from tests.approvals.conftest import Desk
from tests.web.conftest import Visiting, Visitor, words

OK, NOT_FOUND, CONFLICT, BAD = 200, 404, 409, 400
IBAN, CARD, MAIL = "DE89370400440532013000", "4111111111111111", "lena@example.org"


def place(asked: dict[str, Any]) -> str:
    return f"/console/approvals/{asked['approval_id']}"


async def answer(visitor: Visitor, asked: dict[str, Any], decision: str = "approve", **fields: str) -> httpx.Response:
    fields = {"digest": asked["action_digest"], **fields}
    return await visitor.post(place(asked), decision=decision, **fields)


async def test_a_page_says_what_who_why_how_much_and_who_is_needed(desk: Desk, visiting: Visiting) -> None:
    asked = await desk.ask(amount=600, cost="600.00", approval_context={"ticket": "T-1"})
    page = words(await (await visiting("ada")).get(place(asked)))
    for said in ("voucher", "600.00 EUR", "a supervisor decides", "Asked by agent", "AB12", "T-1", "14 minutes left"):
        assert said in page, said
    assert "0/1 payouts 1 more: role supervisor" in page
    assert "0/1 large 1 more: lead, lead-two" in page
    assert asked["action_digest"] in page


async def test_to_others_the_question_does_not_exist(desk: Desk, visiting: Visiting) -> None:
    asked = await desk.ask()
    assert (await (await visiting("dan")).get(place(asked))).status_code == NOT_FOUND
    assert (await answer(await visiting("dan"), asked)).status_code == NOT_FOUND
    assert (await (await visiting("dan")).get(f"{place(asked)}/edit")).status_code == NOT_FOUND


async def test_another_tenants_question_answers_like_an_unknown_one(desk: Desk, stranger: Visitor) -> None:
    asked = await desk.ask()
    known, unknown = await stranger.get(place(asked)), await stranger.get("/console/approvals/apr_unknown")
    assert (known.status_code, words(known)) == (NOT_FOUND, words(unknown))
    assert (await answer(stranger, asked)).status_code == NOT_FOUND
    assert (await desk.see(asked["approval_id"]))["status"] == "pending"


async def test_an_auditor_sees_the_question_and_none_of_its_values(desk: Desk, visiting: Visiting) -> None:
    asked = await desk.ask(booking="SECRET99", arguments={"note": "for their eyes"})
    page = words(await (await visiting("auditor")).get(place(asked)))
    assert "booking=<str:8>" in page
    assert "SECRET99" not in page
    assert "for their eyes" not in page
    assert "Approve" not in page.replace("Approvals", "")


async def test_private_values_are_not_in_the_queue_nor_in_history(desk: Desk, visiting: Visiting) -> None:
    asked = await desk.ask(arguments={"card": int(CARD), "note": f"{IBAN} {CARD} {MAIL} hunter2"})
    ada = await visiting("ada")
    queue = (await ada.get("/console/approvals")).text
    page = words(await ada.get(place(asked))).partition("exactly as sent")[0]
    await answer(ada, asked, "deny")
    history = (await ada.get("/console/history")).text
    for private in (IBAN, CARD, MAIL, "hunter2"):
        assert private not in queue, private
        assert private not in history, private
    assert CARD not in page
    assert "<masked:16>" in page


async def test_who_asked_cannot_approve_and_the_page_says_so(desk: Desk, visiting: Visiting) -> None:
    await desk.key("eve", owner="desk-team", roles=["supervisor"])
    await desk.key("bot", owner="desk-team", kind="agent", bundles=["agent"])
    asked = await desk.ask(who="bot")
    eve = await visiting("eve")
    page = words(await eve.get(place(asked)))
    assert "You can deny this, not approve it: it was asked by you or by somebody of yours." in page
    refused = await answer(eve, asked)
    assert refused.status_code == httpx.codes.FORBIDDEN
    assert "Who asked cannot decide" in words(refused)
    assert (await desk.see(asked["approval_id"]))["status"] == "pending"


async def test_without_a_rule_nobody_can_approve_and_the_page_says_so(desk: Desk, visiting: Visiting) -> None:
    asked = (await desk.client("agent").post("/v1/admit", json={"action": {"name": "orphan"}})).json()
    page = words(await (await visiting("ada")).get(place(asked)))
    assert "No approver rule matches this, so nobody can approve it" in page
    assert (await answer(await visiting("ada"), asked, "deny")).status_code == httpx.codes.SEE_OTHER


async def test_an_answer_is_for_what_was_shown(desk: Desk, visiting: Visiting) -> None:
    await desk.force(approvers=[{"name": "payouts", "labels": ["payout"], "roles": ["supervisor"], "quorum": 2}])
    asked = await desk.ask(amount=300)
    ben = await visiting("ben")
    await desk.vote("ada", asked["approval_id"], arguments={"booking": "AB12", "amount": 200})
    late = await answer(ben, asked)
    assert late.status_code == CONFLICT
    assert "This has changed since you opened it" in words(late)
    seen = await desk.see(asked["approval_id"])
    assert (await answer(ben, asked, digest=seen["edited_digest"])).status_code == httpx.codes.SEE_OTHER
    assert (await desk.see(asked["approval_id"]))["status"] == "approved"
    page = words(await ben.get(place(asked)))
    assert "What is approved instead" in page


@pytest.mark.parametrize("decision", ["", "yes", "APPROVE", "approve\n", "approved by the desk"])
async def test_what_is_not_a_clear_answer_is_none(desk: Desk, visiting: Visiting, decision: str) -> None:
    asked = await desk.ask()
    assert (await answer(await visiting("ada"), asked, decision)).status_code == BAD
    assert (await desk.see(asked["approval_id"]))["votes"] == []


@pytest.mark.parametrize("comment", ["x" * 4_097, "a\0b"])
async def test_a_comment_that_cannot_be_kept_is_refused_and_no_vote_counts(
    desk: Desk, visiting: Visiting, comment: str
) -> None:
    asked = await desk.ask()
    assert (await answer(await visiting("ada"), asked, comment=comment)).status_code == BAD
    assert (await desk.see(asked["approval_id"]))["votes"] == []


async def test_a_body_that_is_no_form_is_refused(desk: Desk, visiting: Visiting, address: str) -> None:
    asked = await desk.ask()
    ada = await visiting("ada")
    headers = {"Origin": address, "Content-Type": "application/json"}
    body = b'{"decision": "approve"}'
    assert (await ada.http.post(place(asked), content=body, headers=headers)).status_code == BAD
    headers["Content-Type"] = "application/x-www-form-urlencoded"
    for content in (b"decision=%ff", b"&a=" * 2_000, b"a" * (1 << 21)):
        answered = await ada.http.post(place(asked), content=content, headers=headers)
        assert answered.status_code in {BAD, httpx.codes.REQUEST_ENTITY_TOO_LARGE}
        assert "<h1>" in answered.text
    assert (await desk.see(asked["approval_id"]))["votes"] == []


HOSTILE = (
    "APPROVED by the desk <script>alert(1)</script>\"'><img src=x onerror=alert(1)> \u202eevil\u2066 a\u200bb "
    "\u115f\u3164 {{ 7777*7777 }} {% raw %} javascript:alert(1) \ufeff\U000e0041"
)


async def test_text_that_looks_like_an_approval_or_like_markup_is_text(desk: Desk, visiting: Visiting) -> None:
    asked = await desk.ask(
        booking=HOSTILE, arguments={"note": [HOSTILE, {HOSTILE: HOSTILE}]}, approval_context={"said": HOSTILE}
    )
    assert asked["outcome"] == "require_human"
    await desk.vote("lead", asked["approval_id"], "deny", comment=HOSTILE)
    ada = await visiting("ada")
    for path in (place(asked), f"{place(asked)}/edit", "/console/history", "/console/approvals"):
        page = (await ada.get(path)).text
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "60481729" not in page
    page = (await ada.get(place(asked))).text
    visible = page.partition("<main")[2]
    for unseen in ("\u202e", "\u2066", "\u200b", "\u115f", "\u3164", "\ufeff", "\U000e0041"):
        assert unseen not in visible
        assert f"<mark>U+{ord(unseen):04X}</mark>" in visible
    assert (await desk.see(asked["approval_id"]))["status"] == "pending"


async def test_an_edit_keeps_what_was_not_touched_to_the_last_character(desk: Desk, visiting: Visiting) -> None:
    values = {"note": " two\r\nlines\n\u200b ", "card": None, "copies": [1, {"a": True}]}
    asked = await desk.ask(amount=300, arguments=values)
    ada = await visiting("ada")
    fields = {"argument:note": " two\r\nlines\r\n\u200b ", "argument:amount": "250", "argument:card": "null"}
    saved = await ada.post(f"{place(asked)}/edit", **fields)
    assert saved.status_code == httpx.codes.SEE_OTHER, words(saved)
    seen = await desk.see(asked["approval_id"])
    assert seen["edited_arguments"] == {"booking": "AB12", "amount": 250, **values}


@pytest.mark.parametrize(
    ("argument", "text"),
    [("amount", "abc"), ("amount", '"300"'), ("amount", "NaN"), ("amount", ""), ("amount", "true"),
     ("copies", "{}"), ("copies", "[1"), ("note", "a\0b")],
)  # fmt: skip
async def test_a_value_of_another_kind_is_not_approved(
    desk: Desk, visiting: Visiting, argument: str, text: str
) -> None:
    asked = await desk.ask(amount=300, arguments={"copies": [1], "note": "n"})
    answered = await (await visiting("ada")).post(f"{place(asked)}/edit", **{f"argument:{argument}": text})
    assert answered.status_code == BAD
    assert "Some values cannot be read; nothing was approved." in words(answered)
    assert (await desk.see(asked["approval_id"]))["votes"] == []


async def test_what_the_policy_denies_cannot_be_approved_by_editing(desk: Desk, visiting: Visiting) -> None:
    asked = await desk.ask(amount=300)
    answered = await (await visiting("ada")).post(f"{place(asked)}/edit", **{"argument:amount": "901"})
    assert answered.status_code == CONFLICT
    assert "The policy denies the call with these values" in words(answered)
    assert (await desk.see(asked["approval_id"]))["status"] == "pending"
