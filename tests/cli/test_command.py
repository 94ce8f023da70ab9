"""`countersignd` as an operator meets it: the real command in a process of its own."""

import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from app.core.chain import Signer
from app.embedded import EmbeddedPostgres
from tests.command import run


def test_it_names_each_setting_that_it_cannot_start_without() -> None:
    done = run("serve")
    assert done.returncode == 2
    for name in ("COUNTERSIGN_DATABASE_URL", "COUNTERSIGN_SIGNING_KEY_FILE", "COUNTERSIGN_PUBLIC_URL"):
        assert f"{name} is not set" in done.stderr


def test_it_does_not_serve_from_a_database_that_is_not_migrated(
    operator: dict[str, str], postgres: EmbeddedPostgres
) -> None:
    done = run(
        "serve", **operator | {"database_url": postgres.url("postgres"), "public_url": "http://countersign.test"}
    )
    assert done.returncode == 1
    assert "run `countersignd migrate` first" in done.stderr


def test_development_mode_refuses_an_address_that_others_reach() -> None:
    done = run("serve", development="true", host="0.0.0.0")  # noqa: S104 - refused
    assert done.returncode == 2
    assert "loopback only" in done.stderr
    assert "COUNTERSIGN_HOST" in done.stderr


def test_a_wrong_setting_is_named_and_its_value_is_not_shown() -> None:
    done = run("serve", database_url="mysql://root:hunter2@db/x")
    assert done.returncode == 2
    assert "COUNTERSIGN_DATABASE_URL" in done.stderr
    assert "hunter2" not in done.stderr


def test_a_database_that_does_not_answer_is_a_sentence(operator: dict[str, str]) -> None:
    done = run("tenants", "list", **operator | {"database_url": "postgresql://nobody@127.0.0.1:9/x"})
    assert done.returncode == 1
    assert "the database does not answer; check COUNTERSIGN_DATABASE_URL" in done.stderr


def test_a_signing_key_that_is_none_is_a_sentence(operator: dict[str, str]) -> None:
    for command in (("tenants", "create", "acme"), ("work",)):
        done = run(*command, **operator | {"signing_key_file": __file__})
        assert done.returncode == 1
        assert "the signing key in" in done.stderr


def test_a_signing_key_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    assert run("signing-key", str(key)).returncode == 0
    made = key.read_bytes()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert Signer.from_pem(made).key_id

    assert run("signing-key", str(key)).returncode == 1
    assert run("signing-key", str(key), "--keep").returncode == 0
    assert key.read_bytes() == made


def test_a_signing_key_may_have_a_passphrase(tmp_path: Path) -> None:
    passphrase, key = tmp_path / "passphrase", tmp_path / "key.pem"
    passphrase.write_text("correct horse\n")
    assert run("signing-key", str(key), "--passphrase-file", str(passphrase)).returncode == 0
    with pytest.raises(TypeError):
        load_pem_private_key(key.read_bytes(), None)
    assert isinstance(load_pem_private_key(key.read_bytes(), b"correct horse"), Ed25519PrivateKey)


def test_keys_are_made_listed_and_revoked(operator: dict[str, str]) -> None:
    admin = run("tenants", "create", "acme", **operator)
    assert admin.stdout.startswith("csk_acme-")
    assert run("tenants", "create", "acme", **operator).returncode == 1

    create = ("keys", "create", "--tenant", "acme", "--principal", "desk-1", "--kind", "agent", "--bundle", "agent")
    key = run(*create, "--owner", "airline", "--expires-in", "30d", **operator).stdout.strip()
    key_id = key.removeprefix("csk_").partition("_")[0]

    listed = run("keys", "list", "--tenant", "acme", **operator).stdout
    assert f"{key_id}\tdesk-1 (agent of airline)\tagent\tuntil " in listed
    assert key not in listed

    assert run("keys", "revoke", key_id, **operator).returncode == 0
    assert (
        f"{key_id}\tdesk-1 (agent of airline)\tagent\trevoked"
        in run("keys", "list", "--tenant", "acme", **operator).stdout
    )


def test_a_tenant_that_is_not_there_is_a_sentence(operator: dict[str, str]) -> None:
    done = run("keys", "revoke", "nowhere-00", **operator)
    assert done.returncode == 1
    assert "no tenant nowhere" in done.stderr
