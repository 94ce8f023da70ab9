"""What lint finds, as answers write it; of a document that does not load, why."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from app.core.drafting.lint import lint
from app.core.policy.documents import Document
from app.core.policy.problems import DocumentError, Problem

Findings = Sequence[Mapping[str, Any]]


async def of_document(document: Document) -> Findings:
    """Return lint's remarks on a document. On a large one that takes a while, and others are served meanwhile."""
    return await asyncio.to_thread(_remarks, document)


def of_error(error: DocumentError) -> Findings:
    """Return what keeps a document from loading."""
    return [_finding("error", "does-not-load", problem) for problem in error.problems]


def _remarks(document: Document) -> Findings:
    return [
        _finding(remark.level.value, remark.code, document.source.problem(remark.message, remark.path))
        for remark in lint(document.policy)
    ]


def _finding(level: str, code: str, problem: Problem) -> Mapping[str, Any]:
    return {
        "level": level,
        "code": code,
        "message": problem.message,
        "pointer": problem.pointer,
        "line": problem.line,
        "column": problem.column,
    }
