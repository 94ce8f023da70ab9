"""Two people who decide what is held. They look at the same page; what they say is what stands in the record."""

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal

from countersign import Countersign

_MOST = Decimal(2500)


@dataclass(slots=True)
class Supervisors:
    """Anna and Ben take turns; where a rule wants two people, both look."""

    anna: Countersign
    ben: Countersign
    votes: Counter[tuple[str, str]] = field(default_factory=Counter)

    def decide(self, approval_id: str, amount: Decimal | None) -> str:
        """Decide one question, each person reading what the service shows, and return what came of it."""
        turns = [("anna", self.anna), ("ben", self.ben)]
        if self.votes.total() % 2:
            turns.reverse()
        for name, person in turns:
            question = person.request("GET", f"/v1/approvals/{approval_id}")
            if question["status"] != "pending":
                break
            self._vote(name, person, approval_id, amount or Decimal(0))
        return str(self.anna.request("GET", f"/v1/approvals/{approval_id}")["status"])

    def _vote(self, name: str, person: Countersign, approval_id: str, amount: Decimal) -> None:
        vote = (
            {"decision": "approve"} if amount <= _MOST else {"decision": "deny", "comment": "call the customer first"}
        )
        person.request("POST", f"/v1/approvals/{approval_id}/decision", body=vote)
        self.votes[name, vote["decision"]] += 1

    def tally(self) -> str:
        """Return who said what, in a sentence."""
        said = (
            f"{name.title()} said yes to {self.votes[name, 'approve']} and no to {self.votes[name, 'deny']}"
            for name in ("anna", "ben")
        )
        return "; ".join(said) + "."
