"""Approving other values: a field for each argument, beside what was asked for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from app.approvals.questions import Verdict
from app.core import strict_json
from app.core.refusals import Refusal, RefusalKind
from app.core.strict_json import JsonError
from app.core.values import Json, JsonObject
from app.door.problems import RefusedError
from app.web import questions, refused, rendering, routing, visible
from app.web.questions import Shown
from app.web.requests import Request

router = routing.router()

_PREFIX = "argument:"


@dataclass(frozen=True, slots=True)
class Field:
    """The field of one argument: what was asked for, and what stands in it now."""

    name: str
    sent: Json
    text: str
    problem: str = ""

    @property
    def key(self) -> str:
        """Return the field's name in the form."""
        return f"{_PREFIX}{self.name}"

    @property
    def kind(self) -> str:
        """Return what kind of value is expected, in words."""
        return _kind(self.sent)

    @property
    def unseen(self) -> bool:
        """Return whether the field holds what cannot be seen in it."""
        return visible.has_unseen(self.text)

    @property
    def lines(self) -> int:
        """Return how many lines the field takes."""
        return min(12, max(1, self.text.count("\n") + 1, len(self.text) // 36))


@router.get("/console/approvals/{approval_id}/edit")
async def read(request: Request, approval_id: str) -> Response:
    """Show the arguments with a field for each."""
    shown = await _editable(request, approval_id)
    return _page(request, shown, [Field(name, value, _text(value)) for name, value in _sent(shown).items()])


@router.post("/console/approvals/{approval_id}/edit")
async def approve(request: Request, approval_id: str) -> Response:
    """Approve the call with the values of the form."""
    sent_fields = await request.fields()
    shown = await _editable(request, approval_id)
    fields = [_filled(name, value, sent_fields) for name, value in _sent(shown).items()]
    if any(field.problem for field in fields):
        unread = Refusal(RefusalKind.BAD_INPUT, "some values cannot be read; nothing was approved")
        return _page(request, shown, fields, unread)
    values = {field.name: _value(field) for field in fields}
    refusal = await questions.vote(request, approval_id, Verdict.APPROVE, questions.comment(sent_fields), values)
    if refusal is not None:
        return _page(request, await questions.find(request, approval_id), fields, refusal)
    return routing.see(f"/console/approvals/{approval_id}")


async def _editable(request: Request, approval_id: str) -> Shown:
    shown = await questions.find(request, approval_id)
    if not shown.decides or shown.seen.get("arguments") is None:
        raise RefusedError(RefusalKind.NOT_FOUND, "there is nothing here that you can edit")
    return shown


def _sent(shown: Shown) -> JsonObject:
    sent: JsonObject = shown.seen["arguments"]
    return dict(sorted(sent.items()))


def _page(request: Request, shown: Shown, fields: list[Field], refusal: Refusal | None = None) -> Response:
    return rendering.page(
        request,
        "edit.html",
        200 if refusal is None else refused.status_of(refusal),
        shown=shown,
        question=shown.seen,
        fields=fields,
        problem=None if refusal is None else questions.explain(refusal),
    )


def _filled(name: str, sent: Json, fields: Mapping[str, str]) -> Field:
    text = fields.get(f"{_PREFIX}{name}", _text(sent)).replace("\r\n", "\n")
    field = Field(name, sent, text)
    try:
        _value(field)
    except ValueError:
        return Field(name, sent, text, f"{field.kind} is expected")
    return field


def _value(field: Field) -> Json:
    """Return the value of a field; one that was not touched is what was sent, to the last character.

    Raises:
        ValueError: it is no value of the kind that was sent.
    """
    if field.text == _text(field.sent).replace("\r\n", "\n"):
        return field.sent
    if isinstance(field.sent, str):
        return _checked(field.text)
    try:
        value = strict_json.load(field.text.encode())
    except JsonError as error:
        raise ValueError(error.detail) from None
    if field.sent is not None and _kind(value) != field.kind:
        raise ValueError(field.kind)
    return value


def _checked(text: str) -> str:
    if "\0" in text:
        raise ValueError("NUL")
    return text


def _text(value: Json) -> str:
    """Return a value as its field shows it: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _kind(value: Any) -> str:  # noqa: ANN401
    match value:
        case None:
            return "JSON"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list() | tuple():
            return "a list, as JSON"
        case _:
            return "an object, as JSON"
