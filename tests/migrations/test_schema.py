"""A migrated database is what the code describes, and the service can tell."""

from importlib.resources import files

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from app.db import schema
from app.db.database import Database
from app.embedded import EmbeddedPostgres
from migrations.tables import every_table


def differences(connection: Connection) -> list[object]:
    options = {"compare_type": True, "compare_server_default": True}
    context = MigrationContext.configure(connection, opts=options)
    return list(compare_metadata(context, every_table()))


async def test_a_migrated_schema_equals_the_one_in_the_code(database_url: str) -> None:
    engine = create_async_engine(database_url, poolclass=NullPool)
    async with engine.connect() as connection:
        assert await connection.run_sync(differences) == []
    await engine.dispose()


async def test_the_service_knows_which_schema_it_meets(database: Database, postgres: EmbeddedPostgres) -> None:
    empty = Database.at(postgres.url("postgres"))
    assert await empty.read(schema.version) is None
    assert await database.read(schema.version) == schema.newest()
    await empty.close()


def test_a_database_is_behind_if_it_lacks_a_revision_and_not_if_it_has_newer_ones() -> None:
    assert schema.is_behind(None)
    assert not schema.is_behind(schema.newest())
    assert not schema.is_behind("made-by-a-newer-release")


async def test_migrating_again_changes_nothing(database: Database, database_url: str) -> None:
    await schema.migrate(database_url)
    assert await database.read(schema.version) == schema.newest()


def test_every_table_begins_its_key_with_the_tenant() -> None:
    of_all_tenants = {"signing_keys"}
    for table in every_table().tables.values():
        first = next(iter(table.primary_key.columns))
        assert first.name == "tenant" or table.name in of_all_tenants, table.name


def test_no_revision_waits_for_a_lock_for_ever() -> None:
    folder = files("migrations")
    revisions = [file for file in folder.joinpath("versions").iterdir() if file.name.endswith(".py")]
    for source in (folder.joinpath("script.py.mako"), *revisions):
        assert "op.execute(LOCK_TIMEOUT)" in source.read_text(), source.name
