"""A sealed secret opens for its webhook, with a key of the service, and for nobody else."""

from dataclasses import replace

import pytest

from app.outbox.sealing import Sealer, SealError, new_secret


def test_a_secret_opens_as_it_was_sealed_and_its_seal_shows_nothing_of_it() -> None:
    sealer = Sealer([b"one"])
    sealed = sealer.seal("acme", "whk_1", "whsec_secret")
    assert sealer.open(sealed) == "whsec_secret"
    assert "secret" not in repr(sealed)
    assert sealer.seal("acme", "whk_1", "whsec_secret").text != sealed.text


def test_keys_are_changed_one_after_the_other() -> None:
    sealed = Sealer([b"old"]).seal("acme", "whk_1", "whsec_secret")
    assert Sealer([b"new", b"old"]).open(sealed) == "whsec_secret"
    with pytest.raises(SealError):
        Sealer([b"new"]).open(sealed)


@pytest.mark.parametrize("moved", [{"tenant": "other"}, {"webhook_id": "whk_2"}, {"text": "AAAA"}, {"text": "no!"}])
def test_a_seal_that_was_moved_or_damaged_does_not_open(moved: dict[str, str]) -> None:
    sealer = Sealer([b"one"])
    with pytest.raises(SealError):
        sealer.open(replace(sealer.seal("acme", "whk_1", "whsec_secret"), **moved))


def test_secrets_are_long_and_differ() -> None:
    made = {new_secret() for _ in range(100)}
    assert len(made) == 100
    assert all(secret.startswith("whsec_") and len(secret) == len("whsec_") + 44 for secret in made)
