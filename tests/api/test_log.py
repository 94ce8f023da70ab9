"""The log tells what was asked of the service and what came of it, and nothing that was sent."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.live import LiveService

Serve = Callable[..., LiveService]

SECRETS = ("4111111111111111", "DE89370400440532013000", "ana@example.com", "hunter2")


def client_of(service: LiveService, key: str) -> httpx.Client:
    return httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {key}"})


def lines_of(written: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.splitlines() if line.startswith("{")]


def test_the_log_has_nothing_of_what_was_sent(
    capfd: pytest.CaptureFixture[str], serve: Serve, keys: dict[str, str]
) -> None:
    card, iban, mail, secret = SECRETS
    body = {"action": {"name": "pay", "arguments": {"card": card, "iban": iban, "to": mail}}, "context": {"k": secret}}
    service = serve()
    with client_of(service, keys["agent"]) as client:
        assert client.post("/v1/admit", json=body).status_code == 200
        assert client.post("/v1/admit", json={**body, secret: mail}).status_code == 400
        assert client.post("/v1/decide", content=json.dumps(body)[:-1], headers={"X-Token": secret}).status_code == 400
        assert client.get(f"/v1/admissions?run_id={mail}&cursor={secret}").status_code == 400
        assert client.get(f"/v1/admissions/{card}").status_code == 404
        assert client.get(f"/{iban}").status_code == 404
        bad_key = {"Authorization": f"Bearer csk_dev-00_{secret}"}
        assert client.get("/v1/whoami", headers=bad_key).status_code == 401
    service.stop()
    written = capfd.readouterr().err
    assert [line["status"] for line in lines_of(written) if line.get("event") == "request"].count(400) == 3
    for private in (*SECRETS, *keys.values()):
        assert private not in written


def test_each_request_is_a_line_with_its_id(
    capfd: pytest.CaptureFixture[str], serve: Serve, keys: dict[str, str]
) -> None:
    service = serve()
    with client_of(service, keys["agent"]) as client:
        client.get("/v1/admissions/adm_1", headers={"X-Request-ID": "mine"})
    service.stop()
    (line,) = [line for line in lines_of(capfd.readouterr().err) if line.get("request_id") == "mine"]
    assert line["event"] == "request"
    assert (line["method"], line["route"], line["status"]) == ("GET", "/v1/admissions/{admission_id}", 404)
    assert line["tenant"] == "dev"
