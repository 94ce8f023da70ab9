"""What a command signs can be verified: with the key that the service signs with, or the first that anything is."""

import json
from pathlib import Path

import httpx

from app.main import create_app
from app.settings import Settings
from tests.command import run
from tests.sdk.test_audit_command import verify

ADDRESS = "http://countersign.test"


async def taken_away(operator: dict[str, str], auditor: str, folder: Path) -> tuple[Path, Path, str]:
    """Start a service with these settings, and return files of the record and the keys, and the head."""
    app = create_app(Settings.model_validate({**operator, "public_url": ADDRESS}))
    headers = {"Authorization": f"Bearer {auditor}"}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=ADDRESS, headers=headers) as client,
    ):
        export, keys = folder / "export.jsonl", folder / "keys.json"
        keys.write_text((await client.get("/v1/audit/keys")).text)
        answered = await client.get("/v1/audit/export")
        export.write_text(answered.text)
        return export, keys, answered.headers["X-Audit-Head"]


def auditor_of(operator: dict[str, str]) -> str:
    """Make the tenant acme, and return the key of an auditor."""
    assert run("tenants", "create", "acme", **operator).returncode == 0
    made = run(
        *("keys", "create", "--tenant", "acme", "--principal", "eve", "--kind", "human", "--bundle", "auditor"),
        **operator,
    )
    return made.stdout.strip()


async def test_what_was_signed_before_any_service_had_started_verifies_under_another_key(
    operator: dict[str, str], tmp_path: Path
) -> None:
    auditor = auditor_of(operator)
    assert run("signing-key", str(tmp_path / "next.pem")).returncode == 0
    later = operator | {"signing_key_file": str(tmp_path / "next.pem")}
    export, keys, head = await taken_away(later, auditor, tmp_path)
    assert len(json.loads(keys.read_text())["keys"]) == 2
    assert [json.loads(line)["event_type"] for line in export.read_text().splitlines()][-1] == "key.rotated"
    done = verify(export, "--keys", keys, "--head", head)
    assert done.returncode == 0, done.stdout


async def test_a_key_that_the_service_does_not_sign_with_signs_nothing(
    operator: dict[str, str], tmp_path: Path
) -> None:
    auditor = auditor_of(operator)
    stray = tmp_path / "stray.pem"
    assert run("signing-key", str(stray)).returncode == 0
    other = operator | {"signing_key_file": str(stray)}
    for change in (("tenants", "create", "globex"), ("grants", "require", "--tenant", "acme")):
        refused = run(*change, **other)
        assert refused.returncode == 1
        assert "the service signs with the key" in refused.stderr
        assert "COUNTERSIGN_SIGNING_KEY_FILE" in refused.stderr
    assert run("tenants", "list", **other).stdout.startswith("acme\t")

    export, keys, head = await taken_away(operator, auditor, tmp_path)
    assert verify(export, "--keys", keys, "--head", head).returncode == 0


def test_a_command_that_only_reads_needs_no_key(operator: dict[str, str]) -> None:
    auditor_of(operator)
    listed = run("keys", "list", "--tenant", "acme", database_url=operator["database_url"])
    assert (listed.returncode, "eve" in listed.stdout) == (0, True)
