"""A consequence happens once, however many ask for it."""

import asyncio
from collections import Counter

from tests.ask import admit, call, verified
from tests.concurrency.conftest import Clients, together


async def test_one_of_sixty_four_gets_an_effect(racing: Clients) -> None:
    for parcel in range(5):
        answers = await together(racing("agent"), [call("deliver", {"parcel": f"P{parcel}"})] * 64)

        assert sum(answer["allowed"] for answer in answers) == 1
        codes = Counter(trigger["code"] for answer in answers for trigger in answer["triggered"])
        assert codes == {"effect_in_progress": 63}
    await verified(racing("auditor"))


async def test_attempts_are_counted_under_racing_retries(racing: Clients) -> None:
    agent = racing("agent")
    won = []
    for _ in range(5):
        answers = await together(agent, [call("deliver", {"parcel": "retried"})] * 10)
        allowed = [answer["admission"] for answer in answers if answer["allowed"]]
        won += allowed
        await asyncio.gather(
            *(
                agent.post(f"/v1/admissions/{admission['id']}/outcome", json={"outcome": "not_executed"})
                for admission in allowed
            )
        )

    assert [admission["attempt"] for admission in won] == [1, 2, 3]
    assert len({admission["provider_token"] for admission in won}) == 3
    last = await admit(agent, call("deliver", {"parcel": "retried"}))
    assert [trigger["code"] for trigger in last["triggered"]] == ["attempts_exhausted"]


async def test_one_key_sent_at_once_is_one_admission_and_replays(racing: Clients) -> None:
    body = call("pay", {"desk": "keyed"}, cost="10", idempotency_key="once")
    answers = await together(racing("agent"), [body] * 32)

    assert {answer["allowed"] for answer in answers} == {True}
    assert len({answer["admission"]["id"] for answer in answers}) == 1
    assert Counter(answer.get("replayed", False) for answer in answers) == {True: 31, False: 1}
    scope = await racing("operator").get("/v1/spend/scope", params={"scope": "desk:keyed"})
    assert scope.json()["limits"][0]["held"] == "10.00"
