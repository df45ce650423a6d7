"""What a hook does about due work: look, start a process, and pay little for it."""

import json
import os
import subprocess
import sys

import pytest

from ademem import __version__
from ademem import worker as work
from ademem.core import process
from ademem.operations import upkeep
from ademem.search.embedding import cache
from ademem.store import jobs
from ademem.worker import running
from tests import builders
from tests.builders import memory
from tests.test_architecture import PACKAGE, ROOT, SLOW

START = """
import json, sys
sys.path.insert(0, sys.argv[1])
from ademem.core import clock, project
from ademem import worker as work
from ademem.store.runtime import open_runtime

work._detach = lambda command: print(json.dumps([command[2:], sorted(sys.modules)]))
runtime = open_runtime(project.at(sys.argv[2]), {"ADEMEM_MODELS_DIR": sys.argv[3]}, clock.now())
getattr(work, sys.argv[4])(runtime)
"""


@pytest.fixture
def models(tmp_path):
    """A folder that looks as if a model were installed in it."""
    folder = cache.folder({"ADEMEM_MODELS_DIR": str(tmp_path / "models")}, "int8")
    os.makedirs(folder)
    for name in (cache.GRAPH, cache.TOKENIZER):
        (tmp_path / "models" / cache.MODELS["int8"] / "int8" / name).write_text("not looked into")
    cache.seal(folder, (cache.GRAPH, cache.TOKENIZER), source="test", trust="hash")
    return tmp_path / "models"


def start(world, models, function="start"):
    """What a hook starts, and the modules that it has loaded by then."""
    command = [sys.executable, "-I", "-S", "-c", START, ROOT, world.root, models, function]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout) if ran.stdout else None


def test_an_installed_model_makes_an_old_store_due(world, models):
    builders.insert(world.store, memory("from before there were models"))

    command, loaded = start(world, models)
    assert command == [
        "-c",
        work.RUN.format("main"),
        str(PACKAGE.parent),
        world.runtime.project.root,
    ]
    assert sorted(SLOW & set(loaded)) == []
    assert jobs.exists(world.store, "embed")


def test_without_a_model_there_is_nothing_to_start(world, tmp_path):
    builders.insert(world.store, memory("from before there were models"))
    world.work(model=None)

    assert start(world, tmp_path / "none") is None


def test_where_every_vector_is_there_nothing_is_started(world, models):
    model = running.Model(
        id="all-MiniLM-L6-v2/int8/256/words/headings", load=lambda: world.embedder
    )
    world.embedder.model_id = model.id
    world.keep("Tokens expire in UTC")
    world.work(model=model)

    assert start(world, models) is None


@pytest.fixture
def embedded(world):
    """A memory with a vector of the model that is installed."""
    world.embedder.model_id = "all-MiniLM-L6-v2/int8/256/words/headings"
    world.keep("Tokens expire in UTC")
    world.work(model=running.Model(id=world.embedder.model_id, load=lambda: world.embedder))


def test_a_prompt_starts_the_process_that_keeps_the_model_loaded(world, models, embedded):
    command, loaded = start(world, models, "start_server")

    program = work.RUN.format("serve")
    assert command == ["-c", program, str(PACKAGE.parent), world.runtime.project.root]
    assert sorted(SLOW & set(loaded)) == []


def test_one_such_process_runs_on_a_machine(world, models, embedded):
    folder = str(models / cache.MODELS["int8"] / "int8")
    with cache.serving(folder):
        assert start(world, models, "start_server") is None
        assert start(world, models, "start_server") is None

    assert cache.take_asked(folder) == [world.runtime.project.root]  # it is to serve this one, too
    assert cache.take_asked(folder) == []


def test_without_a_model_or_vectors_no_such_process_starts(world, models, tmp_path):
    assert start(world, models, "start_server") is None
    assert start(world, tmp_path / "none", "start_server") is None


def test_the_download_of_the_model_imports_nothing_of_the_project(world, monkeypatch):
    with open(os.path.join(world.root, "typer.py"), "w", encoding="utf-8") as file:
        file.write("raise SystemExit('the module of the project was run')")
    started = []
    monkeypatch.setattr(process, "detach", lambda command, _environment: started.append(command))
    upkeep.download_model(world.runtime)

    (command,) = started
    asked = [*command[: command.index("model")], "--version"]
    ran = subprocess.run(asked, cwd=world.root, capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == (f"ademem {__version__}\n", "")
    assert command[command.index("model") :] == ["model", "install", "--project", str(world.root)]
