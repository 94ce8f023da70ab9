"""One question a call: opened once, seen by whom it concerns, answered, used once."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.approvals.conftest import Desk, codes, voucher
from tests.ask import admit, call, exported

At = Callable[[str, str], Awaitable[None]]


async def test_a_held_call_opens_a_question_and_asking_again_names_it(desk: Desk) -> None:
    first, second = await desk.ask(), await desk.ask()
    assert (first["outcome"], first["allowed"]) == ("require_human", False)
    assert first["approval_id"] == second["approval_id"]
    assert first["approval"]["status"] == "pending"
    assert await desk.events() == ["approval.requested"]


async def test_a_yes_lets_the_same_call_run_once(desk: Desk) -> None:
    asked = await desk.ask()
    voted = await desk.vote("ada", asked["approval_id"], comment="fine")
    assert voted.json()["status"] == "approved"

    redeemed = await desk.ask()
    assert redeemed["allowed"]
    assert redeemed["approval_id"] == asked["approval_id"]
    assert redeemed["approval"]["status"] == "consumed"
    seen = await desk.see(asked["approval_id"])
    assert (seen["status"], seen["admission_id"]) == ("consumed", redeemed["admission"]["id"])

    again = await desk.ask()
    assert codes(again)[-1] == "approval_consumed"
    assert again["outcome"] == "deny"
    assert await desk.events() == [
        "approval.requested",
        "approval.voted",
        "approval.approved",
        "approval.redeemed",
    ]


async def test_once_the_admission_is_closed_people_are_asked_anew(desk: Desk) -> None:
    asked = await desk.ask()
    await desk.vote("ada", asked["approval_id"])
    admission = (await desk.ask())["admission"]["id"]
    await desk.client("agent").post(f"/v1/admissions/{admission}/outcome", json={"outcome": "executed"})
    again = await desk.ask()
    assert again["outcome"] == "require_human"
    assert again["approval_id"] != asked["approval_id"]


@pytest.mark.parametrize(
    "other",
    [
        voucher("AB13"),
        voucher(amount=101),
        voucher(context={"shift": "night"}),
        voucher(approval_context={"why": "delay"}),
        voucher(effect="own"),
        voucher(spend=["own"]),
    ],
)
async def test_a_yes_covers_that_call_and_no_other(desk: Desk, other: dict[str, Any]) -> None:
    asked = await desk.ask()
    await desk.vote("ada", asked["approval_id"])
    assert (await admit(desk.client("agent"), other))["approval_id"] != asked["approval_id"]
    redeemed = await admit(desk.client("agent"), {**other, "approval_id": asked["approval_id"]})
    assert codes(redeemed)[-1] == "approval_mismatch"
    assert redeemed["outcome"] == "deny"


async def test_a_yes_for_one_agent_is_none_for_another(desk: Desk) -> None:
    asked = await desk.ask()
    await desk.vote("ada", asked["approval_id"])
    body = voucher(approval_id=asked["approval_id"])
    assert codes(await admit(desk.client("agent2"), body))[-1] == "approval_mismatch"
    assert (await admit(desk.client("agent"), body))["allowed"]


async def test_redeeming_by_id_is_refused_by_name_and_opens_nothing(desk: Desk) -> None:
    unknown = await desk.ask(approval_id="apr_unknown")
    assert (unknown["outcome"], codes(unknown)[-1]) == ("deny", "approval_mismatch")
    assert await desk.events() == []

    asked = await desk.ask()
    pending = await desk.ask(approval_id=asked["approval_id"])
    assert (pending["outcome"], codes(pending)[-1]) == ("require_human", "approval_pending")

    await desk.vote("ada", asked["approval_id"], "deny", comment="not today")
    denied = await desk.ask(approval_id=asked["approval_id"])
    assert (denied["outcome"], codes(denied)[-1]) == ("deny", "approval_denied")


async def test_a_denial_answers_every_repeat_with_its_name_and_comment(desk: Desk) -> None:
    asked = await desk.ask()
    await desk.vote("ben", asked["approval_id"], "deny", comment="the booking is void")
    again = await desk.ask()
    assert again["outcome"] == "deny"
    assert again["approval_id"] == asked["approval_id"]
    assert (again["approval"]["decided_by"], again["approval"]["comment"]) == ("ben", "the booking is void")
    assert (await desk.ask("AB13"))["outcome"] == "require_human"


async def test_a_denial_stands_whatever_the_policy_says(desk: Desk) -> None:
    asked = await desk.ask()
    await desk.vote("ada", asked["approval_id"], "deny")
    await desk.force(version="2", actions={**desk.policy["actions"], "voucher": {"decision": "allow"}})
    assert codes(await desk.ask()) == ["approval_denied"]


async def test_advice_that_opened_a_question_is_weighed_on_every_repeat(desk: Desk) -> None:
    advice = [{"outcome": "require_human", "by": "guard", "note": "odd"}]
    held = await admit(desk.client("agent"), call("read", advice=advice))
    assert held["outcome"] == "require_human"
    without = await admit(desk.client("agent"), call("read"))
    assert (without["outcome"], without["approval_id"]) == ("require_human", held["approval_id"])


async def test_kept_advice_ends_with_its_question_whether_or_not_a_sweep_ran(desk: Desk, at: At) -> None:
    held = await admit(desk.client("agent"), call("read", advice=[{"outcome": "require_human", "by": "guard"}]))
    await at(held["approval_id"], "expires_at")
    assert (await admit(desk.client("agent"), call("read")))["outcome"] == "allow"


async def test_where_the_policy_allows_by_itself_the_question_is_superseded(desk: Desk) -> None:
    asked = await desk.ask()
    await desk.vote("ada", asked["approval_id"])
    allowed = await desk.ask(context={"trusted": "yes"})
    assert allowed["allowed"]
    assert (await desk.see(asked["approval_id"]))["status"] == "superseded"
    late = await desk.ask(approval_id=asked["approval_id"])
    assert codes(late)[-1] == "approval_superseded"
    assert "approval.superseded" in await desk.events()


async def test_an_allowed_call_leaves_the_question_of_another_alone(desk: Desk) -> None:
    asked = await desk.ask()
    await desk.vote("ada", asked["approval_id"])
    other = await admit(desk.client("agent"), call("read", approval_id=asked["approval_id"]))
    assert (other["outcome"], codes(other)[-1]) == ("deny", "approval_mismatch")
    assert (await desk.ask())["allowed"]


async def test_an_allowed_call_by_the_id_of_its_own_question_runs(desk: Desk) -> None:
    asked = await desk.ask()
    allowed = await desk.ask(context={"trusted": "yes"}, approval_id=asked["approval_id"])
    assert allowed["allowed"]
    assert (await desk.see(asked["approval_id"]))["status"] == "superseded"


async def test_a_policys_deny_opens_no_question(desk: Desk) -> None:
    refused = await desk.ask(amount=901)
    assert (refused["outcome"], refused["approval_id"]) == ("deny", None)
    assert await desk.events() == []


async def test_a_policys_deny_refuses_a_redemption_and_the_approval_stays(desk: Desk) -> None:
    asked = await desk.ask()
    await desk.vote("ada", asked["approval_id"])
    actions = desk.policy["actions"]
    await desk.force(actions={**actions, "voucher": {"labels": {"kind": "payout"}, "decision": "deny"}})
    assert (await desk.ask())["outcome"] == "deny"
    assert (await desk.see(asked["approval_id"]))["status"] == "approved"
    await desk.force(actions=actions)
    assert (await desk.ask())["allowed"]


async def test_more_than_was_approved_is_another_call(desk: Desk) -> None:
    asked = await desk.ask()
    await desk.vote("ada", asked["approval_id"])
    voucher_ = desk.policy["actions"]["voucher"]
    for more, what in (
        ({"effect": "voucher:{booking}"}, "effect"),
        ({"spend": ["desk"]}, "spend"),
        ({"asset": "booking/{booking}"}, "asset"),
        ({"labels": {**voucher_["labels"], "blast_radius": 2}}, "blast_radius"),
        ({"cost": {"amount": "{amount}", "currency": "EUR"}}, "cost"),
    ):
        await desk.force(actions={**desk.policy["actions"], "voucher": {**voucher_, **more}})
        refused = await desk.ask()
        assert codes(refused)[-1] == "approval_mismatch"
        assert refused["triggered"][-1]["exceeds"] == what
    await desk.force(actions={**desk.policy["actions"], "voucher": voucher_})
    assert (await desk.ask())["allowed"]


async def test_live_questions_are_bounded(desk: Desk) -> None:
    for number in range(20):
        assert (await desk.ask(f"B{number}"))["outcome"] == "require_human"
    refused = await desk.ask("B20")
    assert (refused["outcome"], codes(refused)[-1]) == ("deny", "too_many_questions")
    assert refused["approval_id"] is None
    assert (await desk.ask("B0"))["outcome"] == "require_human"
    assert (await desk.ask("B20", who="agent2"))["outcome"] == "require_human"


async def test_another_version_label_cancels_open_questions(desk: Desk) -> None:
    await desk.force(version="1")
    pending, approved = await desk.ask("P"), await desk.ask("A")
    await desk.vote("ada", approved["approval_id"])
    await desk.force(version="2")
    for asked in (pending, approved):
        assert (await desk.see(asked["approval_id"]))["status"] == "cancelled"
    refused = await desk.ask("A", approval_id=approved["approval_id"])
    assert codes(refused)[-1] == "approval_cancelled"
    assert (await desk.ask("A"))["approval_id"] != approved["approval_id"]


async def test_the_same_label_keeps_them(desk: Desk) -> None:
    asked = await desk.ask()
    await desk.force(unlisted="require_human")
    assert (await desk.ask())["approval_id"] == asked["approval_id"]


class TestAskingAhead:
    async def test_opens_the_question_or_names_the_live_one(self, desk: Desk) -> None:
        agent = desk.client("agent")
        opened = await agent.post("/v1/approvals", json=voucher())
        again = await agent.post("/v1/approvals", json=voucher())
        assert (opened.status_code, again.status_code) == (201, 200)
        assert opened.json()["id"] == again.json()["id"] == (await desk.ask())["approval_id"]
        assert opened.headers["location"].endswith(opened.json()["id"])

    async def test_uses_nothing_up(self, desk: Desk) -> None:
        agent = desk.client("agent")
        opened = (await agent.post("/v1/approvals", json=voucher())).json()
        await desk.vote("ada", opened["id"])
        assert (await agent.post("/v1/approvals", json=voucher())).json()["status"] == "approved"
        assert (await desk.ask())["allowed"]

    async def test_is_a_conflict_where_the_policy_decides(self, desk: Desk) -> None:
        for body, outcome in ((call("read"), "allow"), (voucher(amount=901), "deny")):
            refused = await desk.client("agent").post("/v1/approvals", json=body)
            assert (refused.status_code, refused.json()["outcome"]) == (409, outcome)


class TestWhoSeesWhat:
    CARD = "4111111111111111"

    async def _asked(self, desk: Desk) -> str:
        arguments = {"card": self.CARD, "note": "DE89370400440532013000 a@b.example s3cret"}
        asked = await desk.ask(arguments=arguments, approval_context={"why": "c@d.example"})
        return str(asked["approval_id"])

    async def test_who_may_decide_sees_the_arguments(self, desk: Desk) -> None:
        seen = await desk.see(await self._asked(desk))
        assert seen["arguments"]["booking"] == "AB12"
        assert seen["shown"] == {"booking": "AB12", "card": "<masked:16>"}
        assert seen["summary"] == "amount=100, booking=<str:4>, card=<str:16>, note=<str:41>"
        assert seen["context"] == {"why": "c@d.example"}
        assert seen["rules"] == [{"name": "payouts", "quorum": 1, "have": 0}]

    @pytest.mark.parametrize("who", ["operator", "auditor"])
    async def test_who_watches_sees_no_value(self, desk: Desk, who: str) -> None:
        seen = await desk.see(await self._asked(desk), who)
        assert not {"arguments", "shown", "context"} & seen.keys()
        assert "example" not in str(seen)

    async def test_who_asked_sees_where_it_stands(self, desk: Desk) -> None:
        seen = await desk.see(await self._asked(desk), "agent")
        assert seen["status"] == "pending"
        assert not {"arguments", "votes", "rules", "summary"} & seen.keys()

    @pytest.mark.parametrize("who", ["agent2", "dan", "lead"])
    async def test_for_others_it_does_not_exist(self, desk: Desk, who: str) -> None:
        approval_id = await self._asked(desk)
        assert (await desk.client(who).get(f"/v1/approvals/{approval_id}")).status_code == 404

    async def test_the_record_holds_no_argument(self, desk: Desk) -> None:
        approval_id = await self._asked(desk)
        await desk.vote("ada", approval_id, arguments={"booking": "ZZ99", "amount": 7, "card": "x", "note": "private"})
        await desk.ask(arguments={"card": self.CARD, "note": "DE89370400440532013000 a@b.example s3cret"})
        record = str(await exported(desk.client("auditor")))
        for secret in (self.CARD, "DE8937", "example", "s3cret", "private", "ZZ99"):
            assert secret not in record


class TestTheQueue:
    async def test_lists_the_oldest_first_in_pages(self, desk: Desk) -> None:
        asked = [(await desk.ask(f"Q{number}"))["approval_id"] for number in range(5)]
        seen: list[str] = []
        cursor: str | None = None
        while True:
            params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
            page = (await desk.client("ada").get("/v1/approvals", params=params)).json()
            seen += [question["id"] for question in page["data"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert seen == asked

    async def test_holds_what_one_may_decide(self, desk: Desk) -> None:
        small, large = await desk.ask("S"), await desk.ask("L", amount=600)
        expected = {"ada": [small, large], "lead": [large], "dan": [], "agent": [small, large], "agent2": []}
        for who, questions in expected.items():
            page = (await desk.client(who).get("/v1/approvals", params={"status": "pending"})).json()
            assert [found["id"] for found in page["data"]] == [found["approval_id"] for found in questions], who
        mine = {"mine": "true"}
        assert (await desk.client("auditor").get("/v1/approvals", params=mine)).json()["data"] == []
        assert len((await desk.client("auditor").get("/v1/approvals")).json()["data"]) == 2

    async def test_can_be_asked_for_one_status(self, desk: Desk) -> None:
        pending, denied = await desk.ask("P"), await desk.ask("D")
        await desk.vote("ada", denied["approval_id"], "deny")
        for status, question in (("pending", pending), ("denied", denied)):
            page = (await desk.client("ada").get("/v1/approvals", params={"status": status})).json()
            assert [found["id"] for found in page["data"]] == [question["approval_id"]]
        assert (await desk.client("ada").get("/v1/approvals", params={"status": "no"})).status_code == 400
