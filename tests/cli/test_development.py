"""A laptop's service: state that stays, secrets that others cannot read, and an end that leaves nothing running."""

import json
import re
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.live import COMMAND

POLICY = Path(__file__).parents[2] / "docs" / "examples" / "policy.yaml"
PARTS = {"agent", "agent2", "approver", "approver2", "operator", "policy_admin", "auditor", "admin"}


@pytest.fixture
def data() -> Iterator[Path]:
    """A folder for the state, outside of pytest's own, which only its owner may enter."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "state"


@contextmanager
def laptop(data: Path) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    command = [str(COMMAND), "dev", "--port", "0", "--data", str(data), "--policy", str(POLICY)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield address(process), process
        finally:
            process.terminate()


def address(process: "subprocess.Popen[str]") -> str:
    said = iter(process.stdout or ())
    found = next(match[0] for line in said if (match := re.search(r"http://127\.0\.0\.1:\d+", line)))
    while "/v1/audit/export" not in next(said):
        pass
    return found


def ask(url: str, key: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
    transport = httpx.HTTPTransport(retries=20)  # it listens before it is ready, and answers when it is
    with httpx.Client(base_url=url, transport=transport, headers={"Authorization": f"Bearer {key}"}) as client:
        return client.get(path) if body is None else client.post(path, json=body)


def keys_of(data: Path) -> dict[str, str]:
    return dict(json.loads((data / "secrets" / "dev-keys.json").read_text()))


def test_a_second_start_keeps_data_and_keys(data: Path) -> None:
    call = {"action": {"name": "booking.read", "arguments": {"booking": "AB12"}}}
    with laptop(data) as (url, _):
        keys = keys_of(data)
        first = ask(url, keys["agent"], "/v1/admit", call).json()
    with laptop(data) as (url, _):
        assert keys_of(data) == keys
        again = ask(url, keys["agent"], f"/v1/admissions/{first['admission']['id']}").json()
        revisions = ask(url, keys["policy_admin"], "/v1/policies").json()["data"]

    assert first["allowed"]
    assert again["id"] == first["admission"]["id"]
    assert len(revisions) == 1


def test_every_part_has_a_key_and_an_owner_of_its_own(data: Path) -> None:
    with laptop(data) as (url, _):
        keys = keys_of(data)
        people = {name: ask(url, key, "/v1/whoami").json() for name, key in keys.items()}

    assert keys.keys() == PARTS
    assert len({person["owner"] for person in people.values()}) == len(PARTS)
    assert people["approver"]["roles"] == people["approver2"]["roles"] == ["approver"]
    assert {people["agent"]["kind"], people["agent2"]["kind"]} == {"agent"}


def test_secrets_are_for_their_owner_only(data: Path) -> None:
    with laptop(data):
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (data / "secrets").iterdir()}
        folder = stat.S_IMODE((data / "secrets").stat().st_mode)

    assert folder == 0o700
    assert modes == {"signing-key.pem": 0o600, "dev-keys.json": 0o600}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_as_it_is_told_and_takes_its_database_with_it(data: Path, number: signal.Signals) -> None:
    with laptop(data) as (_, process):
        assert (data / "pg" / "postmaster.pid").exists()
        process.send_signal(number)
        assert process.wait(30) == 0
        assert not (data / "pg" / "postmaster.pid").exists()


def test_a_start_after_a_kill_takes_over_what_was_left_running(data: Path) -> None:
    with laptop(data) as (_, process):
        keys, database = keys_of(data), postmaster(data)
        process.kill()
        process.wait()
    with laptop(data) as (url, _):
        assert postmaster(data) == database
        assert ask(url, keys["auditor"], "/v1/audit/head").status_code == 200


def test_two_do_not_serve_from_one_folder(data: Path) -> None:
    with laptop(data) as (_, process):
        command = [str(COMMAND), "dev", "--port", "0", "--data", str(data)]
        second = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        assert second.returncode == 1
        assert f"process {process.pid} already serves from" in second.stderr


def test_a_port_that_is_taken_is_named(data: Path) -> None:
    with laptop(data) as (url, _):
        port = url.rpartition(":")[2]
        command = [str(COMMAND), "dev", "--port", port, "--data", str(data.with_name("other"))]
        second = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        assert second.returncode == 1
        assert f"cannot listen on 127.0.0.1, port {port}" in second.stderr


def postmaster(data: Path) -> int:
    """Return the process of the database server."""
    return int((data / "pg" / "postmaster.pid").read_text().split()[0])
