"""Deciding in a browser, as people do."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Page, expect
from sqlalchemy import text

from tests.approvals.conftest import Desk
from tests.approvals.test_many import _ANALYZE, _COPY
from tests.web.conftest import SignIn

_SOON = text("UPDATE approvals SET expires_at = clock_timestamp() + interval '3 s' WHERE id = :id")
FORM = re.compile(r"/console/approvals/apr_\w+$")


async def opened(page: Page, approval_id: str) -> None:
    await page.goto(f"/console/approvals/{approval_id}")


async def test_a_person_signs_in_finds_the_question_and_approves_it(desk: Desk, sign_in: SignIn) -> None:
    asked = await desk.ask(amount=120)
    page = await sign_in("ada")
    await expect(page).to_have_url(re.compile("/console/approvals$"))
    await page.get_by_role("link", name="voucher").click()
    await expect(page.get_by_text("a supervisor decides")).to_be_visible()
    await expect(page.get_by_role("row", name="amount")).to_contain_text("120")
    await page.get_by_label("Comment").fill("They waited six hours.")
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_text("Nothing runs until it sends the same call again")).to_be_visible()
    assert (await desk.see(asked["approval_id"]))["votes"][0]["comment"] == "They waited six hours."
    await page.get_by_role("link", name="All approvals").click()
    await expect(page.get_by_role("heading", name="Approved, not yet used")).to_be_visible()
    assert (await desk.ask(amount=120))["allowed"]
    await opened(page, asked["approval_id"])
    await expect(page.get_by_text("and used, once, by admission")).to_be_visible()


async def test_a_person_denies_and_the_agent_is_told_why(desk: Desk, sign_in: SignIn) -> None:
    asked = await desk.ask()
    page = await sign_in("ada")
    await opened(page, asked["approval_id"])
    await page.get_by_label("Comment").fill("Rebooked already.")
    await page.get_by_role("button", name="Deny").click()
    await expect(page.get_by_text("Denied by ada")).to_be_visible()
    answer = await desk.ask()
    assert (answer["outcome"], answer["approval"]["comment"]) == ("deny", "Rebooked already.")
    await page.get_by_role("link", name="History").click()
    await expect(page.get_by_role("row", name="voucher")).to_contain_text("Denied")


async def test_a_person_approves_other_values_and_sees_both_side_by_side(desk: Desk, sign_in: SignIn) -> None:
    asked = await desk.ask(amount=300, arguments={"note": "two\nlines"})
    page = await sign_in("ada")
    await opened(page, asked["approval_id"])
    await page.get_by_role("link", name="Approve other values instead").click()
    await page.get_by_label("amount").fill("three hundred")
    await page.get_by_role("button", name="Approve these values").click()
    await expect(page.get_by_role("alert")).to_contain_text("Some values cannot be read")
    await page.wait_for_timeout(2_500)  # long enough for the page to have read itself again, which would lose this
    await expect(page.get_by_role("alert")).to_be_visible()
    await expect(page.get_by_label("amount")).to_have_value("three hundred")
    await page.get_by_label("amount").fill("150")
    await page.get_by_role("button", name="Approve these values").click()
    row = page.get_by_role("row", name="amount")
    await expect(row).to_contain_text("300")
    await expect(row).to_contain_text("150")
    assert (await desk.see(asked["approval_id"]))["edited_arguments"] == {
        "booking": "AB12",
        "amount": 150,
        "note": "two\nlines",
    }
    assert (await desk.ask(amount=150, arguments={"note": "two\nlines"}))["allowed"]


async def test_time_runs_out_while_somebody_looks(desk: Desk, sign_in: SignIn) -> None:
    asked = await desk.ask()
    page = await sign_in("ada")
    await desk.app.state.house.database.transact(lambda tx: tx.write(_SOON, {"id": asked["approval_id"]}))
    await opened(page, asked["approval_id"])
    await page.get_by_label("Comment").fill("Almost")
    await expect(page.get_by_text("Nobody answered. Nothing ran, and nothing will.")).to_be_visible()
    await expect(page.get_by_role("button", name="Approve")).to_have_count(0)


async def test_an_answer_after_the_time_is_not_counted_and_says_so(
    desk: Desk, sign_in: SignIn, at: Callable[[str, str], Awaitable[None]]
) -> None:
    asked = await desk.ask()
    page = await sign_in("ada", java_script_enabled=False)
    await opened(page, asked["approval_id"])
    await at(asked["approval_id"], "expires_at")
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_role("alert")).to_contain_text("Time ran out before your answer")
    assert (await desk.see(asked["approval_id"]))["status"] == "expired"


async def test_two_people_look_at_once_and_the_slower_one_sees_what_the_other_said(desk: Desk, sign_in: SignIn) -> None:
    asked = await desk.ask()
    ada, ben = await asyncio.gather(sign_in("ada"), sign_in("ben"))
    await asyncio.gather(opened(ada, asked["approval_id"]), opened(ben, asked["approval_id"]))
    await ada.get_by_role("button", name="Deny").click()
    await expect(ben.get_by_text("Denied by ada")).to_be_visible()
    await expect(ben.get_by_role("button", name="Approve")).to_have_count(0)


@pytest.mark.parametrize("round_", range(3))
async def test_two_people_answer_at_the_same_moment_and_one_answer_stands(
    desk: Desk, sign_in: SignIn, round_: int
) -> None:
    asked = await desk.ask(booking=f"R{round_}")
    ada, ben = await asyncio.gather(
        sign_in("ada", java_script_enabled=False), sign_in("ben", java_script_enabled=False)
    )
    await asyncio.gather(opened(ada, asked["approval_id"]), opened(ben, asked["approval_id"]))
    await asyncio.gather(
        ada.get_by_role("button", name="Approve").click(), ben.get_by_role("button", name="Deny").click()
    )
    seen = await desk.see(asked["approval_id"])
    slower = ben if seen["status"] == "approved" else ada
    await expect(slower.get_by_role("alert")).to_contain_text("before your answer")
    assert len(seen["votes"]) == 1


async def test_what_is_typed_survives_news_of_somebody_elses_vote(desk: Desk, sign_in: SignIn) -> None:
    await desk.force(approvers=[{"name": "payouts", "labels": ["payout"], "roles": ["supervisor"], "quorum": 2}])
    asked = await desk.ask()
    page = await sign_in("ada")
    await opened(page, asked["approval_id"])
    await page.get_by_label("Comment").fill("I am still wri")
    await desk.vote("ben", asked["approval_id"], comment="fine with me")
    await expect(page.get_by_text("fine with me")).to_be_visible()
    await expect(page.get_by_label("Comment")).to_have_value("I am still wri")
    await expect(page.get_by_label("Comment")).to_be_focused()
    await expect(page.get_by_text("1 more: role supervisor")).to_be_visible()


async def test_the_queue_shows_new_questions_by_itself(desk: Desk, sign_in: SignIn) -> None:
    page = await sign_in("ada")
    await expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    await desk.ask()
    await expect(page.get_by_role("link", name="voucher")).to_be_visible()


async def test_everything_works_without_a_script(desk: Desk, sign_in: SignIn) -> None:
    asked = await desk.ask(amount=300)
    page = await sign_in("ada", java_script_enabled=False)
    await page.get_by_role("link", name="voucher").click()
    await expect(page.get_by_text("left to decide")).to_be_visible()
    await page.get_by_role("link", name="Approve other values instead").click()
    await page.get_by_label("amount").fill("200")
    await page.get_by_role("button", name="Approve these values").click()
    await expect(page).to_have_url(FORM)
    assert (await desk.see(asked["approval_id"]))["status"] == "approved"
    await page.get_by_role("link", name="Delegations").click()
    await page.get_by_label("To whom").fill("dan")
    await page.get_by_role("button", name="Lend it").click()
    await page.get_by_role("button", name="End the delegation to dan").click()
    await expect(page.get_by_text("Nobody decides for you")).to_be_visible()
    await page.get_by_role("button", name="Sign out").click()
    await page.goto("/console/history")
    await expect(page.get_by_label("Key")).to_be_visible()


async def test_a_question_is_decided_with_the_keyboard_alone(desk: Desk, sign_in: SignIn) -> None:
    asked = await desk.ask()
    page = await sign_in("ada")
    await opened(page, asked["approval_id"])
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="To the content")).to_be_focused()
    await page.keyboard.press("Enter")
    for _ in range(12):
        await page.keyboard.press("Tab")
        if await page.get_by_role("button", name="Deny").evaluate("button => button === document.activeElement"):
            break
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Denied by ada")).to_be_visible()


async def test_a_link_from_another_site_leads_to_the_page_and_not_to_the_first_one(
    desk: Desk, sign_in: SignIn, address: str
) -> None:
    asked = await desk.ask()
    page = await sign_in("ada")
    link = f"{address}/console/approvals/{asked['approval_id']}"
    elsewhere = address.replace("127.0.0.1", "localhost")
    await page.route(
        f"{elsewhere}/**", lambda route: route.fulfill(body=f'<a href="{link}">go</a>', content_type="text/html")
    )
    await page.goto(f"{elsewhere}/chat")
    await page.get_by_role("link", name="go").click()
    await expect(page.get_by_role("button", name="Approve")).to_be_visible()


async def test_with_two_thousand_questions_the_page_stays_usable(desk: Desk, sign_in: SignIn) -> None:
    await desk.ask()
    database = desk.app.state.house.database
    await database.transact(lambda tx: tx.write(_COPY))
    await database.transact(lambda tx: tx.write(_ANALYZE))
    page = await sign_in("ada")
    began = time.perf_counter()
    await page.goto("/console/approvals")
    await expect(page.get_by_role("link", name="voucher")).to_have_count(50)
    assert time.perf_counter() - began < 3
    await page.get_by_role("link", name="The next ones").click()
    await expect(page.get_by_role("link", name="voucher")).to_have_count(50)
    await page.get_by_role("link", name="voucher").first.click()
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_text("Approved by ada")).to_be_visible()


async def test_after_ones_own_answer_a_question_waits_for_the_others(desk: Desk, sign_in: SignIn) -> None:
    await desk.force(approvers=[{"name": "payouts", "labels": ["payout"], "roles": ["supervisor"], "quorum": 2}])
    await desk.ask()
    page = await sign_in("ada")
    await page.get_by_role("link", name="voucher").click()
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_text("You have approved this. It waits for others.")).to_be_visible()
    await page.get_by_role("link", name="All approvals").click()
    await expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    await expect(page.get_by_role("heading", name="You have answered, others are needed")).to_be_visible()


@pytest.mark.parametrize("width", [320, 390, 1280])
async def test_no_page_is_wider_than_the_screen(desk: Desk, sign_in: SignIn, width: int) -> None:
    long = "an-argument-that-is-as-long-as-" + "they-come-" * 20
    asked = await desk.ask(booking=long, arguments={"note": [long, {"a": long}]}, approval_context={"said": long})
    page = await sign_in("ada")
    await page.set_viewport_size({"width": width, "height": 800})
    question = f"/console/approvals/{asked['approval_id']}"
    for path in ("/console/approvals", question, f"{question}/edit", "/console/history", "/console/delegations"):
        await page.goto(path)
        assert await page.evaluate("document.documentElement.scrollWidth") <= width, path


@pytest.mark.parametrize("width", [390, 1280])
async def test_nor_is_a_page_of_an_operator_or_an_auditor(desk: Desk, sign_in: SignIn, width: int) -> None:
    long = "a-scope-that-is-as-long-as-" + "they-come-" * 30
    entry = {"scope": long, "amount": "123456789012.12345678", "currency": "EUR", "kind": "record"}
    assert (await desk.client("operator").post("/v1/spend/entries", json=entry)).is_success
    await desk.force(limits=[{"name": long[:100], "scope": "*", "limit": {"amount": "1.00", "currency": "EUR"}}])
    visits = {
        "operator": ("/console/admissions", "/console/spend", f"/console/spend/scope?scope={long}", "/console/policy"),
        "auditor": ("/console/record", "/console/policy/1"),
    }
    for who, paths in visits.items():
        page = await sign_in(who)
        await page.set_viewport_size({"width": width, "height": 800})
        for path in paths:
            await page.goto(path)
            assert await page.evaluate("document.documentElement.scrollWidth") <= width, path
