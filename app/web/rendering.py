"""Templates become pages: what others have written is shown as text, and the way to other pages is what one may see."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from app.core import names
from app.door import rights
from app.web import assets, visible, wording
from app.web.requests import Request


@dataclass(frozen=True, slots=True)
class Place:
    """A page that the navigation leads to."""

    path: str
    name: str


_PLACES: Final = (
    Place("/console/approvals", "Approvals"),
    Place("/console/history", "History"),
    Place("/console/delegations", "Delegations"),
    Place("/console/admissions", "Outcomes"),
    Place("/console/spend", "Spend"),
    Place("/console/policy", "Policy"),
    Place("/console/record", "Record"),
)


def page(
    request: Request,
    template: str,
    status: int = 200,
    headers: Mapping[str, str] = MappingProxyType({}),
    /,
    **values: Any,  # noqa: ANN401 - whatever a template shows
) -> Response:
    """Return a page made of a template and the values that it shows."""
    caller = request.caller if request.signed_in else None
    content = _TEMPLATES.get_template(template).render(
        request=request, caller=caller, places=places(request), now=_now(request), **values
    )
    return HTMLResponse(content, status, dict(headers))


def places(request: Request) -> list[Place]:
    """Return the pages that whoever is signed in may see, in the order of the navigation."""
    if not request.signed_in:
        return []
    held = request.caller.rights
    return [place for place in _PLACES if (entry := rights.entry_of("GET", place.path)) and entry.admits(held)]


def _now(request: Request) -> Any:  # noqa: ANN401
    return request.sight.now() if request.signed_in else None


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("app.web"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible.shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "asset": assets.address,
        "longest_name": names.LONGEST_NAME,
        "longest_key": names.LONGEST_KEY,
        "longest_text": names.LONGEST_TEXT,
    }
    environment.filters |= {"exact": visible.exact, "parted": visible.parted, **wording.FILTERS}
    return environment


_TEMPLATES: Final = _environment()
