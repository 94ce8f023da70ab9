"""`countersignd policy`: on files without a service, and on the revisions of a tenant."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.cli.policy import app
from tests.command import run

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
POLICY = """\
schema: countersign.policy/v1
actions:
  pay:
    labels: {environment: live, kind: payout}
    cost: {amount: "{amount}", currency: EUR}
    rules:
      - {when: "cost.amount <= 80.0", decision: allow}
      - {decision: deny}
"""
CASES = """\
cases:
  - name: small
    action: {name: pay, arguments: {amount: 5}}
    facts: {verification: {survives: true, confidence: 1}}
    outcome: allow
  - {name: wrong, action: {name: pay, arguments: {amount: 500}}, outcome: allow, codes: []}
"""


def policy_command(*arguments: str) -> Result:
    """Run `countersignd policy` in this process, for what needs no settings."""
    return CliRunner().invoke(app, arguments)


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A policy in a file, with cases of which one is wrong beside it."""
    file = tmp_path / "pay.yaml"
    file.write_text(POLICY)
    file.with_suffix(".test.yaml").write_text(CASES)
    return file


def test_lint_names_file_line_and_column(policy: Path) -> None:
    done = policy_command("lint", str(policy))
    assert done.exit_code == 0
    remark = "line 4, column 5: /actions/pay: it costs money and has no `effect`: a retry could pay twice"
    assert f"{policy}: {remark} [cost-without-effect, warning]" in done.stdout
    assert policy_command("lint", "--strict", str(policy)).exit_code == 1


def test_lint_fails_on_what_does_not_load(policy: Path) -> None:
    policy.write_text(POLICY.replace("rules:", "ruels:"))
    done = policy_command("lint", str(policy))
    assert done.exit_code == 1
    assert ": /actions/pay/ruels: unknown key 'ruels': did you mean rules?" in done.stdout


def test_a_failed_case_says_what_was_expected_what_came_and_why(policy: Path) -> None:
    done = policy_command("test", str(policy))
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        f"{policy.with_suffix('.test.yaml')}: 2 cases",
        "  FAILED  wrong",
        "    expected  allow []",
        "    got       deny [rule, verification_missing]",
        "    decided   rule 2 of pay says deny",
        "1 passed, 1 failed",
    ]


def test_the_examples_pass() -> None:
    files = [str(file) for file in EXAMPLES.glob("*.yaml")]
    done = run("policy", "test", *files)
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith(" 0 failed\n")
    assert policy_command("lint", "--strict", *files).exit_code == 0


def test_a_what_if(policy: Path, tmp_path: Path) -> None:
    call = tmp_path / "call.yaml"
    call.write_text("action: {name: pay, arguments: {amount: 500}}\nfacts: {principal: ada}")
    done = policy_command("evaluate", str(policy), str(call))
    assert done.exit_code == 0
    assert done.stdout.startswith("deny: rule 2 of pay says deny; the call has no verification that counts\n")
    assert "cost     500.00 EUR" in done.stdout


def test_differences(policy: Path, tmp_path: Path) -> None:
    after = tmp_path / "after.yaml"
    after.write_text(POLICY.replace("decision: deny", "decision: require_human"))
    done = policy_command("diff", str(policy), str(after))
    assert done.stdout == "- action pay: otherwise: require_human instead of deny\n"
    assert policy_command("diff", str(policy), str(policy)).stdout == "They say the same.\n"


def test_coverage(policy: Path) -> None:
    lines = policy_command("coverage", str(policy)).stdout.splitlines()
    assert "covered      money out: pay" in lines
    assert "NOT COVERED  destruction: nothing; unlisted actions: deny" in lines


def test_the_schema_is_the_one_in_the_docs() -> None:
    printed = policy_command("schema").stdout
    assert json.loads(printed) == json.loads((EXAMPLES.parent / "policy.schema.json").read_text())


def test_revisions_are_stored_listed_shown_and_activated(policy: Path, operator: dict[str, str]) -> None:
    run("tenants", "create", "acme", **operator)
    assert run("policy", "store", str(policy), "--tenant", "acme", **operator).stdout.startswith("revision 1 sha256:")
    policy.write_text(POLICY.replace("80.0", "90.0"))
    assert run("policy", "store", str(policy), "--tenant", "acme", **operator).stdout.startswith("revision 2 sha256:")

    activate = ("policy", "activate", "--tenant", "acme")
    assert run(*activate, "2", **operator).stdout == "Revision 2 is in force.\n"
    refused = run(*activate, "1", "--expected", "1", **operator)
    assert (refused.returncode, "in force is 2" in refused.stderr) == (1, True)
    assert run(*activate, "9", **operator).returncode == 1

    listed = run("policy", "list", "--tenant", "acme", **operator).stdout.splitlines()
    assert [line.split("\t")[0::4] for line in listed] == [["2", "in force"], ["1", ""]]
    assert run("policy", "show", "1", "--tenant", "acme", **operator).stdout == POLICY


def test_a_shadow_and_a_replay(policy: Path, operator: dict[str, str]) -> None:
    run("tenants", "create", "acme", **operator)
    run("policy", "store", str(policy), "--tenant", "acme", **operator)
    shadow = ("policy", "shadow", "--tenant", "acme")
    assert run(*shadow, "1", **operator).stdout == "Revision 1 is weighed as a shadow.\n"
    assert run(*shadow, **operator).stdout == "revision 1: 0 weighed, 0 diverged\n"
    assert run(*shadow, "--stop", **operator).stdout == "No revision is weighed as a shadow.\n"
    replayed = run("policy", "replay", str(policy), "--tenant", "acme", **operator)
    assert replayed.stdout == "0 replayed, 0 changed, 0 not replayed\n"
