"""Signatures of webhooks: Standard Webhooks 1.0, and the header that older receivers know."""

import base64
import hashlib
import hmac
from collections.abc import Sequence

from app.outbox.sealing import PREFIX


def headers(message_id: str, timestamp: int, body: bytes, signing: Sequence[str]) -> dict[str, str]:
    """Return the headers of a message; with several secrets it has a signature of each, so that either verifies."""
    content = f"{message_id}.{timestamp}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{_signature(secret, content)}" for secret in signing),
    }


def legacy_header(body: bytes, secret: str) -> dict[str, str]:
    """Return the header of receivers that know only `X-Adk-Signature`: the HMAC of the body under the secret's text.

    It says nothing of when: a receiver that knows the other headers should look at those.
    """
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {"X-Adk-Signature": f"sha256={digest}"}


def _signature(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode("ascii")
