"""How requests are sent, sent again, and how replies are read."""

import time

import httpx
import pytest

import countersign
from countersign import Countersign
from tests.sdk.scripted import ADMIT, Reply, Scripted, allow, problem, reply


def test_the_key_goes_in_the_authorization_header_and_nowhere_else(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, allow())
    client.admit("voucher.issue", {"booking": "AB12"})
    request = service.requests[0]
    assert request.headers["authorization"] == "Bearer key_1"
    assert "key_1" not in str(request.url)
    assert "key_1" not in repr(client)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_request_is_sent_again_under_the_same_idempotency_key(
    service: Scripted, client: Countersign, status: int
) -> None:
    service.on(ADMIT, reply(status, retry_after="0"), httpx.ReadTimeout("slow"), allow())
    assert client.admit("voucher.issue").allowed
    keys = {body["idempotency_key"] for body in service.sent(ADMIT)}
    assert len(service.requests) == 3
    assert len(keys) == 1


def test_every_call_has_a_key_of_its_own(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, allow())
    client.admit("voucher.issue")
    client.admit("voucher.issue")
    first, second = service.sent(ADMIT)
    assert first["idempotency_key"] != second["idempotency_key"]


def test_retry_after_is_obeyed(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, reply(503, retry_after="1"), allow())
    began = time.monotonic()
    client.admit("voucher.issue")
    assert time.monotonic() - began >= 1


def test_retry_after_as_a_date_counts_from_the_replys_own_date(service: Scripted, client: Countersign) -> None:
    dates = {"date": "Sun, 29 Nov 2026 10:00:00 GMT", "retry_after": "Sun, 29 Nov 2026 10:00:01 GMT"}
    service.on(ADMIT, reply(503, **dates), allow())
    began = time.monotonic()
    client.admit("voucher.issue")
    assert 1 <= time.monotonic() - began < 5


def test_a_service_that_wants_to_be_left_alone_for_long_is_not_waited_for(
    service: Scripted, client: Countersign
) -> None:
    service.on(ADMIT, reply(503, retry_after="3600"))
    with pytest.raises(countersign.Unavailable) as raised:
        client.admit("voucher.issue")
    assert raised.value.retry_after == 3600
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    "play",
    [
        httpx.ConnectError("no"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("cut"),
        reply(500, retry_after="0"),
        reply(503, retry_after="0"),
        reply(599, retry_after="0"),
    ],
    ids=repr,
)
def test_no_answer_is_never_an_allow(service: Scripted, client: Countersign, play: Reply) -> None:
    service.on(ADMIT, play)
    with pytest.raises(countersign.Unavailable):
        client.admit("voucher.issue")
    assert len(service.requests) <= 3


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(service: Scripted, client: Countersign, status: int) -> None:
    service.on(ADMIT, reply(status, location="https://elsewhere.example/v1/admit"))
    with pytest.raises(countersign.NotUnderstood, match="redirect"):
        client.admit("voucher.issue")
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>",
        b"[]",
        b"null",
        b"true",
        b'{"allowed": true}',
        b'{"outcome": "allow", "allowed": true, "reason": "x"}',
        b'{"outcome": "allow", "allowed": true, "reason": "x", "admission": {}}',
        b'{"outcome": "allow", "allowed": true, "reason": "x", "admission": {"id": 7}}',
        b'{"outcome": "deny", "allowed": true, "reason": "x", "admission": {"id": "adm_1"}}',
        b'{"outcome": "permit", "allowed": true, "reason": "x", "admission": {"id": "adm_1"}}',
        b'{"outcome": "allow", "allowed": 1, "reason": "x", "admission": {"id": "adm_1"}}',
        b'{"outcome": "allow", "allowed": "true", "reason": "x", "admission": {"id": "adm_1"}}',
        b'{"outcome": "deny", "outcome": "allow", "allowed": true, "reason": "x", "admission": {"id": "adm_1"}}',
        b'{"outcome": "allow", "allowed": true, "reason": "x", "admission": {"id": "adm_1"}, "cost": NaN}',
        b'{"outcome": "allow", "allowed": true, "reason": "x", "triggered": [7], "admission": {"id": "adm_1"}}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
    ids=lambda content: content[:60].decode("latin-1"),
)
def test_a_body_that_is_not_understood_is_never_an_allow(
    service: Scripted, client: Countersign, content: bytes
) -> None:
    service.on(ADMIT, httpx.Response(200, content=content))
    with pytest.raises(countersign.NotUnderstood):
        client.admit("voucher.issue")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, countersign.BadRequest),
        (413, countersign.BadRequest),
        (401, countersign.Unauthenticated),
        (403, countersign.Forbidden),
        (404, countersign.NotFound),
        (409, countersign.Conflict),
        (418, countersign.Problem),
    ],
)
def test_a_problem_is_an_error_of_its_kind_with_all_that_was_said(
    service: Scripted, client: Countersign, status: int, kind: type[countersign.Problem]
) -> None:
    places = [{"detail": "not an amount", "pointer": "/action/cost/amount"}]
    service.on(ADMIT, problem(status, "Bad input", detail="more", errors=places))
    with pytest.raises(kind) as raised:
        client.admit("voucher.issue")
    error = raised.value
    assert (error.status, error.title, error.detail, error.request_id) == (status, "Bad input", "more", "req_1")
    assert "/action/cost/amount: not an amount" in str(error)
    assert "req_1" in str(error)
    assert len(service.requests) == 1


def test_an_error_that_is_no_problem_document_is_not_understood(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, httpx.Response(404, content=b"<h1>nginx</h1>"))
    with pytest.raises(countersign.NotUnderstood, match="is the URL that of a Countersign service"):
        client.admit("voucher.issue")


def test_the_environment_names_service_and_key_but_no_proxy(monkeypatch: pytest.MonkeyPatch, service: Scripted) -> None:
    monkeypatch.setenv("COUNTERSIGN_URL", "https://countersign.example/base")
    monkeypatch.setenv("COUNTERSIGN_KEY", "key_2")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    service.on("POST /base/v1/admit", allow())
    with Countersign(transport=service.transport) as client:
        client.admit("voucher.issue")
    assert str(service.requests[0].url) == "https://countersign.example/base/v1/admit"
    assert service.requests[0].headers["authorization"] == "Bearer key_2"


@pytest.mark.parametrize(
    "url", ["countersign.example", "ftp://x", "http://", "http://u:p@x", "http://x?y=1", "http://x#y"]
)
def test_a_url_that_could_surprise_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="the URL of the service"):
        Countersign(url)


@pytest.mark.parametrize("key", ["key\n", "a b", "ключ"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ValueError, match="characters") as raised:
        Countersign(key=key)
    assert key not in str(raised.value)


@pytest.mark.parametrize("path", ["v1/whoami", "//elsewhere.example/v1", "http://elsewhere.example/v1"])
def test_a_path_never_leaves_the_service(service: Scripted, client: Countersign, path: str) -> None:
    with pytest.raises(ValueError, match="begins with one slash"):
        client.request("GET", path)
    assert service.requests == []


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_an_id_is_one_segment_of_a_path(client: Countersign, name: str) -> None:
    with pytest.raises(ValueError, match="an id"):
        client.cancel(name)


def test_a_change_that_the_sdk_does_not_know_is_sent_once_only(service: Scripted, client: Countersign) -> None:
    service.on("POST /v1/delegations", reply(503, retry_after="0"))
    with pytest.raises(countersign.Unavailable):
        client.request("POST", "/v1/delegations", body={"to": "human:ada", "expires_in": "1h"})
    assert len(service.requests) == 1
