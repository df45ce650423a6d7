"""Prompts, as processes: by meaning where a process has the model, by words where none answers."""

from contextlib import closing

import pytest

from ademem import operations
from ademem.core.settings import EmbedSettings
from ademem.operations import curation, searching, upkeep
from ademem.search import embedding
from tests import builders
from tests.builders import memory
from tests.test_architecture import SLOW

PASSKEYS = "We moved to passkeys in March"
QUESTION = "How does sign-in work here?"
NOTES = (
    "Passwords are hashed with argon2id",
    "Invoices are rounded half to even",
    "The nightly export is written to a bucket",
    "Session cookies are Secure and HttpOnly",
    "Terraform state is in the bucket kestrel-tfstate",
    "Search results are cached for a minute",
)
WORDS = "Sign-in forms are rendered by the gateway"


def test_a_prompt_finds_what_it_means_where_somebody_has_the_model(world):
    world.know(PASSKEYS, "Invoices are rounded half to even")
    assert world.prompt(QUESTION) == ""

    with world.server() as server:
        assert PASSKEYS in world.prompt("So how does sign-in work?")
        assert "sign-in" in server.stdout.readline()
    assert world.failures() == ""


def test_a_prompt_in_another_language_is_answered_by_the_second_model(world, models):
    if embedding.load_second(EmbedSettings(), models) is None:
        pytest.skip("ADEMEM_MODELS_DIR has no second model")
    world.environment |= models | {"ADEMEM_JOBS_AUTO": "false"}  # it starts no process itself
    builders.insert(world.runtime.store, *map(memory, NOTES))
    with closing(
        operations.open_memories(str(world.root), environment=world.environment)
    ) as memories:
        upkeep.work(memories)
    assert world.prompt("パスワードのハッシュ方式は何ですか?") == ""

    with world.real_server():
        shown = world.prompt("パスワードはどうハッシュ化しますか?")
    assert [note for note in NOTES if note in shown] == [NOTES[0]]


def test_asking_loads_nothing_slow(world):
    world.know(PASSKEYS)
    with world.server():
        loaded, hits = world.loaded_by_asking(QUESTION)

    assert len(hits) == 1
    assert "_socket" in loaded
    assert sorted(SLOW & set(loaded)) == []


def test_a_worker_lends_its_model(world):
    world.know(PASSKEYS)
    with world.server("work"):
        assert PASSKEYS in world.prompt(QUESTION)


def test_what_was_shown_in_a_session_is_not_shown_again(world):
    world.know(PASSKEYS)
    with world.server():
        assert PASSKEYS in world.prompt(QUESTION)
        assert PASSKEYS not in world.prompt("And how does sign-in work on phones?")


def test_what_became_invisible_meanwhile_is_not_shown(world):
    world.know(PASSKEYS)
    with world.server():
        (known,) = searching.list_memories(world.memories)
        curation.archive(world.memories, known.id)
        assert world.prompt(QUESTION) == ""


def test_a_server_that_is_too_slow_is_done_without(world):
    world.know(WORDS)
    world.configure(warm_ms=200)
    with world.server() as server:
        # It goes on only when told to, so that this hook can only have left it.
        assert WORDS in world.prompt("How slowly does the gateway render sign-in forms?")
        assert "slowly" in server.stdout.readline()


def test_a_server_that_dies_in_the_middle_is_done_without(world):
    world.know(WORDS)
    with world.server() as server:
        assert WORDS in world.prompt("How deadly are sign-in forms of the gateway?")
        assert server.wait() < 0
        assert WORDS not in world.prompt("Thanks")
    assert world.failures() == ""


def test_a_socket_that_nobody_listens_at_is_done_without(world):
    world.know(WORDS)
    with world.server() as server:
        server.kill()
        server.wait()
        assert WORDS in world.prompt("How are sign-in forms rendered?")
    assert world.failures() == ""


def test_a_project_that_says_no_asks_nobody(world):
    world.know(PASSKEYS, WORDS)
    world.configure(warm=False, warm_ms=60_000)
    with world.server():
        said = world.prompt("How are sign-in forms rendered?")

    assert WORDS in said
    assert f"] {PASSKEYS}" not in said


@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param(lambda path: path.write_text("not a socket"), id="a file"),
        pytest.param(lambda path: path.mkdir(), id="a folder"),
        pytest.param(lambda path: path.symlink_to("/dev/null"), id="a link"),
    ],
)
def test_something_else_in_the_place_of_the_socket_is_done_without(world, hostile):
    world.know(WORDS)
    hostile(world.root / ".ade/run/warm.sock")

    assert WORDS in world.prompt("How are sign-in forms rendered?")
    assert world.failures() == ""
