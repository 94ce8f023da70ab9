"""Cases: calls with their facts, and what a policy must answer to them; written in YAML beside the policy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from app.core.actions import Action, Advice, Call, Caller, Finding, Verification
from app.core.codes import Code
from app.core.evaluation import Evaluation, WhatIf, evaluate
from app.core.names import LONGEST_KEY, LONGEST_NAME
from app.core.outcomes import Outcome
from app.core.policy import Policy
from app.core.policy import source as sources
from app.core.policy.knobs import Severity
from app.core.policy.places import Place, read_with, wrong_name
from app.core.policy.problems import suggestion
from app.core.values import GREATEST_INTEGER, Json


@dataclass(frozen=True, slots=True)
class Question:
    """A call with its facts, and who asks; `now` is the time at which it is asked, if it matters."""

    what_if: WhatIf
    caller: Caller
    now: datetime | None = None

    def answer(self, policy: Policy, now: datetime) -> Evaluation:
        """Return what the policy answers; `now` is the time if the question names none."""
        return evaluate(policy, self.what_if, self.caller, self.now or now)


@dataclass(frozen=True, slots=True)
class Case:
    """A question and the answer that is expected. `codes` None expects any."""

    name: str
    question: Question
    outcome: Outcome
    codes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class CaseFile:
    """The cases of a file, and the file of the policy that they are about, if it names one."""

    cases: tuple[Case, ...]
    policy: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a policy answered to a case. `decided_by` has the sentences of the checks that gave the outcome."""

    case: Case
    outcome: Outcome
    codes: tuple[str, ...]
    decided_by: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Return whether the answer is the expected one."""
        return self.outcome is self.case.outcome and self.case.codes in {None, self.codes}


def run(policy: Policy, cases: Sequence[Case], now: datetime) -> tuple[Verdict, ...]:
    """Return what the policy answers to the cases; `now` is the time of those that name none."""
    return tuple(_verdict(case, case.question.answer(policy, now)) for case in cases)


def _verdict(case: Case, found: Evaluation) -> Verdict:
    decision = found.decision
    deciding = tuple(trigger.message for trigger in decision.triggered if trigger.outcome is decision.outcome)
    codes = tuple(str(trigger.code) for trigger in decision.triggered)
    return Verdict(case, decision.outcome, codes, deciding or (decision.reason,))


NOBODY: Final = Caller(tenant="test", principal="nobody", kind="agent", owner="")
_FILE: Final = ("policy", "cases")
_CASE: Final = ("name", "action", "facts", "outcome", "codes")
_ACTION: Final = ("name", "arguments", "asset", "environment", "kind", "tags", "blast_radius", "cost")
_FACTS: Final = (
    "context", "finding", "verification", "advice", "spend", "spent", "effect", "principal", "run_id", "now",
)  # fmt: skip
_FINDING: Final = ("title", "severity", "gsar_score", "evidence_refs", "confidence")
_PRINCIPAL: Final = ("name", "kind", "owner", "environment", "roles")


def read_cases(source: str | Mapping[str, Json]) -> CaseFile:
    """Return the cases that a file, or an object, holds.

    Raises:
        DocumentError: it is no file of cases. All that is wrong is named at once, each with its place.
    """
    return read_with(_file, sources.read(source))


def read_question(source: str | Mapping[str, Json]) -> Question:
    """Return the one call, with its facts, that a file or an object holds: `action` and `facts`, as in a case.

    Raises:
        DocumentError: it is none.
    """
    return read_with(lambda place: _question(place.members(("action", "facts"), ("action",))), sources.read(source))


def _file(place: Place) -> CaseFile:
    members = place.members(_FILE, ("cases",))
    listed = members["cases"].elements() if "cases" in members else []
    return CaseFile(
        cases=tuple(_case(case, number) for number, case in enumerate(listed, 1)),
        policy=members["policy"].text() if "policy" in members else None,
    )


def _case(place: Place, number: int) -> Case:
    members = place.members(_CASE, ("action", "outcome"))
    return Case(
        name=members["name"].text() if "name" in members else f"case {number}",
        question=_question(members),
        outcome=members["outcome"].choice(Outcome) if "outcome" in members else Outcome.DENY,
        codes=tuple(map(_code, members["codes"].elements())) if "codes" in members else None,
    )


def _question(members: Mapping[str, Place]) -> Question:
    facts = members["facts"].members(_FACTS) if "facts" in members else {}
    action = _action(members["action"]) if "action" in members else Action("")
    verification = _verification(facts["verification"]) if "verification" in facts else None
    return Question(
        what_if=WhatIf(_call(action, facts), verification, _spent(facts)),
        caller=_caller(facts["principal"]) if "principal" in facts else NOBODY,
        now=_moment(facts["now"]) if "now" in facts else None,
    )


def _action(place: Place) -> Action:
    members = place.members(_ACTION, ("name",))
    given: dict[str, Any] = {"name": members["name"].name() if "name" in members else ""}
    if "arguments" in members:
        given["arguments"] = _object(members["arguments"])
    for key, longest in (("asset", LONGEST_KEY), ("environment", LONGEST_NAME), ("kind", LONGEST_NAME)):
        if key in members:
            given[key] = _name_or_empty(members[key], longest)
    if "tags" in members:
        given["tags"] = frozenset(members["tags"].names())
    if "blast_radius" in members:
        given["blast_radius"] = members["blast_radius"].integer(0, GREATEST_INTEGER)
    if "cost" in members:
        given["cost"] = members["cost"].money()
    return Action(**given)


def _call(action: Action, facts: Mapping[str, Place]) -> Call:
    return Call(
        action=action,
        context=_object(facts["context"]) if "context" in facts else {},
        finding=_finding(facts["finding"]) if "finding" in facts else None,
        advice=tuple(map(_advice, facts["advice"].elements())) if "advice" in facts else (),
        spend=tuple(scope.name(LONGEST_KEY) for scope in facts["spend"].elements()) if "spend" in facts else (),
        effect=facts["effect"].name(LONGEST_KEY) if "effect" in facts else None,
        run_id=facts["run_id"].name() if "run_id" in facts else None,
    )


def _spent(facts: Mapping[str, Place]) -> Mapping[str, Decimal]:
    return {scope: place.amount() for scope, place in facts["spent"].entries().items()} if "spent" in facts else {}


def _finding(place: Place) -> Finding:
    members = place.members(_FINDING, ("severity",))
    severity = members["severity"].choice(Severity) if "severity" in members else Severity.INFO
    return Finding("", severity.value, 1.0, (), 1.0)


def _verification(place: Place) -> Verification:
    members = place.members(("survives", "confidence"), ("survives", "confidence"))
    return Verification(
        survives="survives" in members and members["survives"].flag(),
        confidence=members["confidence"].score() if "confidence" in members else 0.0,
    )


def _advice(place: Place) -> Advice:
    members = place.members(("outcome", "by", "note"), ("outcome",))
    return Advice(
        outcome=members["outcome"].choice(Outcome) if "outcome" in members else Outcome.DENY,
        by=members["by"].text() if "by" in members else "",
        note=members["note"].text() if "note" in members else "",
    )


def _caller(place: Place) -> Caller:
    if isinstance(place.value, str):
        return replace(NOBODY, principal=place.name())
    members = place.members(_PRINCIPAL, ("name",))
    texts: dict[str, Any] = {key: members[key].text() for key in ("kind", "owner", "environment") if key in members}
    return replace(
        NOBODY,
        principal=members["name"].name() if "name" in members else "",
        roles=frozenset(members["roles"].names()) if "roles" in members else frozenset(),
        **texts,
    )


def _object(place: Place) -> Mapping[str, Json]:
    place.entries()
    return place.value if isinstance(place.value, Mapping) else {}


def _name_or_empty(place: Place, longest: int) -> str:
    text = place.text()
    if text and (wrong := wrong_name(text, longest)):
        place.complain(wrong)
    return text


def _code(place: Place) -> str:
    text = place.text()
    known = [code.value for code in Code]
    if isinstance(place.value, str) and text not in known:
        place.complain(f"no code of a check: {suggestion(text, known)}")
    return text


def _moment(place: Place) -> datetime:
    try:
        moment = datetime.fromisoformat(place.text())
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        place.complain("expected a time with its offset, such as 2026-11-01T12:00:00Z")
        return datetime.min.replace(tzinfo=UTC)
    return moment
