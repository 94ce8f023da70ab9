"""A question as people read it: in a row of the queue, or whole."""

from collections.abc import Iterable, Mapping
from typing import Any

from countersign.cli.screen import cell, money, sheet, table, time_left


def queue(questions: Iterable[Mapping[str, Any]], *, nothing: str) -> None:
    """Print questions, a line each."""
    rows = [
        (
            question.get("id"),
            question.get("status"),
            question.get("action"),
            question.get("asset"),
            money(question.get("cost")),
            question.get("principal"),
            time_left(question.get("expires_at")),
        )
        for question in questions
    ]
    table(("id", "status", "action", "asset", "cost", "asked by", "left"), rows, nothing=nothing)


def whole(question: Mapping[str, Any]) -> None:
    """Print one question: what will happen, to what, for how much, why it was held, who asks, who is still needed."""
    sheet(
        {
            "action": question.get("action"),
            "asset": question.get("asset"),
            "cost": money(question.get("cost")),
            "arguments": question.get("arguments") or question.get("shown") or question.get("summary"),
            "edited": question.get("edited_arguments"),
            "why": question.get("reason"),
            "asked by": question.get("principal"),
            "run": question.get("run_id"),
            "labels": question.get("labels"),
            "context": question.get("context"),
            "needs": [_needed(rule) for rule in question.get("rules") or []],
            "votes": [_vote(vote) for vote in question.get("votes") or []],
            "status": _status(question),
            "left": time_left(question.get("expires_at")) if question.get("status") == "pending" else "",
            "delivery": question.get("delivery"),
            "digest": question.get("digest"),
            "id": question.get("id"),
        }
    )


def _status(question: Mapping[str, Any]) -> str:
    status = str(question.get("status"))
    if status == "approved":
        return f"approved, not yet used; to be used in {time_left(question.get('use_before'))}"
    return status


def _needed(rule: Mapping[str, Any]) -> str:
    return f"{rule.get('name')} {rule.get('have', 0)} of {rule.get('quorum')}"


def _vote(vote: Mapping[str, Any]) -> str:
    comment = vote.get("comment")
    return f"{vote.get('by')}: {vote.get('verdict')}" + (f" ({cell(comment)})" if comment else "")
