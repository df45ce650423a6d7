"""The file from which the module in the client reads the rules of a project."""

import json
import os
import stat
from pathlib import Path

import pytest

from ademem.core import trust
from ademem.operations import curation
from ademem.plugins.client import compiling, places
from ademem.store import relations
from tests.plugins.client import rules

RULE = ("Never edit generated code by hand", {"at": ("gen/**",), "stop": True})
CALL = {"tool": "Write", "input": {"file_path": "", "content": "x"}}


def compiled(world):
    return json.loads(rules.file_of(world).read_text().splitlines()[1])


def denies(world, content="gen/api.py"):
    call = {"tool": "Write", "input": {"file_path": str(world.root / content), "content": "x"}}
    (answer,) = rules.judge(world, [call])
    return bool(answer["reason"])


def test_nothing_is_written_where_the_module_is_not_installed(world):
    rules.know(world, [RULE])
    world.fire("session_start", source="startup")

    assert not Path(places.folder(world.environment)).exists()


def test_a_rule_is_in_the_file_when_the_command_that_wrote_it_ends(world):
    folder = rules.install(world)
    before = rules.file_of(world).read_text()
    rules.know(world, [RULE])
    file = rules.file_of(world)

    assert file.read_text() != before
    assert (
        stat.S_IMODE(file.stat().st_mode)
        == stat.S_IMODE((folder / places.PROJECTS).stat().st_mode)
        == 0o600
    )
    assert denies(world)


def test_a_rule_denies_from_a_persons_word_on_until_it_is_archived(world):
    rules.install(world)
    given = {"read": ("gen/",), "by": rules.BY_AGENT, "is_candidate": True}
    rules.know(world, [("Never edit generated code by hand", given)])
    (memory,) = world.live()
    found = [denies(world)]
    for act in (curation.promote, curation.archive):
        with world.terminal() as memories:
            act(memories, memory.id)
        found.append(denies(world))

    assert found == [False, True, False]


def test_a_file_that_did_not_change_is_not_written_again(world):
    rules.know(world, [RULE])
    rules.install(world)
    written = rules.file_of(world).stat().st_mtime_ns
    world.fire("session_start", source="startup", session_id="s2")

    assert rules.file_of(world).stat().st_mtime_ns == written


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda text: text[: len(text) // 2], id="half"),
        pytest.param(lambda text: text.replace('"gen"', '"gem"'), id="altered"),
        pytest.param(lambda text: text.replace('"ademem":1', '"ademem":2'), id="other format"),
        pytest.param(lambda text: f"{text}{{}}\n", id="longer"),
        pytest.param(lambda _: "nonsense", id="garbage"),
    ],
)
def test_a_damaged_file_is_no_file(world, damage):
    rules.know(world, [RULE])
    rules.install(world)
    file = rules.file_of(world)
    file.write_text(damage(file.read_text()))

    assert rules.judge(world, []) is None


def test_a_file_of_another_project_is_no_file(world):
    rules.know(world, [RULE])
    rules.install(world)
    listed = Path(places.folder(world.environment)) / places.PROJECTS
    other = str(world.root.parent / "other")
    known = json.loads(listed.read_text())
    world_file = known[str(world.root)]
    listed.write_text(json.dumps({other: world_file}))

    assert rules.judge_file(listed.parent / world_file, other, []) is None


def test_what_a_later_memory_replaces_is_left_to_python(world):
    rules.know(world, [RULE, ("gen/ is written by hand since May", {"at": ("gen/**",)})])
    earlier, later = sorted(world.live(), key=lambda memory: "May" in memory.content)
    with world.memories() as memories, memories.store.transaction():
        given = {"score": 1.0, "reason": "", "actor": "user", "now": world.now}
        relations.add(memories.store, earlier, later, relations.SUPERSEDES, **given)
    rules.install(world)
    found = compiled(world)
    numbers = {each["id"]: number for number, each in enumerate(found["memories"])}
    asks = {number for number, _, _, _, asks, _ in found["ties"] if asks}

    assert numbers[earlier.id] in asks


def test_what_came_with_a_clone_denies_nothing(world):
    rules.know(world, [RULE])
    with world.memories() as memories:
        trust.forget_store(memories.store.secret, world.environment)
    rules.install(world)

    assert not denies(world)


def test_above_the_limit_only_marked_rules_are_kept(world, monkeypatch):
    monkeypatch.setattr(compiling, "MOST_BYTES", 1000)
    rules.know(world, [RULE, ("Routes stand in pages/", {"at": ("pages/",)})])
    rules.install(world)
    found = compiled(world)

    assert found["partial"]
    assert list(found["folders"]) == ["gen"]
    assert denies(world)


def test_files_of_projects_that_are_gone_leave_the_list(world):
    folder = rules.install(world)
    listed = folder / places.PROJECTS
    known = json.loads(listed.read_text())
    listed.write_text(json.dumps({"/nowhere": "0.json"}))
    world.fire("session_start", source="startup", session_id="s2")

    assert json.loads(listed.read_text()) == known
    assert os.listdir(folder)


def test_notes_of_sessions_of_long_ago_are_deleted(world):
    folder = rules.install(world)
    for name in ("old", "new"):
        (folder / "alive").mkdir(exist_ok=True)
        (folder / "alive" / name).touch()
    now = world.now.timestamp()
    os.utime(folder / "alive/new", (now, now))
    os.utime(folder / "alive/old", (now - 8 * 86_400,) * 2)
    world.fire("session_start", source="startup", session_id="s2")

    assert os.listdir(folder / "alive") == ["new"]
