"""Statements as they are sent: the text with named parameters, made into the driver's numbered ones, once."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from asyncpg import Record
from sqlalchemy import TextClause, make_url

Parameters = Mapping[str, Any]
"""Values by name. A jsonb parameter takes any value that has a JSON form, an array parameter a list."""

_DIALECT: Final = make_url("postgresql+asyncpg://").get_dialect()()


class Row(Record):  # type: ignore[misc]  # the driver is compiled and has no types
    """A row, whose columns are attributes too; it unpacks into its values. A column of jsonb is the value of it."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # a column's value
        """Return a column."""
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def numbered(statement: TextClause, parameters: Parameters | None) -> tuple[str, list[Any]]:
    """Return the statement with `$1` for its first parameter, and the values in that order.

    Raises:
        KeyError: a parameter has no value.
    """
    sql, names = _compiled(statement)
    values = parameters or {}
    return sql, [values[name] for name in names]


@lru_cache(maxsize=2048)
def _compiled(statement: TextClause) -> tuple[str, tuple[str, ...]]:
    compiled = statement.compile(dialect=_DIALECT)
    return compiled.string, tuple(compiled.positiontup or ())
