"""Lending one's vote on a page, and taking it back."""

import httpx

from tests.approvals.conftest import Desk
from tests.web.conftest import Visiting, words


async def test_a_vote_is_lent_and_taken_back(desk: Desk, visiting: Visiting) -> None:
    ada, dan = await visiting("ada"), await visiting("dan")
    lent = await ada.post("/console/delegations", to="dan", expires_in="1d", labels="payout, large")
    assert lent.status_code == httpx.codes.SEE_OTHER
    page = await ada.get("/console/delegations")
    assert "to dan" in words(page)
    assert "23 hours left" in words(page)
    asked = await desk.ask()
    seen = words(await dan.get(f"/console/approvals/{asked['approval_id']}"))
    assert "Your decision" in seen
    path = page.text.partition('action="/console/delegations/')[2].partition('"')[0]
    assert (await ada.post(f"/console/delegations/{path}")).status_code == httpx.codes.SEE_OTHER
    gone = await dan.get(f"/console/approvals/{asked['approval_id']}")
    assert gone.status_code == httpx.codes.NOT_FOUND
    assert "ended by ada" in words(await dan.get("/console/delegations"))


async def test_what_cannot_be_lent_says_why_and_keeps_what_was_typed(desk: Desk, visiting: Visiting) -> None:
    ada = await visiting("ada")
    for to, said in (("nobody", "no such principal"), ("agent", "an agent never decides"), ("ada", "yourself")):
        answered = await ada.post("/console/delegations", to=to, expires_in="1d", labels='"><b>x')
        assert answered.status_code == httpx.codes.BAD_REQUEST
        assert said in words(answered).lower()
        assert f'value="{to}"' in answered.text
        assert "<b>" not in answered.text
    for span in ("", "forever", "400d"):
        answered = await ada.post("/console/delegations", to="dan", expires_in=span, labels="")
        assert answered.status_code == httpx.codes.BAD_REQUEST
    assert (await desk.client("ada").get("/v1/delegations")).json()["data"] == []


async def test_somebody_elses_delegation_cannot_be_ended(desk: Desk, visiting: Visiting) -> None:
    await (await visiting("ada")).post("/console/delegations", to="dan", expires_in="1d", labels="")
    made = (await desk.client("ada").get("/v1/delegations")).json()["data"][0]
    answered = await (await visiting("ben")).post(f"/console/delegations/{made['id']}/end")
    assert answered.status_code == httpx.codes.NOT_FOUND
    assert (await desk.client("ada").get("/v1/delegations")).json()["data"][0]["revoked_at"] is None
