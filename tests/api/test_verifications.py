"""Evidence: for one call, until its deadline, for one admission, and never from the acting principal alone."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.ask import admit, call, exported, put_in_force

Clients = Callable[[str], httpx.AsyncClient]

_POLICY = """
schema: countersign.policy/v1
defaults: {require_verification_score: 0.7, require_human_for: []}
actions:
  scan: {decision: allow}
"""

_GOOD = {"title": "t", "severity": "low", "gsar_score": 0.9, "evidence_refs": ["a", "b"], "confidence": 0.9}


@pytest.fixture
async def verifier(asking: Clients) -> httpx.AsyncClient:
    """A service with the right to verify, and the policy above in force."""
    await put_in_force(asking("policy_admin"), _POLICY)
    return await _with_rights(asking, "verifier", ["verify"], [])


async def _with_rights(asking: Clients, name: str, rights: list[str], bundles: list[str]) -> httpx.AsyncClient:
    made = await asking("admin").post(
        "/v1/keys", json={"principal": name, "kind": "service", "rights": rights, "bundles": bundles}
    )
    assert made.status_code == 201, made.text
    client = asking("agent")
    headers = {"Authorization": f"Bearer {made.json()['key']}"}
    return httpx.AsyncClient(transport=client._transport, base_url=client.base_url, headers=headers)  # noqa: SLF001


def _codes(answer: dict[str, Any]) -> list[str]:
    return [trigger["code"] for trigger in answer["triggered"]]


async def _verified(verifier: httpx.AsyncClient, digest: str, **said: Any) -> str:
    made = await verifier.post("/v1/verifications", json={"action_digest": digest, **said})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def test_a_verification_serves_the_call_it_is_for_once(asking: Clients, verifier: httpx.AsyncClient) -> None:
    held = await admit(asking("agent"), call("scan", {"host": "a"}))
    assert _codes(held) == ["verification_missing"]
    found = await _verified(verifier, held["action_digest"], survives=True, confidence=0.8)

    other = await admit(asking("agent"), call("scan", {"host": "b"}, verification_id=found))
    assert _codes(other) == ["verification_missing"]
    served = await admit(asking("agent"), call("scan", {"host": "a"}, verification_id=found))
    assert served["allowed"]
    again = await admit(asking("agent"), call("scan", {"host": "a"}, verification_id=found))
    assert not again["allowed"]
    assert "verification.made" in {record["event_type"] for record in await exported(asking("auditor"))}


async def test_what_is_below_the_bar_or_refuted_does_not_pass(asking: Clients, verifier: httpx.AsyncClient) -> None:
    digest = (await admit(asking("agent"), call("scan", {"host": "c"})))["action_digest"]
    below = await _verified(verifier, digest, survives=True, confidence=0.69)
    refuted = await _verified(verifier, digest, survives=False, confidence=0.99)

    assert _codes(await admit(asking("agent"), call("scan", {"host": "c"}, verification_id=below))) == [
        "verification_below_bar"
    ]
    assert _codes(await admit(asking("agent"), call("scan", {"host": "c"}, verification_id=refuted))) == [
        "verification_refuted"
    ]


async def test_the_skeptic_judges_a_finding(asking: Clients, verifier: httpx.AsyncClient) -> None:
    digest = (await admit(asking("agent"), call("scan", {"host": "d"})))["action_digest"]
    found = await _verified(verifier, digest, finding=_GOOD)
    assert (await admit(asking("agent"), call("scan", {"host": "d"}, verification_id=found)))["allowed"]
    baseless = await _verified(verifier, digest, finding=_GOOD | {"evidence_refs": []})
    assert _codes(await admit(asking("agent"), call("scan", {"host": "d"}, verification_id=baseless))) == [
        "verification_refuted"
    ]


async def test_nobody_is_the_only_witness_of_its_own_finding(asking: Clients, verifier: httpx.AsyncClient) -> None:
    own = await admit(asking("agent"), call("scan", {"host": "e"}, finding=_GOOD))
    assert _codes(own) == ["verification_missing"]
    refuted = await admit(asking("agent"), call("scan", {"host": "e"}, finding=_GOOD | {"evidence_refs": []}))
    assert _codes(refuted) == ["verification_refuted"]

    both = await _with_rights(asking, "scanner", ["verify"], ["agent"])
    digest = (await admit(both, call("scan", {"host": "f"})))["action_digest"]
    mine = await _verified(both, digest, survives=True, confidence=1)
    assert _codes(await admit(both, call("scan", {"host": "f"}, verification_id=mine))) == ["verification_missing"]
    attesting = await _with_rights(asking, "attested", ["attest"], ["agent"])
    assert (await admit(attesting, call("scan", {"host": "g"}, finding=_GOOD)))["allowed"]
    assert verifier is not None


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"action_digest": "x", "survives": True, "confidence": 1}, "/action_digest"),
        ({"action_digest": "sha256:" + "0" * 64}, ""),
        ({"action_digest": "sha256:" + "0" * 64, "survives": True}, ""),
        ({"action_digest": "sha256:" + "0" * 64, "survives": True, "confidence": 1, "finding": _GOOD}, ""),
        ({"action_digest": "sha256:" + "0" * 64, "survives": True, "confidence": 1.1}, "/confidence"),
        ({"action_digest": "sha256:" + "0" * 64, "finding": _GOOD, "expires_in": "31d"}, "/expires_in"),
    ],
)
async def test_a_malformed_verification_is_refused_with_its_place(
    verifier: httpx.AsyncClient, body: dict[str, Any], pointer: str
) -> None:
    refused = await verifier.post("/v1/verifications", json=body)
    assert refused.status_code == 400
    assert pointer in {error["pointer"] for error in refused.json()["errors"]}
