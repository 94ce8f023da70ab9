"""Approver rules: who may decide which questions, and how many of them it takes."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from app.core.policy.places import Place


class Match(StrEnum):
    """How many of a rule's labels a question must have."""

    ANY = "any"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class ApproverRule:
    """The people, by name or by role, of whom `quorum` must say yes to a question with these labels.

    A rule without labels matches every question. `via` names the bridges that may speak for them.
    """

    name: str
    labels: frozenset[str] = frozenset()
    match: Match = Match.ANY
    principals: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    quorum: int = 1
    via: frozenset[str] = frozenset()
    allow_self_approval: bool = False

    def matches(self, labels: AbstractSet[str]) -> bool:
        """Return whether the rule decides a question with these labels."""
        if not self.labels:
            return True
        return self.labels <= labels if self.match is Match.ALL else bool(self.labels & labels)


_RULE: Final = ("name", "labels", "match", "principals", "roles", "quorum", "via", "allow_self_approval")


def read_approvers(place: Place) -> tuple[ApproverRule, ...]:
    """Return the approver rules of the list that stands here; their names differ."""
    rules: dict[str, ApproverRule] = {}
    for element in place.elements():
        rule = _read_rule(element)
        if rule.name in rules:
            element.complain("another approver rule has this name; a rule is known by it")
        rules[rule.name] = rule
    return tuple(rules.values())


def _read_rule(place: Place) -> ApproverRule:
    members = place.members(_RULE, ("name",))
    sets = {key: frozenset(_names(members[key])) for key in ("labels", "principals", "roles", "via") if key in members}
    return ApproverRule(
        name=members["name"].name() if "name" in members else "",
        match=members["match"].choice(Match) if "match" in members else Match.ANY,
        quorum=members["quorum"].integer(1) if "quorum" in members else 1,
        allow_self_approval="allow_self_approval" in members and members["allow_self_approval"].flag(),
        **sets,
    )


def _names(place: Place) -> tuple[str, ...]:
    names = place.names()
    if any(name.isspace() for name in names):
        place.complain("a blank name names nobody")
    return names
