"""What policies would do and say, over HTTP: nothing here stores anything or is in force."""

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from app.api import policy_findings, routing
from app.api.models.policy_tools import CasesBody, DifferenceBody, PolicyBody
from app.api.models.what_ifs import EvaluateBody, FactsBody
from app.api.policy_documents import unloadable
from app.api.policy_references import referred
from app.api.requests import Request
from app.api.responses import answer
from app.core.drafting import cases, coverage, differences
from app.core.drafting.cases import CaseFile, Verdict
from app.core.evaluation import WhatIf
from app.core.policy import DocumentError, documents
from app.core.policy.json_schema import document_schema
from app.gate.what_if import answer_what_if

router = routing.router()


@router.post("/v1/policies/evaluate")
async def evaluate(request: Request, body: EvaluateBody) -> Response:
    """Say what a policy would answer to a call, or to each of `cases`, if the facts were as given.

    Labels, scopes, verification and spend are taken as attested and literal. Who asks for this plays no part.
    """
    policy = await referred(request, body.policy, "/policy")
    now, tenant = request.sight.now(), request.caller.tenant

    def answered(facts: FactsBody, what_if: WhatIf) -> object:
        return answer_what_if(policy.policy, policy.revision, what_if, facts.to_caller(tenant), now).body

    if body.action is not None:
        return answer(answered(body, body.of(body.action)))
    given = [(case, case.to_what_if()) for case in body.cases or ()]
    return answer({"results": await asyncio.to_thread(lambda: [answered(*case) for case in given])})


@router.post("/v1/policies/lint")
async def lint_policy(request: Request, body: PolicyBody) -> Response:
    """Say what a policy's author probably does not mean; of a document that does not load, why."""
    if isinstance(body.reference, int):
        document = (await referred(request, body.reference, body.member)).document
    else:
        try:
            document = await asyncio.to_thread(documents.read, body.reference)
        except DocumentError as error:
            return answer({"loads": False, "findings": policy_findings.of_error(error)})
    return answer({"loads": True, "findings": await policy_findings.of_document(document)})


@router.post("/v1/policies/test")
async def test_policy(request: Request, body: CasesBody) -> Response:
    """Run cases against a policy, and say of each what was expected, what came, and which checks decided."""
    policy = (await referred(request, body.policy, "/policy")).policy
    file = _read_cases(body)
    verdicts = await asyncio.to_thread(cases.run, policy, file.cases, request.sight.now())
    failed = sum(not verdict.passed for verdict in verdicts)
    results = [_of_verdict(verdict) for verdict in verdicts]
    return answer({"passed": len(verdicts) - failed, "failed": failed, "results": results})


def _read_cases(body: CasesBody) -> CaseFile:
    try:
        return cases.read_cases({"cases": body.cases or []} if body.tests is None else body.tests)
    except DocumentError as error:
        raise unloadable(error, "" if body.tests is None else "/tests") from None


def _of_verdict(verdict: Verdict) -> Mapping[str, Any]:
    return {
        "name": verdict.case.name,
        "passed": verdict.passed,
        "expected": {"outcome": verdict.case.outcome, "codes": verdict.case.codes},
        "got": {"outcome": verdict.outcome, "codes": verdict.codes},
        "decided_by": verdict.decided_by,
    }


@router.post("/v1/policies/diff")
async def compare_policies(request: Request, body: DifferenceBody) -> Response:
    """Say in words what changes from one policy to another, and which way each change turns."""
    before = await referred(request, body.before, "/before")
    after = await referred(request, body.after, "/after")
    found = differences.differences(before.policy, after.policy)
    changes = [{"about": one.about, "sentence": one.sentence, "turn": one.turn} for one in found]
    return answer({"same": before.policy.digest == after.policy.digest, "changes": changes})


@router.post("/v1/policies/coverage")
async def cover(request: Request, body: PolicyBody) -> Response:
    """Say which families of harm a policy speaks of, and which no rule of it covers."""
    policy = (await referred(request, body.reference, body.member)).policy
    found = coverage.coverage(policy)
    families = [
        {"family": one.family, "covered": one.covered, "actions": one.actions, "labels": one.labels} for one in found
    ]
    return answer({"unlisted": policy.unlisted, "families": families, "uncovered": list(coverage.uncovered(found))})


@router.get("/v1/policies/schema.json")
async def read_schema() -> Response:
    """Return the JSON Schema of a policy document, for editors to complete it by."""
    return answer(document_schema(), headers={"Content-Type": "application/schema+json"})
