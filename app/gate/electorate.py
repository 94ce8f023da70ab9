"""Who may decide a question today: the active policy's rules, today's roles, and delegations in force."""

from datetime import datetime
from typing import Protocol

from app.approvals.delegations import Delegations
from app.approvals.questions import Matter, Question, Verdict
from app.core.authority import Ballot, Electorate, Person, Tally, matching
from app.core.policy.approvers import ApproverRule
from app.identity.authority import Authority
from app.policies.active import ActivePolicy


class Known(Protocol):
    """What says who may decide: a lane under the head's lock, or the facts of a read."""

    @property
    def policy(self) -> ActivePolicy | None:
        """Return the policy in force."""
        ...

    @property
    def authority(self) -> Authority:
        """Return who has which roles, and who is revoked."""
        ...

    @property
    def delegations(self) -> Delegations:
        """Return who lent whom a vote."""
        ...


def of(known: Known, matter: Matter, now: datetime) -> Electorate:
    """Return who may decide a question now. Of an edited call, the rules of both forms have to be met."""
    return Electorate(
        rules=_rules(known, matter),
        labels=frozenset().union(*(own for own, _ in matter.forms)),
        requester=requester(known, matter),
        person=lambda name: person(known.authority, name),
        delegations=known.delegations.lent,
        now=now,
    )


def person(authority: Authority, name: str) -> Person | None:
    """Return a principal as votes look at it; None if there is none or it is revoked."""
    found = authority.principals.get(name)
    if found is None or authority.is_revoked(name):
        return None
    return Person(found.name, found.kind, found.owner, found.roles)


def requester(known: Known, matter: Matter) -> Person:
    """Return who asks: as known today, or as its credential said if it is gone."""
    return person(known.authority, matter.principal) or Person(matter.principal, matter.kind, matter.owner)


def approving(question: Question) -> list[Ballot]:
    """Return the ballots of the approvals, in the order in which they were cast."""
    return [vote.ballot for vote in question.counted(Verdict.APPROVE)]


def tally(known: Known, question: Question, now: datetime) -> tuple[Tally, ...]:
    """Return how far each matching rule has come."""
    return of(known, question.matter, now).tally(approving(question))


def reached(known: Known, question: Question, now: datetime) -> bool:
    """Return whether the approvals, counted today, are enough."""
    return of(known, question.matter, now).reached(approving(question))


def may_decide(known: Known, matter: Matter, principal: str, now: datetime) -> bool:
    """Return whether somebody could vote on such a question for themselves, either way."""
    voters, ballot = of(known, matter, now), Ballot(principal, principal)
    return voters.entitle_denial(ballot).refusal is None or voters.entitle_approval(ballot).refusal is None


def _rules(known: Known, matter: Matter) -> tuple[ApproverRule, ...]:
    if known.policy is None:
        return ()
    found: dict[str, ApproverRule] = {}
    for own, callers in matter.forms:
        for rule in matching(known.policy.policy.approvers, own, callers):
            found[rule.name] = rule
    return tuple(found.values())
