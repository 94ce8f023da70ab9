"""The outbox of a tenant over a real database."""

import pytest

from app.core.chain import Signer
from app.db.database import Database
from app.outbox.sealing import Sealer
from tests.outbox.posting import Outbox


@pytest.fixture
async def outbox(database: Database, signer: Signer) -> Outbox:
    """The outbox of a tenant."""
    made = Outbox(database, signer, Sealer([b"a key of the tests"]))
    await made.begin()
    return made
