"""A request that has passed the door: who asks, the house that answers, and a body read under a limit."""

from typing import TYPE_CHECKING, Final, cast

from starlette.requests import Request as PlainRequest
from typing_extensions import override

from app.core.actions import Caller
from app.door.problems import RefusedError

if TYPE_CHECKING:
    from app.door.house import House
    from app.identity.watch import Sight

MAX_BODY: Final = 1 << 20


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
    def id(self) -> str:
        """The request's id: the caller's own, or made here."""
        return cast("str", self.scope["request_id"])

    @property
    def media_type(self) -> str:
        """The body's media type in lower case, without parameters; "" if none or more than one is said."""
        said = self.headers.getlist("content-type")
        return said[0].partition(";")[0].strip().lower() if len(said) == 1 else ""

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


def _too_large() -> RefusedError:
    return RefusedError("too-large", f"the body is larger than {MAX_BODY} bytes")
