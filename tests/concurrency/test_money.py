"""Not one cent over a limit, and no refusal while there is room."""

import asyncio
from collections import Counter
from typing import Any

from tests.ask import call, verified
from tests.concurrency.conftest import Clients, together


async def _scope(racing: Clients, scope: str) -> dict[str, Any]:
    response = await racing("operator").get("/v1/spend/scope", params={"scope": scope})
    found: dict[str, Any] = response.json()["limits"][0]
    return found


async def test_sixty_four_of_thirty_against_a_thousand_on_a_scope_without_a_row(racing: Clients) -> None:
    answers = await together(racing("agent"), [call("pay", {"desk": "new"}, cost="30")] * 64)

    assert Counter(answer["allowed"] for answer in answers) == {True: 33, False: 31}
    refused = {trigger["code"] for answer in answers if not answer["allowed"] for trigger in answer["triggered"]}
    assert refused == {"spend_limit_exceeded"}
    assert (await _scope(racing, "desk:new"))["held"] == "990.00"
    await verified(racing("auditor"))


async def test_ten_of_a_hundred_twenty_four_race_for(racing: Clients) -> None:
    for number in range(5):
        desk = f"fresh-{number}"
        answers = await together(racing("agent"), [call("pay", {"desk": desk}, cost="100")] * 24)
        assert sum(answer["allowed"] for answer in answers) == 10
        assert (await _scope(racing, f"desk:{desk}"))["left"] == "0.00"


async def test_two_limits_both_hold(racing: Clients) -> None:
    answers = await together(racing("agent"), [call("pay.twice", {"desk": "a"}, cost="50")] * 40)

    assert sum(answer["allowed"] for answer in answers) == 8
    assert (await _scope(racing, "second:a"))["held"] == "400.00"
    assert (await _scope(racing, "first:a"))["held"] == "400.00"


async def test_room_that_is_given_back_is_used_again(racing: Clients) -> None:
    agent = racing("agent")
    first = await together(agent, [call("pay", {"desk": "b"}, cost="100")] * 10)
    outcomes = ["executed", "not_executed"] * 5
    await asyncio.gather(
        *(
            agent.post(f"/v1/admissions/{answer['admission']['id']}/outcome", json={"outcome": outcome})
            for answer, outcome in zip(first, outcomes, strict=True)
        )
    )
    again = await together(agent, [call("pay", {"desk": "b"}, cost="100")] * 10)

    assert sum(answer["allowed"] for answer in again) == 5
    scope = await _scope(racing, "desk:b")
    assert (scope["held"], scope["spent"], scope["left"]) == ("500.00", "500.00", "0.00")
