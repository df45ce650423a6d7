"""Rounds with the hub that background work does."""

from datetime import timedelta

import pytest

from ademem.core.settings import Settings
from ademem.plugins.hub import hub_state, rounds
from ademem.session import briefing
from ademem.session.briefing import Reader
from ademem.store import jobs, sessions
from ademem.store.runtime import Runtime
from ademem.worker import running


class Worker:
    """Background work in a clone."""

    def __init__(self, clone):
        self.clone, self.waited = clone, 0

    def _context(self, *, patient):
        clone = self.clone
        runtime = Runtime(clone.project, Settings(), clone.store, {}, clone.now())
        return running.JobContext(runtime, clone.now, None, patient=patient, pause=self._pause)

    def _pause(self):
        self.waited += 1
        self.clone.minute += 1 / 60

    def later(self, minutes):
        self.clone.minute += minutes
        return self

    def is_due(self):
        (kind,) = (kind for kind in running.kinds() if kind.name == "hub")
        return bool(running.due(self._context(patient=True), kind))

    def work(self, *, patient=False):
        return "hub" in running.run_due(self._context(patient=patient))


@pytest.fixture
def worker(ann):
    """That of a person who ran the first round."""
    ann.sync()
    return Worker(ann)


def test_the_first_round_is_the_persons(ann, hub):
    ann.learn("Deploys run at noon", id="m1")
    assert not Worker(ann).later(60).work()
    assert hub.rows("select from hub.mutations where project = %s", hub.project) == []

    ann.sync()
    ann.learn("Tests run at one", id="m2")
    assert Worker(ann).work()
    assert len(hub.rows("select from hub.mutations where project = %s", hub.project)) == 2


def test_a_change_and_an_old_round_make_one_due(worker, ann, bob):
    assert not worker.is_due()
    ann.learn("Deploys run at noon", id="m1")
    assert worker.is_due()
    assert worker.work()
    assert not worker.is_due()

    bob.sync()
    bob.learn("Tests run at one", id="m2")
    bob.sync()
    assert not worker.later(13).work()
    assert worker.later(3).work()
    assert ann.memory("m2").live
    assert not worker.is_due()


def test_changes_are_collected_for_five_seconds(worker, ann, hub):
    ann.learn("Deploys run at noon", id="m1")
    assert worker.work(patient=True)
    assert worker.waited == 5

    ann.learn("Tests run at one", id="m2")
    worker.waited = 0
    assert worker.later(1).work(patient=True)
    assert worker.waited < 5


def test_a_hub_that_does_not_answer_is_asked_again_for_as_long_as_it_takes(
    worker, ann, monkeypatch
):
    asked = []

    def refuse(*_):
        asked.append(1)
        raise rounds.HubError(0, "unreachable", "it does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(rounds.Client, "ask", refuse)
        ann.learn("Deploys run at noon", id="m1")
        for number in range(1, 9):
            assert worker.work()
            assert len(asked) == number
            assert not worker.is_due()
            worker.later(20)
    assert jobs.list_parked(ann.store) == []
    assert worker.work()
    assert (ann.state.lifecycle, ann.waiting()) == ("healthy", 0)


def test_a_token_that_ended_is_not_tried_again(worker, ann, hub):
    hub.execute("update hub.tokens set revoked_at = now()")
    try:
        assert worker.later(20).work()
    finally:
        hub.execute("update hub.tokens set revoked_at = null")
    assert ann.state.lifecycle == "stopped"

    assert not worker.later(60).is_due()


def test_a_round_of_another_process_is_waited_for(worker, ann):
    hub_state.take_lease(ann.store, "another", ann.now() + timedelta(minutes=20))
    ann.learn("Deploys run at noon", id="m1")
    assert worker.work()
    assert not worker.is_due()

    assert worker.later(23).work()
    assert ann.waiting() == 0


def test_a_reader_asks_and_has_nothing_to_tell(clone):
    kim = clone("kim", "reader")
    kim.sync()
    kim.learn("Deploys run at noon", id="m1")
    assert not Worker(kim).is_due()
    assert Worker(kim).later(20).work()


def test_without_a_hub_nothing_is_due(ann, clone):
    kim = clone("kim", None)
    kim.learn("Deploys run at noon", id="m1")
    assert not Worker(kim).later(60).is_due()
    ann.sync()
    rounds.leave(ann.store, ann.project)
    assert not Worker(ann).later(60).is_due()


def test_a_clock_that_was_ahead_does_not_stop_the_rounds(worker, ann):
    ann.minute += 3 * 24 * 60
    ann.round().run()
    ann.minute -= 3 * 24 * 60

    assert worker.is_due()


def test_a_session_hears_how_much_came_from_how_many(ann, bob, clone, hub):
    def told(session):
        reader = Reader(
            store=ann.store, settings=Settings().briefing, now=ann.now(), session=session
        )
        return [entry.text for entry in briefing.from_colleagues(reader)]

    def start(session):
        ann.minute += 1
        sessions.start(
            ann.store, session, source="startup", directory="", branch=None, now=ann.now()
        )

    start("s1")
    ann.sync()
    kim, elsewhere = clone("kim"), clone("elsewhere", None)
    elsewhere.name = ann.name
    elsewhere.join(hub).learn("Written on another machine")
    elsewhere.sync()
    ann.learn("Written here")
    for one, texts in ((bob, "ab"), (kim, "c")):
        for text in texts:
            one.learn(f"Text {text} of {one.name}")
        one.sync()
    ann.sync()
    assert told("s1") == []
    start("s2")
    assert told("s2") == ["3 memories from 2 colleagues since 2026-01-31 12:01 UTC"]

    start("s3")
    assert told("s3") == []
    rounds.leave(ann.store, ann.project)
    assert told("s2") == []
