"""What a tenant's epochs stand for: the policy in force, who has which rights, and who lent whom a vote."""

from dataclasses import dataclass

from app.approvals.delegations import DelegationCache, Delegations
from app.db.database import Reader
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

    async def at(self, reader: Reader, tenant: str, policy_revision: int | None, authority_epoch: int) -> Facts:
        """Return the facts of these epochs, from memory where it holds them."""
        return Facts(
            policy=await self.policies.at(reader, tenant, policy_revision),
            authority=await self.authorities.at(reader, tenant, authority_epoch),
            delegations=await self.delegations.at(reader, tenant, authority_epoch),
        )
