"""Who looks at questions: whoever asks, with the facts of this moment."""

from app.door.requests import Request
from app.gate.question_views import Viewer


async def viewer(request: Request) -> Viewer:
    """Return the caller as somebody who looks at questions.

    Raises:
        StoreUnavailableError: facts have to be read, and the database did not answer.
    """
    house, sight = request.house, request.sight
    facts = await house.facts.seen(house.database, request.caller.tenant, sight.epochs)
    return Viewer(request.caller, facts, sight.now())
