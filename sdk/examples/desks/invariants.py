"""What must be so at the end of the day, whatever happened in it."""

from collections.abc import Iterator
from decimal import Decimal

from countersign import Countersign
from desks.desk import Desk, Ending
from desks.ledger import Ledger
from desks.record import Export

Finding = tuple[bool, str]


def of_the_day(desks: list[Desk], ledger: Ledger, calls: int) -> Iterator[Finding]:
    """Compare what the desks tell with what happened in the world."""
    endings = [ending for desk in desks for _, ending in desk.endings]
    admitted = [admission for desk in desks for admission in desk.admitted.elements()]
    yield len(endings) == calls, f"each of the {calls} calls came to one end"
    yield max(ledger.effects.values()) == 1, f"none of {len(ledger.effects)} effects happened twice"
    yield len(admitted) == len(set(admitted)), f"none of {len(admitted)} admissions was used twice"
    yield Ending.DENIED not in endings, "every refusal is one that the policy's author meant"


def of_the_money(operator: Countersign, ledger: Ledger) -> Iterator[Finding]:
    """Compare the service's totals with the dollars that moved, to the cent, and with the caps."""
    scopes = {"desk:airline": "desk:airline", "desk:retail": "desk:retail"} | {
        scope: f"caller:{desk}-desk:{scope}"
        for scope in ledger.moved
        if scope.startswith("customer:")
        for desk in ("airline", "retail")
    }
    exact, capped = True, True
    for scope, name in scopes.items():
        spent, room = _spent(operator, name)
        exact = exact and spent in {ledger.moved[scope], Decimal(0)}
        capped = capped and room >= 0
    yield exact, f"the totals of {len(scopes)} scopes equal what moved, to the cent"
    yield capped, "no cap was passed"


def of_the_record(export: Export, desks: list[Desk]) -> Iterator[Finding]:
    """Compare the record with what the desks were told."""
    events = export.events()
    negative = sum(ending is Ending.NEGATIVE for desk in desks for _, ending in desk.endings)
    sequence = [record["seq"] for record in export.read()]
    recorded = events["admission.refused"]
    # A caller that sends rubbish in a loop must not fill the record: twenty at once, then one every two seconds.
    yield min(negative, 20) <= recorded <= negative, f"of {negative} refused at the door {recorded} are in the record"
    yield sequence == list(range(len(sequence))), f"{len(sequence)} records, and no gap"


def _spent(operator: Countersign, scope: str) -> tuple[Decimal, Decimal]:
    limits = operator.request("GET", "/v1/spend/scope", params={"scope": scope})["limits"]
    tightest = min(limits, key=lambda limit: Decimal(limit["left"]))
    return Decimal(tightest["spent"]), Decimal(tightest["left"])
