"""Everything that was answered, to be held against the record afterwards."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Answers:
    """Answers to calls by idempotency key, and the last that was said of each admission.

    `requests` are the calls as they were sent, to be sent again.
    """

    requests: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    by_key: defaultdict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    told: dict[str, str] = field(default_factory=dict)

    def answered(self, key: str, answer: dict[str, Any]) -> None:
        """Keep an answer to the call under an idempotency key."""
        self.by_key[key].append(answer)

    def tell(self, admission_id: str, state: str) -> None:
        """Keep what a report was answered with."""
        self.told[admission_id] = state

    def all(self) -> list[dict[str, Any]]:
        """Return every answer to a call."""
        return [answer for answers in self.by_key.values() for answer in answers]
