"""The ids that the service makes: random names, in the order of their making so that indexes stay dense."""

import os
import time
from typing import Final

BEYOND_ANY: Final = 2**62
"""A number that no revision, record or row has: where a list begins that goes from the newest back."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]


def new_id(prefix: str) -> str:
    """Return `<prefix>_` and 26 characters: 48 bits of milliseconds, then 80 random bits (the layout of a ULID).

    An id is a name and not a credential: whoever guesses one still needs the right to use it.
    """
    number = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10))
    return f"{prefix}_{_base32(number)}"


def _base32(number: int) -> str:
    return "".join([_PAIRS[(number >> shift) & 1023] for shift in range(120, -1, -10)])
