"""What a provider may be given as its own idempotency key."""

import hashlib


def for_provider(tenant: str, admission_id: str) -> str:
    """Return the token of one attempt: the same however often it is sent.

    A retry after "not executed" is another admission and so another token; a replay is the same one.
    """
    return "cs_" + hashlib.sha256(f"{tenant}\n{admission_id}".encode()).hexdigest()[:32]
