"""The policy of a laptop: what the file says, the first time; afterwards what was activated last."""

from pathlib import Path

from app.audit import heads
from app.audit.lane import Lane
from app.cli.refused import RefusedError, unless_refused
from app.cli.store import OPERATOR, Store
from app.core import policy
from app.core.policy import DocumentError, Policy
from app.core.refusals import Refusal
from app.gate.activation import Activation, activate
from app.identity import credentials
from app.policies import revisions
from app.policies.revisions import Revision


async def ensure(opened: Store, tenant: str, file: Path, activator: str) -> None:
    """Activate the file with the key of a policy administrator, unless the tenant has a policy in force."""
    epochs = await opened.database.read(lambda reader: heads.epochs(reader, tenant))
    if epochs.policy_revision is not None:
        return
    presented = credentials.parse(activator)
    if presented is None:
        raise RefusedError("the key of the policy administrator is not one of this service")
    wanted = Activation(presented.id, await _stored(opened, tenant, file), unconditional=True)
    unless_refused(await activate(opened.database, opened.builder, tenant, wanted))


async def _stored(opened: Store, tenant: str, file: Path) -> Revision:
    document, loaded = _load(file)

    async def store(lane: Lane) -> Revision | Refusal:
        return await revisions.store(lane, OPERATOR, document, loaded)

    return unless_refused(await opened.lanes.run(tenant, store))


def _load(file: Path) -> tuple[str, Policy]:
    document = file.read_text()
    try:
        return document, policy.load(document)
    except DocumentError as error:
        raise RefusedError(f"{file} is not a policy: {error}") from error
