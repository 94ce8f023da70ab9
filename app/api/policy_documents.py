"""A policy document as it comes over HTTP: YAML itself, or JSON around its text or its object."""

import asyncio
import json
from typing import Any, Final

from pydantic import ValidationError

from app.api.models.policies import DocumentBody
from app.api.requests import Request
from app.core.policy import DocumentError, documents
from app.core.policy.documents import Document
from app.core.policy.problems import Problem
from app.core.refusals import RefusalKind
from app.door.problems import Fault, RefusedError, bad_input

_YAML: Final = frozenset({"application/yaml", "application/x-yaml", "text/yaml"})


async def document_of(request: Request) -> tuple[str, Document]:
    """Return the document's text and what it compiles to.

    Raises:
        RefusedError: it does not load; every place is named.
    """
    source = await _text(request)
    return source, await compiled(source, "" if request.media_type in _YAML else "/document")


async def compiled(source: str | dict[str, Any], under: str) -> Document:
    """Return the compiled document. A large one takes a while, and others are served meanwhile.

    Raises:
        RefusedError: it does not load; pointers begin with `under`.
    """
    try:
        return await asyncio.to_thread(documents.read, source)
    except DocumentError as error:
        raise unloadable(error, under) from None


def unloadable(error: DocumentError, under: str) -> RefusedError:
    """Return the refusal of a document that does not load; pointers begin with `under`."""
    faults = tuple(_fault(problem, under) for problem in error.problems)
    return RefusedError(RefusalKind.BAD_INPUT, f"the document does not load: {faults[0].detail}", faults)


async def _text(request: Request) -> str:
    if request.media_type in _YAML:
        return _decoded(await request.body())
    try:
        body = DocumentBody.model_validate(await request.json())
    except ValidationError as error:
        detail = 'send {"document": …} with the text or the object, or the YAML itself as application/yaml'
        raise bad_input(detail, "/document") from error
    return body.document if isinstance(body.document, str) else json.dumps(body.document, ensure_ascii=False)


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise bad_input("the document is not UTF-8") from None


def _fault(problem: Problem, under: str) -> Fault:
    place = "" if problem.line is None else f"line {problem.line}, column {problem.column}: "
    return Fault(f"{place}{problem.message}", f"{under}{problem.pointer}")
