"""What a tenant's epochs stand for: the policy in force, who has which rights, who lent whom a vote, and grants."""

from dataclasses import dataclass

from app.approvals.delegations import DelegationCache, Delegations
from app.audit.heads import Epochs
from app.core.actions import Caller
from app.db.database import Database, Reader
from app.grants import book
from app.grants.holdings import Holdings, HoldingsCache
from app.identity.authority import Authority, AuthorityCache
from app.policies.active import ActivePolicy, PolicyCache


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of one tenant at one moment. `policy` is None before the first activation."""

    policy: ActivePolicy | None
    authority: Authority
    delegations: Delegations
    holdings: Holdings


class FactCache:
    """The facts of every tenant as last read, and the way to those of given epochs."""

    def __init__(
        self,
        policies: PolicyCache,
        authorities: AuthorityCache,
        delegations: DelegationCache,
        holdings: HoldingsCache,
    ) -> None:
        self.policies = policies
        self.authorities = authorities
        self.delegations = delegations
        self.holdings = holdings

    @classmethod
    def empty(cls) -> "FactCache":
        """Return a cache that holds nothing yet."""
        return cls(PolicyCache(), AuthorityCache(), DelegationCache(), HoldingsCache())

    async def at(self, reader: Reader, tenant: str, policy_revision: int | None, authority_epoch: int) -> Facts:
        """Return the facts of these epochs, from memory where it holds them."""
        return Facts(
            policy=await self.policies.at(reader, tenant, policy_revision),
            authority=await self.authorities.at(reader, tenant, authority_epoch),
            delegations=await self.delegations.at(reader, tenant, authority_epoch),
            holdings=await self.holdings.at(reader, tenant, authority_epoch),
        )

    async def seen(self, database: Database, tenant: str, epochs: Epochs) -> Facts:
        """Return the facts of epochs that were just looked at, without a connection where memory holds them.

        Raises:
            StoreUnavailableError: something has to be read, and the database did not answer.
        """
        held = self._held(tenant, epochs)
        if held is not None:
            return held
        return await database.read(
            lambda reader: self.at(reader, tenant, epochs.policy_revision, epochs.authority_epoch)
        )

    async def about(self, database: Database, caller: Caller, epochs: Epochs) -> Facts:
        """Return the same, with the grants that the caller holds: for who decides outside a lane.

        Raises:
            StoreUnavailableError: something has to be read, and the database did not answer.
        """
        facts = await self.seen(database, caller.tenant, epochs)
        await book.bring(database, caller.tenant, facts.holdings, caller.principal)
        return facts

    def _held(self, tenant: str, epochs: Epochs) -> Facts | None:
        policy = self.policies.newest(tenant)
        authority = self.authorities.held(tenant, epochs.authority_epoch)
        delegations = self.delegations.held(tenant, epochs.authority_epoch)
        holdings = self.holdings.held(tenant, epochs.authority_epoch)
        if authority is None or delegations is None or holdings is None:
            return None
        if epochs.policy_revision != (None if policy is None else policy.revision):
            return None
        return Facts(policy, authority, delegations, holdings)
