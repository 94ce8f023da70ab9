"""The two doors to Postgres, and what can go wrong behind them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import asyncpg
from pydantic_core import from_json, to_json
from sqlalchemy import TextClause, make_url

from app.db.statements import Parameters, Row, numbered

T = TypeVar("T")
Connection = Any  # the driver has no types

_SERIALIZATION_FAILURES = frozenset({"40001", "40P01"})
# Class 08 is a broken connection, 3D000 a database that is not there, 57P0x a backend that was ended, 53300 too many of
# them, 25006 a primary that is one no longer, 55P03 and 57014 a lock or statement time-out (PostgreSQL documentation,
# appendix A).
_UNAVAILABLE = frozenset(
    {"3D000", "57P01", "57P02", "57P03", "57P04", "57P05", "53300", "53100", "53200", "25006", "55P03", "57014"}
)
_TRIES = 4
# What the driver raises by itself: the connection is gone, or ends in the middle of an answer so that the driver has
# lost its place. A time-out is an OSError.
_LOST: Final = (asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)

# A process that stands still inside a transaction, paused or cut off, must not hold a tenant's lane for longer than
# callers wait. Statements here are small, and compiling them would take longer than running them. A pooler passes
# none of these on: there they are set by ALTER ROLE (deploy/README.md).
_SERVER_SETTINGS = {
    "application_name": "countersign",
    "idle_in_transaction_session_timeout": "5s",
    "lock_timeout": "4s",
    "statement_timeout": "4s",
    "jit": "off",
}

# A group's statement is long, and one of a few dozen; each is prepared once on a connection. Those that are used least
# are dropped beyond the number, since each takes half a mebibyte of Postgres' memory.
_PREPARED: Final[Mapping[str, Any]] = {
    "server_settings": _SERVER_SETTINGS,
    "statement_cache_size": 128,
    "max_cached_statement_lifetime": 0,
    "max_cacheable_statement_size": 0,
}
# A connection that reached a number of statements would be closed while somebody waits for what it has done.
_NO_END: Final = 2**62
_UNPREPARED: Final[Mapping[str, Any]] = {"statement_cache_size": 0}


class StoreUnavailableError(Exception):
    """The database did not answer, or not in time. Nothing was changed, unless it was committing."""


class CommitLostError(StoreUnavailableError):
    """The connection broke while committing: the transaction happened whole, or not at all."""


class Reader:
    """A connection that reads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def rows(self, statement: TextClause, parameters: Parameters | None = None) -> Sequence[Row]:
        """Return all rows of the statement."""
        sql, values = numbered(statement, parameters)
        found: list[Row] = await self._connection.fetch(sql, *values)
        return found

    async def row(self, statement: TextClause, parameters: Parameters | None = None) -> Row | None:
        """Return the first row, or None."""
        sql, values = numbered(statement, parameters)
        found: Row | None = await self._connection.fetchrow(sql, *values)
        return found


class Writer(Reader):
    """A connection inside the transaction of one command."""

    async def write(self, statement: TextClause, parameters: Parameters | None = None) -> int:
        """Run a statement that changes rows and return how many it matched."""
        sql, values = numbered(statement, parameters)
        _, _, number = (await self._connection.execute(sql, *values)).rpartition(" ")
        return int(number) if number.isdigit() else 0


@dataclass(frozen=True, slots=True)
class Limits:
    """Connections of the pool, and the seconds that a caller waits for one, for a connect and for a statement."""

    connections: int = 12
    pool_wait: float = 3.0
    connect: float = 2.0
    statement: float = 4.0


class Database:
    """Postgres, as the rest of the service sees it: a pool of connections, made when the first is needed."""

    def __init__(self, arguments: Mapping[str, Any], limits: Limits, *, prepared: bool) -> None:
        self._arguments = arguments
        self._limits = limits
        self._prepared = prepared
        self._pool: Any = None
        self._opening = asyncio.Lock()
        self._closed = False

    @classmethod
    def at(cls, url: str, limits: Limits | None = None, *, prepared: bool = True) -> "Database":
        """Return the database at a `postgresql+asyncpg://` URL; `prepared=False` suits a pooler in transaction mode."""
        limits = limits or Limits()
        place = make_url(url)
        _, arguments = place.get_dialect()().create_connect_args(place)
        bounds = {"timeout": limits.connect, "command_timeout": limits.statement}
        return cls({**arguments, **bounds, **(_PREPARED if prepared else _UNPREPARED)}, limits, prepared=prepared)

    async def close(self) -> None:
        """Close every connection; who still uses one is not waited for long."""
        self._closed = True
        pool, self._pool = self._pool, None
        if pool is not None:
            with suppress(TimeoutError):  # by then it has ended them
                async with asyncio.timeout(self._limits.statement):
                    await pool.close()

    async def read(self, query: Callable[[Reader], Awaitable[T]]) -> T:
        """Run a query that changes nothing, and return what it returns; it may be run again.

        Raises:
            StoreUnavailableError: the database did not answer.
        """
        if not self._prepared:
            # A pooler gives each transaction a backend, and preparing and running a statement must meet the same.
            return await self.transact(query)
        with _translated():
            async with self._connected() as connection:
                return await query(Reader(connection))

    async def transact(self, command: Callable[[Writer], Awaitable[T]]) -> T:
        """Run one command in one transaction, commit, and return what it returned.

        Returning commits, raising rolls back. On a serialization failure the command runs again.

        Raises:
            StoreUnavailableError: the database did not answer; nothing was changed.
            CommitLostError: it broke while committing; look up what happened before trying again.
        """
        for _ in range(_TRIES):
            try:
                with _translated():
                    async with self._connected() as connection:
                        return await _attempt(connection, command)
            except asyncpg.InvalidCachedStatementError:
                continue  # a migration has changed what it reads; the driver has dropped it and prepares it again
            except asyncpg.PostgresError as error:
                if error.sqlstate not in _SERIALIZATION_FAILURES:
                    raise
        raise StoreUnavailableError

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Connection]:
        """Lend a connection. One on which the database was absent, or whose borrower went away, is not lent again."""
        pool = self._pool or await self._open()
        async with asyncio.timeout(self._limits.pool_wait):
            connection = await pool.acquire()
        try:
            yield connection
        except BaseException as error:
            if not isinstance(error, Exception) or _is_unavailable(error):
                with suppress(asyncpg.InterfaceError):  # it is gone already
                    connection.terminate()
            raise
        finally:
            # What was done on it is done, whatever becomes of the connection now.
            with suppress(asyncpg.PostgresError, *_LOST):
                await pool.release(connection)

    async def _open(self) -> Any:  # noqa: ANN401  # the driver has no types
        async with self._opening:
            if self._closed:
                raise StoreUnavailableError
            if self._pool is None:
                self._pool = await asyncpg.create_pool(
                    **self._arguments,
                    min_size=0,
                    max_size=self._limits.connections,
                    max_queries=_NO_END,
                    record_class=Row,
                    init=_speak_json,
                    reset=_as_it_is,
                )
            return self._pool


async def _attempt(connection: Connection, command: Callable[[Writer], Awaitable[T]]) -> T:
    transaction = connection.transaction(isolation="read_committed")
    await transaction.start()
    try:
        result = await command(Writer(connection))
    except Exception as error:
        if not _is_unavailable(error):
            await transaction.rollback()
        raise
    try:
        await transaction.commit()
    except Exception as error:
        if _is_unavailable(error):
            raise CommitLostError from error
        raise
    return result


async def _speak_json(connection: Connection) -> None:
    """Let a jsonb be a value on this side: moments go as RFC 3339, decimals as strings."""
    try:
        async with connection.transaction():  # behind a pooler, what is prepared outside one may not be found again
            await connection.set_type_codec(
                "jsonb", schema="pg_catalog", encoder=_encoded, decoder=from_json, format="text"
            )
    except BaseException:
        connection.terminate()  # to take leave of a server that is silent would take as long again
        raise


def _encoded(value: object) -> str:
    return to_json(value, inf_nan_mode="constants").decode()


async def _as_it_is(connection: Connection) -> None:
    """Take a connection back as it is: nothing here changes a session."""
    del connection


@contextmanager
def _translated() -> Iterator[None]:
    """Turn every way in which a database can be absent into the one error that callers answer with 503."""
    try:
        yield
    except StoreUnavailableError:
        raise
    except Exception as error:
        if _is_unavailable(error):
            raise StoreUnavailableError from error
        raise


def _is_unavailable(error: Exception) -> bool:
    if isinstance(error, asyncpg.PostgresError):
        return error.sqlstate in _UNAVAILABLE or str(error.sqlstate).startswith("08")
    return isinstance(error, (StoreUnavailableError, *_LOST))
