"""All tables of the service: what a migrated database has to equal."""

from importlib import import_module
from pkgutil import iter_modules

from sqlalchemy import MetaData

import app
from app.db.tables import metadata


def every_table() -> MetaData:
    """Return the metadata with the tables of every room on it."""
    for room in iter_modules(app.__path__, "app."):
        if room.ispkg and _has_tables(room.name):
            import_module(f"{room.name}.tables")
    return metadata


def _has_tables(room: str) -> bool:
    return any(module.name == "tables" for module in iter_modules(import_module(room).__path__))
