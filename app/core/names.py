"""Names, keys and texts: how long they may be, and what may stand in them (SEMANTICS section 0)."""

import re
from typing import Final

LONGEST_NAME: Final = 128
"""Bytes of a principal, tag, kind or rule."""

LONGEST_KEY: Final = 512
"""Bytes of an effect key, scope or asset."""

LONGEST_TEXT: Final = 4_096
"""Characters of a comment, note or reason."""

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def has_size(text: str, least: int, most: int) -> bool:
    """Return whether the text has so many bytes in UTF-8."""
    return least <= len(text.encode()) <= most


def has_control(text: str) -> bool:
    """Return whether the text has a control character."""
    return _CONTROL.search(text) is not None
