"""What `protect` promises: a function runs only when admitted, exactly as sent, and what came of it is reported."""

import inspect
import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, assert_type, cast
from uuid import UUID

import httpx
import pytest

import countersign
from countersign import Answer, Countersign, Doubt, Money, NotExecuted, Result, current_admission
from tests.sdk.conftest import REPORT
from tests.sdk.scripted import ADMIT, QUESTION, Play, Scripted, allow, held, problem, question, refused, reply

CANCEL = "POST /v1/approvals/apr_1/cancel"


class Ran(list[Any]):
    """What a protected function was run with."""


@pytest.fixture
def ran() -> Ran:
    return Ran()


# the function's outside


def test_a_function_keeps_its_name_docstring_and_signature(client: Countersign) -> None:
    @client.protect("voucher.issue")
    def issue(booking: str, amount: int = 40, *, note: str | None = None) -> str:
        """Issue a voucher."""
        return f"{booking}{amount}{note}"

    assert issue.__name__ == "issue"
    assert issue.__doc__ == "Issue a voucher."
    assert list(inspect.signature(issue).parameters) == ["booking", "amount", "note"]
    assert not inspect.iscoroutinefunction(issue)


def test_arguments_are_bound_by_name_with_their_defaults(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, allow())

    @client.protect("x")
    def act(first: str, /, second: int, *rest: int, third: float = 0.5, **others: bool) -> None: ...

    act("a", 2, 3, 4, fourth=True)
    assert service.sent(ADMIT)[0]["action"]["arguments"] == {
        "first": "a",
        "second": 2,
        "rest": [3, 4],
        "third": 0.5,
        "fourth": True,
    }


def test_a_methods_receiver_is_no_argument(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, allow())

    class Desk:
        @client.protect("x")
        def act(self, booking: str) -> str:
            return booking

    assert Desk().act("AB12") == "AB12"
    assert service.sent(ADMIT)[0]["action"]["arguments"] == {"booking": "AB12"}


class Colour(Enum):
    RED = "red"


def test_types_that_json_lacks_travel_as_text(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, allow())

    @client.protect("x")
    def act(**values: object) -> None: ...

    act(a=Decimal("1.50"), b=date(2026, 11, 29), c=UUID(int=7), d=Colour.RED, e=(1, None))
    assert service.sent(ADMIT)[0]["action"]["arguments"] == {
        "a": "1.50",
        "b": "2026-11-29",
        "c": "00000000-0000-0000-0000-000000000007",
        "d": "red",
        "e": [1, None],
    }


@pytest.mark.parametrize(
    "value",
    [frozenset({1}), {1: 2}, float("nan"), float("inf"), 2**53, b"x", {1, 2}, "\ud800", {"\udfff": 1}],
    ids=repr,
)
def test_what_json_cannot_carry_is_refused_by_its_place(
    service: Scripted, client: Countersign, ran: Ran, value: object
) -> None:
    @client.protect("x")
    def act(order: object) -> None:
        ran.append(order)

    with pytest.raises(countersign.ArgumentError, match=r"argument order\.item"):
        act({"item": value})
    assert service.requests == []
    assert ran == []


def test_an_argument_that_contains_itself_is_refused(client: Countersign) -> None:
    @client.protect("x")
    def act(order: list[Any]) -> None: ...

    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(countersign.ArgumentError, match="contains itself"):
        act(loop)


def test_a_wrong_call_is_a_type_error_as_python_says_it(service: Scripted, client: Countersign) -> None:
    @client.protect("x")
    def act(booking: str) -> None: ...

    with pytest.raises(TypeError, match="missing a required argument: 'booking'"):
        act()  # type: ignore[call-arg]
    assert service.requests == []


def test_arguments_can_be_said_by_a_function(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, allow())

    @client.protect("x", arguments=lambda booking: {"booking": booking})
    def act(session: object, booking: str) -> tuple[object, str]:
        return session, booking

    session = object()
    assert act(session, "AB12") == (session, "AB12")
    assert service.sent(ADMIT)[0]["action"]["arguments"] == {"booking": "AB12"}


def test_what_stands_around_the_call_may_be_a_function_of_it(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, allow())

    @client.protect(
        "x",
        environment="live",
        cost=lambda amount: Money(amount, "EUR"),
        effect=lambda booking: f"voucher:{booking}",
        run_id=lambda **everything: everything.get("run"),
    )
    def act(*, booking: str, amount: int) -> None: ...

    act(booking="AB12", amount=40)
    body = service.sent(ADMIT)[0]
    assert body["action"]["environment"] == "live"
    assert body["action"]["cost"] == {"amount": "40", "currency": "EUR"}
    assert body["effect"] == "voucher:AB12"
    assert "run_id" not in body


@pytest.mark.parametrize(
    "options",
    [
        {"on_refusal": "ignore"},
        {"on_denial": "shrug"},
        {"wait_timeout": 5},
        {"accepts_edits": True, "arguments": dict},
    ],
    ids=repr,
)
def test_options_that_contradict_are_refused_at_the_definition(client: Countersign, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="`"):
        client.protect("x", **options)


def test_an_option_that_does_not_exist_is_refused_at_the_definition(client: Countersign) -> None:
    options: dict[str, Any] = {"on_refusual": "raise"}
    with pytest.raises(TypeError, match="on_refusual"):
        client.protect("x", **options)


@pytest.mark.parametrize("option", [lambda bookng: bookng, lambda booking, /: booking], ids=["typo", "position"])
def test_an_option_that_asks_for_no_argument_of_the_function_is_refused_at_the_definition(
    client: Countersign, option: Callable[..., str]
) -> None:
    def act(booking: str) -> None: ...

    with pytest.raises(TypeError, match=r"is no argument|by position"):
        client.protect("x", effect=option)(act)


def test_an_option_that_is_to_be_awaited_is_refused_where_nothing_is_awaited(client: Countersign) -> None:
    async def tell(_: Answer) -> None: ...

    with pytest.raises(TypeError, match="only AsyncCountersign awaits"):
        client.protect("x", on_pending=tell)(lambda: None)


def test_the_types_stay_those_of_the_function(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, allow())

    def act(booking: str) -> int:
        return len(booking)

    assert_type(client.protect("x")(act)("AB12"), int)
    assert_type(client.protect("x", on_refusal="return")(act)("AB12"), int | Answer)


def test_what_cannot_be_protected_is_refused_at_the_definition(client: Countersign) -> None:
    def generator() -> Iterator[int]:
        yield 1

    async def coroutine() -> None: ...

    with pytest.raises(TypeError, match="generator"):
        client.protect("x")(generator)
    with pytest.raises(TypeError, match="use that client"):
        client.protect("x")(coroutine)


# running


def test_an_admitted_function_runs_once_and_is_reported_as_executed(
    service: Scripted, client: Countersign, ran: Ran
) -> None:
    service.on(ADMIT, allow())

    @client.protect("x", actual_cost=lambda result: Money(result, "EUR"))
    def act(booking: str) -> int:
        ran.append((booking, current_admission().provider_token))
        return 9

    assert act("AB12") == 9
    assert ran == [("AB12", "tok_1")]
    assert service.told() == [{"outcome": "executed", "actual_cost": {"amount": "9", "currency": "EUR"}}]
    with pytest.raises(LookupError):
        current_admission()


def test_a_function_that_says_so_is_reported_as_not_executed(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, allow())

    class SoldOut(NotExecuted):
        pass

    @client.protect("x")
    def act() -> None:
        raise SoldOut("no seats")

    with pytest.raises(SoldOut, match="no seats"):
        act()
    assert service.told() == [{"outcome": "not_executed", "detail": "SoldOut"}]


@pytest.mark.parametrize("error", [ValueError("secret"), KeyboardInterrupt(), SystemExit(1), StopIteration()], ids=repr)
def test_every_other_exception_is_reported_as_unknown_and_passes_through(
    service: Scripted, client: Countersign, error: BaseException
) -> None:
    service.on(ADMIT, allow())

    @client.protect("x")
    def act() -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        act()
    assert raised.value is error
    assert service.told() == [{"outcome": "unknown", "detail": type(error).__name__}]


def test_a_report_that_does_not_arrive_leaves_the_result(
    service: Scripted, client: Countersign, caplog: pytest.LogCaptureFixture
) -> None:
    service.on(ADMIT, allow("adm_2")).on("POST /v1/admissions/adm_2/outcome", reply(503, retry_after="0"))

    @client.protect("x")
    def act() -> str:
        return "done"

    with caplog.at_level(logging.WARNING, "countersign"):
        assert act() == "done"
    assert "adm_2" in caplog.text
    assert "becomes unknown" in caplog.text


@pytest.mark.parametrize(
    ("play", "kind"),
    [
        (httpx.ReadTimeout("slow"), countersign.Unavailable),
        (reply(500, retry_after="0"), countersign.Unavailable),
        (reply(307, location="/v1/other"), countersign.NotUnderstood),
        (httpx.Response(200, content=b"ok"), countersign.NotUnderstood),
        (problem(401, "Unauthenticated"), countersign.Unauthenticated),
        (problem(403, "Forbidden"), countersign.Forbidden),
        (problem(409, "Conflict"), countersign.Conflict),
    ],
    ids=lambda value: getattr(value, "__name__", repr(value)),
)
def test_without_an_answer_nothing_runs(
    service: Scripted, client: Countersign, ran: Ran, play: Play, kind: type[Exception]
) -> None:
    service.on(ADMIT, play)

    @client.protect("x", on_refusal="return")
    def act() -> None:
        ran.append(1)

    with pytest.raises(kind):
        act()
    assert ran == []
    assert service.told() == []


def test_arguments_that_changed_meanwhile_do_not_run(service: Scripted, client: Countersign, ran: Ran) -> None:
    order = {"amount": 40}

    def allow_and_change(_: dict[str, Any]) -> httpx.Response:
        order["amount"] = 4000
        return allow()

    service.on(ADMIT, allow_and_change)

    @client.protect("x")
    def act(order: dict[str, int]) -> None:
        ran.append(order)

    with pytest.raises(countersign.ArgumentsChanged):
        act(order)
    assert ran == []
    assert service.told() == [{"outcome": "not_executed", "detail": "the arguments were changed after the question"}]


# refusals


def test_a_refusal_is_raised_with_the_whole_answer(service: Scripted, client: Countersign, ran: Ran) -> None:
    service.on(ADMIT, refused("label_denied", message="This is not for desks."), held(), refused("approval_denied"))

    @client.protect("x")
    def act() -> None:
        ran.append(1)

    with pytest.raises(countersign.Denied, match="This is not for desks") as raised:
        act()
    assert raised.value.answer.codes == ("label_denied",)
    with pytest.raises(countersign.Held) as held_:
        act()
    assert held_.value.answer.approval_id == "apr_1"
    with pytest.raises(countersign.DeniedByPerson):
        act()
    assert ran == []


def test_a_refusal_can_be_returned_in_words_of_ones_own(service: Scripted, client: Countersign, ran: Ran) -> None:
    service.on(ADMIT, refused("label_denied"))

    @client.protect("x", on_refusal="return", refusal_reason=lambda answer: f"Not today: {answer.codes[0]}.")
    def act() -> str:
        ran.append(1)
        return "done"

    answer = act()
    assert isinstance(answer, Answer)
    assert answer.text == "Not today: label_denied."
    assert answer.reason == "because of label_denied"
    assert ran == []


def test_a_persons_no_can_end_the_run(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, refused("approval_denied")).on("POST /v1/runs/run_7/end", reply(200))

    @client.protect("x", on_denial="fail_run", on_refusal="return", run_id="run_7")
    def act() -> None: ...

    with pytest.raises(countersign.RunFailed) as raised:
        act()
    assert not isinstance(raised.value, countersign.Refused)
    assert service.routes == [ADMIT, "POST /v1/runs/run_7/end"]


def test_a_policys_no_does_not_end_the_run(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, refused("label_denied"))

    @client.protect("x", on_denial="fail_run", run_id="run_7")
    def act() -> None: ...

    with pytest.raises(countersign.Denied):
        act()
    assert service.routes == [ADMIT]


# idempotency


def test_a_lost_answer_is_asked_for_again_and_runs_once(service: Scripted, client: Countersign, ran: Ran) -> None:
    service.on(ADMIT, httpx.ReadTimeout("lost"), allow(replayed=True))

    @client.protect("x")
    def act() -> None:
        ran.append(1)

    act()
    assert ran == [1]
    assert len({body["idempotency_key"] for body in service.sent(ADMIT)}) == 1


def test_a_replay_under_a_key_that_was_given_does_not_run(service: Scripted, client: Countersign, ran: Ran) -> None:
    service.on(ADMIT, allow(), httpx.ReadTimeout("lost"), allow(replayed=True))

    @client.protect("x", idempotency_key=lambda order: f"order-{order}")
    def act(order: int) -> None:
        ran.append(order)

    act(7)
    with pytest.raises(countersign.Replayed, match="may have acted"):
        act(7)
    assert ran == [7]
    assert {body["idempotency_key"] for body in service.sent(ADMIT)} == {"order-7"}
    assert len(service.told()) == 1


# waiting


def test_a_held_call_waits_for_a_person_and_redeems_that_question(
    service: Scripted, client: Countersign, ran: Ran
) -> None:
    pending: list[Answer] = []
    service.on(ADMIT, held(), allow()).on(QUESTION, question("pending"), question("approved"))

    @client.protect("x", on_refusal="wait", on_pending=pending.append)
    def act() -> None:
        ran.append(1)

    act()
    assert ran == [1]
    assert [answer.approval_id for answer in pending] == ["apr_1"]
    first, second = service.sent(ADMIT)
    assert "approval_id" not in first
    assert second == {**first, "approval_id": "apr_1"}


def test_a_no_after_waiting_is_raised_with_its_comment(service: Scripted, client: Countersign, ran: Ran) -> None:
    approval = {"status": "denied", "expires_at": "2026-11-29T10:15:00.000000Z", "comment": "not this one"}
    service.on(ADMIT, held(), refused("approval_denied", approval_id="apr_1", approval=approval))
    service.on(QUESTION, question("denied"))

    @client.protect("x", on_refusal="wait")
    def act() -> None:
        ran.append(1)

    with pytest.raises(countersign.DeniedByPerson) as raised:
        act()
    assert raised.value.answer.approval is not None
    assert raised.value.answer.approval.comment == "not this one"
    assert ran == []


def test_a_question_that_goes_back_to_pending_is_waited_for_again(service: Scripted, client: Countersign) -> None:
    again = refused("approval_insufficient", "require_human", approval_id="apr_1")
    service.on(ADMIT, held(), again, allow()).on(QUESTION, question("approved"))

    @client.protect("x", on_refusal="wait")
    def act() -> str:
        return "done"

    assert act() == "done"


def test_a_superseded_question_is_asked_afresh(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, held(), refused("approval_superseded"), allow()).on(QUESTION, question("superseded"))

    @client.protect("x", on_refusal="wait")
    def act() -> str:
        return "done"

    assert act() == "done"
    assert "approval_id" not in service.sent(ADMIT)[-1]


def test_two_sides_never_keep_each_other_busy_for_ever(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, held()).on(QUESTION, question("approved"))

    @client.protect("x", on_refusal="wait")
    def act() -> None: ...

    with pytest.raises(countersign.Held):
        act()
    assert len(service.requests) < 20


def test_giving_up_waiting_leaves_the_question_open(service: Scripted, client: Countersign, ran: Ran) -> None:
    service.on(ADMIT, held()).on(QUESTION, question("pending"))

    @client.protect("x", on_refusal="wait", wait_timeout=0.5)
    def act() -> None:
        ran.append(1)

    with pytest.raises(countersign.Held):
        act()
    assert set(service.routes) == {ADMIT, QUESTION}
    assert ran == []


def test_being_interrupted_while_waiting_cancels_the_question(service: Scripted, client: Countersign, ran: Ran) -> None:
    def interrupted(_: dict[str, Any]) -> httpx.Response:
        raise KeyboardInterrupt

    service.on(ADMIT, held()).on(QUESTION, interrupted).on(CANCEL, reply(200))

    @client.protect("x", on_refusal="wait")
    def act() -> None:
        ran.append(1)

    with pytest.raises(KeyboardInterrupt):
        act()
    assert service.routes == [ADMIT, QUESTION, CANCEL]
    assert ran == []


@pytest.mark.parametrize(("on_refusal", "routes"), [("wait", [ADMIT, CANCEL]), ("raise", [ADMIT])])
def test_being_interrupted_while_telling_somebody_cancels_it_only_if_one_would_wait(
    service: Scripted, client: Countersign, on_refusal: Literal["wait", "raise"], routes: list[str]
) -> None:
    def interrupted(_: Answer) -> None:
        raise KeyboardInterrupt

    service.on(ADMIT, held()).on(CANCEL, reply(200))

    @client.protect("x", on_refusal=on_refusal, on_pending=interrupted)
    def act() -> None: ...

    with pytest.raises(KeyboardInterrupt):
        act()
    assert service.routes == routes


def test_being_interrupted_while_asking_frees_what_was_reserved(
    service: Scripted, client: Countersign, ran: Ran
) -> None:
    def interrupted(_: dict[str, Any]) -> httpx.Response:
        raise KeyboardInterrupt

    service.on(ADMIT, interrupted, allow(replayed=True))

    @client.protect("x")
    def act() -> None:
        ran.append(1)

    with pytest.raises(KeyboardInterrupt):
        act()
    assert ran == []
    assert service.told() == [{"outcome": "not_executed", "detail": "cancelled before it ran"}]


# edits


def edited(**arguments: object) -> httpx.Response:
    approval = {"status": "approved", "expires_at": "2026-11-29T10:15:00.000000Z", "arguments": arguments}
    return refused("approval_edited", approval_id="apr_1", approval=approval)


def test_an_edit_runs_as_edited_where_the_function_says_so(service: Scripted, client: Countersign, ran: Ran) -> None:
    service.on(ADMIT, edited(booking="AB12", amount="25.00", days=[1, 2]), allow())

    @client.protect("x", accepts_edits=True, cost=lambda amount: Money(amount, "EUR"))
    def act(booking: str, amount: Decimal, days: tuple[int, ...]) -> None:
        ran.append((booking, amount, days))

    act("AB12", Decimal("40.00"), days=(1, 2))
    assert ran == [("AB12", Decimal("25.00"), (1, 2))]
    again = service.sent(ADMIT)[1]
    assert again["action"]["arguments"] == {"booking": "AB12", "amount": "25.00", "days": [1, 2]}
    assert again["action"]["cost"] == {"amount": "25.00", "currency": "EUR"}
    assert again["approval_id"] == "apr_1"


def test_an_edit_is_a_refusal_where_the_function_does_not_say_so(
    service: Scripted, client: Countersign, ran: Ran
) -> None:
    service.on(ADMIT, edited(amount=25))

    @client.protect("x")
    def act(amount: int) -> None:
        ran.append(amount)

    with pytest.raises(countersign.Denied) as raised:
        act(40)
    assert raised.value.answer.approval is not None
    assert raised.value.answer.approval.arguments == {"amount": 25}
    assert ran == []
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("edit", "given"),
    [
        ({"amount": 25, "extra": 1}, {"amount": 40}),
        ({}, {"amount": 40}),
        ({"amount": "many"}, {"amount": Decimal(40)}),
        ({"amount": ["1"]}, {"amount": [Decimal(40)]}),
    ],
    ids=repr,
)
def test_an_edit_that_does_not_fit_the_call_does_not_run(
    service: Scripted, client: Countersign, ran: Ran, edit: dict[str, Any], given: dict[str, Any]
) -> None:
    service.on(ADMIT, edited(**edit), allow())

    @client.protect("x", accepts_edits=True)
    def act(amount: object) -> None:
        ran.append(amount)

    with pytest.raises(countersign.ArgumentError):
        act(**given)
    assert ran == []


# a person, a fingerprint, a doubt


@pytest.mark.parametrize(
    ("required", "note"),
    [
        (True, "the function requires an approval"),
        (lambda amount: amount > 100, "the predicate of the function requires an approval"),
        (lambda amount: amount["x"], "the predicate of the function raised, so a person is asked"),
    ],
    ids=["always", "predicate", "raises"],
)
def test_a_function_can_require_a_person(
    service: Scripted, client: Countersign, required: Callable[..., bool] | Literal[True], note: str
) -> None:
    service.on(ADMIT, held())

    @client.protect("x", requires_approval=required, advice=[{"outcome": "allow", "by": "judge"}])
    def act(amount: int) -> None: ...

    with pytest.raises(countersign.Held):
        act(400)
    assert service.sent(ADMIT)[0]["advice"] == [
        {"outcome": "allow", "by": "judge"},
        {"outcome": "require_human", "by": "sdk:requires_approval", "note": note},
    ]


def test_a_predicate_that_says_no_asks_for_nobody(service: Scripted, client: Countersign) -> None:
    service.on(ADMIT, allow())

    @client.protect("x", requires_approval=lambda amount: amount > 100)
    def act(amount: int) -> None: ...

    act(40)
    assert "advice" not in service.sent(ADMIT)[0]


def test_a_precondition_is_taken_when_asking_and_again_when_redeeming(service: Scripted, client: Countersign) -> None:
    versions = iter(["v1", "v2"])
    service.on(ADMIT, held(), refused("precondition_changed")).on(QUESTION, question("approved"))

    @client.protect("x", on_refusal="wait", precondition=lambda booking: f"{booking}:{next(versions)}")
    def act(booking: str) -> None: ...

    with pytest.raises(countersign.Denied):
        act("AB12")
    assert [body["precondition"] for body in service.sent(ADMIT)] == ["AB12:v1", "AB12:v2"]


def test_what_an_option_function_raises_passes_through_before_anything_is_asked(
    service: Scripted, client: Countersign
) -> None:
    def unreadable(**_: object) -> str:
        raise ConnectionError("no state")

    @client.protect("x", precondition=unreadable)
    def act() -> None: ...

    with pytest.raises(ConnectionError):
        act()
    assert service.requests == []


@pytest.mark.parametrize("said", ["executed", "not_executed", "unknown", "perhaps", None])
def test_reconcile_is_asked_when_the_function_raised(service: Scripted, client: Countersign, said: str | None) -> None:
    doubts: list[Doubt] = []
    service.on(ADMIT, allow())

    def look(doubt: Doubt) -> Result:
        doubts.append(doubt)
        return cast("Result", said)

    @client.protect("x", reconcile=look)
    def act(booking: str) -> None:
        raise TimeoutError(booking)

    with pytest.raises(TimeoutError):
        act("AB12")
    doubt = doubts[0]
    assert (doubt.action, doubt.arguments, doubt.admission_id) == ("x", {"booking": "AB12"}, "adm_1")
    assert doubt.provider_token == "tok_1"
    assert isinstance(doubt.error, TimeoutError)
    assert service.told()[0]["outcome"] == (said if said in {"executed", "not_executed"} else "unknown")


def test_reconcile_clears_an_earlier_doubt_and_the_call_is_asked_again(
    service: Scripted, client: Countersign, ran: Ran
) -> None:
    service.on(ADMIT, refused("effect_unknown", "deny", {"admission_id": "adm_0"}), allow())
    service.on("POST /v1/admissions/adm_0/outcome", reply(200))

    @client.protect("x", reconcile=lambda doubt: "not_executed" if doubt.admission_id == "adm_0" else "unknown")
    def act() -> None:
        ran.append(1)

    act()
    assert ran == [1]
    assert service.routes == [ADMIT, "POST /v1/admissions/adm_0/outcome", ADMIT, REPORT]


def test_a_doubt_that_stays_is_a_refusal(service: Scripted, client: Countersign, ran: Ran) -> None:
    service.on(ADMIT, refused("effect_unknown", "deny", {"admission_id": "adm_0"}))

    @client.protect("x", reconcile=lambda _: "unknown")
    def act() -> None:
        ran.append(1)

    with pytest.raises(countersign.Denied):
        act()
    assert ran == []
    assert service.routes == [ADMIT]


def test_one_client_serves_many_threads(service: Scripted, client: Countersign, ran: Ran) -> None:
    service.on(ADMIT, allow())

    @client.protect("x")
    def act(number: int) -> None:
        time.sleep(0.01)
        ran.append(number)

    threads = [threading.Thread(target=act, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ran) == list(range(16))
    assert len({body["idempotency_key"] for body in service.sent(ADMIT)}) == 16
