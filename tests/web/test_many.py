"""Two thousand pending questions: the page of the queue stays as quick as the list behind it."""

import time

import pytest

from tests.approvals.conftest import Desk
from tests.approvals.test_many import _ANALYZE, _COPY
from tests.web.conftest import Visiting


@pytest.mark.parametrize(("who", "count"), [("ada", 50), ("auditor", 50), ("dan", 0)])
async def test_the_queue_is_a_page_of_fifty_and_answers_quickly(
    desk: Desk, visiting: Visiting, who: str, count: int
) -> None:
    await desk.ask()
    database = desk.app.state.house.database
    await database.transact(lambda tx: tx.write(_COPY))
    await database.transact(lambda tx: tx.write(_ANALYZE))
    visitor, times = await visiting(who), []
    for _ in range(5):
        began = time.perf_counter()
        page = await visitor.get("/console/approvals")
        times.append(time.perf_counter() - began)
        assert page.text.count('class="card"') == count
    assert min(times) < 0.2, times
