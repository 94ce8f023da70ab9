"""What a tenant's epochs stand for: the policy in force, who has which rights, and who lent whom a vote."""

from dataclasses import dataclass

from app.approvals.delegations import DelegationCache, Delegations
from app.audit.heads import Epochs
from app.db.database import Database, Reader
from app.identity.authority import Authority, AuthorityCache
from app.policies.active import ActivePolicy, PolicyCache


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of one tenant at one moment. `policy` is None before the first activation."""

    policy: ActivePolicy | None
    authority: Authority
    delegations: Delegations


class FactCache:
    """The facts of every tenant as last read, and the way to those of given epochs."""

    def __init__(self, policies: PolicyCache, authorities: AuthorityCache, delegations: DelegationCache) -> None:
        self.policies = policies
        self.authorities = authorities
        self.delegations = delegations

    @classmethod
    def empty(cls) -> "FactCache":
        """Return a cache that holds nothing yet."""
        return cls(PolicyCache(), AuthorityCache(), DelegationCache())

    async def at(self, reader: Reader, tenant: str, policy_revision: int | None, authority_epoch: int) -> Facts:
        """Return the facts of these epochs, from memory where it holds them."""
        return Facts(
            policy=await self.policies.at(reader, tenant, policy_revision),
            authority=await self.authorities.at(reader, tenant, authority_epoch),
            delegations=await self.delegations.at(reader, tenant, authority_epoch),
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

    def _held(self, tenant: str, epochs: Epochs) -> Facts | None:
        policy = self.policies.newest(tenant)
        authority = self.authorities.held(tenant, epochs.authority_epoch)
        delegations = self.delegations.held(tenant, epochs.authority_epoch)
        if authority is None or delegations is None:
            return None
        if epochs.policy_revision != (None if policy is None else policy.revision):
            return None
        return Facts(policy, authority, delegations)
