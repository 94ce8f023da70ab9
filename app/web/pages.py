"""All pages of the console, for the app to serve."""

from typing import Final

from fastapi import APIRouter

from app.web import (
    admissions,
    approvals,
    delegations,
    edits,
    history,
    home,
    policies,
    questions,
    record,
    sign_in,
    spend,
    static,
)

_PAGES: Final = (
    static,
    sign_in,
    approvals,
    questions,
    edits,
    history,
    delegations,
    admissions,
    spend,
    policies,
    record,
    home,
)

ROUTERS: Final[tuple[APIRouter, ...]] = tuple(page.router for page in _PAGES)
