"""Vectors for memories: which, in what order, and what becomes of texts that fail."""

from itertools import pairwise

import numpy as np
import pytest

from ademem.core.settings import EmbedSettings
from ademem.core.value import replace
from ademem.operations import curation, doctor, placing, reports
from ademem.operations.placing import Choice
from ademem.search import dense
from ademem.search.embedding import DamagedModel, model_id, second_settings
from ademem.store import embeddings, jobs, maintenance, memory_queries, neighbours
from ademem.worker import embedding, running
from tests import builders
from tests.builders import memory
from tests.worker import fake

SECOND_ID = model_id(second_settings(EmbedSettings()))


def numbered(count):
    """Texts that share no word, so that nothing is compared."""
    digits = str.maketrans("0123456789", "kvzqxjwpgb")
    names = (str(1000 + number).translate(digits) for number in range(count))
    return [f"{name} {name * 2}" for name in names]


def blob(world, id):
    query = "select embedding_blob from unified_memory_embeddings where memory_id = ?"
    return world.store.db.execute(query, (id,)).fetchone()[0]


def batches(world):
    """Sizes of the batches of a run."""
    done = [0]

    def note():
        query = "select count(*) from unified_memory_embeddings"
        done.append(world.store.db.execute(query).fetchone()[0])

    world.work(pause=note)
    return [after - before for before, after in pairwise(done)]


def test_every_live_memory_gets_the_vector_of_its_text(world):
    ids = world.keep("Tokens expire in UTC", "Invoices are rounded half to even")
    assert "embed" in world.work()

    assert world.vectors() == dict.fromkeys(ids, fake.ID)
    stored = np.frombuffer(blob(world, ids[0]), dtype="<f4")
    np.testing.assert_array_equal(stored, fake.vector("Tokens expire in UTC"))
    row = world.store.db.execute("select * from unified_memory_embeddings").fetchone()
    assert (row["dimensions"], row["norm"]) == (384, pytest.approx(1))


def test_what_a_day_has_no_time_for_is_embedded_on_the_next(world):
    ids = world.keep(*numbered(120))
    maintenance.add_work_seconds(world.store, world.now, 300)

    world.work(patient=True)
    assert len(world.vectors()) == 50
    assert world.due(patient=True) == []
    work = reports.get_status(world.runtime)["jobs"]
    assert work["seconds_today"] >= work["daily_s"]
    assert work["postponed"] == ["embed", "relate"]
    assert neighbours.list_ids(world.store) == set()
    world.later(days=1)
    world.work(patient=True)
    assert world.vectors().keys() == neighbours.list_ids(world.store) == set(ids)


def test_a_person_who_asks_for_the_work_waits_for_no_other_day(world):
    world.keep(*numbered(120))
    maintenance.add_work_seconds(world.store, world.now, 1000)
    world.work()

    assert len(world.vectors()) == 120


def test_the_vector_of_a_text_with_a_heading_is_as_near_to_both(world):
    heading = "Round invoices half to even"
    plain, headed = world.keep("Tokens expire in UTC", f"{heading}\n\nCents were cut off before")
    world.work()

    stored = np.frombuffer(blob(world, headed), dtype="<f4")
    whole = fake.vector(f"{heading}\n\nCents were cut off before")
    assert float(stored @ stored) == pytest.approx(1)
    assert float(stored @ whole) == pytest.approx(float(stored @ fake.vector(heading)))
    assert float(stored @ whole) > 0.5
    np.testing.assert_array_equal(
        np.frombuffer(blob(world, plain), dtype="<f4"), fake.vector("Tokens expire in UTC")
    )


def test_the_vector_of_a_memory_with_occasions_is_as_near_to_them(world):
    (id,) = world.keep("Tokens expire in UTC")
    world.work()
    placing.place(world.memories, Choice(id=id, when=("login fails at night", "a clock is wrong")))
    assert world.vectors() == {}
    world.work()

    stored = np.frombuffer(blob(world, id), dtype="<f4")
    occasions = fake.vector("login fails at night; a clock is wrong")
    assert float(stored @ occasions) == pytest.approx(
        float(stored @ fake.vector("Tokens expire in UTC"))
    )


def test_a_heading_without_a_vector_fails_with_its_text(world):
    (headed,) = world.keep("This heading becomes nan\n\nInvoices are rounded half to even")
    world.work()

    assert headed not in world.vectors()


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"status": "archived"}, id="archived"),
        pytest.param({"deleted_at": builders.NOW}, id="deleted"),
        pytest.param({"superseded_by": "another"}, id="superseded"),
        pytest.param({"quarantine_reason": "reads as an order"}, id="quarantined"),
    ],
)
def test_what_cannot_be_found_gets_none(world, changes):
    (hidden,) = builders.insert(world.store, memory("nobody may see this", **changes))
    (seen,) = world.keep("everybody may see this")
    world.work()

    assert world.vectors() == {seen: fake.ID}
    assert hidden.id not in world.vectors()


def test_an_approved_memory_gets_its_vector(world):
    (held,) = builders.insert(world.store, memory("an order", quarantine_reason="an order"))
    world.work()
    curation.promote(world.memories, held.id)
    world.work()

    assert world.vectors() == {held.id: fake.ID}


def test_an_edited_memory_gets_a_new_vector(world):
    (id,) = world.keep("Tokens expire in UTC")
    world.work()
    curation.edit(world.memories, id, content="Tokens never expire")
    assert world.vectors() == {}

    world.work()
    assert blob(world, id) == fake.vector("Tokens never expire").tobytes()


def test_a_text_edited_while_it_is_embedded_gets_the_vector_of_the_new_one(world):
    (id,) = world.keep("Tokens expire in UTC")
    edits = iter(["Tokens never expire"])

    def edit(_text):
        for content in edits:
            curation.edit(world.memories, id, content=content)

    world.embedder.heard = edit
    world.work()

    assert blob(world, id) == fake.vector("Tokens never expire").tobytes()


def test_the_newest_come_first_fifty_at_a_time(world):
    texts = numbered(120)
    world.keep(*texts)
    assert batches(world) == [50, 50, 20]
    assert world.embedder.batches == [[text] for text in texts[::-1]]


def test_batches_are_small_while_a_session_is_active(world):
    world.keep(*numbered(25))
    world.prompt()

    assert batches(world) == [10, 10, 5]


def test_between_two_batches_there_is_a_pause(world):
    pauses = []
    world.keep(*numbered(60))
    world.work(pause=lambda: pauses.append(len(world.vectors())))

    assert pauses == [50, 60]


def test_what_arrives_during_the_work_is_embedded_by_the_same_run(world):
    arriving = iter(["Late arrivals count as well"])
    world.keep(*numbered(60))
    world.work(pause=lambda: world.keep(*arriving))

    assert len(world.vectors()) == 61


def test_a_person_at_the_terminal_sees_the_progress(world):
    lines = []
    world.keep(*numbered(60))
    world.work(on_progress=lines.append)

    assert lines == ["embedded 50, 10 to go", "embedded 60, 0 to go"]


class TestAModel:
    def test_that_is_missing_makes_nothing_due_and_loses_nothing(self, world):
        world.keep("Tokens expire in UTC")
        assert world.work(model=None) == ["mirror"]
        assert world.due(model=None) == []

        assert world.due() == ["embed"]
        world.work()
        assert len(world.vectors()) == 1

    def test_that_is_new_to_an_old_store_makes_everything_due(self, world):
        builders.insert(world.store, memory("from before there were models"))
        assert world.work(model=None) == []
        assert world.due(model=None) == []

        assert world.due() == ["embed"]
        assert world.work() == ["embed"]
        assert world.due() == []

    def test_makes_nothing_due_where_there_is_nothing_to_embed(self, world):
        assert world.due() == []

    def test_takes_the_place_of_another_only_when_it_is_complete(self, world):
        ids = world.keep(*numbered(60))
        world.work()
        world.embedder = fake.FakeEmbedder("fake/2")
        seen = []
        world.work(pause=lambda: seen.append(old_and_new(world)))

        assert seen == [(60, 50), (60, 60)]
        assert world.vectors() == dict.fromkeys(ids, "fake/2")

    def test_does_not_drop_what_another_made_while_a_text_still_fails(self, world):
        world.keep("Tokens expire in UTC", "raise the limit")
        world.embedder.embed = lambda texts: np.stack([fake.vector(text) for text in texts])
        world.work()
        world.embedder = fake.FakeEmbedder("fake/2")
        world.work()
        assert old_and_new(world) == (2, 1)

        for minutes in (1, 2, 4, 8):
            world.later(minutes=minutes)
            world.work()
        assert old_and_new(world) == (0, 1)

    def test_that_comes_back_is_completed_again(self, world):
        world.keep("Tokens expire in UTC", "raise the limit")
        world.embedder.embed = lambda texts: np.stack([fake.vector(text) for text in texts])
        world.work()
        first, world.embedder = world.embedder, fake.FakeEmbedder("fake/2")
        world.keep("Learned in between")
        world.work()
        world.embedder = first
        world.later(minutes=1)
        world.work()

        assert set(world.vectors().values()) == {fake.ID}
        assert len(world.vectors()) == 3

    def test_that_went_away_before_it_was_loaded_is_tried_again(self, world):
        world.keep("Tokens expire in UTC")
        gone = running.Model(id=fake.ID, load=lambda: None)
        assert world.work(model=gone) == ["mirror"]

        world.later(minutes=1)
        assert world.work() == ["embed"]

    def test_that_fails_on_everything_counts_against_no_memory(self, world):
        world.keep(*numbered(3))
        for minutes in (1, 2, 4, 8, 16):
            world.embedder.embed = None
            world.work()
            world.later(minutes=minutes)

        ((kind, key, error),) = jobs.list_parked(world.store)
        assert (kind, key) == ("embed", "project")
        assert "ModelFails: the model fake/1 fails: TypeError" in error


def old_and_new(world):
    query = "select count(*) from unified_memory_embeddings where embedding_model = ?"
    return tuple(world.store.db.execute(query, (f"fake/{n}",)).fetchone()[0] for n in (1, 2))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        pytest.param("raise the limit", "ValueError: no tokens in", id="the model raises"),
        pytest.param("nan is not a number", "its vector has the length nan", id="no number"),
        pytest.param("short of numbers", "1 texts became (1, 7) numbers", id="another shape"),
    ],
)
class TestATextThatFails:
    def test_keeps_no_other_text_of_its_batch_waiting(self, world, text, error):
        ids = world.keep(*numbered(30), text, *numbered(40)[30:])
        world.work()

        assert set(world.vectors()) == set(ids) - {ids[30]}

    def test_is_tried_alone_later_and_later_then_parked_with_its_error(self, world, text, error):
        (id, _) = world.keep(text, "Tokens expire in UTC")
        world.work()
        for minutes in (1, 2, 4, 8):
            assert world.parked() == {}
            world.work()
            world.later(minutes=minutes)
            world.work()

        assert list(world.parked()) == [id]
        assert error in world.parked()[id]
        tried = [batch for batch in world.embedder.batches if text in batch]
        assert tried == [[text]] * 5

    def test_is_not_tried_again_once_it_is_parked_unless_asked_for(self, world, text, error):
        park(world, text)
        tries = len(world.embedder.batches)
        world.later(days=1)
        world.work()
        assert len(world.embedder.batches) == tries

        world.work(retry=True)
        assert [text] in world.embedder.batches[tries:]

    def test_is_named_by_doctor_and_status(self, world, text, error):
        id = park(world, text)
        found = doctor.database_is_sound(
            doctor.Patient(project=world.runtime.project, environment={}, now=world.now)
        )

        assert not found.ok
        assert f"vector {id}: " in found.message
        assert "work --retry" in found.hint
        (named,) = reports.get_status(world.memories)["jobs"]["parked"]
        assert named.startswith(f"vector {id}: ")

    def test_gets_its_vector_when_it_is_edited(self, world, text, error):
        id = park(world, text)
        curation.edit(world.memories, id, content="Tokens expire in UTC")
        world.work()

        assert id in world.vectors()
        assert jobs.list_parked(world.store) == []

    def test_is_tried_anew_by_another_model(self, world, text, error):
        id = park(world, text)
        world.embedder = fake.FakeEmbedder("fake/2")
        world.embedder.embed = lambda texts: np.stack([fake.vector(text) for text in texts])
        world.work()

        assert world.vectors() == {id: "fake/2"}
        assert jobs.list_parked(world.store) == []


def park(world, text):
    (id,) = world.keep(text)
    for minutes in (0, 1, 2, 4, 8):
        world.later(minutes=minutes)
        world.work()
    assert list(world.parked()) == [id]
    return id


class TestASession:
    def test_that_is_active_is_left_alone_for_a_minute(self, world):
        world.prompt()
        world.keep("Tokens expire in UTC")
        assert world.due(patient=True) == ["mirror"]
        assert world.work(patient=True) == ["mirror"]

        world.later(seconds=60)
        assert world.work(patient=True) == ["embed"]

    def test_that_is_active_delays_nobody_who_asks(self, world):
        world.prompt()
        world.keep("Tokens expire in UTC")

        assert world.work() == ["mirror", "embed"]

    @pytest.mark.parametrize("end", ["it ended", "nothing happened in it for long"])
    def test_that_is_over_delays_nothing(self, world, end):
        world.prompt()
        if end == "it ended":
            world.leave()
        else:
            world.later(minutes=31)
        world.keep("Tokens expire in UTC")

        assert world.work(patient=True) == ["mirror", "embed"]

    def test_that_goes_on_does_not_put_it_off_forever(self, world):
        world.prompt()
        world.keep("Tokens expire in UTC")
        world.later(seconds=40)
        world.keep("Invoices are rounded half to even")
        world.prompt()
        world.later(seconds=20)

        assert world.due(patient=True) == ["mirror", "embed"]


def test_status_tells_how_far_the_vectors_are(world, monkeypatch):
    monkeypatch.setattr(running, "find_model", lambda _runtime: fake.model(world.embedder))
    world.keep(*numbered(59), "raise the limit")
    world.work()
    world.keep("One that waits")

    assert reports.get_status(world.memories)["embeddings"] == {
        "model": fake.ID,
        "installed": True,
        "embedded": 59,
        "queue_depth": 2,
        "parked": 0,
        "batches_processed": 2,
        "embeddings_written": 59,
        "failed_entries": 1,
        "last_batch_size": 10,
        "max_batch_size_observed": 50,
        "last_processed_at": "2026-01-31T12:00:00.000Z",
    }
    assert reports.get_status(world.memories)["jobs"]["worker"] == "not running"


def test_status_without_a_model_says_so(world, monkeypatch):
    monkeypatch.setattr(running, "find_model", lambda _runtime: None)
    world.keep("Tokens expire in UTC")
    world.work(model=None)
    said = reports.get_status(world.memories)

    assert (said["embeddings"]["model"], said["embeddings"]["installed"]) == (None, False)
    assert said["jobs"]["due"] == 0


def test_a_hard_delete_takes_vector_and_failure_with_it(world):
    (good, bad) = world.keep("Tokens expire in UTC", "raise the limit")
    world.work()
    curation.delete(world.memories, good, hard=True)
    curation.delete(world.memories, bad, hard=True)
    world.work()

    assert world.vectors() == {}
    assert world.store.db.execute("select * from jobs").fetchall() == []


class TestASecondModel:
    """The one for other languages, beside the first."""

    def models(self, world, second):
        first = fake.model(world.embedder)
        return replace(first, second=fake.model(second))

    def ids(self, world):
        query = "select distinct embedding_model from unified_memory_embeddings order by 1"
        return [row[0] for row in world.store.db.execute(query)]

    @pytest.fixture
    def second(self):
        return fake.FakeEmbedder(SECOND_ID)

    def test_embeds_every_memory_as_well(self, world, second):
        texts = ("Tokens expire in UTC", "Rechnungen werden gerundet und nicht abgeschnitten")
        world.keep(*texts)
        world.work(model=self.models(world, second))

        assert self.ids(world) == sorted((fake.ID, SECOND_ID))
        assert sorted(text for batch in second.batches for text in batch) == sorted(texts)
        assert all(dense.load_whitening(world.store, id, 384) for id in (fake.ID, SECOND_ID))

    def test_that_is_installed_later_makes_an_embedded_store_due(self, world, second):
        world.keep(*numbered(60))
        world.work()
        pair = self.models(world, second)
        assert world.due() == []
        assert world.due(model=pair) == ["embed"]

        world.work(model=pair)
        assert (len(second.batches), len(world.embedder.batches)) == (60, 60)
        assert world.due(model=pair) == []

    def test_that_was_removed_leaves_its_vectors(self, world, second):
        world.keep("Tokens expire in UTC")
        world.work(model=self.models(world, second))
        (late,) = world.keep("Invoices are rounded half to even")
        world.work()

        assert self.ids(world) == sorted((fake.ID, SECOND_ID))
        assert world.vectors()[late] == fake.ID

    def test_records_the_memories_that_the_first_does_not_read(self, world, second):
        english, german = world.keep("Tokens expire in UTC", "Rechnungen werden gerundet")
        world.work(model=self.models(world, second))
        assert self.unread(world) == [german]

        curation.edit(world.memories, german, content="Invoices are rounded")
        curation.edit(
            world.memories, english, content="Die Tokens werden nach einer Stunde ungültig"
        )
        world.work(model=self.models(world, second))
        assert self.unread(world) == [english]

    def test_records_no_deleted_memory_as_unread(self, world, second):
        german, _ = world.keep("Rechnungen werden gerundet", "Tokens expire in UTC")
        world.work(model=self.models(world, second))
        curation.delete(world.memories, german, hard=True)
        world.keep("Invoices are rounded")
        world.work(model=self.models(world, second))
        assert embeddings.unread_rows(world.store) == b""

    def test_judges_the_languages_of_new_memories_alone(self, world, second, monkeypatch):
        judged = []
        monkeypatch.setattr(embedding, "is_english", lambda text: judged.append(text) or True)
        for text in ("Tokens expire in UTC", "Invoices are rounded"):
            world.keep(text)
            world.work(model=self.models(world, second))
        assert judged == ["Tokens expire in UTC", "Invoices are rounded"]

    def test_reads_once_a_run_which_were_unread_before(self, world, second, monkeypatch):
        reads, read = [], embeddings.unread_rows
        monkeypatch.setattr(
            embedding.embeddings, "unread_rows", lambda store: reads.append(1) or read(store)
        )
        ids = world.keep(*(f"Rechnung {at} wird gerundet" for at in range(60)))
        world.work(model=self.models(world, second))

        assert (len(reads), sorted(self.unread(world))) == (1, sorted(ids))

    def unread(self, world):
        rows = np.frombuffer(embeddings.unread_rows(world.store), "<i8").tolist()
        return [
            memory.id for memory in memory_queries.everything(world.store) if memory.seq in rows
        ]

    def test_that_fails_keeps_the_first_from_nothing(self, world):
        class Damaged(fake.FakeEmbedder):
            def embed(self, texts):
                raise DamagedModel("half of it")

        (id,) = world.keep("Tokens expire in UTC")
        world.work(model=self.models(world, Damaged(SECOND_ID)))

        assert world.vectors() == {id: fake.ID}
        assert dense.load_whitening(world.store, fake.ID, 384) is not None
        (failing,) = jobs.list_failing(world.store)
        assert "half of it" in failing[2]


def test_a_vector_of_ade_is_taken_where_its_text_is_read_as_there(world):
    plain, split = world.keep("Tokens expire in UTC", "Call parseInvoice for each line")
    world.work()
    world.store.db.execute(
        "update unified_memory_embeddings set embedding_model = ?", (embeddings.ADE_MODEL,)
    )
    world.embedder.model_id, world.embedder.batches = model_id(EmbedSettings()), []
    world.work(model=fake.model(world.embedder))

    assert world.embedder.batches == [["Call parseInvoice for each line"]]
    assert world.vectors() == dict.fromkeys((plain, split), world.embedder.model_id)
