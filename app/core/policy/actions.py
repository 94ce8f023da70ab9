"""An action of a policy: all that a document says of it, ready to weigh calls."""

from dataclasses import dataclass, field
from typing import Any, Final

from app.core.outcomes import Outcome
from app.core.policy.argument_types import Arguments
from app.core.policy.arguments import ArgumentSchema, read_arguments
from app.core.policy.conditions import Condition
from app.core.policy.costs import CostRule, read_cost
from app.core.policy.knobs import Knobs, read_knobs
from app.core.policy.labels import Around, Declaration, LabelRule, RadiusRule, read_declaration
from app.core.policy.places import Place
from app.core.policy.rules import Rule, read_rules
from app.core.policy.templates import Template, read_template
from app.core.policy.terms import TERMS, Terms, read_terms

MOST_SCOPES: Final = 16


@dataclass(frozen=True, slots=True)
class ActionPolicy:
    """What the policy says of an action. An unlisted one has nothing but the policy's own knobs."""

    name: str
    knobs: Knobs
    listed: bool = True
    description: str = ""
    arguments: ArgumentSchema | None = None
    labels: Declaration = field(default_factory=Declaration)
    asset: Template | None = None
    cost: CostRule | None = None
    effect: Template | None = None
    spend: tuple[Template, ...] = ()
    rules: tuple[Rule, ...] = ()
    terms: Terms = field(default_factory=Terms)
    reads: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Note what the conditions read, so that nothing else is made ready for them."""
        object.__setattr__(self, "reads", frozenset().union(*(condition.reads for condition in self.conditions())))

    def conditions(self) -> list[Condition]:
        """Return every condition of the action."""
        derived = (rule.when for rule in self.labels.derive if isinstance(rule, (LabelRule, RadiusRule)))
        found = [*derived, *(rule.when for rule in self.rules)]
        return [when for when in found if isinstance(when, Condition)]


_ACTION: Final = (
    "description", "arguments", "labels", "asset", "cost", "effect", "spend", "rules", "decision", "knobs", *TERMS,
)  # fmt: skip


def read_action(name: str, place: Place, base: Knobs) -> ActionPolicy:
    """Return the action that stands here; an action of nothing may be written as null."""
    members = place.members(_ACTION) if place.value is not None else {}
    arguments = read_arguments(members["arguments"]) if "arguments" in members else None
    cost = read_cost(members["cost"]) if "cost" in members else None
    around = Around(Arguments() if arguments is None else arguments.promises, cost is not None)
    given: dict[str, Any] = {
        template: read_template(members[template]) for template in ("asset", "effect") if template in members
    }
    if "labels" in members:
        given["labels"] = read_declaration(members["labels"], around)
    if "spend" in members:
        given["spend"] = tuple(map(read_template, members["spend"].elements(MOST_SCOPES)))
    return ActionPolicy(
        name=name,
        knobs=read_knobs(members["knobs"], base) if "knobs" in members else base,
        description=members["description"].text() if "description" in members else "",
        arguments=arguments,
        cost=cost,
        rules=_read_base(members, around),
        terms=read_terms(members),
        **given,
    )


def _read_base(members: dict[str, Place], around: Around) -> tuple[Rule, ...]:
    if "rules" in members and "decision" in members:
        members["decision"].complain("an action has either `rules` or a `decision`")
    if "decision" in members:
        return (Rule(members["decision"].choice(Outcome)),)
    return read_rules(members["rules"], around) if "rules" in members else ()
