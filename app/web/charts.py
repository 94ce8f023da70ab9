"""The shapes of the two pictures of spend: a bar against a limit, and a line over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

WIDTH: Final = 600
HEIGHT: Final = 120
_WHOLE: Final = Decimal(100)


@dataclass(frozen=True, slots=True)
class Bar:
    """Parts of a hundred: what is spent, and what is held behind it. Together they may be more than a hundred."""

    spent: Decimal
    held: Decimal

    @property
    def over(self) -> bool:
        """Return whether more is taken than the limit, now, allows."""
        return self.spent + self.held > _WHOLE

    @property
    def shown_spent(self) -> str:
        """Return the width of the spent part, which ends where the bar does."""
        return _number(min(self.spent, _WHOLE))

    @property
    def shown_held(self) -> str:
        """Return the width of the held part, which ends where the bar does."""
        return _number(min(self.held, _WHOLE - min(self.spent, _WHOLE)))


@dataclass(frozen=True, slots=True)
class Line:
    """A line over equal steps of time, and the area under it, as paths of a drawing of `WIDTH` by `HEIGHT`."""

    points: tuple[tuple[datetime, Decimal], ...]
    top: Decimal

    @property
    def path(self) -> str:
        """Return the line."""
        return "M" + " L".join(f"{_number(x)} {_number(y)}" for x, y in self._places())

    @property
    def area(self) -> str:
        """Return the area under the line."""
        return f"{self.path} L{WIDTH} {HEIGHT} L0 {HEIGHT} Z"

    def _places(self) -> list[tuple[Decimal, Decimal]]:
        step = Decimal(WIDTH) / max(1, len(self.points) - 1)
        return [(step * place, HEIGHT - HEIGHT * value / self.top) for place, (_, value) in enumerate(self.points)]


def bar(spent: Decimal, held: Decimal, limit: Decimal) -> Bar:
    """Return the bar of a limit; of one that is zero, any taking fills it."""
    if not limit:
        return Bar(_WHOLE if spent else Decimal(0), _WHOLE if held else Decimal(0))
    return Bar(spent * _WHOLE / limit, held * _WHOLE / limit)


def line(points: Sequence[tuple[datetime, Decimal]]) -> Line | None:
    """Return the line through the points, scaled to the highest; None if all are zero, since nothing is to be seen."""
    top = max((value for _, value in points), default=Decimal(0))
    return Line(tuple(points), top) if top > 0 else None


def _number(value: Decimal) -> str:
    return f"{value:.2f}"
