"""The database and the signing key that an operator's command works with."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from app.audit.lane import Lanes
from app.core.chain import Signer
from app.core.defaults import Defaults
from app.core.permits import PermitIssuer
from app.db.database import Database
from app.gate.facts import FactCache
from app.gate.lane import LaneBuilder
from app.outbox.book import Outlets
from app.settings import Settings

T = TypeVar("T")

OPERATOR = "system:operator"
"""The principal that records name when somebody with a shell on the service's machine acted."""


class SigningKeyError(Exception):
    """The file of the signing key holds no Ed25519 key, or the passphrase does not open it."""


@dataclass(frozen=True, slots=True)
class Store:
    """The doors: reads, administrative commands, and lanes for commands that cross rooms; all recorded and signed."""

    database: Database
    lanes: Lanes
    builder: LaneBuilder

    @classmethod
    def over(cls, database: Database, signer: Signer, outlets: Outlets, defaults: Defaults | None = None) -> "Store":
        """Return the doors of a database; messages and permits name the address of the outlets."""
        permits = PermitIssuer(signer, outlets.address)
        builder = LaneBuilder(FactCache.empty(), signer, permits, outlets, defaults or Defaults())
        return cls(database, Lanes(database, signer), builder)


def run(command: Callable[[Store], Awaitable[T]], settings: Settings | None = None) -> T:
    """Run one command against the database of the settings, by default the environment's, and close it.

    Raises:
        IncompleteSettingsError: the database or the signing key is not set.
        SigningKeyError: the signing key cannot be used.
        StoreUnavailableError: the database did not answer.
    """
    return asyncio.run(_run(command, settings or Settings()))


async def _run(command: Callable[[Store], Awaitable[T]], settings: Settings) -> T:
    signer = _signer(settings)
    database = Database.at(settings.database, prepared=not settings.pgbouncer)
    try:
        outlets = Outlets(settings.public_url or "", settings.channels)
        return await command(Store.over(database, signer, outlets, settings.defaults))
    finally:
        await database.close()


def _signer(settings: Settings) -> Signer:
    try:
        return Signer.from_pem(*settings.read_signing_key())
    except ValueError as error:
        raise SigningKeyError(f"the signing key in {settings.signing_key_file} cannot be used: {error}") from error
