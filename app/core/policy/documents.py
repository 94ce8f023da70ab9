"""Reading a policy document: from its text, or from JSON that was parsed already, to a compiled policy."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app.core.canonical import canonical_json
from app.core.policy import source as sources
from app.core.policy.actions import ActionPolicy, read_action
from app.core.policy.approvers import read_approvers
from app.core.policy.knobs import Knobs, read_knobs
from app.core.policy.limits import read_limits
from app.core.policy.places import Place, read_with, wrong_name
from app.core.policy.policies import Policy, Unlisted
from app.core.policy.source import Source
from app.core.values import Json

SCHEMA: Final = "countersign.policy/v1"

_DOCUMENT: Final = ("schema", "version", "defaults", "unlisted", "actions", "limits", "approvers")


@dataclass(frozen=True, slots=True)
class Document:
    """A policy, and the document that it was read from, which knows where everything stands."""

    policy: Policy
    source: Source


def load(source: str | Mapping[str, Json]) -> Policy:
    """Return the policy that a document is: YAML or JSON text, or an object.

    Raises:
        DocumentError: it is not one. All that is wrong is named at once, each with its place.
    """
    return read(source).policy


def read(source: str | Mapping[str, Json]) -> Document:
    """Return the policy that a document is, and where its parts stand; otherwise as `load`.

    Raises:
        DocumentError: it is no policy.
    """
    found = sources.read(source)
    return Document(read_with(_read, found), found)


def _read(place: Place) -> Policy:
    members = place.members(_DOCUMENT, ("schema",))
    if "schema" in members and members["schema"].value != SCHEMA:
        members["schema"].complain(f"expected {SCHEMA}")
    defaults = read_knobs(members["defaults"], Knobs()) if "defaults" in members else Knobs()
    canonical = canonical_json(place.value)
    return Policy(
        version=members["version"].name() if "version" in members else "",
        digest=f"sha256:{hashlib.sha256(canonical).hexdigest()}",
        canonical=canonical.decode(),
        defaults=defaults,
        unlisted=members["unlisted"].choice(Unlisted) if "unlisted" in members else Unlisted.DENY,
        actions=_read_actions(members["actions"], defaults) if "actions" in members else {},
        limits=read_limits(members["limits"]) if "limits" in members else (),
        approvers=read_approvers(members["approvers"]) if "approvers" in members else (),
    )


def _read_actions(place: Place, defaults: Knobs) -> dict[str, ActionPolicy]:
    actions: dict[str, ActionPolicy] = {}
    for name, action in place.entries().items():
        if wrong := wrong_name(name):
            action.complain(wrong)
        actions[name] = read_action(name, action, defaults)
    return actions
