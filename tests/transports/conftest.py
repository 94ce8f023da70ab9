"""A tenant's outbox, an authority that the tests trust, and a NATS server."""

import pytest

from app.core.chain import Signer
from app.db.database import Database
from app.outbox.sealing import Sealer
from tests.outbox.posting import Outbox
from tests.transports.certificates import Authority


@pytest.fixture
def sealer() -> Sealer:
    """What seals webhooks' secrets."""
    return Sealer([b"a key of the tests"])


@pytest.fixture
async def outbox(database: Database, signer: Signer, sealer: Sealer) -> Outbox:
    """The outbox of a tenant."""
    made = Outbox(database, signer, sealer)
    await made.begin()
    return made


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """An authority of certificates."""
    return Authority.made_in(tmp_path_factory.mktemp("certificates"))
