"""What each method of the clients says, and what it makes of the answer."""

import copy
import pickle
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, cast

import pytest

import countersign
from countersign import AsyncCountersign, Countersign, Money
from tests.sdk.conftest import REPORT
from tests.sdk.scripted import ADMIT, QUESTION, Scripted, allow, held, problem, question, refused, reply


def test_a_call_is_sent_as_the_service_reads_it(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, allow())
    client.admit(
        "voucher.issue",
        {"booking": "AB12"},
        asset="booking/AB12",
        environment="live",
        kind="payout",
        tags={"b", "a"},
        blast_radius=2,
        cost=Money(Decimal("12.5"), "EUR"),
        context={"shift": "night"},
        spend=["desk"],
        effect="voucher:AB12",
        lease=timedelta(minutes=2),
        run_id=None,
        permit=True,
        idempotency_key="k-1",
    )
    assert service.sent(ADMIT) == [
        {
            "action": {
                "name": "voucher.issue",
                "arguments": {"booking": "AB12"},
                "asset": "booking/AB12",
                "environment": "live",
                "kind": "payout",
                "tags": ["a", "b"],
                "blast_radius": 2,
                "cost": {"amount": "12.5", "currency": "EUR"},
            },
            "context": {"shift": "night"},
            "spend": ["desk"],
            "effect": "voucher:AB12",
            "lease": "120s",
            "permit": True,
            "idempotency_key": "k-1",
        }
    ]


def test_an_admission_is_read_whole(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, allow(decision_token="permit", message="fine"))
    answer = client.admit("voucher.issue")
    assert answer.allowed
    assert answer.admission is not None
    assert answer.admission.id == "adm_1"
    assert answer.admission.provider_token == "tok_1"
    assert answer.admission.expires_at == datetime(2026, 11, 29, 10, 5, tzinfo=UTC)
    assert answer.admission.permit == "permit"
    assert (answer.request_id, answer.audit_id, answer.text) == ("req_1", "dev/7", "fine")
    assert "tok_1" not in repr(answer)
    assert "permit" not in repr(answer)


def test_a_refusal_is_an_answer_and_no_error(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, refused("cost_over_limit", "require_human", {"limit": "80.00"}, approval_id="apr_1"))
    answer = client.admit("voucher.issue")
    assert (answer.outcome, answer.allowed, answer.held, answer.approval_id) == ("require_human", False, True, "apr_1")
    assert answer.codes == ("cost_over_limit",)
    assert answer.triggered[0].values == {"limit": "80.00"}


def test_a_replay_of_ones_own_lost_request_is_an_admission(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, reply(503, retry_after="0"), allow(replayed=True))
    assert client.admit("voucher.issue").allowed


def test_a_replay_under_a_key_that_was_given_is_no_second_licence(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, allow(replayed=True))
    answer = client.admit("voucher.issue", idempotency_key="k-1")
    assert not answer.allowed
    assert answer.replayed
    assert answer.raw["allowed"] is True


def test_decide_never_allows(service: Scripted, client: Countersign) -> None:
    service.on("POST /v1/decide", allow(admission=None, allowed=True))
    answer = client.decide("voucher.issue")
    assert answer.outcome == "allow"
    assert not answer.allowed


def test_an_option_that_no_call_has_is_refused_before_anything_is_sent(service: Scripted, client: Countersign) -> None:
    options: dict[str, Any] = {"enviroment": "live"}
    with pytest.raises(TypeError, match="enviroment"):
        client.admit("voucher.issue", **options)
    assert service.requests == []


@pytest.mark.parametrize("amount", ["", "-1", "1e3", " 5", "1_000", "١٢", "01", "1.123456789", "NaN", "1" * 16])
def test_what_is_no_amount_is_no_money(amount: str) -> None:
    with pytest.raises(ValueError, match="not an amount"):
        Money(amount, "EUR")


@pytest.mark.parametrize("amount", [0.1, True, None])
def test_what_is_not_exact_is_no_money(amount: object) -> None:
    with pytest.raises(TypeError):
        Money(cast("str", amount), "EUR")


def test_a_report_says_what_is_known(service: Scripted, client: Countersign) -> None:
    client.report("adm_1", "executed", actual_cost=Money("9.50", "EUR"), result_digest="sha256:00")
    assert service.sent(REPORT) == [
        {
            "outcome": "executed",
            "actual_cost": {"amount": "9.50", "currency": "EUR"},
            "result_digest": "sha256:00",
        }
    ]


def test_a_contradicting_report_is_a_conflict(service: Scripted, client: Countersign) -> None:
    service.on("POST /v1/admissions/adm_2/outcome", problem(409, "Conflict"))
    with pytest.raises(countersign.Conflict):
        client.report("adm_2", "not_executed")


def test_extending_returns_when_the_lease_ends(service: Scripted, client: Countersign) -> None:
    service.on("POST /v1/admissions/adm_1/extend", reply(200, {"expires_at": "2026-11-29T10:10:00.000000Z"}))
    assert client.extend("adm_1", timedelta(minutes=5)) == datetime(2026, 11, 29, 10, 10, tzinfo=UTC)
    assert service.sent("POST /v1/admissions/adm_1/extend") == [{"lease": "300s"}]


@pytest.mark.parametrize("lease", [timedelta(0), timedelta(seconds=-1), timedelta(milliseconds=1500)])
def test_a_lease_is_whole_seconds(client: Countersign, lease: timedelta) -> None:
    with pytest.raises(ValueError, match="at least one second"):
        client.extend("adm_1", lease)


def test_waiting_ends_when_somebody_has_decided(service: Scripted, client: Countersign) -> None:
    service.on(QUESTION, question("pending"), question("denied", comment="not today", decided_by="human:ada"))
    approval = client.wait_for_approval("apr_1")
    assert (approval.status, approval.comment, approval.decided_by) == ("denied", "not today", "human:ada")
    assert [request.url.params["wait"] for request in service.requests] == ["30", "30"]


def test_waiting_ends_when_the_time_is_over_and_changes_nothing(service: Scripted, client: Countersign) -> None:
    service.on(QUESTION, question("pending"))
    assert client.wait_for_approval("apr_1", timeout=1.5).status == "pending"
    assert set(service.routes) == {QUESTION}


def test_waiting_survives_a_restart_of_the_service(service: Scripted, client: Countersign) -> None:
    service.on(QUESTION, *[reply(503, retry_after="0")] * 5, question("approved"))
    assert client.wait_for_approval("apr_1").status == "approved"


def test_cancelling_and_ending_a_run(service: Scripted, client: Countersign) -> None:
    service.on("POST /v1/approvals/apr_1/cancel", reply(200)).on("POST /v1/runs/run/7/end", reply(200))
    client.cancel("apr_1")
    client.end_run("run/7")
    assert service.requests[1].url.raw_path == b"/v1/runs/run%2F7/end"
    with pytest.raises(ValueError, match="missing"):
        client.end_run("")


async def test_the_client_that_awaits_says_the_same(service: Scripted, async_client: AsyncCountersign) -> None:
    service.on(ADMIT, reply(503, retry_after="0"), allow()).on("POST /v1/decide", refused("no_rule"))
    service.on(QUESTION, question("approved")).on("POST /v1/approvals/apr_1/cancel", reply(200))
    service.on("POST /v1/runs/r/end", reply(200)).on("GET /v1/whoami", reply(200, {"principal": "agent:a"}))
    service.on("POST /v1/admissions/adm_1/extend", reply(200, {"expires_at": "2026-11-29T10:10:00.000000Z"}))
    assert (await async_client.decide("x")).codes == ("no_rule",)
    answer = await async_client.admit("x")
    assert answer.admission is not None
    await async_client.report(answer.admission, "executed")
    await async_client.extend(answer.admission, timedelta(seconds=30))
    assert (await async_client.wait_for_approval("apr_1")).status == "approved"
    await async_client.cancel("apr_1")
    await async_client.end_run("r")
    assert await async_client.request("GET", "/v1/whoami") == {"principal": "agent:a"}


def test_errors_survive_pickling(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, held(), problem(400, "Bad input", detail="d"), reply(503, retry_after="9999"))
    answer = client.admit("x")
    errors: list[Exception] = [countersign.Held(answer), countersign.RunFailed(answer)]
    for kind in (countersign.BadRequest, countersign.Unavailable):
        with pytest.raises(kind) as raised:
            client.admit("x")
        errors.append(raised.value)
    for error in errors:
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - made a line above
        assert (type(again), str(again)) == (type(error), str(error))
        assert vars(again) == vars(error)
        assert str(copy.copy(error)) == str(error)
