"""What is wrong with a body is refused with its place, at once, and the next request works."""

import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

Asking = Callable[[str], httpx.AsyncClient]

_JSON = {"Content-Type": "application/json"}
_FINE = {"principal": "bot", "kind": "agent", "bundles": ["agent"]}

BODIES = [
    (b'{"principal": "a", "principal": "b"}', "/principal"),
    (b'{"principal": NaN}', "/principal"),
    (b'{"principal": "\\ud800"}', "/principal"),
    (b'{"principal": "\\u0000"}', "/principal"),
    (b"[" * 20_000 + b"]" * 20_000, "/0" * 64),
    (b'{"principal": ' + b"1" * 5_000 + b"}", "/principal"),
    (b'{"principal": "\xff"}', "/principal"),
    (b"[]", ""),
    (b"null", ""),
    (b"", ""),
    (b'{"principal": "a", "kind": "agent", "bundels": []}', "/bundels"),
    (b'{"principal": "", "kind": "agent"}', "/principal"),
    (b'{"principal": "a\\nb", "kind": "agent"}', "/principal"),
    (b'{"principal": "' + b"a" * 129 + b'", "kind": "agent"}', "/principal"),
    (b'{"principal": "' + "ä".encode() * 65 + b'", "kind": "agent"}', "/principal"),
    (b'{"principal": "a", "kind": "robot"}', "/kind"),
    (b'{"principal": "a", "kind": "agent", "bundles": ["agent", "emperor"]}', "/bundles/1"),
    (b'{"principal": "a", "kind": "agent", "expires_in": 5}', "/expires_in"),
    (b'{"kind": "agent"}', "/principal"),
]


@pytest.mark.parametrize(("body", "pointer"), BODIES)
async def test_a_body_that_cannot_be_taken_is_400_with_the_place(asking: Asking, body: bytes, pointer: str) -> None:
    started = time.perf_counter()
    refused = await asking("admin").post("/v1/keys", content=body, headers=_JSON)
    assert time.perf_counter() - started < 1
    assert refused.status_code == 400
    assert refused.headers["content-type"] == "application/problem+json"
    problem = refused.json()
    assert problem["type"].endswith("/problems/bad-input")
    assert pointer in {error["pointer"] for error in problem["errors"]}
    assert (await asking("admin").post("/v1/keys", json=_FINE)).status_code == 201


async def test_two_mebibytes_are_413(asking: Asking) -> None:
    refused = await asking("admin").post("/v1/keys", content=b" " * (2 << 20), headers=_JSON)
    assert refused.status_code == 413
    assert refused.json()["type"].endswith("/problems/too-large")


async def test_a_body_that_does_not_say_how_large_it_is_is_read_no_further_than_a_mebibyte(asking: Asking) -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while read < 64 << 20:
            read += 1 << 16
            yield b" " * (1 << 16)

    refused = await asking("admin").post("/v1/keys", content=endless(), headers=_JSON)
    assert refused.status_code == 413
    assert read <= 2 << 20


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
async def test_another_media_type_is_400(asking: Asking, media_type: str) -> None:
    refused = await asking("admin").post("/v1/keys", content=b"{}", headers={"Content-Type": media_type})
    assert refused.status_code == 400
    assert "application/json" in refused.json()["detail"]


async def test_two_media_types_are_none(asking: Asking) -> None:
    headers = [("Content-Type", "application/json"), ("Content-Type", "text/plain")]
    assert (await asking("admin").post("/v1/keys", content=b"{}", headers=headers)).status_code == 400


async def test_a_charset_beside_the_media_type_is_fine(asking: Asking) -> None:
    headers = {"Content-Type": "application/JSON; charset=utf-8"}
    body = b'{"principal": "bot", "kind": "agent", "bundles": ["agent"]}'
    assert (await asking("admin").post("/v1/keys", content=body, headers=headers)).status_code == 201


async def test_no_problem_repeats_what_was_sent(asking: Asking) -> None:
    secret = "a-secret-value"
    body = {"principal": "bot", "kind": secret, "owner": [secret], "expires_in": secret, "bundles": [secret]}
    refused = await asking("admin").post("/v1/keys", json=body)
    assert refused.status_code == 400
    assert secret not in refused.text


async def test_many_wrong_members_are_named_in_part(asking: Asking) -> None:
    refused = await asking("admin").post("/v1/keys", json={f"x{number}": 1 for number in range(22)})
    assert refused.status_code == 400
    assert len(refused.json()["errors"]) == 20


_CROWD = {f"x{number}": 1 for number in range(80_000)}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"action": {"name": "a"}, **_CROWD}, ""),
        ({"action": {"name": "a", **_CROWD}}, "/action"),
        ({"action": {"name": "a"}, "approval_context": _CROWD}, "/approval_context"),
        ({"action": {"name": "a"}, "advice": [_CROWD]}, "/advice/0"),
        ({"action": {"name": "a"}, "advice": [1] * 400_000}, "/advice/0"),
        ({"action": {"name": "a"}, "spend": [1] * 400_000}, "/spend/0"),
    ],
)
async def test_a_mebibyte_of_wrong_members_is_one_fault(asking: Asking, body: dict[str, Any], pointer: str) -> None:
    """A fault each would keep the process, and with it everybody, from answering for most of a second."""
    refused = await asking("agent").post("/v1/admit", content=json.dumps(body, separators=(",", ":")), headers=_JSON)
    assert refused.status_code == 400
    assert [error["pointer"] for error in refused.json()["errors"]] == [pointer]


@pytest.mark.parametrize(
    "url", ["/v1/keys?cursor=%00", "/v1/keys?principal=%00a", "/v1/keys?limit=0", "/v1/keys?limit=x"]
)
async def test_a_query_that_cannot_be_taken_is_400(asking: Asking, url: str) -> None:
    assert (await asking("admin").get(url)).status_code == 400


async def test_nul_in_a_path_is_400(asking: Asking) -> None:
    assert (await asking("admin").delete("/v1/keys/a%00b")).status_code == 400
