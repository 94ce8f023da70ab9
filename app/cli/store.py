"""The database and the signing key that an operator's command works with."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from app.audit import keys, rotation
from app.audit.lane import Lanes
from app.cli.refused import RefusedError
from app.core.chain import Signer
from app.core.defaults import Defaults
from app.core.permits import PermitIssuer
from app.db.database import Database
from app.gate.facts import FactCache
from app.gate.lane import LaneBuilder
from app.outbox.book import Outlets
from app.settings import PREFIX, Settings

T = TypeVar("T")

OPERATOR = "system:operator"
"""The principal that records name when somebody with a shell on the service's machine acted."""


class SigningKeyError(Exception):
    """The file of the signing key holds no Ed25519 key, or the passphrase does not open it."""


@dataclass(frozen=True, slots=True)
class Store:
    """The doors: reads, administrative commands, and lanes for commands that cross rooms; all recorded and signed."""

    signer: Signer
    database: Database
    lanes: Lanes
    builder: LaneBuilder

    @classmethod
    def over(cls, database: Database, signer: Signer, outlets: Outlets, defaults: Defaults | None = None) -> "Store":
        """Return the doors of a database; messages and permits name the address of the outlets."""
        permits = PermitIssuer(signer, outlets.address)
        builder = LaneBuilder(FactCache.empty(), signer, permits, outlets, defaults or Defaults())
        return cls(signer, database, Lanes(database, signer), builder)


def read(command: Callable[[Database], Awaitable[T]]) -> T:
    """Run one command that only reads the database of the environment's settings; it takes no signing key.

    Raises:
        IncompleteSettingsError: the database is not set.
        StoreUnavailableError: the database did not answer.
    """
    return asyncio.run(_read(command, Settings()))


def change(command: Callable[[Store], Awaitable[T]]) -> T:
    """Run one command that adds to the record of the environment's database, signed with the service's own key.

    Raises:
        IncompleteSettingsError: the database or the signing key is not set.
        SigningKeyError: the signing key cannot be used.
        RefusedError: the service signs with another key.
        StoreUnavailableError: the database did not answer.
    """
    return asyncio.run(_change(command, Settings(), _see_to_the_key))


def prepare(command: Callable[[Store], Awaitable[T]], settings: Settings) -> T:
    """Run what comes before a service is started with these settings: the key that it will sign with signs already.

    Raises:
        IncompleteSettingsError: the database or the signing key is not set.
        SigningKeyError: the signing key cannot be used.
        StoreUnavailableError: the database did not answer.
    """
    return asyncio.run(_change(command, settings, _introduce))


def signer(settings: Settings) -> Signer:
    """Return what signs the record.

    Raises:
        IncompleteSettingsError: the signing key is not set.
        SigningKeyError: the signing key cannot be used.
    """
    try:
        return Signer.from_pem(*settings.read_signing_key())
    except ValueError as error:
        raise SigningKeyError(f"the signing key in {settings.signing_key_file} cannot be used: {error}") from error


async def _read(command: Callable[[Database], Awaitable[T]], settings: Settings) -> T:
    async with _database(settings) as database:
        return await command(database)


async def _change(
    command: Callable[[Store], Awaitable[T]], settings: Settings, see_to_the_key: Callable[[Store], Awaitable[None]]
) -> T:
    signs, outlets = signer(settings), Outlets(settings.public_url or "", settings.channels)
    async with _database(settings) as database:
        opened = Store.over(database, signs, outlets, settings.defaults)
        await see_to_the_key(opened)
        return await command(opened)


@asynccontextmanager
async def _database(settings: Settings) -> AsyncIterator[Database]:
    database = Database.at(settings.database, prepared=not settings.pgbouncer)
    try:
        yield database
    finally:
        await database.close()


async def _introduce(opened: Store) -> None:
    await rotation.introduce(opened.database, opened.lanes, opened.signer)


async def _see_to_the_key(opened: Store) -> None:
    """See that nothing is signed with a key that nobody can look up; where none was made known, this one is.

    To bring in another is for the service: replicas are not ready any more once their key is retired.
    """
    known = await opened.database.read(keys.in_force)
    if not known:
        await _introduce(opened)
    elif opened.signer.key_id not in known:
        raise RefusedError(
            f"the service signs with the key {known[0]}, and {PREFIX}SIGNING_KEY_FILE holds {opened.signer.key_id}: "
            "name the file of the former, or start the service with the latter first"
        )
