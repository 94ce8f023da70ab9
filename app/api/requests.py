"""A request as routes see it: read under limits, parsed by the one loader, and asked by somebody known."""

from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import Request as PlainRequest
from typing_extensions import override

from app.api.problems import RefusedError, bad_input
from app.core import strict_json
from app.core.actions import Caller

if TYPE_CHECKING:
    from app.api.house import House
    from app.identity.watch import Sight

M = TypeVar("M", bound=BaseModel)

MAX_BODY: Final = 1 << 20
_JSON = "application/json"


class Request(PlainRequest):
    """One request that has passed the door."""

    @property
    def house(self) -> "House":
        """What the service is made of."""
        return cast("House", self.app.state.house)

    @property
    def caller(self) -> Caller:
        """Who asks. Only for routes that take a credential."""
        return cast("Caller", self.scope["caller"])

    @property
    def credential_id(self) -> str:
        """The id of the credential that was presented."""
        return cast("str", self.scope["credential_id"])

    @property
    def speak_for(self) -> frozenset[str]:
        """The other principals that the credential may name as the one that asks."""
        return cast("frozenset[str]", self.scope["speak_for"])

    @property
    def sight(self) -> "Sight":
        """The tenant's authority and epochs, as recent as the route takes them."""
        return cast("Sight", self.scope["sight"])

    @property
    def problem(self) -> tuple[str, str]:
        """The code and the pointer of the problem that is the answer; both "" if it is none."""
        return cast("tuple[str, str]", self.scope.get("problem", ("", "")))

    @property
    def id(self) -> str:
        """The request's id: the caller's own, or made here."""
        return cast("str", self.scope["request_id"])

    @property
    def media_type(self) -> str:
        """The body's media type in lower case, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @override
    async def body(self) -> bytes:
        """Return the body.

        Raises:
            RefusedError: it is larger than a mebibyte; no more than that is read.
        """
        if not hasattr(self, "_body"):
            self._body = await self._read()
        return self._body

    async def _read(self) -> bytes:
        announced = self.headers.get("content-length", "")
        if announced.isdecimal() and int(announced[:12]) > MAX_BODY:
            raise _too_large()
        chunks, size = [], 0
        async for chunk in self.stream():
            size += len(chunk)
            if size > MAX_BODY:
                raise _too_large()
            chunks.append(chunk)
        return b"".join(chunks)

    def body_read(self) -> bytes:
        """Return the body if it has been read whole, else nothing."""
        return getattr(self, "_body", b"")

    async def parse(self, model: type[M]) -> M:
        """Return the body as a model, for routes that take it in more than one form.

        Raises:
            RefusedError, JsonError, RequestValidationError: it is none.
        """
        try:
            return model.model_validate(await self.json())
        except ValidationError as error:
            found = [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors(include_input=False)]
            raise RequestValidationError(found) from None

    @override
    async def json(self) -> Any:
        """Return the body's value.

        Raises:
            RefusedError: it is not sent as JSON, or is too large.
            JsonError: it is not JSON as the service reads it.
        """
        if not hasattr(self, "_json"):
            body = await self.body()
            if self.media_type != _JSON:
                raise bad_input(f"send the body as {_JSON}, with that Content-Type")
            self._json = strict_json.load(body)
        return self._json


def _too_large() -> RefusedError:
    return RefusedError("too-large", f"the body is larger than {MAX_BODY} bytes")
