"""What nobody foresaw is a page too, and the log says where it happened and nothing that was sent."""

import json
from collections.abc import Callable

import httpx
import pytest
from sqlalchemy import text

from app.db.database import Database
from tests.conftest import ADDRESS
from tests.live import LiveService
from tests.web.conftest import words

BROKEN = text("ALTER TABLE approvals RENAME TO mislaid")


async def test_a_page_that_fails_says_so_and_keeps_what_was_sent_to_itself(
    capfd: pytest.CaptureFixture[str], serve: Callable[..., LiveService], database: Database, keys: dict[str, str]
) -> None:
    service = serve()
    async with httpx.AsyncClient(base_url=service.url) as client:
        signed_in = await client.post("/console/sign-in", data={"key": keys["approver"]}, headers={"Origin": ADDRESS})
        cookie = signed_in.headers["set-cookie"].partition(";")[0]
        await database.transact(lambda tx: tx.write(BROKEN))
        headers = {"Cookie": cookie, "X-Request-ID": "mine"}
        failed = await client.get("/console/history", params={"before": "hunter2"}, headers=headers)
    service.stop()

    assert failed.status_code == httpx.codes.INTERNAL_SERVER_ERROR
    assert failed.headers["content-type"].startswith("text/html")
    assert "frame-ancestors 'none'" in failed.headers["content-security-policy"]
    assert "The service failed" in words(failed)
    assert "report this request: mine." in words(failed)
    written = capfd.readouterr().err
    lines = [json.loads(line) for line in written.splitlines() if line.startswith("{")]
    (line,) = [line for line in lines if line["event"] == "request_failed"]
    assert (line["route"], line["request_id"]) == ("/console/history", "mine")
    assert "Error" in line["exception"]
    for private in ("hunter2", cookie.partition("=")[2], keys["approver"]):
        assert private not in failed.text
        assert private not in written
