"""JSON read strictly, by whoever must not be told two things at once."""

import json
from typing import Any


def load(text: bytes | str) -> Any:
    """Return the value that a JSON text states; bytes are UTF-8 without a byte order mark (RFC 8259, section 8.1).

    Raises:
        ValueError: it is not JSON, has a member twice, is nested too deep, or says NaN or Infinity; the message never
            holds a value.
    """
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8")
        return json.loads(decoded, object_pairs_hook=_members, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {error.msg} at column {error.colno}") from None


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("it has a member twice")
    return members


def _no_constant(literal: str) -> None:
    raise ValueError(f"it says {literal}, which is not JSON")
