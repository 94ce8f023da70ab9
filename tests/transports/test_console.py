"""What is asked appears on the console, and what others chose cannot steer the terminal."""

import io
import json

from app.outbox.deliveries import Parcel
from app.transports.console import ConsoleTransport

DATA = {
    "action": "voucher.issue",
    "asset": "booking/AB12",
    "cost": {"amount": "120.00", "currency": "EUR"},
    "principal": "desk-agent",
    "links": {"page": "http://127.0.0.1:8321/console/approvals/apr_1"},
}


async def written(**changes: object) -> str:
    body = json.dumps({"type": "approval.requested", "data": DATA | changes}).encode()
    stream = io.StringIO()
    parcel = Parcel("dev", "console", "msg_1", "approval.requested", "apr_1", body, 1, None, "clm_1")
    assert (await ConsoleTransport(stream).send(parcel)).delivered
    return stream.getvalue()


async def test_a_question_is_two_lines() -> None:
    assert await written() == (
        "approval.requested: voucher.issue booking/AB12 for 120.00 EUR, asked by desk-agent\n"
        "  http://127.0.0.1:8321/console/approvals/apr_1\n"
    )


async def test_names_cannot_steer_the_terminal() -> None:
    text = await written(asset="\x1b[2Jgone\u202e", principal="a\nAPPROVED", cost=None)
    assert text.count("\n") == 2
    assert "\x1b" not in text
    assert "\u202e" not in text
