"""Searching the record by time."""

from collections.abc import Callable

import httpx
import pytest

Asking = Callable[[str], httpx.AsyncClient]


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-11-29T10:00:00"])
@pytest.mark.parametrize("bound", ["since", "until"])
async def test_a_moment_that_no_calendar_has_or_without_zone_is_400(asking: Asking, bound: str, moment: str) -> None:
    answer = await asking("auditor").get("/v1/audit/records", params={bound: moment})
    assert answer.status_code == 400
    assert bound in answer.json()["detail"]


async def test_moments_are_compared_whatever_their_zone(asking: Asking) -> None:
    everything = {"since": "0001-01-01T00:00:00Z", "until": "9999-12-31T23:59:59+14:00"}
    assert (await asking("auditor").get("/v1/audit/records", params=everything)).json()["data"]
    nothing = {"until": "2000-01-01T00:00:00-08:00"}
    assert (await asking("auditor").get("/v1/audit/records", params=nothing)).json()["data"] == []
