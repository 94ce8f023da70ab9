"""Play the day, the scenes, and the audit; exit 0 only if every invariant holds."""

import sys
from collections.abc import Iterable

from countersign import Countersign
from desks import calls, cast, invariants, laptop, record, scenes, story
from desks.cast import Cast
from desks.desk import Desk
from desks.laptop import Laptop
from desks.ledger import Ledger
from desks.story import beat, chapter, say
from desks.supervisors import Supervisors


def main() -> int:
    """Tell the story and return the exit status."""
    say("Countersign: agents ask before they act. A service has been started for this demo, with an empty record.")
    with laptop.started() as house:
        players = cast.assembled(house)
        desks, ledger = _day(players)
        _loose_ends(players.operator)
        findings = [*invariants.of_the_day(desks, ledger, len(calls.of_the_day()))]
        findings += invariants.of_the_money(players.operator, ledger)
        findings += _scenes(players)
        findings += _audit(house, players.auditor, desks)
        return _verdict(findings)


def _day(players: Cast) -> tuple[list[Desk], Ledger]:
    chapter("A day at two desks")
    today = calls.of_the_day()
    say(
        f"An airline and a shop have agents at their service desks. Today they want to make {len(today)} calls: real "
        "arguments, from tau-bench. Reading is free. Money above 500 dollars is held until Anna or Ben looks at it, "
        "and a gift until both have. Each customer and each desk has a cap."
    )
    print()
    ledger, supervisors = Ledger(), Supervisors(players.anna, players.ben)
    desks = {
        name: Desk(name, agent, supervisors, ledger)
        for name, agent in (("airline", players.airline), ("retail", players.retail))
    }
    for call in today:
        desks[call.desk].serve(call)
    for desk in desks.values():
        story.strip(desk)
    say(supervisors.tally())
    return list(desks.values()), ledger


def _loose_ends(operator: Countersign) -> None:
    unknown = operator.request("GET", "/v1/admissions", params={"state": "unknown", "limit": "200"})["data"]
    for admission in unknown:
        body = {"outcome": "executed", "reason": "it is in the other system's books"}
        operator.request("POST", f"/v1/admissions/{admission['id']}/resolve", body=body)
    say(
        f"In the evening the operator looks up the {len(unknown)} whose answer was lost. They did happen; until now "
        "their money stayed held, and nobody could do them again."
    )


def _scenes(players: Cast) -> Iterable[invariants.Finding]:
    chapter("Six scenes")
    findings: list[invariants.Finding] = []
    for number, scene in enumerate(scenes.ALL, 1):
        print(f"{number}. {scene.__doc__}")
        facts = scene(players)
        findings += [(true, sentence) for sentence, true in facts.items()]
        print()
    return findings


def _audit(house: Laptop, auditor: Countersign, desks: list[Desk]) -> Iterable[invariants.Finding]:
    chapter("The auditor")
    export = record.exported(house, auditor)
    beat("auditor", f"takes away {export.events().total()} records, the public keys, and the head.")
    honest, said = record.verified(export)
    beat("verifies", said.splitlines()[-1] if said else "")
    smaller, objection = record.verified(export, record.with_a_smaller_amount(export))
    beat("tampers", f"makes one amount smaller in a copy: {_last(objection)}")
    shorter, complaint = record.verified(export, record.without_its_end(export))
    beat("tampers", f"cuts the last record off: {_last(complaint)}")
    return [
        *invariants.of_the_record(export, desks),
        (honest == 0, "the record verifies offline, from export, keys and head alone"),
        (smaller == 1, "an amount that was changed afterwards is found"),
        (shorter == 1, "an end that was cut off is missed"),
    ]


def _last(said: str) -> str:
    return said.splitlines()[-1] if said else "nothing"


def _verdict(findings: list[invariants.Finding]) -> int:
    chapter("What held")
    for finding in findings:
        story.verdict(finding)
    failed = sum(not true for true, _ in findings)
    print(f"\n{len(findings) - failed} of {len(findings)} hold.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
