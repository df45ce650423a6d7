"""Adopted instruction files beside those that the client itself puts before the model."""

from __future__ import annotations

import pytest

from .product import Product
from .script import Call, bash, model, person
from .session import Session
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract(full_only=True)]

OF_CLIENT = "The zeppelin table in `src/zeppelin.py` must never be edited by hand"
IMPORTED = "Walrus fixtures in `src/walrus.py` must never be renamed"
OF_AGENTS = "Quokka queues in `src/quokka.py` must never be drained at night"
RULE = "Lemur handlers must never return plain strings"
EDITOR = "The owl notes in `docs/owl.md` must never be reordered"
FACT = "The otter index in `src/otter.py` is rebuilt by the nightly job"
TEXTS = (OF_CLIENT, IMPORTED, OF_AGENTS, RULE, EDITOR, FACT)


@pytest.fixture
def files(world: World, ademem: Product) -> Product:
    world.write("CLAUDE.md", f"# Tables\n\n- {OF_CLIENT}\n\n@docs/more.md\n")
    world.write("docs/more.md", f"# More\n\n- {IMPORTED}\n")
    world.write("AGENTS.md", f"# Queues\n\n- {OF_AGENTS}\n")
    world.write(".claude/rules/lemur.md", f"---\npaths: src/lemur/**\n---\n# Lemurs\n\n- {RULE}\n")
    world.write(".cursorrules", f"- {EDITOR}\n- {FACT}\n")
    for name in ("zeppelin", "walrus", "quokka", "otter", "lemur/a"):
        world.write(f"src/{name}.py", "x = 1\n")
    world.write("docs/owl.md", "hoot\n")
    world.git("add", "-A")
    world.git("commit", "--quiet", "-m", "Begin")
    ademem("adopt")
    return ademem


def twice(session: Session) -> list[tuple[int, str]]:
    """Requests, by number, that hold a text of an instruction file more than once."""
    return [
        (at, text)
        for at, request in enumerate(session.requests)
        for text in TEXTS
        if request.text.count(text) > 1
    ]


def put(*names: str) -> list[Call]:
    return [bash(f"printf other > {name}") for name in names]


def test_no_text_of_an_instruction_file_is_before_the_model_twice(
    world: World, files: Product
) -> None:
    session = world.chat(
        person("When is the otter index in src/otter.py rebuilt, and by which nightly job?"),
        model("By the nightly job."),
        person("May the zeppelin table, walrus fixtures and quokka queues be edited by hand?"),
        model("No."),
        person("Then change all of them"),
        model(Call("Read", {"file_path": str(world.project / "src/lemur/a.py")})),
        model(*put("src/zeppelin.py", "src/walrus.py", "src/quokka.py")),
        model(*put("src/lemur/a.py", "docs/owl.md", "src/otter.py")),
        model(*put("docs/owl.md")),
        model("Done."),
    )

    assert twice(session) == []
    assert session.requests[0].text.count(FACT) == 1, "it answers the prompt"
    assert session.requests[-1].text.count(EDITOR) == 1, "it is about a file that was written"
    assert not any(result.is_error for request in session.requests for result in request.results)


def test_a_line_stops_a_call_after_the_persons_yes(world: World, files: Product) -> None:
    owl, zeppelin = "docs/owl.md", "src/zeppelin.py"
    before = world.chat(person("Change the files"), model(*put(owl, zeppelin)), model("Done."))
    assert [result.is_error for result in before.requests[-1].results] == [False, False]
    files("adopt", "--yes")
    after = world.chat(
        person("Change the files"),
        *(model(*put(owl)), model(*put(owl))),
        *(model(*put(zeppelin)), model(*put(zeppelin))),
        model("Done."),
    )
    results = [result for request in after.requests for result in request.results]

    assert [result.is_error for result in results] == [True, False, True, False]
    assert EDITOR in results[0].text
    assert "CLAUDE.md:3" in results[2].text
    assert twice(after) == []


def test_a_line_that_only_a_branch_has_stops_nothing(world: World, files: Product) -> None:
    files("adopt", "--yes")
    world.git("checkout", "--quiet", "-b", "review")
    line = "- Harbour lists in `docs/owl.md` must never change"
    world.write(".cursorrules", f"{line}\n- {FACT}\n")
    world.git("commit", "--quiet", "-am", "Forbid more")
    changed = model(*put("docs/owl.md"))
    session = world.chat(person("Change the owl notes"), changed, model("Done."))

    assert [result.is_error for result in session.requests[-1].results] == [False]
    assert "Harbour lists" not in session.requests[-1].text
