"""One question per call, and one use of its answer."""

import asyncio
from collections import Counter

from tests.ask import admit, call, exported, verified
from tests.concurrency.conftest import Clients, together


async def test_a_hundred_askers_of_one_call_open_one_question(racing: Clients) -> None:
    answers = await together(racing("agent"), [call("wire", {"to": "a"})] * 100)

    assert {answer["outcome"] for answer in answers} == {"require_human"}
    assert len({answer["approval_id"] for answer in answers}) == 1
    requested = [record for record in await exported(racing("auditor")) if record["event_type"] == "approval.requested"]
    assert len(requested) == 1


async def test_one_of_thirty_two_redeemers_gets_an_approval(racing: Clients) -> None:
    agent = racing("agent")
    for number in range(5):
        body = call("wire", {"to": f"b{number}"})
        asked = await admit(agent, body)
        decision = await racing("approver").post(
            f"/v1/approvals/{asked['approval_id']}/decision", json={"decision": "approve"}
        )
        assert decision.status_code == 200, decision.text

        answers = await together(agent, [body] * 32)
        assert Counter(answer["allowed"] for answer in answers) == {True: 1, False: 31}
        codes = {trigger["code"] for answer in answers if not answer["allowed"] for trigger in answer["triggered"]}
        assert "approval_consumed" in codes
    events = Counter(record["event_type"] for record in await exported(racing("auditor")))
    assert (events["approval.requested"], events["approval.redeemed"]) == (5, 5)
    await verified(racing("auditor"))


async def test_approve_against_deny_at_once_has_one_winner_and_both_see_it(racing: Clients) -> None:
    for number in range(50):
        asked = await admit(racing("agent"), call("wire", {"to": f"c{number}"}))
        path = f"/v1/approvals/{asked['approval_id']}/decision"
        approved, denied = await asyncio.gather(
            racing("approver").post(path, json={"decision": "approve"}),
            racing("approver2").post(path, json={"decision": "deny", "comment": "no"}),
        )
        final = (await racing("approver").get(f"/v1/approvals/{asked['approval_id']}")).json()["status"]
        # A denial by somebody with authority is final even after a yes; an approval only wins if it came alone.
        assert final in {"approved", "denied"}
        assert {approved.status_code, denied.status_code} <= {200, 409}
        assert 200 in {approved.status_code, denied.status_code}
        if final == "approved":
            assert denied.status_code == 409
            # What is approved and not used counts among the twenty that one may have open.
            await racing("agent").post(f"/v1/approvals/{asked['approval_id']}/cancel")
