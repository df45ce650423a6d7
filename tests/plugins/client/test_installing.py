"""The module is put into the client's skills folder, found missing there, and removed."""

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from ademem.core import project
from ademem.operations.doctor import Patient
from ademem.plugins.client import checks, installing, places


@pytest.fixture
def there(world, tmp_path, monkeypatch):
    """The person's environment, with a client on PATH; where the module belongs."""
    told(tmp_path, "2.1.332")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return Path(places.module_folder(world.environment))


def told(root, version):
    program = root / "bin/claude"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n")
    program.chmod(0o755)


def look(world, check):
    patient = Patient(
        project=project.at(str(world.root)), environment=world.environment, now=world.now
    )
    return check(patient)


def test_it_is_installed_once_and_removed_whole(world, there):
    skills = there.parent
    (line, _) = installing.install(world.environment)
    (again,) = installing.install(world.environment)

    assert [str(there) in said for said in (line, again)] == [True, True]
    assert json.loads((there / "hooks/hooks.json").read_text())["modules"] == ["./client.mjs"]
    assert "pre_tool_use.py" in (there / "hooks/place.mjs").read_text()

    installing.uninstall(world.environment)
    assert not skills.exists()
    assert not Path(places.folder(world.environment)).exists()


def test_other_skills_and_files_of_others_in_the_folder_stay(world, there):
    (there.parent / "theirs").mkdir(parents=True)
    installing.install(world.environment)
    (there / "notes.md").write_text("mine")
    installing.uninstall(world.environment)

    assert sorted(path.name for path in there.parent.iterdir()) == [places.NAME, "theirs"]
    assert [path.name for path in there.iterdir()] == ["notes.md"]


@pytest.mark.parametrize("version", ["2.1.329", "2.0.999", "strange"])
def test_it_is_refused_for_a_client_that_would_not_run_it(world, there, tmp_path, version):
    told(tmp_path, version)
    with pytest.raises(installing.CannotInstall, match=r"runs no modules|no Claude Code") as raised:
        installing.install(world.environment)

    assert raised.value.hint.startswith("the module needs")
    assert not there.exists()


def test_the_doctor_compares_it_with_the_package_and_with_the_last_session(world, there):
    absent = look(world, checks.module_is_loaded)
    installing.install(world.environment)
    waits = look(world, checks.module_is_loaded)
    written = there / "hooks/hooks.json"
    before = (world.now - timedelta(hours=1)).timestamp()
    os.utime(written, (before, before))
    world.fire("session_start", source="startup")
    settings = world.root / ".claude/settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('{"enabledPlugins": {"ademem-client@skills-dir": false}}')
    missed = look(world, checks.module_is_loaded)
    alive = Path(places.folder(world.environment)) / "alive/s1"
    alive.parent.mkdir()
    alive.touch()
    loaded = look(world, checks.module_is_loaded)
    (there / "hooks/find.mjs").write_text("")
    differs = look(world, checks.module_is_loaded)

    found = [absent, waits, missed, loaded, differs]
    assert [each.ok for each in found] == [True, True, False, True, False]
    assert "waits for a session" in waits.message
    assert f"enabledPlugins in {settings}" in missed.message


def test_the_doctor_warns_of_modules_that_a_clone_brings(world):
    assert look(world, checks.clones_bring_no_module).ok

    for name, text in (("bad", '{"modules": ["./x.ts"]}'), ("odd", "["), ("plain", "{}")):
        hooks = world.root / f".claude/skills/{name}/hooks/hooks.json"
        hooks.parent.mkdir(parents=True)
        hooks.write_text(text)
    found = look(world, checks.clones_bring_no_module)

    assert (found.ok, found.message) == (False, ".claude/skills/bad/hooks/x.ts")


def test_a_clone_hides_no_module_behind_what_the_doctor_cannot_read(world):
    given = {
        "long": b" " * 200_000 + b'{"modules": ["./x.ts"]}',
        "deep": b"[" * 50_000,
        "mark": b'\xef\xbb\xbf{"modules": ["./x.ts"]}',
        "odd": b'{"modules": ["./x.ts"], "name": "\xff"}',
        "one": b'{"modules": "./x.ts"}',
    }
    for name, data in given.items():
        hooks = world.root / f".claude/skills/{name}/hooks/hooks.json"
        hooks.parent.mkdir(parents=True)
        hooks.write_bytes(data)
    endless = world.root / ".claude/skills/zero/hooks/hooks.json"
    endless.parent.mkdir(parents=True)
    endless.symlink_to("/dev/zero")
    found = look(world, checks.clones_bring_no_module)

    below = ".claude/skills/{}/hooks/"
    unread = [f"{below.format(name)}hooks.json (cannot be read)" for name in ("deep", "long")]
    named = [f"{below.format(name)}x.ts" for name in ("mark", "odd", "one")]
    last = f"{below.format('zero')}hooks.json (cannot be read)"
    assert found.message == ", ".join([*unread, *named, last])


@pytest.mark.parametrize(
    "call",
    [
        {"tool_name": "Write", "tool_input": {"file_path": "{there}/hooks/find.mjs"}},
        {"tool_name": "Bash", "tool_input": {"command": "rm -r {there}"}},
    ],
    ids=["written", "removed"],
)
def test_no_tool_changes_the_module(world, there, call):
    text = json.dumps(call).replace("{there}", str(there))

    assert "which only ademem and the person write" in world.denial(**json.loads(text))


def test_a_session_says_once_that_the_client_did_not_load_the_module(world, there):
    world.environment |= {"ADEMEM_NOTICE_LEVEL": "normal", "AI_AGENT": "claude-code_2-1-332_agent"}
    installing.install(world.environment)
    before = (world.now - timedelta(hours=1)).timestamp()
    os.utime(there / "hooks/hooks.json", (before, before))
    said = []
    for session in ("s1", "s2", "s3"):
        world.environment["CLAUDE_CODE_SESSION_ID"] = session
        said.append(world.notice(session_id=session))
        if session == "s2":
            alive = Path(places.folder(world.environment)) / "alive" / session
            alive.parent.mkdir()
            alive.touch()

    assert ["did not load its module" in line for line in said] == [False, True, False]
