"""Signatures are what Standard Webhooks says, as its own library sees it."""

import hashlib
import hmac
import time

import pytest
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from app.outbox.sealing import new_secret
from app.transports import signatures

BODY = b'{"data":{"asset":"Z\xc3\xbcrich"},"type":"approval.requested"}'


def test_the_example_of_the_standard() -> None:
    body = b'{"test": 2432232314}'
    made = signatures.headers(
        "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body, ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
    )
    assert made == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_either_of_two_secrets_verifies_and_no_third() -> None:
    newer, older = new_secret(), new_secret()
    made = signatures.headers("msg_1", int(time.time()), BODY, [newer, older])
    for secret in (newer, older):
        Webhook(secret).verify(BODY, made)
    with pytest.raises(WebhookVerificationError):
        Webhook(new_secret()).verify(BODY, made)


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp"])
def test_id_and_time_are_signed(name: str) -> None:
    secret = new_secret()
    made = signatures.headers("msg_1", int(time.time()), BODY, [secret])
    changed = made | {name: f"{made[name]}1" if name == "webhook-id" else str(int(made[name]) + 1)}
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(BODY, changed)


def test_the_legacy_header_is_the_hmac_of_the_body_under_the_secrets_text() -> None:
    secret = new_secret()
    expected = hmac.new(secret.encode(), BODY, hashlib.sha256).hexdigest()
    assert signatures.legacy_header(BODY, secret) == {"X-Adk-Signature": f"sha256={expected}"}
