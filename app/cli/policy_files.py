"""`countersignd policy` on files: nothing here needs a service or a database."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from app.cli.refused import RefusedError
from app.core.codes import Trigger
from app.core.drafting import cases, coverage, differences, lint
from app.core.drafting.cases import CaseFile, Verdict
from app.core.drafting.differences import Turn
from app.core.drafting.remarks import Level
from app.core.policy import DocumentError, Policy, Weighing, documents
from app.core.policy.documents import Document
from app.core.policy.json_schema import document_schema

_TESTS = ".test.yaml"
_SIGNS = {Turn.LOOSER: "-", Turn.STRICTER: "+", Turn.OTHER: "~"}

Files = Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="YAML or JSON files.")]
File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A policy, YAML or JSON.")]


def lint_files(
    files: Files,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
) -> None:
    """Say what the authors of policies probably do not mean. Fails if one does not load or has an error.

    Files of tests (`NAME.test.yaml`) are passed over.
    """
    found = [level for file in files if not file.name.endswith(_TESTS) for level in _lint(file)]
    if Level.ERROR in found or (strict and found):
        raise typer.Exit(1)
    if not found:
        typer.echo("Nothing to remark.")


def _lint(file: Path) -> Iterator[Level]:
    try:
        document = documents.read(file.read_text())
    except DocumentError as error:
        for problem in error.problems:
            typer.echo(f"{file}: {problem}")
            yield Level.ERROR
        return
    for remark in lint.lint(document.policy):
        typer.echo(f"{file}: {document.source.problem(remark.message, remark.path)} [{remark.code}, {remark.level}]")
        yield remark.level


def run_tests(files: Files) -> None:
    """Run the cases of test files (`NAME.test.yaml`) against the policies beside them (`NAME.yaml`).

    A policy among the files stands for its tests; one without tests is only loaded.
    """
    suites = [_suite(file) for file in dict.fromkeys(_tested(file) for file in files)]
    failed = sum(_report(suite) for suite in suites)
    passed = sum(len(suite.verdicts) for suite in suites) - failed
    typer.echo(f"{passed} passed, {failed} failed")
    if failed:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class _Suite:
    """A file of cases, or a policy without one, and what came of it."""

    file: Path
    verdicts: tuple[Verdict, ...]


def _tested(file: Path) -> Path:
    """Return the tests that lie beside a policy, or the file itself."""
    beside = file.with_name(f"{file.stem}{_TESTS}")
    return beside if not file.name.endswith(_TESTS) and beside.exists() else file


def _suite(file: Path) -> _Suite:
    if not file.name.endswith(_TESTS):
        load(file)
        return _Suite(file, ())
    found = _cases(file)
    policy = load(file.with_name(found.policy or f"{file.name.removesuffix(_TESTS)}.yaml")).policy
    return _Suite(file, cases.run(policy, found.cases, datetime.now(UTC)))


def _cases(file: Path) -> CaseFile:
    try:
        return cases.read_cases(file.read_text())
    except DocumentError as error:
        raise RefusedError(f"{file} has no cases: {error}") from None


def _report(suite: _Suite) -> int:
    failed = [verdict for verdict in suite.verdicts if not verdict.passed]
    said = f"{len(suite.verdicts)} cases" if suite.verdicts else "loads; it has no tests"
    typer.echo(f"{suite.file}: {said}")
    for verdict in failed:
        _report_failure(verdict)
    return len(failed)


def _report_failure(verdict: Verdict) -> None:
    expected, got = verdict.case, verdict
    typer.echo(f"  FAILED  {expected.name}")
    typer.echo(f"    expected  {_answer(expected.outcome, expected.codes)}")
    typer.echo(f"    got       {_answer(got.outcome, got.codes)}")
    for sentence in verdict.decided_by:
        typer.echo(f"    decided   {sentence}")


def _answer(outcome: str, codes: tuple[str, ...] | None) -> str:
    return outcome if codes is None else f"{outcome} [{', '.join(codes)}]"


def evaluate_call(
    policy: File,
    call: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="YAML: an `action`, and its `facts`.")],
) -> None:
    """Say what a policy would answer to a call, and why."""
    loaded = load(policy).policy
    try:
        question = cases.read_question(call.read_text())
    except DocumentError as error:
        raise RefusedError(f"{call} is no call: {error}") from None
    found = question.answer(loaded, datetime.now(UTC))
    typer.echo(f"{found.decision.outcome}: {found.decision.reason}")
    for trigger in found.decision.triggered:
        typer.echo(f"  {_check(trigger)}")
    for line in _resolved(found.weighing):
        typer.echo(f"  {line}")


def _check(trigger: Trigger) -> str:
    return f"{trigger.code} ({trigger.outcome}): {trigger.message}"


def _resolved(weighing: Weighing) -> Iterator[str]:
    yield f"labels   {', '.join(weighing.labels)}"
    yield f"radius   {weighing.blast_radius}"
    yield f"asset    {weighing.asset or '-'}"
    yield f"cost     {weighing.cost or '-'}"
    yield f"effect   {', '.join(weighing.effects) or '-'}"
    yield f"spend    {', '.join(weighing.scopes) or '-'}"


def compare_files(before: File, after: File) -> None:
    """Say in words what changes from one policy to another: + is stricter, - looser, ~ cannot be told."""
    found = differences.differences(load(before).policy, load(after).policy)
    for one in found:
        typer.echo(f"{_SIGNS[one.turn]} {one.about}: {one.sentence}")
    if not found:
        typer.echo("They say the same.")


def cover_file(policy: File) -> None:
    """Say which families of harm a policy speaks of, and which no rule of it covers."""
    loaded: Policy = load(policy).policy
    for one in coverage.coverage(loaded):
        by = ", ".join([*one.actions, *one.labels]) or f"nothing; unlisted actions: {loaded.unlisted}"
        typer.echo(f"{'covered' if one.covered else 'NOT COVERED':<12} {one.family}: {by}")


def print_schema() -> None:
    """Print the JSON Schema of a policy document, for editors."""
    typer.echo(json.dumps(document_schema(), indent=2, ensure_ascii=False))


def load(file: Path) -> Document:
    """Return the document of a file.

    Raises:
        RefusedError: it does not load.
    """
    try:
        return documents.read(file.read_text())
    except DocumentError as error:
        raise RefusedError(f"{file} is not a policy: {error}") from None
