"""Holdings: what a process knows of a tenant's grants under one authority epoch, and where it is kept."""

from dataclasses import dataclass, field

from sqlalchemy import text

from app.core.lineage import Lineage
from app.db.database import Reader

_LOAD = text("""
    SELECT heads.authority_epoch,
        EXISTS (SELECT FROM grant_switches s WHERE s.tenant = heads.tenant AND s.required) AS required
    FROM heads WHERE heads.tenant = :tenant
""")


@dataclass(frozen=True, slots=True)
class Holdings:
    """Whether a tenant requires grants, and who holds which, under one epoch.

    Subjects are read when they first ask, each by itself, and forgotten with the epoch: what a change of one grant
    costs does not grow with their number.
    """

    epoch: int
    required: bool = False
    _held: dict[str, tuple[Lineage, ...]] = field(default_factory=dict)

    def knows(self, subject: str) -> bool:
        """Return whether it has been read what the subject holds."""
        return subject in self._held

    def of(self, subject: str) -> tuple[Lineage, ...]:
        """Return what the subject holds, in the order of its making.

        Raises:
            LookupError: it was not read before.
        """
        return self._held[subject]

    def keep(self, subject: str, held: tuple[Lineage, ...]) -> None:
        """Remember what the subject holds."""
        self._held[subject] = held


class HoldingsCache:
    """The holdings of each tenant as this process has read them last."""

    def __init__(self) -> None:
        self._held: dict[str, Holdings] = {}

    def held(self, tenant: str, epoch: int) -> Holdings | None:
        """Return the holdings of this epoch if they are in memory."""
        found = self._held.get(tenant)
        return found if found is not None and found.epoch == epoch else None

    async def at(self, reader: Reader, tenant: str, epoch: int) -> Holdings:
        """Return the holdings of this epoch, begun anew if they are not in memory."""
        found = self.held(tenant, epoch)
        if found is None:
            row = await reader.row(_LOAD, {"tenant": tenant})
            found = Holdings(epoch=-1) if row is None else Holdings(row.authority_epoch, row.required)
            self._held[tenant] = found
        return found
