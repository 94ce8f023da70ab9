"""Money that no admission held: what was spent all the same, and what came back."""

from dataclasses import dataclass
from typing import Any

from app.core.chain import timestamp
from app.core.money import Money, format_amount
from app.core.refusals import Refusal
from app.core.values import Json
from app.gate import answers, records
from app.gate.authorisation import authorise
from app.gate.lane import Lane
from app.spend.entries import Kind


@dataclass(frozen=True, slots=True)
class Enter:
    """Enters money on a scope. A `record` counts as spent whether or not there was room; a `credit` makes none."""

    id: str
    request_id: str
    credential_id: str
    kind: Kind
    scope: str
    money: Money
    action: str = ""

    def wants(self, lane: Lane) -> None:
        """Ask for the totals of the scope, which the record states."""
        lane.spend.want_totals((self.scope,), self.money.currency)

    def run(self, lane: Lane) -> dict[str, Json] | Refusal:
        """Enter it and record it."""
        caller = authorise(lane, self.credential_id, "spend:write")
        if isinstance(caller, Refusal):
            return caller
        if self.kind is Kind.CREDIT:
            lane.spend.credit(self.scope, self.money, self.action)
        else:
            lane.spend.record(self.scope, self.money, self.action)
        entry = self._entry()
        payload = {
            "request_id": self.request_id,
            **records.of_caller(caller),
            **entry,
            "totals": records.of_totals(lane.spend, (self.scope,), self.money.currency),
        }
        event = "spend.credited" if self.kind is Kind.CREDIT else "spend.recorded"
        seq = lane.journal.append(event, payload, principal=caller.principal, action=self.action)
        return {**entry, "at": timestamp(lane.now), "audit_id": answers.audit_id(lane.tenant, seq)}

    def _entry(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "scope": self.scope,
            "amount": format_amount(self.money.amount),
            "currency": self.money.currency,
            "action": self.action,
        }
