"""Waits grow, are bounded, and differ by chance."""

from datetime import timedelta

from app.outbox.schedule import Schedule


def test_waits_grow_by_the_factor_up_to_the_longest() -> None:
    schedule = Schedule(first=timedelta(seconds=4), factor=2, longest=timedelta(seconds=20))
    for attempt, seconds in enumerate((4, 8, 16, 20, 20, 20), start=1):
        for _ in range(50):
            wait = schedule.wait_after(attempt).total_seconds()
            assert 0.75 * seconds <= wait <= 1.25 * seconds


def test_workers_that_failed_together_do_not_come_back_together() -> None:
    assert len({Schedule().wait_after(3) for _ in range(100)}) > 90


def test_the_usual_schedule_lasts_about_a_day() -> None:
    schedule = Schedule()
    waits = (schedule.wait_after(attempt) for attempt in range(1, schedule.attempts))
    assert timedelta(hours=15) < sum(waits, timedelta()) < timedelta(hours=30)
