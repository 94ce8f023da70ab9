"""Money that no admission held: what was spent all the same, and what came back."""

from dataclasses import dataclass

from app.core.actions import Caller
from app.core.chain import timestamp
from app.core.money import Money, format_amount
from app.core.refusals import Refusal, RefusalKind
from app.core.values import Json
from app.gate import answers, records
from app.gate.authorisation import authorise
from app.gate.lane import Lane
from app.spend.entries import Entry, Kind


@dataclass(frozen=True, slots=True)
class Enter:
    """Enters money on a scope. A `record` counts as spent whether or not there was room; a `credit` makes none.

    The same again under the same idempotency key is one entry.
    """

    id: str
    request_id: str
    credential_id: str
    kind: Kind
    scope: str
    money: Money
    action: str = ""
    idempotency_key: str | None = None

    def wants(self, lane: Lane) -> None:
        """Ask for the totals of the scope, which the record states, and for what was entered under the key."""
        lane.spend.want_totals((self.scope,), self.money.currency)
        caller = authorise(lane, self.credential_id, "spend:write")
        key = None if isinstance(caller, Refusal) else self._key(caller)
        if key is not None:
            lane.spend.want_entry(key)

    def run(self, lane: Lane) -> dict[str, Json] | Refusal:
        """Enter it and record it."""
        caller = authorise(lane, self.credential_id, "spend:write")
        if isinstance(caller, Refusal):
            return caller
        key = self._key(caller)
        stored = None if key is None else lane.spend.entry_of(key)
        return self._enter(lane, caller, key) if stored is None else self._replay(stored)

    def _key(self, caller: Caller) -> str | None:
        return None if self.idempotency_key is None else f"{caller.principal}\n{self.idempotency_key}"

    def _enter(self, lane: Lane, caller: Caller, key: str | None) -> dict[str, Json]:
        enter = lane.spend.credit if self.kind is Kind.CREDIT else lane.spend.record
        entry = enter(self.scope, self.money, self.action, key)
        payload = {
            "request_id": self.request_id,
            **records.of_caller(caller),
            **_said(entry),
            "totals": records.of_totals(lane.spend, (self.scope,), self.money.currency),
        }
        event = "spend.credited" if self.kind is Kind.CREDIT else "spend.recorded"
        seq = lane.journal.append(event, payload, principal=caller.principal, action=self.action)
        return {**_said(entry), "at": timestamp(entry.at), "audit_id": answers.audit_id(lane.tenant, seq)}

    def _replay(self, stored: Entry) -> dict[str, Json] | Refusal:
        said = (self.kind, self.scope, self.money.amount, self.money.currency, self.action)
        if said == (stored.kind, stored.scope, stored.amount, stored.currency, stored.action):
            return {**_said(stored), "at": timestamp(stored.at), "replayed": True}
        return Refusal(
            RefusalKind.IDEMPOTENCY_CONFLICT,
            "this idempotency key was used for another entry; send that one, or use a new key",
        )


def _said(entry: Entry) -> dict[str, Json]:
    return {
        "kind": entry.kind,
        "scope": entry.scope,
        "amount": format_amount(entry.amount),
        "currency": entry.currency,
        "action": entry.action,
    }
