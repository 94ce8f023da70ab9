"""Policies over HTTP: storing documents, reading them, and bringing one into force."""

from typing import Annotated, Any

from fastapi import Header
from starlette.responses import Response

from app.api import pages, policy_findings, problems, routing
from app.api.models.policies import ActivationBody
from app.api.policy_documents import document_of
from app.api.requests import Request
from app.api.responses import answer
from app.core.chain import timestamp
from app.core.refusals import Refusal, RefusalKind
from app.db.ids import BEYOND_ANY
from app.door import lanes
from app.door.problems import RefusedError, bad_input
from app.gate.activation import Activation, activate
from app.policies import revisions
from app.policies.revisions import Revision

router = routing.router()


@router.post("/v1/policies", status_code=201)
async def store_policy(request: Request) -> Response:
    """Store a document as a new revision, sent as `{document: text or object}` or as YAML itself.

    It is not in force by that. A document that does not load is refused, and changes nothing. `findings` are lint's.
    """
    source, document = await document_of(request)
    findings = await policy_findings.of_document(document)
    stored = await lanes.run(
        request, lambda lane: revisions.store(lane, request.caller.principal, source, document.policy)
    )
    if isinstance(stored, Refusal):
        return problems.of_refusal(request, stored)
    headers = {"ETag": _etag(stored), "Location": _location(request, stored)}
    return answer(_named(stored) | {"findings": findings}, 201, headers)


@router.get("/v1/policies")
async def list_policies(request: Request, limit: pages.Limit = pages.USUAL, cursor: pages.Cursor = None) -> Response:
    """List revisions, the newest first, and say which is in force."""
    window = pages.window(request, limit, cursor)
    before = int(window.after) if window.after else BEYOND_ANY
    found = await request.house.database.read(
        lambda reader: revisions.newest(reader, request.caller.tenant, before, window.one_more)
    )
    active = request.sight.epochs.policy_revision
    return window.page(
        found, lambda entry: str(entry.revision), lambda entry: _named(entry) | {"active": entry.revision == active}
    )


@router.get("/v1/policies/{revision}")
async def read_policy(request: Request, revision: str) -> Response:
    """Return a revision with its document as it was sent; `active` is the one in force."""
    active = request.sight.epochs.policy_revision
    found = await _find(request, str(active or 0) if revision == "active" else revision)
    shown = _named(found) | {"document": found.document, "active": found.revision == active}
    return answer(shown, headers={"ETag": _etag(found)})


@router.post("/v1/policies/{revision}/activate")
async def activate_policy(
    request: Request,
    revision: str,
    body: ActivationBody,
    if_match: Annotated[str | None, Header(alias="If-Match", description="ETag of the revision in force, or *")] = None,
) -> Response:
    """Bring a revision into force, in one step for all replicas; or, with `mode: shadow`, have it weighed beside it.

    `If-Match` names the revision that the caller believes to be in force, so that of two who activate one wins.
    """
    if if_match is None:
        raise bad_input("send If-Match with the ETag of the revision in force, or * for whichever it is")
    found = await _find(request, revision)
    expected = None if if_match == "*" else await _of_etag(request, if_match)
    wanted = Activation(
        request.credential_id, found, expected, unconditional=if_match == "*", shadow=body.mode == "shadow"
    )
    house = request.house
    # Compiled before the lane is taken: a large document takes a while.
    await house.database.read(lambda reader: house.facts.policies.get(reader, request.caller.tenant, found.revision))
    refusal = await activate(house.database, house.builder, request.caller.tenant, wanted)
    if refusal is not None:
        return problems.of_refusal(request, refusal)
    said = {"active": not wanted.shadow, "mode": body.mode}
    return answer(_named(found) | said, headers={"ETag": _etag(found)})


async def _find(request: Request, revision: str) -> Revision:
    number = int(revision[:19]) if revision.isascii() and revision.isdecimal() else 0
    found = await request.house.database.read(
        lambda reader: revisions.read(reader, request.caller.tenant, min(number, BEYOND_ANY))
    )
    if found is None:
        raise RefusedError(RefusalKind.NOT_FOUND, f"there is no revision {revision}")
    return found


async def _of_etag(request: Request, etag: str) -> int:
    """Return the revision that an ETag names; 0, which none is, if it names none."""
    revision, _, _ = etag.strip('"').partition("-")
    if not revision.isascii() or not revision.isdecimal():
        return 0
    found = await request.house.database.read(
        lambda reader: revisions.read(reader, request.caller.tenant, min(int(revision[:19]), BEYOND_ANY))
    )
    return found.revision if found is not None and _etag(found) == etag else 0


def _named(found: Revision) -> dict[str, Any]:
    return {**found.named, "created_at": timestamp(found.created_at), "created_by": found.created_by}


def _etag(found: Revision) -> str:
    return f'"{found.revision}-{found.digest.removeprefix("sha256:")[:16]}"'


def _location(request: Request, found: Revision) -> str:
    return f"{request.house.address}/v1/policies/{found.revision}"
