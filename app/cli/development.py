"""`countersignd dev`: everything on a laptop, and a hint what to try.

What an earlier start made is kept: the database, the signing key, the API keys, the active policy.
"""

import asyncio
import os
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from app.cli import dev_keys, dev_policy, server, signing_key, store
from app.cli.store import Store
from app.db import schema
from app.embedded import DataDirectory, EmbeddedPostgres, running
from app.settings import PREFIX, Settings

HOST = "127.0.0.1"
TENANT = "dev"
_DATABASE = "countersign"
_EXISTS = text("SELECT 1 FROM pg_database WHERE datname = :name")


def run(port: int, data: Path, policy: Path | None, workers: int) -> None:
    """Start what a laptop needs and serve until the command is ended."""
    directory = DataDirectory(data)
    with server.listen(HOST, port) as listener, running(directory) as postgres:
        address = f"http://{HOST}:{listener.getsockname()[1]}"
        environment = _environment(directory, postgres, address)
        _prepare(Settings.model_validate(environment), directory, postgres, policy)
        os.environ.update({f"{PREFIX}{name.upper()}": value for name, value in environment.items()})
        server.serve(listener, workers, _welcome(address, directory))


def _environment(directory: DataDirectory, postgres: EmbeddedPostgres, address: str) -> dict[str, str]:
    return {
        "development": "true",
        "host": HOST,
        "public_url": address,
        "database_url": postgres.url(_DATABASE),
        "signing_key_file": str((directory.secrets / "signing-key.pem").resolve()),
        "console": os.environ.get(f"{PREFIX}CONSOLE", "true"),
    }


def _prepare(settings: Settings, directory: DataDirectory, postgres: EmbeddedPostgres, policy: Path | None) -> None:
    asyncio.run(_create_database(postgres))
    asyncio.run(schema.migrate(settings.database))
    signing_key.make_unless_there(directory.secrets / "signing-key.pem")
    store.prepare(lambda opened: _populate(opened, directory.secrets / "dev-keys.json", policy), settings)


async def _populate(opened: Store, keys_file: Path, policy: Path | None) -> None:
    keys = await dev_keys.ensure(opened, TENANT, keys_file)
    if policy is not None:
        await dev_policy.ensure(opened, TENANT, policy, keys["policy_admin"])


async def _create_database(postgres: EmbeddedPostgres) -> None:
    engine = create_async_engine(postgres.url("postgres"), poolclass=NullPool, isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        if (await connection.execute(_EXISTS, {"name": _DATABASE})).first() is None:
            await connection.execute(text(f"CREATE DATABASE {_DATABASE}"))
    await engine.dispose()


def _welcome(address: str, directory: DataDirectory) -> str:
    keys = directory.secrets / "dev-keys.json"
    return f"""
Countersign is in development mode: it listens on {address} and nowhere else. Ctrl-C ends it.

  state  {directory.root}  (a second start keeps it)
  keys   {keys}

Try, in another shell:

  key() {{ sed -n "s/.*\\"$1\\": \\"\\(.*\\)\\".*/\\1/p" {keys}; }}

  # an agent asks to act
  curl -s {address}/v1/admit -H "Authorization: Bearer $(key agent)" -H "Content-Type: application/json" \\
    -d '{{"action": {{"name": "voucher.issue", "arguments": {{"booking": "AB12", "amount": 300}}}}}}'

  # a person sees what waits; in a browser at {address}/console, signed in with the key of approver
  curl -s "{address}/v1/approvals?mine=true" -H "Authorization: Bearer $(key approver)"

  # an auditor takes the record away
  curl -s {address}/v1/audit/export -H "Authorization: Bearer $(key auditor)"
"""
