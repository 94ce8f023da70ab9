"""What pages load: a style sheet, a script and an icon, from this host, under names that change with their content."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

_TYPES: Final = {
    "console.css": "text/css; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_DIGEST: Final = 12


@dataclass(frozen=True, slots=True)
class Asset:
    """One file as browsers get it."""

    content: bytes
    media_type: str

    @property
    def digest(self) -> str:
        """Return what stands for its content in its address."""
        return hashlib.sha256(self.content).hexdigest()[:_DIGEST]


def find(name: str) -> Asset | None:
    """Return a file by its name."""
    return _all().get(name)


def address(name: str) -> str:
    """Return the path of a file, with its digest."""
    return f"/console/static/{name}?v={_all()[name].digest}"


@cache
def _all() -> dict[str, Asset]:
    folder = files("app.web") / "static"
    return {name: Asset((folder / name).read_bytes(), media_type) for name, media_type in _TYPES.items()}
