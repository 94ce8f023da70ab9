"""Who may decide a question, why, and whether enough different people have.

Everything here is computed afresh at each vote and again at redemption, from today's rules, roles and delegations;
a stored vote says only who voted, through whom, and what.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache

from app.core.policy.approvers import ApproverRule


class Objection(StrEnum):
    """Why a vote does not count: codes for an approver."""

    SELF_GRANTED = "approval_self_granted"
    NO_AUTHORITY = "approval_no_authority"
    CONFLICT = "approval_conflict"


@dataclass(frozen=True, slots=True)
class Person:
    """A principal as votes look at it; `kind` is agent, service or human, `owner` whose it is."""

    principal: str
    kind: str
    owner: str
    roles: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Delegation:
    """One person's authority lent to another until a moment; for all questions, or for those with some label."""

    id: str
    lender: str
    delegate: str
    until: datetime
    labels: frozenset[str] = frozenset()

    def covers(self, labels: frozenset[str], now: datetime) -> bool:
        """Return whether it is in force for a question with these labels; it is over exactly at its time."""
        return now < self.until and (not self.labels or not self.labels.isdisjoint(labels))


class Ground(StrEnum):
    """What gives somebody a rule."""

    NAME = "name"
    ROLE = "role"
    DELEGATION = "delegation"


@dataclass(frozen=True, slots=True)
class Basis:
    """Why a vote counts for a rule; `lender` is who lent the authority, "" if it is the voter's own."""

    rule: str
    ground: Ground
    lender: str = ""


@dataclass(frozen=True, slots=True)
class Ballot:
    """Whose vote it is, and who authenticated to cast it: another only if that is a bridge."""

    voter: str
    by: str

    @property
    def bridged(self) -> bool:
        """Return whether somebody else cast it."""
        return self.by != self.voter


@dataclass(frozen=True, slots=True)
class Entitlement:
    """The rules that a ballot counts for; or, with none, the code that says why it does not count."""

    bases: tuple[Basis, ...] = ()
    refusal: Objection | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """How many different people of a rule's quorum have approved."""

    rule: str
    quorum: int
    have: int


@dataclass(frozen=True, slots=True)
class Electorate:
    """Everything that decides who may decide one question at one moment.

    `rules` are those that match it; `person` finds a principal that exists and is not revoked.
    """

    rules: tuple[ApproverRule, ...]
    labels: frozenset[str]
    requester: Person
    person: Callable[[str], Person | None]
    delegations: Sequence[Delegation]
    now: datetime

    def entitle_approval(self, ballot: Ballot) -> Entitlement:
        """Return what an approval by this ballot counts for. Who asked cannot approve, in whatever disguise."""
        refusal = self._unfit(ballot)
        if refusal is not None:
            return Entitlement(refusal=refusal)
        if not self._self_approval and same_person(self._known(ballot.voter), self.requester):
            return Entitlement(refusal=Objection.SELF_GRANTED)
        bases = list(self._all_bases(ballot))
        own = [basis for basis in bases if self._self_approval or not self._lent_by_requester(basis)]
        if bases and not own:
            return Entitlement(refusal=Objection.SELF_GRANTED)
        return _entitled(_one_a_rule(own))

    def entitle_denial(self, ballot: Ballot) -> Entitlement:
        """Return what a denial by this ballot counts for; where no rule matches, an approver's still stands.

        A denial only adds caution, so that of a requester's owner stands; the requester itself cancels instead.
        """
        refusal = self._unfit(ballot)
        if refusal is not None:
            return Entitlement(refusal=refusal)
        if ballot.voter == self.requester.principal:
            return Entitlement(refusal=Objection.SELF_GRANTED)
        if not self.rules and not ballot.bridged:
            return Entitlement()
        return _entitled(_one_a_rule(self._all_bases(ballot)))

    def tally(self, approvals: Iterable[Ballot]) -> tuple[Tally, ...]:
        """Count, for each matching rule, the different people among those whose approval counts today."""
        counted = [(ballot, basis) for ballot in approvals for basis in self.entitle_approval(ballot).bases]
        return tuple(
            Tally(rule.name, rule.quorum, self._different([entry for entry in counted if entry[1].rule == rule.name]))
            for rule in self.rules
        )

    def reached(self, approvals: Iterable[Ballot]) -> bool:
        """Return whether every matching rule has its quorum; without a rule nobody can approve."""
        return bool(self.rules) and all(tally.have >= tally.quorum for tally in self.tally(approvals))

    @property
    def _self_approval(self) -> bool:
        return bool(self.rules) and all(rule.allow_self_approval for rule in self.rules)

    def _unfit(self, ballot: Ballot) -> Objection | None:
        """Return why nobody looks at the rules at all: agents never decide, and a bridge names a known human only."""
        voter, caster = self.person(ballot.voter), self.person(ballot.by)
        if voter is None or caster is None or "agent" in (voter.kind, caster.kind):
            return Objection.NO_AUTHORITY
        if not ballot.bridged:
            return None
        if same_person(caster, self.requester):
            return Objection.SELF_GRANTED
        return None if voter.kind == "human" else Objection.NO_AUTHORITY

    def _all_bases(self, ballot: Ballot) -> Iterable[Basis]:
        open_to = (rule for rule in self.rules if not ballot.bridged or ballot.by in rule.via)
        return (basis for rule in open_to for basis in self._bases(ballot.voter, rule))

    def _bases(self, voter: str, rule: ApproverRule) -> Iterable[Basis]:
        """Yield the grounds on which somebody has a rule, its own first. Lent authority cannot be lent on."""
        ground = _direct(self._known(voter), rule)
        if ground is not None:
            yield Basis(rule.name, ground)
        for delegation in self.delegations:
            if delegation.delegate == voter and delegation.covers(self.labels, self.now):
                lender = self.person(delegation.lender)
                if lender is not None and lender.kind != "agent" and _direct(lender, rule) is not None:
                    yield Basis(rule.name, Ground.DELEGATION, lender.principal)

    def _lent_by_requester(self, basis: Basis) -> bool:
        return bool(basis.lender) and same_person(self._known(basis.lender), self.requester)

    def _different(self, counted: Iterable[tuple[Ballot, Basis]]) -> int:
        """Count in the order of the votes; one that shares a person with one already counted adds nobody."""
        found: list[tuple[Person, ...]] = []
        for ballot, basis in counted:
            behind = self._behind(ballot, basis)
            if not any(same_person(one, other) for others in found for one in behind for other in others):
                found.append(behind)
        return len(found)

    def _behind(self, ballot: Ballot, basis: Basis) -> tuple[Person, ...]:
        """Return the people whose authority a vote uses up: lender and delegate are one person."""
        return tuple(self._known(name) for name in (ballot.voter, basis.lender) if name)

    def _known(self, principal: str) -> Person:
        found = self.person(principal)
        return found if found is not None else Person(principal, "", "")


def matching(rules: Iterable[ApproverRule], own: frozenset[str], callers: frozenset[str]) -> tuple[ApproverRule, ...]:
    """Return the rules about a question with these labels.

    `own` are the declared and derived ones. What a caller adds may add a rule where one already matches, and never
    choose the only one: else a caller could pick who judges it.
    """
    every = tuple(rules)
    if not any(rule.matches(own) for rule in every):
        return ()
    return tuple(rule for rule in every if rule.matches(own) or rule.matches(own | callers))


def same_person(one: Person, other: Person) -> bool:
    """Return whether the two may be one person: a principal or an owner of theirs goes by the same name."""
    return not _names(one).isdisjoint(_names(other))


@lru_cache(maxsize=4096)
def alias(name: str) -> str:
    """Return what a name comes down to: NFKC, casefolded, nothing invisible, without `agent:` and the like in front."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    visible = "".join(character for character in folded if not _invisible(character))
    return _PREFIXES.sub("", unicodedata.normalize("NFKC", visible))


_PREFIXES = re.compile(r"^(?:(?:agent|service|bot|sa|human|user):)+")
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
# Default_Ignorable_Code_Point outside the category Cf (Unicode, DerivedCoreProperties.txt): joiners and fillers.
_IGNORABLE = re.compile(r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]")


def _invisible(character: str) -> bool:
    return unicodedata.category(character) in _INVISIBLE_CATEGORIES or _IGNORABLE.match(character) is not None


def _names(person: Person) -> frozenset[str]:
    return frozenset(alias(name) for name in (person.principal, person.owner) if name)


def _direct(person: Person, rule: ApproverRule) -> Ground | None:
    if person.principal in rule.principals:
        return Ground.NAME
    return None if person.roles.isdisjoint(rule.roles) else Ground.ROLE


def _one_a_rule(bases: Iterable[Basis]) -> tuple[Basis, ...]:
    """Return the first basis of each rule; somebody's own comes before a lent one."""
    first: dict[str, Basis] = {}
    for basis in bases:
        first.setdefault(basis.rule, basis)
    return tuple(first.values())


def _entitled(bases: tuple[Basis, ...]) -> Entitlement:
    return Entitlement(bases) if bases else Entitlement(refusal=Objection.NO_AUTHORITY)
