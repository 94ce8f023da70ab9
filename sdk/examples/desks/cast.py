"""Who plays: two desks, two supervisors, and whoever looks after the house. Each has a key of its own."""

from dataclasses import dataclass

from countersign import Countersign
from desks.laptop import Laptop


@dataclass(frozen=True, slots=True)
class Cast:
    """A client for each part; the desks are agents, everybody else is a person."""

    airline: Countersign
    retail: Countersign
    anna: Countersign
    ben: Countersign
    operator: Countersign
    auditor: Countersign
    insider: Countersign
    """A person who owns the airline's agent, and may approve."""


def assembled(laptop: Laptop) -> Cast:
    """Make the keys that the play needs, as an administrator would."""
    with Countersign(laptop.url, laptop.keys["admin"]) as admin:

        def key_of(principal: str, kind: str, owner: str, bundle: str) -> Countersign:
            wanted = {"principal": principal, "kind": kind, "owner": owner, "bundles": [bundle]}
            if bundle == "approver":
                wanted["roles"] = ["supervisor"]
            return Countersign(laptop.url, admin.request("POST", "/v1/keys", body=wanted)["key"])

        return Cast(
            airline=key_of("airline-desk", "agent", "airline", "agent"),
            retail=key_of("retail-desk", "agent", "shop", "agent"),
            anna=key_of("anna", "human", "anna", "approver"),
            ben=key_of("ben", "human", "ben", "approver"),
            operator=Countersign(laptop.url, laptop.keys["operator"]),
            auditor=Countersign(laptop.url, laptop.keys["auditor"]),
            insider=key_of("airline-boss", "human", "airline", "approver"),
        )
