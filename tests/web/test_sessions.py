"""Sessions end with their key, cookies are strict, and a change comes from a page of the console or not at all."""

from datetime import timedelta

import httpx
import pytest
from sqlalchemy import text

from app.identity import sessions
from tests.approvals.conftest import Desk
from tests.web.conftest import Visiting, key_of, words

CREDENTIAL = text("SELECT id FROM credentials WHERE principal = 'ada'")


async def credential_of_ada(desk: Desk) -> str:
    row = await desk.app.state.house.database.read(lambda reader: reader.row(CREDENTIAL))
    return str(row.id)


async def test_the_cookie_is_strict(desk: Desk, visiting: Visiting) -> None:
    visitor = await visiting()
    answered = await visitor.sign_in(key_of(desk, "ada"))
    name, _, attributes = answered.headers["set-cookie"].partition("=")
    assert name == "__Host-countersign"
    assert {part.strip() for part in attributes.split(";")[1:]} == {"HttpOnly", "Path=/", "SameSite=strict", "Secure"}
    assert key_of(desk, "ada").rpartition("_")[2] not in answered.headers["set-cookie"]


async def test_a_wrong_key_is_refused_without_a_cookie(visiting: Visiting, desk: Desk) -> None:
    visitor = await visiting()
    for key in ("", "hello", "csk_dev-0_x", f"{key_of(desk, 'ada')}x", key_of(desk, "ada")[:-1]):
        answered = await visitor.sign_in(key)
        assert answered.status_code == httpx.codes.UNAUTHORIZED
        assert "set-cookie" not in answered.headers
        assert key not in answered.text or not key


async def test_without_a_session_every_page_asks_for_a_key_and_keeps_where_one_was_going(visiting: Visiting) -> None:
    answered = await (await visiting()).get("/console/history", before="apr_1")
    assert answered.status_code == httpx.codes.UNAUTHORIZED
    assert 'value="/console/history?before=apr_1"' in answered.text


async def test_signing_in_leads_to_where_one_was_going_and_never_to_another_site(
    desk: Desk, visiting: Visiting
) -> None:
    visitor = await visiting()
    answered = await visitor.sign_in(key_of(desk, "ada"), again="/console/history?before=apr_1")
    assert answered.headers["location"] == "/console/history?before=apr_1"
    for elsewhere in ("//evil.example", "https://evil.example", "/console\\@evil.example", "/consoleevil", "/\t/evil"):
        assert (await visitor.sign_in(key_of(desk, "ada"), again=elsewhere)).headers["location"] == "/console"


@pytest.mark.parametrize("how", ["revoked", "rotated", "principal revoked"])
async def test_a_session_ends_with_its_key(desk: Desk, visiting: Visiting, how: str) -> None:
    visitor = await visiting("ada")
    assert (await visitor.get("/console/approvals")).status_code == httpx.codes.OK
    admin, key = desk.client("admin"), await credential_of_ada(desk)
    if how == "revoked":
        assert (await admin.delete(f"/v1/keys/{key}")).is_success
    elif how == "rotated":
        assert (await admin.post(f"/v1/keys/{key}/rotate")).is_success
    else:
        stopped = {"principal": "ada", "reason": "left the company"}
        assert (await desk.client("operator").post("/v1/revocations", json=stopped)).is_success
    expected = httpx.codes.FORBIDDEN if how == "principal revoked" else httpx.codes.UNAUTHORIZED
    assert (await visitor.get("/console/approvals")).status_code == expected


async def test_a_vote_in_a_session_whose_key_was_just_revoked_does_not_count(desk: Desk, visiting: Visiting) -> None:
    asked = await desk.ask()
    visitor = await visiting("ada")
    page = await visitor.get(f"/console/approvals/{asked['approval_id']}")
    await desk.client("admin").delete(f"/v1/keys/{await credential_of_ada(desk)}")
    digest = page.text.partition('name="digest" value="')[2].partition('"')[0]
    path = f"/console/approvals/{asked['approval_id']}"
    answered = await visitor.post(path, decision="approve", digest=digest)
    assert answered.status_code == httpx.codes.UNAUTHORIZED
    assert (await desk.see(asked["approval_id"], "ben"))["status"] == "pending"


async def test_signing_out_ends_the_session_for_whoever_has_its_token(visiting: Visiting) -> None:
    visitor, thief = await visiting("ada"), await visiting()
    thief.http.cookies = visitor.http.cookies.__class__(visitor.http.cookies)
    assert (await thief.get("/console/approvals")).status_code == httpx.codes.OK
    assert (await visitor.post("/console/sign-out")).status_code == httpx.codes.SEE_OTHER
    for one in (visitor, thief):
        assert (await one.get("/console/approvals")).status_code == httpx.codes.UNAUTHORIZED
    again = await visiting("ada")
    assert (await again.get("/console/approvals")).status_code == httpx.codes.OK


async def test_a_session_ends_after_eight_hours(desk: Desk, visiting: Visiting) -> None:
    house = desk.app.state.house
    sight = await house.watch.fresh("dev")
    key = await credential_of_ada(desk)
    statuses = []
    for age in (timedelta(0), sessions.LONGEST - timedelta(minutes=1), sessions.LONGEST, -timedelta(minutes=1)):
        visitor = await visiting()
        token = house.sessions.open(sight.authority, key, sight.now() - age)
        visitor.http.cookies.set("__Host-countersign", token)
        statuses.append((await visitor.get("/console/approvals")).status_code)
    assert statuses == [200, 200, 401, 401]


async def test_a_token_that_anything_was_changed_in_is_worth_nothing(visiting: Visiting) -> None:
    visitor = await visiting("ada")
    token = visitor.http.cookies["__Host-countersign"]
    credential, opened, name, seal = token.split(".")
    ben = (await visiting("ben")).http.cookies["__Host-countersign"].split(".")[0]
    wrong = [
        f"{ben}.{opened}.{name}.{seal}",
        f"{credential}.{int(opened) + 1}.{name}.{seal}",
        f"{credential}.{opened}.{name[::-1]}.{seal}",
        f"{credential}.{opened}.{name}.{seal[::-1]}",
        f"{credential}.{opened}.{name}",
        f"{credential}.{'9' * 30}.{name}.{seal}",
        "",
    ]
    for token in wrong:
        visitor.http.cookies.clear()
        visitor.http.cookies.set("__Host-countersign", token)
        assert (await visitor.get("/console/approvals")).status_code == httpx.codes.UNAUTHORIZED, token


async def test_a_cookie_opens_no_route_of_the_api_and_a_key_no_page(desk: Desk, visiting: Visiting) -> None:
    visitor = await visiting("ada")
    assert (await visitor.get("/v1/approvals")).status_code == httpx.codes.UNAUTHORIZED
    assert (await desk.client("ada").get("/console/approvals")).status_code == httpx.codes.UNAUTHORIZED


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "null"},
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "THE CONSOLE", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "THE CONSOLE", "Sec-Fetch-Site": "same-site"},
        {"Origin": "THE CONSOLE", "Sec-Fetch-Site": "none"},
        {"Referer": "THE CONSOLE/console"},
    ],
    ids=str,
)
async def test_a_change_that_no_page_of_the_console_has_sent_is_refused(
    desk: Desk, visiting: Visiting, address: str, headers: dict[str, str]
) -> None:
    asked = await desk.ask()
    visitor = await visiting("ada")
    headers = {name: value.replace("THE CONSOLE", address) for name, value in headers.items()}
    path = f"/console/approvals/{asked['approval_id']}"
    answered = await visitor.post(path, headers, decision="approve", digest=asked["action_digest"])
    assert answered.status_code == httpx.codes.FORBIDDEN
    assert (await desk.see(asked["approval_id"]))["status"] == "pending"


async def test_signing_in_cannot_be_forged_either(desk: Desk, visiting: Visiting) -> None:
    visitor = await visiting()
    answered = await visitor.post("/console/sign-in", {"Origin": "https://evil.example"}, key=key_of(desk, "ada"))
    assert answered.status_code == httpx.codes.FORBIDDEN
    assert "set-cookie" not in answered.headers


async def test_a_page_loads_nothing_from_elsewhere_and_is_framed_by_nobody(visiting: Visiting) -> None:
    visitor = await visiting("ada")
    for path in ("/console/approvals", "/console/sign-in", "/console/history", "/console/approvals/unknown"):
        answered = await visitor.get(path)
        policy = {part.split()[0]: part.split()[1:] for part in answered.headers["content-security-policy"].split(";")}
        assert policy.pop("default-src") == ["'none'"]
        assert policy.pop("frame-ancestors") == policy.pop("base-uri") == ["'none'"]
        assert all(sources == ["'self'"] for sources in policy.values())
        assert answered.headers["x-frame-options"] == "DENY"
        assert answered.headers["x-content-type-options"] == "nosniff"
        assert answered.headers["referrer-policy"] == "same-origin"
        assert answered.headers["cache-control"] == "no-store"
        assert "http:" not in answered.text.replace("http-equiv", "")
        assert "<style" not in answered.text
        assert " style=" not in answered.text
        assert " onclick" not in answered.text


async def test_what_pages_load_may_be_kept_for_ever_under_its_digest(visiting: Visiting) -> None:
    visitor = await visiting()
    page = await visitor.get("/console/sign-in")
    for name in ("console.css", "console.js", "icon.svg"):
        place = page.text.partition(f"/console/static/{name}?v=")[2].partition('"')[0]
        answered = await visitor.get(f"/console/static/{name}", v=place)
        assert answered.status_code == httpx.codes.OK
        assert "immutable" in answered.headers["cache-control"]
    for name in ("pages.py", "..%2fpages.py", "%2e%2e/pages.py", "console.css%00"):
        assert not (await visitor.get(f"/console/static/{name}")).is_success


async def test_a_link_of_another_site_is_followed_anew(visiting: Visiting) -> None:
    visitor = await visiting()
    visitor.http.headers.update({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})
    answered = await visitor.get("/console/history")
    assert answered.status_code == httpx.codes.OK
    assert 'content="0; url=/console/history"' in answered.text


async def test_a_key_for_no_page_is_told_so(visiting: Visiting) -> None:
    answered = await (await visiting("agent")).get("/console")
    assert "They are for people who approve, operate or audit" in words(answered)


async def test_keys_of_other_parts_see_their_own_pages_only(visiting: Visiting) -> None:
    pages = {
        "ada": {"Approvals", "History", "Delegations"},
        "operator": {"Approvals", "History", "Outcomes", "Spend", "Policy"},
        "auditor": {"Approvals", "History", "Spend", "Policy", "Record"},
        "policy_admin": {"Policy"},
    }
    for who, names in pages.items():
        visitor = await visiting(who)
        home = await visitor.http.get("/console", follow_redirects=True)
        navigation = home.text.partition('<nav aria-label="Pages">')[2].partition("</nav>")[0]
        assert {name for name in set().union(*pages.values()) if f">{name}</a>" in navigation} == names, who
