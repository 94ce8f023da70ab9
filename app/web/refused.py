"""A no as a page: signing in where that is what is missing, else what is wrong and what to do about it."""

from http import HTTPStatus

from starlette.responses import Response

from app.core.refusals import Refusal, RefusalKind
from app.door.problems import CATALOGUE, RETRY_AFTER
from app.web import rendering
from app.web.requests import Request


def page(request: Request, kind: str, detail: str) -> Response:
    """Return the page of a problem of the door's catalogue."""
    if kind == RefusalKind.UNAUTHENTICATED and _comes_from_elsewhere(request):
        # A link on another site is followed without the cookie, and from a page of ours with it.
        return rendering.page(request, "continue.html", again=request.here)
    if kind == RefusalKind.UNAUTHENTICATED:
        return sign_in(request, request.here if request.method == "GET" else "/console", detail)
    entry = CATALOGUE[kind]
    response = rendering.page(request, "refused.html", entry.status, title=entry.title, detail=_sentence(detail))
    if entry.status == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = RETRY_AFTER
    return response


def sign_in(request: Request, again: str, detail: str) -> Response:
    """Return the page that asks for a key, to go on to `again` with it."""
    headers = {"WWW-Authenticate": 'Bearer realm="countersign"'}
    return rendering.page(
        request, "sign_in.html", HTTPStatus.UNAUTHORIZED, headers, again=again, problem=_sentence(detail)
    )


def of_refusal(request: Request, refusal: Refusal) -> Response:
    """Return the page of a command's refusal."""
    return page(request, refusal.kind, refusal.detail)


def failed(request: Request) -> Response:
    """Return the page of an error that nobody foresaw; it may have come after something was done."""
    detail = f"look whether what you did has taken effect before you repeat it, and report this request: {request.id}"
    return page(request, "internal", detail)


def status_of(refusal: Refusal) -> int:
    """Return the status of a page that shows a refusal beside what was to be changed."""
    return CATALOGUE[refusal.kind].status


def _comes_from_elsewhere(request: Request) -> bool:
    headers = request.headers
    if request.method != "GET" or headers.get("sec-fetch-mode") != "navigate":
        return False
    return headers.get("sec-fetch-site") in {"cross-site", "same-site"}


def _sentence(detail: str) -> str:
    return detail and f"{detail[0].upper()}{detail[1:]}{'' if detail.endswith('.') else '.'}"
