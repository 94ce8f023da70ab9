"""The record of what the door turned away: bad input and conflicts of somebody known, who wanted to act."""

import hashlib
from http import HTTPStatus
from typing import Final

import structlog
from starlette.responses import Response

from app.api.requests import Request
from app.db.database import StoreUnavailableError
from app.db.ids import new_id
from app.gate.desk import DeskFullError
from app.gate.refused import RecordRefusal

_log = structlog.get_logger(__name__)

_RECORDED: Final = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.CONFLICT})


async def note(request: Request, response: Response) -> None:
    """Record that the request was turned away, if that is what the response says and the bound allows it.

    Nothing was changed, so an answer that says so needs no record to be true: if there can be none now, it leaves
    all the same.
    """
    if response.status_code not in _RECORDED or not request.house.refusals.take(request.credential_id):
        return
    code, pointer = request.problem
    digest = hashlib.sha256(request.body_read()).hexdigest()
    command = RecordRefusal(new_id("cmd"), request.id, request.credential_id, code, pointer, digest)
    try:
        await request.house.desk.submit(request.caller.tenant, command)
    except (StoreUnavailableError, DeskFullError):
        _log.warning("refusal_not_recorded", request_id=request.id)
