"""Replaying recorded calls under another policy: what would have been answered otherwise. It writes nothing."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from app.core import calls
from app.core.policy import Policy
from app.core.rehearsal import NotRehearsableError, rehearse
from app.db.statements import Row
from app.gate.rehearsals import read_caller, read_facts

_EXAMPLES: Final = 5


@dataclass(slots=True)
class Replayed:
    """How many calls got the same answer; what became of the others, by action; and why some could not be replayed.

    Examples are the seqs of their records.
    """

    same: int = 0
    changes: dict[tuple[str, str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    codes_only: int = 0
    not_replayed: Counter[str] = field(default_factory=Counter)

    def told(self, tenant: str) -> Mapping[str, Any]:
        """Return it as an answer writes it: a table from → to by action, the most frequent first."""
        rows = sorted(self.changes.items(), key=lambda item: (-len(item[1]), item[0]))
        return {
            "replayed": self.same + self.codes_only + sum(map(len, self.changes.values())),
            "same": self.same,
            "codes_only": self.codes_only,
            "changed": sum(map(len, self.changes.values())),
            "changes": [
                {
                    "action": action,
                    "from": before,
                    "to": after,
                    "calls": len(seqs),
                    "examples": [f"{tenant}/{seq}" for seq in seqs[:_EXAMPLES]],
                }
                for (action, before, after), seqs in rows
            ],
            "not_replayed": sum(self.not_replayed.values()),
            "why_not": [{"why": why, "calls": number} for why, number in self.not_replayed.most_common()],
        }


def replay(policy: Policy, rows: Iterable[Row]) -> Replayed:
    """Weigh kept calls under a policy, each with the facts that it was weighed against held fixed."""
    found = Replayed()
    for row in rows:
        _replay(policy, row, found)
    return found


def _replay(policy: Policy, row: Row, found: Replayed) -> None:
    try:
        decision = rehearse(policy, calls.from_json(row.call), read_caller(row.caller), row.at, read_facts(row.facts))
    except NotRehearsableError as error:
        found.not_replayed[str(error)] += 1
        return
    codes = [trigger.code.value for trigger in decision.triggered]
    if decision.outcome != row.outcome:
        found.changes[row.action, row.outcome, decision.outcome.value].append(row.seq)
    elif codes != row.codes:
        found.codes_only += 1
    else:
        found.same += 1
