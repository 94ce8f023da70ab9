"""The `Idempotency-Key` header: a quoted string, as the IETF draft has it, or bare."""

import re
from typing import Annotated, Final

from fastapi import Header

from app.door.problems import bad_input

LONGEST_IDEMPOTENCY_KEY: Final = 255

_QUOTED = re.compile(r'"([\x21\x23-\x7e]*)"')
_BARE = re.compile(r"[\x21\x23-\x7e]+")

IdempotencyKey = Annotated[str | None, Header(alias="Idempotency-Key", description="Quoted or bare, 255 at most")]


def key_of(header: str) -> str:
    """Return the key that the header gives.

    Raises:
        RefusedError: it is malformed, or too long.
    """
    quoted = _QUOTED.fullmatch(header)
    key = quoted[1] if quoted else header
    if not _BARE.fullmatch(key) or len(key) > LONGEST_IDEMPOTENCY_KEY:
        raise bad_input(f"header Idempotency-Key: 1 to {LONGEST_IDEMPOTENCY_KEY} visible characters are expected")
    return key
