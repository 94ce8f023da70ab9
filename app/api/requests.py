"""A request as the API's routes see it: its body parsed by the one loader, and what came of it noted."""

from typing import Any, TypeVar, cast

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from typing_extensions import override

from app.core import strict_json
from app.door import requests
from app.door.problems import bad_input

M = TypeVar("M", bound=BaseModel)

_JSON = "application/json"


class Request(requests.Request):
    """One request of the API."""

    @property
    def problem(self) -> tuple[str, str]:
        """The code and the pointer of the problem that is the answer; both "" if it is none."""
        return cast("tuple[str, str]", self.scope.get("problem", ("", "")))

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
