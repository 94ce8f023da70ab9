"""Whether a change comes from a page of the console: Origin (RFC 6454) and Sec-Fetch-Site (Fetch Metadata) say so.

A browser writes both, and no script of another site can change them. The cookie is not sent along by other sites
either; this holds even where that does not, such as between two hosts of one site.
"""

from typing import Final
from urllib.parse import urlsplit

from app.core.refusals import RefusalKind
from app.door.house import House
from app.door.problems import RefusedError
from app.web.requests import Request

_CHANGES_NOTHING: Final = frozenset({"GET", "HEAD"})
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")


def check(request: Request) -> None:
    """Refuse a change that does not come from a page of the console.

    Raises:
        RefusedError: the browser says that it comes from elsewhere, or does not say where it comes from.
    """
    if request.method in _CHANGES_NOTHING:
        return
    site = request.headers.get("sec-fetch-site", "same-origin")
    if site != "same-origin" or request.headers.get("origin") not in _ours(request.house):
        detail = f"this was not sent by a page of {request.house.address}; open the console there and try again"
        raise RefusedError(RefusalKind.FORBIDDEN, detail)


def _ours(house: House) -> set[str]:
    """Return the origins of the console: that of the public URL, and on a laptop any name of it."""
    parts = urlsplit(house.address)
    origins = {f"{parts.scheme}://{parts.netloc}"}
    if house.development:
        origins |= {f"{parts.scheme}://{name}:{parts.port}" for name in _LOOPBACK}
    return origins
