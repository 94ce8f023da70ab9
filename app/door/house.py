"""What the routes work with: made once by `main`, the same for every request of the process."""

from dataclasses import dataclass

from app.approvals.waits import Waits
from app.audit.lane import Lanes
from app.core.chain import Signer
from app.core.defaults import Defaults
from app.db.database import Database
from app.door.readiness import Readiness
from app.gate.desk import Desk
from app.gate.facts import FactCache
from app.gate.lane import LaneBuilder
from app.gate.looks import Looks
from app.gate.refused import RefusalBudget
from app.gate.webhooks import Challenger
from app.identity.sessions import Sessions
from app.identity.watch import Watch
from app.outbox.sealing import Sealer


@dataclass(frozen=True, slots=True)
class House:
    """The rooms' doors. `address` is the public URL of the service, without a slash at its end."""

    address: str
    development: bool
    defaults: Defaults
    database: Database
    signer: Signer
    lanes: Lanes
    builder: LaneBuilder
    desk: Desk
    facts: FactCache
    watch: Watch
    readiness: Readiness
    waits: Waits
    looks: Looks
    refusals: RefusalBudget
    sessions: Sessions
    sealer: Sealer
    challenger: Challenger
