"""One question on one page: what will happen, why it was held, who decides, and the decision."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from starlette.responses import Response

from app.approvals.questions import Question, Resolved, Status, Verdict, Vote
from app.core.authority import Ballot, Objection
from app.core.names import LONGEST_TEXT
from app.core.policy.approvers import ApproverRule
from app.core.refusals import Refusal, RefusalKind
from app.core.summary import masked
from app.core.values import Json, JsonObject
from app.db.ids import new_id
from app.door.commands import submit
from app.door.problems import RefusedError, bad_input
from app.door.viewers import viewer
from app.gate import electorate
from app.gate.question_views import Viewer, status
from app.gate.vote import CastVote
from app.web import refused, rendering, routing
from app.web.requests import Request

router = routing.router()


_ENDINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Status.EXPIRED: "Time ran out before your answer. It was not counted, and nothing will run.",
        Status.DENIED: "Somebody denied this before your answer. It was not counted, and nothing will run.",
        Status.APPROVED: "This was approved before your answer, which was not counted.",
        Status.CONSUMED: "This was approved and used before your answer, which was not counted.",
        Status.CANCELLED: "Who asked has withdrawn this. Your answer was not counted, and nothing will run.",
        Status.SUPERSEDED: "The policy no longer asks about this. Your answer was not counted.",
    }
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of approvers that the question meets: how many it takes, how many have said yes, and who may."""

    name: str
    quorum: int
    have: int
    roles: tuple[str, ...]
    principals: tuple[str, ...]

    @property
    def missing(self) -> int:
        """Return how many more have to say yes."""
        return max(0, self.quorum - self.have)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of the call: as it was sent, and as somebody has changed it."""

    name: str
    sent: Json
    edited: Json
    changed: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """A question as its page shows it to somebody."""

    question: Question
    seen: Mapping[str, Any]
    viewer: Viewer

    @property
    def entire(self) -> bool:
        """Return whether the viewer sees more than who asked would see."""
        return "rules" in self.seen

    @property
    def decides(self) -> bool:
        """Return whether the viewer may decide it."""
        return self.viewer.decides(self.question.matter)

    @property
    def pending(self) -> bool:
        """Return whether an answer is still waited for."""
        return status(self.question, self.viewer.now) is Status.PENDING

    @property
    def objection(self) -> Objection | None:
        """Return why the viewer cannot approve it, though they may deny it."""
        me = self.viewer.caller.principal
        voters = electorate.of(self.viewer.known, self.question.matter, self.viewer.now)
        return voters.entitle_approval(Ballot(me, me)).refusal

    @property
    def own_vote(self) -> Vote | None:
        """Return what the viewer has said."""
        return self.question.vote_of(self.viewer.caller.principal)

    @property
    def editable(self) -> bool:
        """Return whether other values may still be approved: the first approval says which."""
        return bool(self.question.call and self.arguments) and not self.question.counted(Verdict.APPROVE)

    @property
    def digest(self) -> str:
        """Return the digest of the call that an approval is for."""
        edit = self.question.edit
        return self.question.digest if edit is None else edit.digest

    @property
    def cost(self) -> Mapping[str, Any] | None:
        """Return what the call costs that would run."""
        cost: Mapping[str, Any] | None = self.seen.get("edited_cost", self.seen["cost"])
        return cost

    @property
    def form(self) -> Resolved:
        """Return what the policy made of the call that would run."""
        return self.question.approved_form

    @property
    def rules(self) -> list[Rule]:
        """Return the rules that it meets, with who may answer for each."""
        policy = self.viewer.known.policy
        known = {} if policy is None else {rule.name: rule for rule in policy.policy.approvers}
        return [_rule(tally, known.get(tally["name"])) for tally in self.seen["rules"]]

    @property
    def arguments(self) -> list[Argument]:
        """Return the arguments of the call, those first that its policy shows to approvers; card numbers masked."""
        sent: JsonObject = self.seen.get("arguments") or {}
        edited: JsonObject = self.seen.get("edited_arguments") or sent
        published: JsonObject = self.seen.get("shown") or {}
        names = sorted(sent, key=lambda name: (name not in published, name))
        return [_argument(name, sent[name], edited.get(name)) for name in names]


@router.get("/console/approvals/{approval_id}")
async def read(request: Request, approval_id: str) -> Response:
    """Show one question."""
    return await show(request, approval_id)


@router.post("/console/approvals/{approval_id}")
async def decide(request: Request, approval_id: str) -> Response:
    """Say yes or no to what the page has shown."""
    fields = await request.fields()
    shown = await find(request, approval_id)
    if fields.get("digest") != shown.digest:
        return await show(request, approval_id, _changed_meanwhile())
    verdict = _verdict(fields.get("decision", ""))
    values = shown.seen.get("edited_arguments") if verdict is Verdict.APPROVE else None
    refusal = await vote(request, approval_id, verdict, comment(fields), values)
    if refusal is not None:
        return await show(request, approval_id, refusal)
    return routing.see(f"/console/approvals/{approval_id}")


async def find(request: Request, approval_id: str) -> Shown:
    """Return the question as its page shows it.

    Raises:
        RefusedError: for this viewer there is none.
    """
    looking = await viewer(request)
    found = await request.house.looks.at(request.caller.tenant, approval_id)
    seen = None if found is None else looking.see(found.question, found.delivery)
    if found is None or seen is None:
        raise RefusedError(RefusalKind.NOT_FOUND, "there is no such approval")
    return Shown(found.question, seen, looking)


async def show(request: Request, approval_id: str, refusal: Refusal | None = None) -> Response:
    """Return the page of a question, with what was wrong about an answer to it."""
    shown = await find(request, approval_id)
    return rendering.page(
        request,
        "question.html",
        200 if refusal is None else refused.status_of(refusal),
        shown=shown,
        question=shown.seen,
        problem=None if refusal is None else explain(refusal),
    )


async def vote(
    request: Request, approval_id: str, verdict: Verdict, said: str, values: JsonObject | None
) -> Refusal | None:
    """Cast the vote of whoever is signed in, and return why it does not count."""
    command = CastVote(new_id("cmd"), request.credential_id, approval_id, verdict, said, values)
    voted = await submit(request, command)
    request.house.waits.poke(request.caller.tenant, approval_id)
    return voted if isinstance(voted, Refusal) else None


def comment(fields: Mapping[str, str]) -> str:
    """Return the comment of a form.

    Raises:
        RefusedError: it is too long, or holds NUL.
    """
    said = fields.get("comment", "").replace("\r\n", "\n").strip()
    if len(said) > LONGEST_TEXT or "\0" in said:
        raise bad_input(f"a comment has at most {LONGEST_TEXT} characters")
    return said


def explain(refusal: Refusal) -> str:
    """Return in a sentence why an answer did not count."""
    ending = _ENDINGS.get(str(refusal.values.get("state", "")))
    detail = ending or refusal.detail
    return f"{detail[0].upper()}{detail[1:]}{'' if detail.endswith('.') else '.'}"


def _verdict(decision: str) -> Verdict:
    if decision not in {Verdict.APPROVE, Verdict.DENY}:
        raise bad_input("say approve or deny")
    return Verdict(decision)


def _changed_meanwhile() -> Refusal:
    detail = "this has changed since you opened it; look again, then answer"
    return Refusal(RefusalKind.CONFLICT, detail)


def _rule(tally: Mapping[str, Any], rule: ApproverRule | None) -> Rule:
    roles, principals = (frozenset[str](), frozenset[str]()) if rule is None else (rule.roles, rule.principals)
    return Rule(tally["name"], tally["quorum"], tally["have"], tuple(sorted(roles)), tuple(sorted(principals)))


def _argument(name: str, sent: Json, edited: Json) -> Argument:
    return Argument(name, masked(sent), masked(edited), sent != edited)
