"""A tenant's lane: what the commands of one group run against, in memory, while the head is locked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.approvals.book import ApprovalBook
from app.approvals.delegations import Delegations
from app.audit import heads
from app.audit.heads import Head
from app.audit.journal import Journal
from app.core.chain import Signer
from app.core.permits import PermitIssuer
from app.db.books import Book
from app.db.database import Writer
from app.effects.book import EffectBook
from app.evidence.book import EvidenceBook
from app.gate.facts import FactCache
from app.identity.authority import Authority
from app.outbox.book import OutboxBook, Outlets
from app.policies.active import ActivePolicy
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
    evidence: EvidenceBook
    outbox: OutboxBook
    permits: PermitIssuer

    @property
    def books(self) -> Sequence[Book]:
        """Return the books, the journal last."""
        return (self.effects, self.spend, self.approvals, self.evidence, self.outbox, self.journal)


class LaneBuilder:
    """Opens lanes: locks the head, then brings the facts up to its epochs, so that nothing revoked decides."""

    def __init__(self, facts: FactCache, signer: Signer, permits: PermitIssuer, outlets: Outlets) -> None:
        self._facts = facts
        self._signer = signer
        self._permits = permits
        self._outlets = outlets

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
            evidence=EvidenceBook(now),
            outbox=OutboxBook(now, self._outlets),
            permits=self._permits,
        )
