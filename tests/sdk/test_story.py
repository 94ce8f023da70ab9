"""An agent, a person, an operator and an auditor with the real command against a running service."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

import countersign
from countersign import Countersign
from tests.live import LiveService

COMMAND = Path(sys.executable).parent / "countersign"
POLICY = Path(__file__).parents[2] / "docs" / "examples" / "policy.yaml"

Says = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def live(serve: Callable[..., LiveService], keys: dict[str, str]) -> str:
    """The URL of a running service under the example policy."""
    url = serve().url
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {keys['policy_admin']}"}) as http:
        stored = http.post("/v1/policies", json={"document": POLICY.read_text()}).raise_for_status().json()
        activate = f"/v1/policies/{stored['revision']}/activate"
        http.post(activate, json={"mode": "enforce"}, headers={"If-Match": "*"}).raise_for_status()
    return url


@pytest.fixture
def says(live: str, keys: dict[str, str], tmp_path: Path) -> Says:
    """Runs the command as somebody: `says("approver", "approvals", "list")`."""
    file = tmp_path / "keys.json"
    file.write_text(json.dumps(keys))

    def run(name: str, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        command: list[str | Path] = [COMMAND, "--url", live, "--key-file", file, "--as", name, *arguments]
        return subprocess.run(
            command, input=typed, env=os.environ, capture_output=True, text=True, timeout=30, check=False
        )

    return run


def test_from_a_question_to_the_record(live: str, keys: dict[str, str], says: Says, tmp_path: Path) -> None:
    agent = Countersign(live, keys["agent"])

    @agent.protect("voucher.issue", reconcile=lambda _: "unknown")
    def issue(booking: str, amount: int) -> str:
        if booking == "LOST99":
            raise TimeoutError
        return f"{booking}:{amount}"

    with agent:
        with pytest.raises(countersign.Held):
            issue("AB12", 400)
        assert "voucher.issue" in says("approver", "approvals", "list").stdout
        asked = says("approver", "approvals", "watch", "--once", typed="yes\n")
        assert asked.returncode == 0, asked.stderr
        assert "amount = 400" in asked.stdout
        assert "is approved." in asked.stdout
        assert issue("AB12", 400) == "AB12:400"
        with pytest.raises(TimeoutError):
            issue("LOST99", 40)

    unknown = json.loads(says("operator", "effects", "unknown", "--json").stdout)
    assert [each["effect"] for each in unknown] == [["voucher:LOST99"]]
    assert "unknown" in says("operator", "effects", "show", "voucher:LOST99").stdout
    resolved = says("operator", "effects", "resolve", unknown[0]["id"], "--not-executed", "--reason", "asked them")
    assert resolved.returncode == 0, resolved.stderr
    assert "4600.00" in says("operator", "spend", "show", "desk").stdout
    assert "400.00" in says("operator", "spend", "list").stdout
    assert "settle" in says("operator", "spend", "entries", "desk").stdout
    assert says("agent", "effects", "show", "voucher:LOST99").returncode == 4

    colleague = json.loads(says("approver2", "whoami", "--json").stdout)["principal"]
    lent = json.loads(says("approver", "delegations", "lend", colleague, "--for", "1h", "--json").stdout)
    assert colleague in says("approver2", "delegations", "list").stdout
    assert says("approver", "delegations", "end", lent["id"]).stdout == "Ended.\n"

    _export(live, keys["auditor"], tmp_path)
    verified = _verify(tmp_path, (tmp_path / "head").read_text())
    assert verified.returncode == 0, verified.stdout
    assert "PROVED" in verified.stdout


def _export(url: str, key: str, folder: Path) -> None:
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}) as http:
        export = http.get("/v1/audit/export").raise_for_status()
        (folder / "export.jsonl").write_bytes(export.content)
        (folder / "keys.json").write_bytes(http.get("/v1/audit/keys").raise_for_status().content)
        (folder / "head").write_text(export.headers["X-Audit-Head"])


def _verify(folder: Path, head: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "audit", "verify", "export.jsonl", "--keys", "keys.json", "--head", head],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
