"""Which version of the schema a database has, which one this code needs, and the way from one to the other."""

from functools import cache
from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from app.db.database import Reader

# Two that migrate at once take turns; any number that nothing else locks does for that.
_ONE_AT_A_TIME = text("SELECT pg_advisory_lock(7212345678901)")
_KNOWS_ITS_VERSION = text("SELECT to_regclass('alembic_version') IS NOT NULL")
_VERSION = text("SELECT version_num FROM alembic_version")


async def migrate(url: str) -> None:
    """Bring the database at the URL to the newest version of the schema; do nothing if it is there."""
    engine = create_async_engine(url, poolclass=NullPool)
    try:
        async with engine.connect() as connection:
            await connection.execute(_ONE_AT_A_TIME)
            await connection.commit()
            await connection.run_sync(_upgrade)
    finally:
        await engine.dispose()


async def version(reader: Reader) -> str | None:
    """Return the version of the schema that the database has, or None if it has none."""
    known = await reader.row(_KNOWS_ITS_VERSION)
    row = await reader.row(_VERSION) if known and known[0] else None
    return None if row is None else str(row[0])


@cache
def newest() -> str:
    """Return the version of the schema that this code needs."""
    return ScriptDirectory.from_config(_configuration()).get_current_head() or ""


def is_behind(found: str | None) -> bool:
    """Return whether a database of this version lacks what this code needs.

    A version that this code does not know is one that a newer release made: it serves this one too.
    """
    return found is None or (found != newest() and found in _known())


@cache
def _known() -> frozenset[str]:
    return frozenset(script.revision for script in ScriptDirectory.from_config(_configuration()).walk_revisions())


def _upgrade(connection: Connection) -> None:
    configuration = _configuration()
    configuration.attributes["connection"] = connection
    command.upgrade(configuration, "head")


def _configuration() -> Config:
    configuration = Config()
    configuration.set_main_option("script_location", str(files("migrations")).replace("%", "%%"))
    return configuration
