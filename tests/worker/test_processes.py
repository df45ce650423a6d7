"""Workers as processes: many at once, and those that are killed or kill themselves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ademem.store import jobs
from tests import builders
from tests.builders import memory
from tests.examples import examples

ROOT = Path(__file__).parents[2]
KILLS = examples(24, share=6)


def worker(world):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.worker.fake", str(world.root)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def told(process):
    """The texts it began to embed, when it is over."""
    return process.communicate(timeout=120)[0].splitlines()


def known(world, *texts):
    """Memories put in as they are; what changes memories asks for their vectors."""
    rows = builders.insert(world.store, *(memory(text) for text in texts))
    jobs.follow(world.store, world.now)
    return {row.content: row.id for row in rows}


def test_of_ten_workers_at_once_one_works(world):
    texts = known(world, *(f"note {number}" for number in range(30)))
    workers = [worker(world) for _ in range(10)]
    embedded = [told(process) for process in workers]

    assert [process.returncode for process in workers] == [0] * 10
    assert sorted(text for texts in embedded for text in texts) == sorted(texts)
    assert set(world.vectors()) == set(texts.values())


def test_a_worker_makes_no_project_where_the_folder_was_moved_away(world):
    world.root.rename(world.root.with_name("moved"))
    late = worker(world)
    told(late)

    assert late.returncode == 0
    assert not world.root.exists()


def test_a_worker_ends_where_the_project_is_removed_meanwhile(world):
    texts = known(world, *(f"note {number}" for number in range(300)))
    process = worker(world)
    process.stdout.readline()
    world.root.rename(world.root.with_name("removed"))

    assert len(told(process)) < len(texts) / 2
    assert process.returncode == 0


@pytest.mark.slow
def test_what_a_killed_worker_kept_is_kept_and_the_rest_is_done_later(world):
    texts = known(world, *(f"note {number}" for number in range(examples(400, share=2))))
    for number in range(KILLS):
        before = set(world.vectors())
        process = worker(world)
        heard = [process.stdout.readline().strip() for _ in range(1 + 17 * number % 90)]
        process.kill()
        heard += told(process)

        assert before <= set(world.vectors())
        assert before.isdisjoint(texts[text] for text in heard if text in texts)

    world.now = world.now.replace(year=2100)
    world.work()
    rows = world.store.db.execute("select memory_id from unified_memory_embeddings").fetchall()
    assert sorted(row[0] for row in rows) == sorted(texts.values())
    assert world.store.db.execute("select * from jobs").fetchall() == []
    assert world.store.db.execute("pragma integrity_check").fetchone()[0] == "ok"


def test_a_text_that_takes_the_worker_down_is_parked_and_the_others_get_their_vectors(world):
    texts = known(world, *(f"note {number}" for number in range(5)), "a fatal text", "the newest")
    ends = []
    for _ in range(jobs.ATTEMPTS + 2):
        process = worker(world)
        heard = told(process)
        ends.append((process.returncode, len(heard)))
        world.store.db.execute("update jobs set due_at = '2026-01-01T00:00:00.000Z'")

    died = -signal.SIGKILL
    assert ends == [(died, 2), (died, 2), (died, 1), (died, 1), (died, 1), (0, 5), (0, 0)]
    assert world.parked() == {texts.pop("a fatal text"): jobs.ABANDONED}
    assert set(world.vectors()) == set(texts.values())


def test_the_worker_is_the_model_s_only_user_and_starts_no_other(world):
    program = (
        "import os, sys\nfrom tests.worker import fake\n"
        "fake.main(sys.argv[1], fake.model(fake.FakeEmbedder("
        "heard=lambda _: print(os.environ['ADEMEM_DISABLE'], flush=True))))"
    )
    known(world, "a note")
    command = [sys.executable, "-c", program, str(world.root)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    assert ran.stdout.splitlines() == ["1"]


def test_a_worker_that_wants_too_much_memory_fails_and_says_so(world):
    bounded = os.environ | {"ADEMEM_JOBS_MEMORY_MB": "600"}
    program = (
        "import sys\nfrom tests.worker import fake\n"
        "fake.main(sys.argv[1], fake.model(fake.FakeEmbedder("
        "heard=lambda text: bytearray(10**9) if 'huge' in text else None)))"
    )
    texts = known(world, "a note", "a huge note")
    command = [sys.executable, "-c", program, str(world.root)]
    subprocess.run(command, cwd=ROOT, env=bounded, check=True)

    assert set(world.vectors()) == {texts["a note"]}
    (error,) = world.store.db.execute(
        "select last_error from jobs where kind = 'vector'"
    ).fetchone()
    assert error.startswith("MemoryError")
