"""Work that is due: asked for once or often, done, failing, given up."""

from datetime import timedelta

import pytest

from ademem.core.clock import stamp
from ademem.core.value import replace
from ademem.store import jobs
from tests.builders import NOW

MINUTE = timedelta(minutes=1)


def waiting(store, now=NOW):
    return [job.key for job in jobs.list_due(store, "mirror", now)]


def the_job(store, now=NOW):
    (job,) = jobs.list_due(store, "mirror", now)
    return job


def test_work_is_due_once_a_key_in_the_order_it_was_asked_for(store):
    for key in ("b", "a", "b"):
        jobs.queue(store, "mirror", key, NOW)
    jobs.queue(store, "embed", "c", NOW)

    assert waiting(store) == ["b", "a"]
    assert waiting(store, NOW - MINUTE) == []


def test_done_work_is_gone(store):
    jobs.queue(store, "mirror", "k", NOW)
    jobs.finish(store, the_job(store))

    assert waiting(store) == []


def test_what_was_asked_for_during_the_work_is_due_after_it(store):
    jobs.queue(store, "mirror", "k", NOW)
    taken = the_job(store)
    jobs.queue(store, "mirror", "k", NOW)
    jobs.finish(store, taken)

    assert waiting(store) == ["k"]


def test_work_that_a_killed_worker_left_is_still_due(store):
    jobs.queue(store, "mirror", "k", NOW)
    the_job(store)

    assert waiting(store) == ["k"]


def test_failing_work_is_tried_again_later_and_later_then_parked(store):
    jobs.queue(store, "mirror", "k", NOW)
    now = NOW
    for minutes in (1, 2, 4, 8):
        jobs.fail(store, the_job(store, now), "no disk", now)
        assert waiting(store, now + minutes * MINUTE - timedelta(seconds=1)) == []
        now += minutes * MINUTE
    jobs.fail(store, the_job(store, now), "x" * 600, now)

    assert waiting(store, now + 999 * MINUTE) == []
    assert jobs.list_parked(store) == [("mirror", "k", "x" * 500)]


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(lambda store: jobs.queue(store, "mirror", "k", NOW), id="asked for again"),
        pytest.param(lambda store: jobs.unpark(store, NOW), id="a person who says so"),
    ],
)
def test_parked_work_gets_another_chance(store, again):
    jobs.queue(store, "mirror", "k", NOW)
    last = replace(the_job(store), attempts=jobs.ATTEMPTS - 1)
    jobs.fail(store, last, "no disk", NOW)
    again(store)

    assert waiting(store) == ["k"]
    assert jobs.list_parked(store) == []
    assert the_job(store).attempts == 0


def test_asking_again_does_not_hurry_work_that_waits_after_a_failure(store):
    jobs.queue(store, "mirror", "k", NOW)
    jobs.fail(store, the_job(store), "no disk", NOW)
    jobs.queue(store, "mirror", "k", NOW)

    assert waiting(store) == []
    assert waiting(store, NOW + MINUTE) == ["k"]


def test_a_changed_memory_makes_all_due_that_follows_from_it(store):
    jobs.follow(store, NOW)

    due = [job.kind for kind in jobs.FOLLOWING for job in jobs.list_due(store, kind, NOW)]
    assert due == ["mirror", "embed"]


def test_work_put_off_is_due_then_or_when_it_is_asked_for(store):
    jobs.queue(store, "mirror", "k", NOW)
    jobs.postpone(store, the_job(store), NOW + 5 * MINUTE)
    assert waiting(store, NOW + MINUTE) == []
    assert waiting(store, NOW + 5 * MINUTE) == ["k"]

    jobs.queue(store, "mirror", "k", NOW + MINUTE)
    assert waiting(store, NOW + MINUTE) == ["k"]


def test_what_was_asked_for_during_the_work_is_not_put_off_with_it(store):
    jobs.queue(store, "mirror", "k", NOW)
    taken = the_job(store)
    jobs.queue(store, "mirror", "k", NOW)
    jobs.postpone(store, taken, NOW + 5 * MINUTE)

    assert waiting(store) == ["k"]


def test_work_that_is_under_way_is_no_failure(store):
    jobs.count_failure(store, "vector", "k", jobs.ABANDONED, NOW)
    assert jobs.list_failing(store) == []

    jobs.count_failure(store, "vector", "k", "no number", NOW)
    assert jobs.list_failing(store) == [("vector", "k", "no number")]


def test_failures_of_work_without_a_mark_are_counted_like_others(store):
    now = NOW
    for minutes in (1, 2, 4, 8, 16):
        assert jobs.list_parked(store) == []
        jobs.count_failure(store, "vector", "k", "no number", now)
        at = now + minutes * MINUTE
        assert jobs.next_try(store, "vector", now) == (None if minutes == 16 else stamp(at))
        now = at

    assert jobs.list_parked(store) == [("vector", "k", "no number")]
