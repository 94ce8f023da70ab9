"""What people send about grants: one, and whether the tenant requires them."""

from typing import Annotated, Any

from pydantic import Field

from app.api.models.fields import Amount, Body, Currency, Duration, Key, Name, Somebody
from app.core.grants import MOST, MOST_CONDITIONS
from app.core.money import Money
from app.core.policy.conditions import LONGEST
from app.gate.granting import Wish

_Condition = Annotated[str, Field(min_length=1, max_length=LONGEST)]
_SOME = Field(min_length=1, max_length=MOST, fail_fast=True)
_FEW = Field(min_length=1, max_length=MOST_CONDITIONS, fail_fast=True)


class BudgetBody(Body):
    """An amount for the whole life of a grant, in a currency."""

    amount: Amount
    currency: Currency


class GrantBody(Body):
    """Who may ask for what. What is left out has no bound; a delegation leaves nothing out that its parent bounds."""

    subject: Somebody
    actions: Annotated[list[Name], _SOME] | None = Field(
        default=None,
        description="exact, `prefix.*` for one more segment, `prefix.**` for any more; `**` is every action",
    )
    assets: Annotated[list[Key], _SOME] | None = Field(default=None, description="`*` stands for any run of characters")
    environments: Annotated[list[Name], _SOME] | None = None
    conditions: Annotated[list[_Condition], _FEW] | None = Field(
        default=None, description="CEL over the facts that a policy's conditions see"
    )
    budgets: Annotated[list[BudgetBody], _SOME] | None = Field(
        default=None, description="one a currency, each for all calls together"
    )
    expires_in: Duration | None = Field(default=None, description="left out: never")
    delegable: bool = Field(default=False, description="whether the subject may delegate parts of it")

    def to_wish(self) -> Wish:
        """Return what is wanted."""
        stated: dict[str, Any] = self.model_dump(
            include={"actions", "assets", "environments", "conditions"}, exclude_none=True
        )
        if self.budgets is not None:
            stated["budgets"] = [Money(budget.amount, budget.currency).as_json() for budget in self.budgets]
        return Wish(self.subject, stated, self.expires_in, self.delegable)


class RequiredBody(Body):
    """Whether nothing may be asked without a grant."""

    required: bool
