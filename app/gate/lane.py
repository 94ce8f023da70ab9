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
from app.core.defaults import Defaults
from app.core.permits import PermitIssuer
from app.core.policy import DocumentError
from app.db.books import Book
from app.db.database import Writer
from app.effects.book import EffectBook
from app.evidence.book import EvidenceBook
from app.gate.facts import FactCache
from app.grants.book import GrantBook
from app.identity.authority import Authority
from app.outbox.book import OutboxBook, Outlets
from app.policies.active import ActivePolicy
from app.policies.history import HistoryBook
from app.spend.book import SpendBook


@dataclass(slots=True)
class Lane:
    """The facts of a tenant at one moment, its books, and its journal.

    `policy` is None before the first activation; `shadow` is weighed beside it and answers nothing. `now` is the one
    clock of the group.
    """

    tenant: str
    head: Head
    now: datetime
    policy: ActivePolicy | None
    shadow: ActivePolicy | None
    authority: Authority
    delegations: Delegations
    journal: Journal
    grants: GrantBook
    effects: EffectBook
    spend: SpendBook
    approvals: ApprovalBook
    evidence: EvidenceBook
    outbox: OutboxBook
    history: HistoryBook
    permits: PermitIssuer
    defaults: Defaults

    @property
    def books(self) -> Sequence[Book]:
        """Return the books, the journal last."""
        rooms = (self.grants, self.effects, self.spend, self.approvals, self.evidence, self.outbox, self.history)
        return (*rooms, self.journal)


class LaneBuilder:
    """Opens lanes: locks the head, then brings the facts up to its epochs, so that nothing revoked decides."""

    def __init__(
        self, facts: FactCache, signer: Signer, permits: PermitIssuer, outlets: Outlets, defaults: Defaults
    ) -> None:
        self._facts = facts
        self._signer = signer
        self._permits = permits
        self._outlets = outlets
        self._defaults = defaults

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
            shadow=await self._shadow(tx, head),
            authority=facts.authority,
            delegations=facts.delegations,
            journal=Journal(head, now, self._signer),
            grants=GrantBook(facts.holdings),
            effects=EffectBook(now),
            spend=SpendBook(now),
            approvals=ApprovalBook(now),
            evidence=EvidenceBook(now),
            outbox=OutboxBook(now, self._outlets),
            history=HistoryBook(),
            permits=self._permits,
            defaults=self._defaults,
        )

    async def _shadow(self, tx: Writer, head: Head) -> ActivePolicy | None:
        if head.shadow_revision is None:
            return None
        try:
            return await self._facts.policies.get(tx, head.tenant, head.shadow_revision)
        except DocumentError:
            return None  # written for an older release; what it would say cannot be told, and nobody waits for it
