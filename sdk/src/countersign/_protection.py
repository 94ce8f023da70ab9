"""What `protect` may be told, checked where the function is defined."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from inspect import Signature, iscoroutinefunction
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, get_args

from countersign._answers import Answer, Result
from countersign._arguments import check_choice
from countersign._calls import Advice, CallOptions, Money

T = TypeVar("T")
Given: TypeAlias = T | Callable[..., T | Awaitable[T | None] | None] | None
"""A value for every call, or a function that takes those of the call's arguments that it names, and returns it."""

OnRefusal: TypeAlias = Literal["raise", "return", "wait"]
OnDenial: TypeAlias = Literal["refuse", "fail_run"]


@dataclass(frozen=True, slots=True)
class Doubt:
    """An effect of which nobody knows whether it happened: what `reconcile` is asked about.

    `error` is what the function raised, or None if an earlier attempt left the doubt; then nothing has run now.
    """

    action: str
    arguments: Mapping[str, Any]
    admission_id: str
    provider_token: str | None
    error: Exception | None


class ProtectOptions(TypedDict, total=False):
    """What `protect` may be told besides the action and `on_refusal`.

    About the call, each a value, or a function of those of the call's arguments that it names: what `CallOptions` has,
    and
    `arguments`: a function that says the arguments itself, where the function's own are not JSON (a session, a client);
    `precondition`: a function that returns a fingerprint of the resource's state, asked before each question and each
        redemption;
    `requires_approval`: True, or a predicate; the call is then sent with the advice `require_human`. A predicate that
        raises asks for a person.

    About the answer:
    `on_denial`: "refuse" treats a person's no as any refusal; "fail_run" ends the run and raises RunFailed;
    `refusal_reason`: what the caller's user is told instead of the service's words, or a function of the answer;
    `on_pending`: is called with the answer once a call is held, before it waits or is refused;
    `wait_timeout`: seconds to wait for a person at most, with `on_refusal="wait"`; by default as long as the question
        lives. Giving up leaves the question open;
    `accepts_edits`: when an approver approved other values, send that call and run the function with them.

    About the outcome:
    `actual_cost`: a function from the result to the Money that it took;
    `reconcile`: is asked with a `Doubt` when the function raised, or when an earlier attempt is unknown, and returns
        "executed", "not_executed" or "unknown".
    """

    asset: Given[str]
    environment: Given[str]
    kind: Given[str]
    tags: Given[Iterable[str]]
    blast_radius: Given[int]
    cost: Given[Money]
    context: Given[Mapping[str, Any]]
    approval_context: Given[Mapping[str, str]]
    finding: Given[Mapping[str, Any]]
    verification_id: Given[str]
    advice: Given[Sequence[Advice]]
    spend: Given[Iterable[str]]
    effect: Given[str]
    lease: Given[timedelta]
    run_id: Given[str]
    idempotency_key: Given[str]
    permit: Given[bool]
    arguments: Callable[..., Mapping[str, Any] | Awaitable[Mapping[str, Any]]] | None
    precondition: Callable[..., str | Awaitable[str]] | None
    requires_approval: bool | Callable[..., bool | Awaitable[bool]]
    on_denial: OnDenial
    refusal_reason: str | Callable[[Answer], str | Awaitable[str]] | None
    on_pending: Callable[[Answer], object] | None
    wait_timeout: float | None
    accepts_edits: bool
    actual_cost: Callable[[Any], Money | Awaitable[Money | None] | None] | None
    reconcile: Callable[[Doubt], Result | Awaitable[Result]] | None


_CALL_OPTIONS = frozenset(CallOptions.__annotations__) - {"approval_id", "precondition"}


@dataclass(frozen=True, slots=True)
class Protection:
    """The options of one `protect`, found to fit together; `call` holds those that go into the call."""

    action: str
    on_refusal: OnRefusal = "raise"
    call: Mapping[str, Any] = field(default_factory=dict)
    arguments: Callable[..., Any] | None = None
    precondition: Callable[..., Any] | None = None
    requires_approval: bool | Callable[..., Any] = False
    on_denial: OnDenial = "refuse"
    refusal_reason: str | Callable[[Answer], Any] | None = None
    on_pending: Callable[[Answer], object] | None = None
    wait_timeout: float | None = None
    accepts_edits: bool = False
    actual_cost: Callable[[Any], Any] | None = None
    reconcile: Callable[[Doubt], Any] | None = None

    def __post_init__(self) -> None:
        _check_word("on_refusal", self.on_refusal, OnRefusal)
        _check_word("on_denial", self.on_denial, OnDenial)
        if self.wait_timeout is not None and self.on_refusal != "wait":
            raise ValueError('`wait_timeout` needs `on_refusal="wait"`: nothing else waits')
        if self.accepts_edits and self.arguments is not None:
            raise ValueError("`accepts_edits` needs the function's own arguments: `arguments=` has no way back")

    @classmethod
    def of(cls, action: str, on_refusal: OnRefusal, options: Mapping[str, Any]) -> "Protection":
        """Return the protection that these options describe.

        Raises:
            TypeError: there is no such option.
            ValueError: two options contradict each other, or a word is not one of those it can be.
        """
        call = {name: value for name, value in options.items() if name in _CALL_OPTIONS}
        return cls(action, on_refusal, call, **{name: options[name] for name in options if name not in call})

    def check(self, signature: Signature, *, awaits: bool) -> None:
        """Check the options that are functions against the function that is protected.

        Raises:
            TypeError: one asks for an argument that there is not, or is to be awaited where nothing is.
        """
        of_the_call = [*self.call.values(), self.arguments, self.precondition, self.requires_approval]
        of_the_answer = [self.refusal_reason, self.on_pending, self.actual_cost, self.reconcile]
        for function in filter(callable, of_the_call):
            check_choice(function, signature)
        if not awaits and any(map(iscoroutinefunction, [*of_the_call, *of_the_answer])):
            raise TypeError("an option is an `async def`; only AsyncCountersign awaits")


def _check_word(name: str, word: str, words: Any) -> None:
    if word not in get_args(words):
        raise ValueError(f"`{name}` is one of {', '.join(map(repr, get_args(words)))}")
