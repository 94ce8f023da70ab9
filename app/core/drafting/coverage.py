"""Coverage: which families of harm a policy speaks of, and which no rule of it covers.

What an action can do is not in its name, so this is a reading of words: of names, kinds, tags, descriptions and of
the labels that the knobs look for. It finds what was forgotten; it does not prove what was not.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from app.core.outcomes import Outcome
from app.core.policy import Policy
from app.core.policy.actions import ActionPolicy
from app.core.policy.labels import LabelRule

_WORD: Final = re.compile(r"[a-z]+")

FAMILIES: Final[Mapping[str, frozenset[str]]] = {
    family: frozenset(words.split())
    for family, words in {
        "destruction": "delete deletes erase erasure drop destroy destructive terminate truncate wipe purge remove "
        "overwrite irreversible decommission",
        "money out": "pay payment payout payments refund transfer invoice purchase buy order voucher credit money "
        "procurement wire withdraw payout spend",
        "code execution": "execute exec run shell script deploy deployment release build code job query sql eval "
        "migration merge rollout",
        "data leaving": "export share download upload publish extract dump egress disclose reveal personal customer "
        "data pii copy",
        "outbound messages": "mail email send message messages sms post reply notify newsletter campaign call",
        "standing commitments": "subscribe subscription contract sign agreement commit commitment recurring renew "
        "order schedule lease hire",
        "identity and access": "access grant grants role roles user account password key keys token credential "
        "permission group identity login mfa",
        "fleet-wide configuration": "fleet config configuration dns firewall cluster schema setting settings flag "
        "policy network region global rotate infrastructure",
    }.items()
}
"""The words by which each family of harm is known."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """A family of harm, the actions that belong to it, and the labels of it that the knobs look for.

    It is covered if an action of it can be held or denied, or the knobs look for one of its labels.
    """

    family: str
    actions: tuple[str, ...]
    labels: tuple[str, ...]
    covered: bool


def coverage(policy: Policy) -> tuple[Coverage, ...]:
    """Return how the policy covers every family of harm."""
    return tuple(_family(policy, family, words) for family, words in FAMILIES.items())


def _family(policy: Policy, family: str, words: frozenset[str]) -> Coverage:
    actions = [action for action in policy.actions.values() if words & _words(action)]
    labels = tuple(sorted(label for label in _watched(policy) if words & set(_WORD.findall(label.lower()))))
    return Coverage(
        family=family,
        actions=tuple(sorted(action.name for action in actions)),
        labels=labels,
        covered=bool(labels) or any(map(_restrains, actions)),
    )


def _words(action: ActionPolicy) -> frozenset[str]:
    """Return the words by which an action says what it is."""
    declared = action.labels
    texts = [action.name, declared.kind, action.description, *declared.tags]
    for rule in declared.derive:
        if isinstance(rule, LabelRule):
            texts += [*rule.add_tags, rule.set_kind]
    return frozenset(word for text in texts for word in _WORD.findall(text.lower()))


def _watched(policy: Policy) -> frozenset[str]:
    """Return the labels that hold or deny a call wherever they appear."""
    knobs = [policy.defaults, *(action.knobs for action in policy.actions.values())]
    return frozenset().union(*(one.deny_for | one.require_human_for | one.require_sandbox_for for one in knobs))


def _restrains(action: ActionPolicy) -> bool:
    """Return whether a call can be held or denied by the action's own rules, its labels and radius, or its scopes."""
    decides = any(rule.decision is not Outcome.ALLOW for rule in action.rules)
    return decides or bool(action.labels.derive) or bool(action.spend)


def uncovered(found: tuple[Coverage, ...]) -> Iterator[str]:
    """Yield the families that nothing covers."""
    return (one.family for one in found if not one.covered)
