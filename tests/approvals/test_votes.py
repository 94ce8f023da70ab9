"""Votes over HTTP: who may, what a quorum takes, and that it is counted again before it is used."""

from typing import Any

import pytest

from tests.approvals.conftest import Desk, codes
from tests.ask import admit, call, exported


async def refused(desk: Desk, approval_id: str) -> list[tuple[str, str]]:
    """Return who was refused and why, as the question keeps it."""
    return [(vote["by"], vote["code"]) for vote in (await desk.see(approval_id, "auditor"))["refused"]]


async def test_a_vote_without_authority_is_refused_and_kept_once(desk: Desk) -> None:
    approval_id = (await desk.ask())["approval_id"]
    for _ in range(2):
        answer = await desk.vote("dan", approval_id)
        assert (answer.status_code, answer.json()["code"]) == (403, "approval_no_authority")
    assert await refused(desk, approval_id) == [("dan", "approval_no_authority")]
    assert await desk.events() == ["approval.requested", "approval.refused"]
    assert (await desk.see(approval_id))["status"] == "pending"


async def test_without_the_right_there_is_no_vote(desk: Desk) -> None:
    approval_id = (await desk.ask())["approval_id"]
    for who in ("agent", "auditor", "operator"):
        assert (await desk.vote(who, approval_id)).status_code == 403
    assert await refused(desk, approval_id) == []


async def test_an_unknown_question_is_unknown(desk: Desk) -> None:
    assert (await desk.vote("ada", "apr_unknown")).status_code == 404


async def test_agents_never_decide_whatever_their_credential_says(desk: Desk) -> None:
    await desk.key("robot", kind="agent", roles=["supervisor"])
    approval_id = (await desk.ask())["approval_id"]
    answer = await desk.vote("robot", approval_id)
    assert (answer.status_code, answer.json()["code"]) == (403, "approval_no_authority")


async def test_the_same_vote_again_is_the_same_answer(desk: Desk) -> None:
    approval_id = (await desk.ask())["approval_id"]
    first, second = await desk.vote("ada", approval_id), await desk.vote("ada", approval_id)
    assert (first.status_code, second.status_code) == (200, 200)
    assert len(second.json()["votes"]) == 1


async def test_a_contradicting_vote_is_a_conflict(desk: Desk) -> None:
    approval_id = (await desk.ask())["approval_id"]
    await desk.vote("ada", approval_id, "deny")
    for who in ("ada", "ben"):
        answer = await desk.vote(who, approval_id)
        assert (answer.status_code, answer.json()["code"]) == (409, "approval_conflict")
        assert answer.json()["state"] == "denied"
    assert await refused(desk, approval_id) == [("ada", "approval_conflict"), ("ben", "approval_conflict")]


class TestEveryMatchingRule:
    async def test_has_to_reach_its_quorum(self, desk: Desk) -> None:
        approval_id = (await desk.ask(amount=600))["approval_id"]
        assert (await desk.vote("ada", approval_id)).json()["status"] == "pending"
        assert (await desk.vote("lead", approval_id)).json()["status"] == "approved"
        seen = await desk.see(approval_id)
        assert seen["rules"] == [
            {"name": "payouts", "quorum": 1, "have": 1},
            {"name": "large", "quorum": 1, "have": 1},
        ]
        assert [vote["basis"] for vote in seen["votes"]] == [
            [{"rule": "payouts", "ground": "role", "lender": ""}],
            [{"rule": "large", "ground": "name", "lender": ""}],
        ]

    async def test_but_one_denial_is_final(self, desk: Desk) -> None:
        approval_id = (await desk.ask(amount=600))["approval_id"]
        await desk.vote("ada", approval_id)
        assert (await desk.vote("lead", approval_id, "deny")).json()["status"] == "denied"

    async def test_without_one_nobody_approves_and_an_approvers_denial_stands(self, desk: Desk) -> None:
        body = call("orphan")
        approval_id = (await admit(desk.client("agent"), body))["approval_id"]
        assert (await desk.vote("ada", approval_id)).status_code == 403
        assert (await desk.vote("dan", approval_id, "deny")).json()["status"] == "denied"
        assert codes(await admit(desk.client("agent"), body))[-1] == "approval_denied"

    async def test_a_callers_tag_adds_a_rule_and_never_chooses_the_only_one(self, desk: Desk) -> None:
        tagged = call("voucher", {"booking": "T", "amount": 1})
        tagged["action"]["tags"] = ["large"]
        approval_id = (await admit(desk.client("agent"), tagged))["approval_id"]
        assert (await desk.vote("ada", approval_id)).json()["status"] == "pending"

        alone = call("orphan")
        alone["action"]["tags"] = ["payout"]
        approval_id = (await admit(desk.client("agent"), alone))["approval_id"]
        assert (await desk.vote("ada", approval_id)).status_code == 403


class TestSelfApproval:
    @pytest.mark.parametrize(
        ("name", "owner"),
        [
            ("human:Agent", "else"),
            ("a gent", "else"),
            ("\uff41gent", "else"),
            ("boss", "agent"),
            ("boss2", "bot:AGENT"),
        ],
    )
    async def test_in_every_disguise(self, desk: Desk, name: str, owner: str) -> None:
        await desk.key(name, owner=owner, roles=["supervisor"])
        approval_id = (await desk.ask())["approval_id"]
        answer = await desk.vote(name, approval_id)
        assert (answer.status_code, answer.json()["code"]) == (403, "approval_self_granted")
        assert (await desk.see(approval_id))["status"] == "pending"

    async def test_by_a_person_who_asks_with_a_second_key(self, desk: Desk) -> None:
        await desk.key("ann", roles=["supervisor"], bundles=["agent"])
        asked = await desk.ask(who="ann")
        await desk.key("ann", bundles=["approver"])
        assert (await desk.vote("ann", asked["approval_id"])).json()["code"] == "approval_self_granted"

    async def test_by_its_own_delegate(self, desk: Desk) -> None:
        ann = await desk.key("ann", roles=["supervisor"], bundles=["agent", "approver"])
        asked = await desk.ask(who="ann")
        assert (await ann.post("/v1/delegations", json={"to": "dan", "expires_in": "1h"})).status_code == 201
        assert (await desk.vote("dan", asked["approval_id"])).json()["code"] == "approval_self_granted"

    async def test_where_every_matching_rule_lets_it(self, desk: Desk) -> None:
        payouts, large = desk.policy["approvers"]
        await desk.force(approvers=[{**payouts, "allow_self_approval": True}, large])
        await desk.key("boss", owner="agent", roles=["supervisor"])
        assert (await desk.vote("boss", (await desk.ask())["approval_id"])).json()["status"] == "approved"
        both = (await desk.ask("L", amount=600))["approval_id"]
        assert (await desk.vote("boss", both)).json()["code"] == "approval_self_granted"


class TestBridges:
    async def _bridge(self, desk: Desk, name: str = "slack", **facts: Any) -> None:
        await desk.key(name, kind="service", bundles=[], rights=["decide_for"], **facts)

    async def test_a_bridge_names_a_human_and_both_are_kept(self, desk: Desk) -> None:
        await self._bridge(desk)
        approval_id = (await desk.ask())["approval_id"]
        answer = await desk.vote("slack", approval_id, on_behalf_of="ada")
        assert answer.status_code == 200, answer.text
        seen = await desk.see(approval_id)
        assert (seen["status"], seen["decided_by"]) == ("approved", "slack")
        assert [(vote["by"], vote["cast_by"]) for vote in seen["votes"]] == [("ada", "slack")]
        assert (await desk.ask())["allowed"]

    async def test_only_where_the_rule_lists_it(self, desk: Desk) -> None:
        await self._bridge(desk, "teams")
        approval_id = (await desk.ask())["approval_id"]
        answer = await desk.vote("teams", approval_id, on_behalf_of="ada")
        assert (answer.status_code, answer.json()["code"]) == (403, "approval_no_authority")
        assert await refused(desk, approval_id) == [("ada", "approval_no_authority")]

    async def test_none_of_the_requesters_owner(self, desk: Desk) -> None:
        await self._bridge(desk, owner="agent")
        approval_id = (await desk.ask())["approval_id"]
        for decision in ("approve", "deny"):
            answer = await desk.vote("slack", approval_id, decision, on_behalf_of="ada")
            assert (answer.status_code, answer.json()["code"]) == (403, "approval_self_granted")

    async def test_not_without_the_right_nor_for_nobody(self, desk: Desk) -> None:
        approval_id = (await desk.ask())["approval_id"]
        assert (await desk.vote("ada", approval_id, on_behalf_of="ben")).status_code == 403
        await self._bridge(desk)
        assert (await desk.vote("slack", approval_id, on_behalf_of="nobody")).status_code == 403
        assert (await desk.vote("slack", approval_id, on_behalf_of=" ")).status_code == 400
        assert (await desk.vote("slack", approval_id)).status_code == 403

    async def test_one_that_names_people_at_random_cannot_fill_the_record(self, desk: Desk) -> None:
        await self._bridge(desk)
        approval_id = (await desk.ask())["approval_id"]
        for number in range(52):
            assert (await desk.vote("slack", approval_id, on_behalf_of=f"somebody-{number}")).status_code == 403
        assert len(await refused(desk, approval_id)) == 50
        assert (await desk.events()).count("approval.refused") == 50

    async def test_a_person_votes_once_however_it_is_heard(self, desk: Desk) -> None:
        payouts, large = desk.policy["approvers"]
        await desk.force(approvers=[{**payouts, "quorum": 2}, large])
        await self._bridge(desk)
        approval_id = (await desk.ask())["approval_id"]
        await desk.vote("ada", approval_id)
        assert (await desk.vote("slack", approval_id, on_behalf_of="ada")).json()["status"] == "pending"
        assert (await desk.vote("slack", approval_id, on_behalf_of="ben")).json()["status"] == "approved"

    async def test_what_a_bridge_said_for_somebody_stays_its_word(self, desk: Desk) -> None:
        await self._bridge(desk)
        await desk.force(approvers=[{"name": "two", "roles": ["supervisor"], "quorum": 2, "via": ["slack"]}])
        approval_id = (await desk.ask())["approval_id"]
        await desk.vote("slack", approval_id, on_behalf_of="ada")
        assert (await desk.vote("ada", approval_id)).status_code == 200
        assert (await desk.vote("ada", approval_id, "deny")).status_code == 409
        seen = await desk.see(approval_id)
        assert [(vote["by"], vote["cast_by"]) for vote in seen["votes"]] == [("ada", "slack")]

        await desk.force(approvers=[{"name": "two", "roles": ["supervisor"], "quorum": 2}])
        await desk.vote("ada", approval_id)
        assert (await desk.vote("ben", approval_id)).json()["status"] == "pending"


class TestDelegations:
    async def _lend(self, desk: Desk, lender: str, to: str, **more: Any) -> str:
        made = await desk.client(lender).post("/v1/delegations", json={"to": to, "expires_in": "1h", **more})
        assert made.status_code == 201, made.text
        return str(made.json()["id"])

    async def test_a_delegate_votes_for_the_lender(self, desk: Desk) -> None:
        await self._lend(desk, "ada", "dan")
        approval_id = (await desk.ask())["approval_id"]
        seen = (await desk.vote("dan", approval_id)).json()
        assert seen["status"] == "approved"
        assert seen["votes"][0]["basis"] == [{"rule": "payouts", "ground": "delegation", "lender": "ada"}]

    async def test_is_limited_to_labels_if_it_says_so(self, desk: Desk) -> None:
        await self._lend(desk, "ada", "dan", labels=["refund"])
        assert (await desk.vote("dan", (await desk.ask())["approval_id"])).status_code == 403

    async def test_is_not_lent_on(self, desk: Desk) -> None:
        await self._lend(desk, "ada", "dan")
        await desk.key("eve")
        await self._lend(desk, "dan", "eve")
        assert (await desk.vote("eve", (await desk.ask())["approval_id"])).status_code == 403

    async def test_lender_and_delegate_are_one_person(self, desk: Desk) -> None:
        payouts, large = desk.policy["approvers"]
        await desk.force(approvers=[{**payouts, "quorum": 2}, large])
        await self._lend(desk, "ada", "dan")
        approval_id = (await desk.ask())["approval_id"]
        await desk.vote("ada", approval_id)
        assert (await desk.vote("dan", approval_id)).json()["rules"][0]["have"] == 1
        assert (await desk.vote("ben", approval_id)).json()["status"] == "approved"

    async def test_can_be_taken_back_by_either(self, desk: Desk) -> None:
        for who in ("ada", "dan"):
            lent = await self._lend(desk, "ada", "dan")
            assert (await desk.client("ben").delete(f"/v1/delegations/{lent}")).status_code == 404
            assert (await desk.client(who).delete(f"/v1/delegations/{lent}")).status_code == 204
            assert (await desk.client(who).delete(f"/v1/delegations/{lent}")).status_code == 204
            assert (await desk.vote("dan", (await desk.ask(who))["approval_id"])).status_code == 403
        records = await exported(desk.client("auditor"))
        events = [record["event_type"] for record in records if record["event_type"].startswith("delegation.")]
        assert events == ["delegation.granted", "delegation.revoked"] * 2

    async def test_are_listed_to_those_whom_they_bind(self, desk: Desk) -> None:
        lent = await self._lend(desk, "ada", "dan", labels=["payout"])
        for who, count in (("ada", 1), ("dan", 1), ("ben", 0)):
            listed = (await desk.client(who).get("/v1/delegations")).json()["data"]
            assert [found["id"] for found in listed] == [lent] * count

    @pytest.mark.parametrize(
        "body",
        [
            {"to": "nobody", "expires_in": "1h"},
            {"to": "agent", "expires_in": "1h"},
            {"to": "ada", "expires_in": "1h"},
            {"to": " ", "expires_in": "1h"},
            {"to": "dan", "expires_in": "366d"},
            {"to": "dan", "expires_in": "0s"},
            {"to": "dan"},
        ],
    )
    async def test_make_no_nonsense(self, desk: Desk, body: dict[str, Any]) -> None:
        assert (await desk.client("ada").post("/v1/delegations", json=body)).status_code == 400


class TestCountedAgain:
    """At redemption the quorum is counted with today's rules, roles and delegations."""

    async def _back(self, desk: Desk, approval_id: str) -> None:
        answer = await desk.ask()
        assert (answer["outcome"], codes(answer)[-1]) == ("require_human", "approval_insufficient")
        assert (answer["approval_id"], answer["approval"]["status"]) == (approval_id, "pending")
        assert (await desk.see(approval_id, "ben"))["status"] == "pending"

    async def _approved(self, desk: Desk, who: str = "ada") -> str:
        approval_id: str = (await desk.ask())["approval_id"]
        assert (await desk.vote(who, approval_id)).json()["status"] == "approved"
        return approval_id

    async def test_a_role_taken_away(self, desk: Desk) -> None:
        approval_id = await self._approved(desk)
        taken = await desk.client("admin").post(
            "/v1/principals", json={"principal": "ada", "kind": "human", "roles": []}
        )
        assert taken.status_code < 300, taken.text
        await self._back(desk, approval_id)
        await desk.vote("ben", approval_id)
        assert (await desk.ask())["allowed"]

    async def test_a_role_given_back_and_the_vote_said_again(self, desk: Desk) -> None:
        approval_id = await self._approved(desk)
        for roles in ([], ["supervisor"]):
            body = {"principal": "ada", "kind": "human", "roles": roles}
            await desk.client("admin").post("/v1/principals", json=body)
            if not roles:
                await self._back(desk, approval_id)
        assert not (await desk.ask())["allowed"]
        again = await desk.vote("ada", approval_id)
        assert (again.json()["status"], len(again.json()["votes"])) == ("approved", 1)
        assert (await desk.ask())["allowed"]

    async def test_a_quorum_lowered_and_the_vote_said_again(self, desk: Desk) -> None:
        payouts, large = desk.policy["approvers"]
        await desk.force(approvers=[{**payouts, "quorum": 2}, large])
        approval_id = (await desk.ask())["approval_id"]
        assert (await desk.vote("ada", approval_id)).json()["status"] == "pending"
        await desk.force(approvers=[payouts, large])
        assert (await desk.vote("ada", approval_id)).json()["status"] == "approved"

    async def test_a_delegation_taken_back(self, desk: Desk) -> None:
        lent = await desk.client("ada").post("/v1/delegations", json={"to": "dan", "expires_in": "1h"})
        approval_id = await self._approved(desk, "dan")
        await desk.client("ada").delete(f"/v1/delegations/{lent.json()['id']}")
        await self._back(desk, approval_id)

    async def test_a_rule_tightened(self, desk: Desk) -> None:
        approval_id = await self._approved(desk)
        payouts, large = desk.policy["approvers"]
        await desk.force(approvers=[{**payouts, "quorum": 2}, large])
        await self._back(desk, approval_id)
        assert (await desk.vote("ben", approval_id)).json()["status"] == "approved"
        assert (await desk.ask())["allowed"]

    async def test_an_approver_revoked(self, desk: Desk) -> None:
        approval_id = await self._approved(desk)
        placed = await desk.client("operator").post("/v1/revocations", json={"principal": "ada", "reason": "left"})
        assert placed.status_code == 201
        await self._back(desk, approval_id)

    async def test_no_rule_left(self, desk: Desk) -> None:
        approval_id = await self._approved(desk)
        await desk.force(approvers=[])
        answer = await desk.ask()
        assert codes(answer)[-1] == "approval_insufficient"
        assert (await desk.see(approval_id, "auditor"))["status"] == "pending"
