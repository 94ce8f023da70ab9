"""The command `countersign` for people and their scripts: what it prints, asks and ends with."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from countersign.cli.commands import app
from tests.sdk.scripted import Scripted, problem, reply, serving

DECISION = "POST /v1/approvals/apr_1/decision"
Command = Callable[..., Result]


@pytest.fixture
def url(service: Scripted) -> Iterator[str]:
    """The scripted service over a socket."""
    with serving(service) as url:
        yield url


@pytest.fixture
def command(url: str, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs the command against the scripted service, with a key in the environment."""
    monkeypatch.setenv("COUNTERSIGN_URL", url)
    monkeypatch.setenv("COUNTERSIGN_KEY", "key_1")

    def run(*arguments: str, typed: str = "") -> Result:
        return CliRunner().invoke(app, arguments, input=typed)

    return run


def waiting(**members: object) -> dict[str, Any]:
    """Return a question as an approver reads it."""
    soon = datetime.now(UTC) + timedelta(minutes=12, seconds=30)
    return {
        "id": "apr_1",
        "status": "pending",
        "action": "voucher.issue",
        "asset": "booking/AB12",
        "cost": {"amount": "400.00", "currency": "EUR"},
        "principal": "agent:desk",
        "labels": ["live", "payout"],
        "reason": "more than the desk may give",
        "summary": "amount=400, booking=<str:4>",
        "arguments": {"amount": 400, "booking": "AB12"},
        "rules": [{"name": "supervisors", "quorum": 2, "have": 1}],
        "votes": [{"by": "human:ada", "verdict": "approve", "comment": "fine"}],
        "digest": "sha256:00",
        "expires_at": soon.isoformat(),
        **members,
    }


def listed(*items: object, cursor: str | None = None) -> Any:
    return reply(200, {"data": list(items), "next_cursor": cursor})


# approvals


def test_the_queue_is_a_table(service: Scripted, command: Command) -> None:
    service.on("GET /v1/approvals", listed(waiting()))
    done = command("approvals", "list")
    assert done.exit_code == 0
    assert "apr_1" in done.output
    assert "400.00 EUR" in done.output
    assert "12 min" in done.output
    assert dict(service.requests[0].url.params) == {"status": "pending", "mine": "true"}


def test_an_empty_queue_is_a_sentence(service: Scripted, command: Command) -> None:
    service.on("GET /v1/approvals", listed())
    assert command("approvals", "list").output == "Nothing waits for you.\n"


def test_the_queue_is_json_for_a_script_and_follows_the_cursor(service: Scripted, command: Command) -> None:
    service.on("GET /v1/approvals", listed({"id": "a"}, {"id": "b"}, cursor="next"), listed({"id": "c"}))
    done = command("approvals", "list", "--all", "--json")
    assert [each["id"] for each in json.loads(done.output)] == ["a", "b", "c"]
    assert dict(service.requests[1].url.params) == {"cursor": "next"}


def test_one_question_is_shown_whole(service: Scripted, command: Command) -> None:
    service.on("GET /v1/approvals/apr_1", reply(200, waiting()))
    output = command("approvals", "show", "apr_1").output
    for part in ("amount = 400", 'booking = "AB12"', "supervisors 1 of 2", "human:ada: approve (fine)", "sha256:00"):
        assert part in output


@pytest.mark.parametrize(
    ("status", "code"), [("approved", 0), ("consumed", 0), ("pending", 3), ("denied", 1), ("expired", 1)]
)
def test_a_script_can_ask_where_a_question_stands(service: Scripted, command: Command, status: str, code: int) -> None:
    service.on("GET /v1/approvals/apr_1", reply(200, waiting(status=status)))
    assert command("approvals", "show", "apr_1", "--exit-code").exit_code == code
    assert command("approvals", "show", "apr_1").exit_code == 0


def test_text_of_others_cannot_command_the_terminal(service: Scripted, command: Command) -> None:
    nasty = "AB12\x1b[2J\x1b]0;owned\x07 \u202eOVERTURNED\u200b [bold]x[/bold] :smile:\r\nAPPROVED by the desk"
    service.on("GET /v1/approvals/apr_1", reply(200, waiting(asset=nasty, reason=nasty)))
    output = command("approvals", "show", "apr_1").output
    assert "\x1b" not in output
    assert "\u202e" not in output
    assert "\r" not in output
    assert "\\u001b[2J" in output
    assert "[bold]x[/bold] :smile:" in output
    assert "\nAPPROVED" not in output


def test_approving_and_denying(service: Scripted, command: Command) -> None:
    service.on(
        DECISION, reply(200, {"id": "apr_1", "status": "approved"}), reply(200, {"id": "apr_1", "status": "denied"})
    )
    assert command("approvals", "approve", "apr_1").output == "apr_1 is approved.\n"
    assert command("approvals", "deny", "apr_1", "--comment", "not this one").output == "apr_1 is denied.\n"
    assert service.sent(DECISION) == [{"decision": "approve"}, {"decision": "deny", "comment": "not this one"}]


def test_approving_other_values(service: Scripted, command: Command) -> None:
    service.on("GET /v1/approvals/apr_1", reply(200, waiting()))
    service.on(DECISION, reply(200, {"id": "apr_1", "status": "approved"}))
    assert command("approvals", "approve", "apr_1", "--set", "amount=150", "--set", "booking=CD34").exit_code == 0
    assert service.sent(DECISION) == [{"decision": "approve", "arguments": {"amount": 150, "booking": "CD34"}}]
    wrong = command("approvals", "approve", "apr_1", "--set", "amnt=150")
    assert wrong.exit_code == 2
    assert "amount, booking" in wrong.stderr


@pytest.mark.parametrize(
    ("status", "code"), [(400, 1), (401, 4), (403, 4), (404, 5), (409, 1), (503, 6), (302, 6)], ids=str
)
def test_each_way_to_fail_has_its_exit_code_and_a_sentence(
    service: Scripted, command: Command, status: int, code: int
) -> None:
    service.on(DECISION, problem(status, "What went wrong", detail="and why"))
    done = command("approvals", "deny", "apr_1")
    assert done.exit_code == code
    assert done.stderr.startswith("countersign: ")
    assert done.stdout == ""
    assert "Traceback" not in done.output


def test_no_service_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERSIGN_KEY", "key_1")
    done = CliRunner().invoke(app, ["--url", "http://127.0.0.1:9", "whoami"])
    assert done.exit_code == 6
    assert "not available: ConnectError" in done.stderr


# watch


@pytest.mark.parametrize("typed", ["yes\n", "y\n", "YES\n", "  Yes \n"], ids=repr)
def test_watch_approves_what_is_clearly_approved(service: Scripted, command: Command, typed: str) -> None:
    service.on("GET /v1/approvals", listed(waiting())).on("GET /v1/approvals/apr_1", reply(200, waiting()))
    service.on(DECISION, reply(200, {"id": "apr_1", "status": "approved"}))
    done = command("approvals", "watch", "--once", typed=typed)
    assert "voucher.issue" in done.output
    assert service.sent(DECISION) == [{"decision": "approve"}]


@pytest.mark.parametrize(
    "typed", ["\n", "no\n", "ok\n", "yes please\n", "yess\n", "ja\n", "1\n", "approve\n", "\u0443\n"], ids=repr
)
def test_watch_denies_whatever_is_not_a_clear_yes(service: Scripted, command: Command, typed: str) -> None:
    service.on("GET /v1/approvals", listed(waiting())).on("GET /v1/approvals/apr_1", reply(200, waiting()))
    service.on(DECISION, reply(200, {"id": "apr_1", "status": "denied"}))
    command("approvals", "watch", "--once", typed=f"{typed}too dear\n")
    assert service.sent(DECISION) == [{"decision": "deny", "comment": "too dear"}]


def test_watch_leaves_open_what_nobody_answered(service: Scripted, command: Command) -> None:
    service.on("GET /v1/approvals", listed(waiting())).on("GET /v1/approvals/apr_1", reply(200, waiting()))
    done = command("approvals", "watch", "--once", typed="")
    assert "stays open" in done.output
    assert service.sent(DECISION) == []


def test_watch_goes_on_when_somebody_else_was_faster(service: Scripted, command: Command) -> None:
    service.on("GET /v1/approvals", listed(waiting(id="apr_0"), waiting()))
    service.on("GET /v1/approvals/apr_0", reply(200, waiting(id="apr_0")))
    service.on("GET /v1/approvals/apr_1", reply(200, waiting()))
    service.on("POST /v1/approvals/apr_0/decision", problem(409, "Decided already"))
    service.on(DECISION, reply(200, {"id": "apr_1", "status": "approved"}))
    done = command("approvals", "watch", "--once", typed="yes\nyes\n")
    assert done.exit_code == 0
    assert "apr_0 was not decided by you: Decided already" in done.stderr
    assert "apr_1 is approved." in done.output


def test_watch_asks_again_where_an_answer_may_not_have_arrived(service: Scripted, command: Command) -> None:
    service.on("GET /v1/approvals", listed(waiting()), listed(waiting()), listed(waiting(id="apr_2")))
    service.on("GET /v1/approvals/apr_1", reply(200, waiting()))
    service.on("GET /v1/approvals/apr_2", reply(200, waiting(id="apr_2")))
    service.on(DECISION, reply(503), reply(200, {"id": "apr_1", "status": "approved"}))
    done = command("approvals", "watch", "--every", "0.1", typed="yes\nyes\n")
    assert service.sent(DECISION) == [{"decision": "approve"}] * 2
    assert "asked again if it still waits" in done.stderr


def test_watch_asks_about_each_question_once_and_sits_out_an_outage(service: Scripted, command: Command) -> None:
    service.on(
        "GET /v1/approvals",
        *[reply(503, retry_after="0")] * 3,
        listed(waiting()),
        listed(waiting()),
        listed(waiting(), waiting(id="apr_2")),
    )
    service.on("GET /v1/approvals/apr_1", reply(200, waiting())).on(
        "GET /v1/approvals/apr_2", reply(200, waiting(id="apr_2"))
    )
    service.on(DECISION, reply(200, {"id": "apr_1", "status": "approved"}))
    done = command("approvals", "watch", "--every", "0.1", typed="yes\n")
    assert service.sent(DECISION) == [{"decision": "approve"}]
    assert "looking again" in done.stderr
    assert done.exit_code == 0


# the rest


def test_delegations(service: Scripted, command: Command) -> None:
    later = (datetime.now(UTC) + timedelta(hours=8)).isoformat()
    mine = {"id": "dlg_1", "from": "human:ada", "to": "human:bo", "labels": ["payout"], "expires_at": later}
    service.on("GET /v1/delegations", listed(mine, {**mine, "id": "dlg_0", "revoked_at": later}))
    service.on("POST /v1/delegations", reply(201, {"id": "dlg_2"})).on("DELETE /v1/delegations/dlg_1", reply(204))
    output = command("delegations", "list").output
    assert "7 h" in output
    assert "ended" in output
    assert "(dlg_2)" in command("delegations", "lend", "human:bo", "--for", "8h", "--label", "payout").output
    assert command("delegations", "end", "dlg_1").output == "Ended.\n"
    assert service.sent("POST /v1/delegations") == [{"to": "human:bo", "expires_in": "8h", "labels": ["payout"]}]


def test_effects(service: Scripted, command: Command) -> None:
    effect = {"key": "voucher:AB12", "state": "unknown", "attempt": 2, "admission_id": "adm_1"}
    service.on("GET /v1/effects", reply(200, effect)).on("GET /v1/admissions", listed({"id": "adm_1", "action": "x"}))
    service.on("POST /v1/admissions/adm_1/resolve", reply(200, {"id": "adm_1"}))
    assert "unknown" in command("effects", "show", "voucher:AB12").output
    assert service.requests[0].url.params["key"] == "voucher:AB12"
    assert "adm_1" in command("effects", "unknown").output
    resolve = ("effects", "resolve", "adm_1", "--reason", "asked the bank")
    assert command(*resolve).exit_code == 2
    assert command(*resolve, "--executed", "--actual-cost", "lots").exit_code == 2
    assert command(*resolve, "--executed", "--actual-cost", "12.50 EUR").output == "adm_1 is executed.\n"
    assert command(*resolve, "--not-executed").exit_code == 0
    assert service.sent("POST /v1/admissions/adm_1/resolve") == [
        {"outcome": "executed", "reason": "asked the bank", "actual_cost": {"amount": "12.50", "currency": "EUR"}},
        {"outcome": "not_executed", "reason": "asked the bank"},
    ]


def test_spend(service: Scripted, command: Command) -> None:
    sums = {"currency": "EUR", "held": "40.00", "held_count": 1, "spent": "60.00", "spent_count": 2, "credited": "0.00"}
    money = {"amount": "5000.00", "currency": "EUR"}
    limit = {
        "name": "desk today",
        "metric": "money",
        "limit": money,
        "window": "day",
        "held": "40.00",
        "spent": "60.00",
        "left": "4900.00",
    }
    pace = {"name": "pace", "metric": "count", "limit": 40, "window": "1h", "held": 1, "spent": 2, "left": 37}
    entry = {
        "at": "2026-11-29T10:00:00Z",
        "kind": "hold",
        "amount": "40.00",
        "currency": "EUR",
        "action": "x",
        "admission_id": "adm_1",
    }
    service.on("GET /v1/spend", listed({"scope": "desk", "sums": [sums]}))
    service.on("GET /v1/spend/scope", reply(200, {"scope": "desk", "limits": [limit, pace], "sums": [sums]}))
    service.on("GET /v1/spend/entries", listed(entry))
    assert "60.00" in command("spend", "list", "--prefix", "de").output
    shown = command("spend", "show", "desk").output
    assert "4900.00" in shown
    assert "40 calls" in shown
    assert "adm_1" in command("spend", "entries", "desk").output
    assert json.loads(command("spend", "show", "desk", "--json").output)["limits"][1] == pace


def test_whoami(service: Scripted, command: Command) -> None:
    service.on("GET /v1/whoami", reply(200, {"principal": "human:ada", "rights": ["approve"]}))
    assert "human:ada" in command("whoami").output


# the key


def test_a_key_may_be_one_of_several_in_a_file(service: Scripted, url: str, tmp_path: Path) -> None:
    service.on("GET /v1/whoami", reply(200, {}))
    keys = tmp_path / "dev-keys.json"
    keys.write_text(json.dumps({"agent": "key_a", "approver": "key_b"}))
    arguments = ["--url", url, "--key-file", str(keys)]
    assert CliRunner().invoke(app, [*arguments, "--as", "approver", "whoami"]).exit_code == 0
    assert service.requests[0].headers["authorization"] == "Bearer key_b"
    for more in ([], ["--as", "nobody"]):
        done = CliRunner().invoke(app, [*arguments, *more, "whoami"])
        assert done.exit_code == 2
        assert "agent, approver" in done.stderr
        assert "key_a" not in done.stderr


def test_without_a_key_nothing_is_asked(service: Scripted, url: str) -> None:
    done = CliRunner().invoke(app, ["--url", url, "whoami"])
    assert done.exit_code == 2
    assert "no key" in done.stderr
    assert service.requests == []
