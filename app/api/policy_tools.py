"""What policies would do, over HTTP: nothing here stores anything or is in force."""

from starlette.responses import Response

from app.api import routing
from app.api.models.what_ifs import EvaluateBody, FactsBody
from app.api.policy_references import Referred, referred
from app.api.requests import Request
from app.api.responses import answer
from app.core.evaluation import WhatIf
from app.gate.what_if import answer_what_if

router = routing.router()


@router.post("/v1/policies/evaluate")
async def evaluate(request: Request, body: EvaluateBody) -> Response:
    """Say what a policy would answer to a call, or to each of `cases`, if the facts were as given.

    Labels, scopes, verification and spend are taken as attested and literal. Who asks for this plays no part.
    """
    policy = await referred(request, body.policy, "/policy")
    if body.action is not None:
        return answer(_answered(request, policy, body, body.of(body.action)))
    return answer({"results": [_answered(request, policy, case, case.to_what_if()) for case in body.cases or ()]})


def _answered(request: Request, policy: Referred, facts: FactsBody, what_if: WhatIf) -> object:
    caller = facts.to_caller(request.caller.tenant)
    return answer_what_if(policy.policy, policy.revision, what_if, caller, request.sight.now()).body
