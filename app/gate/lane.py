"""A tenant's lane: what the commands of one group run against, in memory, while the head is locked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.approvals.book import ApprovalBook
from app.approvals.delegations import DelegationCache, Delegations
from app.audit import heads
from app.audit.heads import Head
from app.audit.journal import Journal
from app.core.chain import Signer
from app.core.permits import PermitIssuer
from app.db.books import Book
from app.db.database import Reader, Writer
from app.effects.book import EffectBook
from app.identity.authority import Authority, AuthorityCache
from app.policies.active import ActivePolicy, PolicyCache
from app.spend.book import SpendBook


@dataclass(slots=True)
class Lane:
    """The facts of a tenant at one moment, its books, and its journal.

    `policy` is None before the first activation. `now` is the one clock of the group.
    """

    tenant: str
    head: Head
    now: datetime
    policy: ActivePolicy | None
    authority: Authority
    delegations: Delegations
    journal: Journal
    effects: EffectBook
    spend: SpendBook
    approvals: ApprovalBook
    permits: PermitIssuer

    @property
    def books(self) -> Sequence[Book]:
        """Return the books, the journal last."""
        return (self.effects, self.spend, self.approvals, self.journal)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a tenant's epochs stand for: the policy in force, who has which rights, and who lent whom a vote."""

    policy: ActivePolicy | None
    authority: Authority
    delegations: Delegations


class FactCache:
    """The facts of every tenant as last read, and the way to those of given epochs."""

    def __init__(self, policies: PolicyCache, authorities: AuthorityCache, delegations: DelegationCache) -> None:
        self.policies = policies
        self.authorities = authorities
        self.delegations = delegations

    async def at(self, reader: Reader, tenant: str, policy_revision: int | None, authority_epoch: int) -> Facts:
        """Return the facts of these epochs, from memory where it holds them."""
        return Facts(
            policy=await self.policies.at(reader, tenant, policy_revision),
            authority=await self.authorities.at(reader, tenant, authority_epoch),
            delegations=await self.delegations.at(reader, tenant, authority_epoch),
        )


class LaneBuilder:
    """Opens lanes: locks the head, then brings the facts up to its epochs, so that nothing revoked decides."""

    def __init__(self, facts: FactCache, signer: Signer, permits: PermitIssuer) -> None:
        self._facts = facts
        self._signer = signer
        self._permits = permits

    async def open(self, tx: Writer, tenant: str) -> Lane:
        """Take the tenant's lane for the length of the transaction.

        Raises:
            UnknownTenantError: there is no such tenant.
        """
        head, now = await heads.lock(tx, tenant)
        facts = await self._facts.at(tx, tenant, head.policy_revision, head.authority_epoch)
        return Lane(
            tenant=tenant,
            head=head,
            now=now,
            policy=facts.policy,
            authority=facts.authority,
            delegations=facts.delegations,
            journal=Journal(head, now, self._signer),
            effects=EffectBook(now),
            spend=SpendBook(now),
            approvals=ApprovalBook(now),
            permits=self._permits,
        )
