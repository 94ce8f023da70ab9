"""Problems say what is wrong and what to do, in one shape."""

from collections.abc import Callable

import httpx
import pytest
from fastapi import FastAPI

from app.core.refusals import RefusalKind
from app.door.problems import CATALOGUE

Asking = Callable[[str], httpx.AsyncClient]

# The form of a key that nobody has made.
NUMBER, SECRET = "0" * 20, "x" * 43


def test_every_kind_of_refusal_has_its_status() -> None:
    assert set(RefusalKind) <= CATALOGUE.keys()


async def test_a_problem_has_the_members_of_rfc_9457_and_the_request_id(asking: Asking) -> None:
    answered = await asking("agent").get("/v1/keys", headers={"X-Request-ID": "mine-1"})
    assert answered.status_code == 403
    assert answered.headers["x-request-id"] == "mine-1"
    assert answered.json() == {
        "type": "http://countersign.test/problems/forbidden",
        "title": "The credential does not give this right",
        "status": 403,
        "detail": "this needs the right keys, which the key does not have",
        "instance": "/v1/keys",
        "request_id": "mine-1",
    }


@pytest.mark.parametrize("kind", CATALOGUE)
async def test_the_type_of_a_problem_can_be_read(asking: Asking, kind: str) -> None:
    answered = await asking("agent").get(f"/problems/{kind}")
    assert answered.status_code == 200
    assert CATALOGUE[kind].remedy in answered.text


async def test_nothing_there_is_404_and_another_method_405(asking: Asking) -> None:
    assert (await asking("admin").get("/v1/nothing")).json()["type"].endswith("/not-found")
    answered = await asking("admin").put("/v1/keys", json={})
    assert answered.status_code == 405
    assert set(answered.headers["allow"].split(", ")) == {"GET", "POST"}
    assert answered.json()["status"] == 405


@pytest.mark.parametrize("sent", ["", "with space", "ü", "x" * 129, "two\tparts"])
async def test_a_request_id_that_is_none_is_replaced(asking: Asking, sent: str) -> None:
    answered = await asking("agent").get("/healthz", headers={b"X-Request-ID": sent.encode("latin-1")})
    assert answered.headers["x-request-id"] not in {"", sent}


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "Bearer nothing",
        "Bearer csk_",
        "Bearer csk__",
        "Bearer csk_dev-1",
        "Bearer csk_dev-00_x",
        f"Bearer csk_dev-{NUMBER}_{SECRET}",
        f"Bearer csk_nobody-{NUMBER}_{SECRET}",
        f"Bearer csk_dev-{NUMBER}_{SECRET}x",
        f"Bearer csk_DEV-{NUMBER}_{SECRET}",
        "Bearer csk_-_x",
        "Bearer csk_dev-00_\u00e4",
        "Bearer csk_" + "x" * 5_000 + "-1_y",
    ],
)
async def test_no_valid_key_is_401_and_says_how_to_send_one(
    app: FastAPI, keys: dict[str, str], authorization: str | None
) -> None:
    assert keys
    headers = {} if authorization is None else {b"Authorization": authorization.encode("latin-1")}
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://countersign.test") as client:
        for method, path in (("GET", "/v1/whoami"), ("POST", "/v1/admit"), ("POST", "/v1/decide")):
            answered = await client.request(method, path, headers=headers)
            assert answered.status_code == 401, path
            assert answered.headers["www-authenticate"].startswith("Bearer")


async def test_what_nobody_foresaw_is_500_with_the_request_id(app: FastAPI) -> None:
    async def fail() -> None:
        raise ValueError("hunter2")

    app.add_api_route("/fails", fail)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://countersign.test") as client:
        answered = await client.get("/fails", headers={"X-Request-ID": "mine"})
    assert answered.status_code == 500
    assert answered.headers["x-request-id"] == answered.json()["request_id"] == "mine"
    assert answered.json()["type"].endswith("/problems/internal")
    assert "hunter2" not in answered.text


async def test_two_keys_are_no_key(app: FastAPI, keys: dict[str, str]) -> None:
    headers = [("Authorization", f"Bearer {keys[name]}") for name in ("agent", "admin")]
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://countersign.test") as client:
        assert (await client.get("/v1/whoami", headers=headers)).status_code == 401


async def test_half_a_key_is_no_key(app: FastAPI, keys: dict[str, str]) -> None:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://countersign.test") as client:
        for key in (keys["agent"][:-1], keys["agent"] + "x", keys["agent"].swapcase()):
            answered = await client.get("/v1/whoami", headers={"Authorization": f"Bearer {key}"})
            assert answered.status_code == 401
        answered = await client.get("/v1/whoami", headers={"Authorization": f"bearer  {keys['agent']} "})
        assert answered.status_code == 200
