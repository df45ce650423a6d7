"""Install and uninstall on real files."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from ademem.core.errors import NotEnrolled
from ademem.operations.install import (
    BadSettingsFile,
    Where,
    find_commands,
    hooks_folder,
    install,
    own_commands,
    settings_path,
    uninstall,
)
from ademem.operations.install.registration import EVENTS, NEWER, PERMISSIONS

FOREIGN = (
    '{\n   "hooks" : {\n      "PreToolUse" : [ { "matcher":"Bash", "hooks":'
    ' [{"type":"command","command":"theirs"}] } ]\n   },\n\n'
    '   "permissions": {"allow": ["Read", "Bash(ls:*)"]},\n   "model":"opus"}'
)

BEFORE = [
    pytest.param("{}", id="empty"),
    pytest.param("{ }\n", id="empty with a blank"),
    pytest.param(FOREIGN, id="foreign hooks, odd indentation, no newline at the end"),
    pytest.param(FOREIGN.replace("\n", "\r\n"), id="CRLF"),
    pytest.param("\ufeff" + FOREIGN, id="byte order mark"),
    pytest.param('{"hooks":{},"permissions":{"allow":[]}}', id="empty containers"),
    pytest.param('{\n\t"hooks": {\n\t\t"Stop": [ ]\n\t}\n}\n', id="empty event, tabs"),
    pytest.param('{"permissions": {"deny": ["Read(.env)"]}, "ключ": "значение"}', id="one line"),
]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # without a client
    (tmp_path / "project/.ade").mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def local(project):
    """The settings file that an install writes to unless told otherwise."""
    (project / ".claude").mkdir()
    return project / ".claude/settings.local.json"


def a_client(tmp_path, says):
    """Make a client that answers every option with a shell line, and return its folder."""
    client = tmp_path / "bin/claude"
    client.parent.mkdir()
    client.write_text(f"#!/bin/sh\n{says}\n")
    client.chmod(0o755)
    return client.parent


def put(project, where=Where.LOCAL, **other):
    given = {"python": "/a venv/python", "hooks": "/a venv/hooks"} | other
    return install(str(project), where, **given)


def take(project, where=Where.LOCAL, **other):
    return uninstall(str(project), where, **other)


REGISTERED = {event.name for event in EVENTS}


def count(project, where=Where.LOCAL):
    return len(find_commands(str(project), where))


@pytest.mark.parametrize("text", BEFORE)
def test_uninstall_gives_every_byte_back(project, local, text):
    """Row E35 of set-up."""

    local.write_bytes(text.encode())

    put(project)
    assert count(project) == len(REGISTERED)

    take(project)
    assert local.read_bytes() == text.encode()
    assert os.listdir(project / ".ade/run") == []


@pytest.mark.parametrize(
    ("says", "known"),
    [
        pytest.param("echo 2.1.332 '(Claude Code)'", True, id="a client that knows it"),
        pytest.param("echo 2.2.0", True, id="a later one"),
        pytest.param("echo 2.1.330 '(Claude Code)'", False, id="an earlier one"),
        pytest.param("echo what", False, id="no version"),
        pytest.param("exit 1", False, id="a client that fails"),
    ],
)
def test_newer_events_are_registered_where_the_client_knows_them(
    project, tmp_path, monkeypatch, says, known
):
    monkeypatch.setenv("PATH", f"{a_client(tmp_path, says)}:/usr/bin:/bin")
    put(project)
    found = find_commands(str(project), Where.LOCAL)

    newer = {event.name for event in NEWER} - REGISTERED
    assert newer & found.keys() == (newer if known else set())
    assert "hook=pre_tool_use " in found.get("PreSkillShellCommand", "hook=pre_tool_use ")
    assert "hook=post_tool_use " in found["PostToolUse"]
    put(project, Where.SHARED)
    assert not newer & find_commands(str(project), Where.SHARED).keys()
    take(project)
    assert count(project) == 0


@pytest.mark.parametrize("where", [Where.LOCAL, Where.USER])
@pytest.mark.parametrize(
    ("version", "fail", "blocks"),
    [
        pytest.param("2.1.330", "closed", True, id="closed"),
        pytest.param("2.1.330", "open", False, id="open"),
        pytest.param("2.1.197", "closed", False, id="a client that cannot"),
    ],
)
def test_a_call_is_blocked_whose_hook_cannot_answer_where_the_guard_fails_closed(
    project, tmp_path, monkeypatch, home, where, version, fail, blocks
):
    monkeypatch.setenv("PATH", f"{a_client(tmp_path, f'echo {version}')}:/usr/bin:/bin")
    (home / ".config/ademem").mkdir(parents=True)
    (home / ".config/ademem/config.toml").write_text(f'[guard]\nfail = "{fail}"\n')
    put(project, where, hooks="/gone")
    groups = json.loads(Path(settings_path(str(project), where)).read_text())["hooks"]
    handlers = {event: of_event[0]["hooks"][0] for event, of_event in groups.items()}

    blocking = {event for event, each in handlers.items() if each.get("onFailure") == "block"}
    assert blocking == ({"PreToolUse"} if blocks else set())
    codes = {event: os.system(f"{each['command']} </dev/null") for event, each in handlers.items()}
    assert {event for event, code in codes.items() if code} == blocking
    take(project, where)
    assert count(project, where) == 0


@pytest.mark.parametrize("text", BEFORE)
def test_installing_again_changes_nothing(project, local, text):
    """Row E35 of set-up."""

    local.write_bytes(text.encode())
    put(project)
    once = local.read_bytes()

    assert not put(project).changes
    assert local.read_bytes() == once

    take(project)
    assert local.read_bytes() == text.encode()


@pytest.mark.parametrize("where", list(Where))
def test_what_was_not_there_is_gone_again(project, home, where):
    put(project, where)
    settings = json.loads(Path(settings_path(str(project), where)).read_text())
    allowed = {"permissions": {"allow": list(PERMISSIONS)}}
    assert settings == {"hooks": settings["hooks"]} | allowed

    take(project, where)
    assert not (project / ".claude").exists()
    assert not [path for path in home.rglob("*") if path.is_file()]
    assert not [name for name in (".claude", ".codex", ".gemini") if (home / name).exists()]


def test_a_folder_that_was_there_stays(project, local):
    put(project)
    take(project)

    assert list(local.parent.iterdir()) == []


def test_an_edit_made_in_between_stays(project, local):
    local.write_text('{\n    "hooks": { },\n    "model": "opus"\n}')
    put(project)
    local.write_text(local.read_text().replace('"opus"', '"haiku" ,"note":1'))

    take(project)

    assert local.read_text() == '{\n    "hooks": { },\n    "model": "haiku" ,"note":1\n}'


def test_what_the_client_added_and_reformatted_stays(project, local):
    local.write_text('{"permissions":{"allow":["Read"]}}')
    put(project)
    settings = json.loads(local.read_text())
    settings["permissions"]["allow"].append("Bash(make:*)")
    local.write_text(json.dumps(settings, indent=2))

    take(project)

    assert json.loads(local.read_text()) == {"permissions": {"allow": ["Read", "Bash(make:*)"]}}


def test_an_edit_of_a_file_that_we_made_keeps_the_file(project):
    put(project)
    local = project / ".claude/settings.local.json"
    local.write_text(json.dumps(json.loads(local.read_text()) | {"model": "opus"}, indent=2))

    take(project)

    assert json.loads(local.read_text()) == {"model": "opus"}


def test_another_interpreter_takes_the_place_of_the_old_one(project, local):
    local.write_text(FOREIGN)
    install(str(project), Where.LOCAL, python="/old/python", hooks="/old/hooks")

    assert put(project).changes
    assert "/old" not in local.read_text()
    assert count(project) == len(REGISTERED)

    take(project)
    assert local.read_text() == FOREIGN


def test_a_lost_record_does_not_keep_our_entries_in(project, local):
    local.write_text(FOREIGN)
    put(project)
    for record in (project / ".ade/run").iterdir():
        record.write_text("half a rec")

    take(project)

    assert local.read_text() == FOREIGN


def test_uninstall_without_install_touches_nothing(project, local):
    local.write_text(FOREIGN)

    assert not take(project).changes
    assert local.read_text() == FOREIGN


def test_a_file_removed_in_between_does_not_come_back(project, local):
    local.write_text(FOREIGN)
    put(project)
    local.unlink()

    take(project)

    assert not local.exists()


@pytest.mark.parametrize("text", [FOREIGN, None], ids=["a file", "nothing yet"])
def test_a_link_stays_a_link_and_what_it_leads_to_is_edited(project, local, tmp_path, text):
    real = tmp_path / "dotfiles.json"
    if text is not None:
        real.write_text(text)
    local.symlink_to(real)

    put(project)
    assert local.is_symlink()
    assert "start.sh" in real.read_text()

    take(project)
    assert local.is_symlink()
    assert (real.read_text() if real.exists() else None) == text


def test_the_file_keeps_its_mode_and_the_record_is_for_the_owner_alone(project, local):
    local.write_text(FOREIGN)
    local.chmod(0o640)

    put(project)

    (record,) = (project / ".ade/run").iterdir()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (local, record)] == [0o640, 0o600]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b'{"a": 1,}', id="trailing comma"),
        pytest.param(b'{"a": 1} // why', id="comment"),
        pytest.param(b"", id="empty file"),
        pytest.param(b'{"a": "\xff"}', id="not UTF-8"),
        pytest.param(b'[{"hooks": {}}]', id="not an object"),
        pytest.param(b'{"hooks": []}', id="hooks is a list"),
        pytest.param(b'{"permissions": {"allow": "all"}}', id="allow is a string"),
    ],
)
@pytest.mark.parametrize("act", [put, take], ids=["install", "uninstall"])
def test_a_file_we_cannot_safely_edit_is_refused_and_untouched(project, local, content, act):
    local.write_bytes(content)

    with pytest.raises(BadSettingsFile, match=r"settings\.local\.json was left as it is: ") as told:
        act(project)

    assert told.value.hint
    assert local.read_bytes() == content
    assert os.listdir(local.parent) == [local.name]


def test_a_folder_that_cannot_be_written_is_reported_in_words(project, local):
    local.mkdir()

    with pytest.raises(BadSettingsFile, match="Is a directory"):
        put(project)


def test_a_dry_run_tells_and_writes_nothing(project, local):
    local.write_text('{"model": "opus"}\n')

    told = put(project, dry_run=True)

    assert '+{"model": "opus","hooks": {"SessionStart": ' in told.diff()
    assert local.read_text() == '{"model": "opus"}\n'
    assert not (project / ".ade/run").exists()


def test_a_dry_run_of_uninstall_keeps_the_file(project, local):
    local.write_text('{"model": "opus"}\n')
    put(project)
    there = local.read_text()

    told = take(project, dry_run=True)

    assert (told.before, told.after) == (there, '{"model": "opus"}\n')
    assert local.read_text() == there


def test_a_project_that_is_not_enrolled_is_refused(tmp_path):
    with pytest.raises(NotEnrolled):
        put(tmp_path)

    assert os.listdir(tmp_path) == []


def test_the_user_s_settings_need_no_project(tmp_path, home, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "elsewhere"))

    put(tmp_path, Where.USER)

    assert count(tmp_path, Where.USER) == len(REGISTERED)
    assert (home / "elsewhere/settings.json").exists()


def test_a_shared_file_names_nothing_of_this_machine(project):
    put(project, Where.SHARED)

    text = (project / ".claude/settings.json").read_text()
    assert "/a venv" not in text
    assert "${ADEMEM_PREFIX:-$HOME/.local/share/ademem}/share/ademem/hooks" in text


def test_three_installs_stand_side_by_side(project):
    for where in Where:
        put(project, where)

    take(project, Where.SHARED)

    assert [count(project, where) for where in Where] == [len(REGISTERED), 0, len(REGISTERED)]


def test_the_hooks_of_this_checkout_are_found():
    assert os.path.isfile(os.path.join(hooks_folder(), "start.sh"))


def test_an_installation_knows_its_own_commands_before_they_are_registered(project):
    install(str(project), Where.LOCAL, python=sys.executable, hooks=hooks_folder())

    assert own_commands() == find_commands(str(project), Where.LOCAL)


OWN_RULES = [
    pytest.param(PERMISSIONS[:1], id="one of ours"),
    pytest.param(PERMISSIONS[2:], id="two of ours"),
    pytest.param(("Bash(ls:*)", PERMISSIONS[3], "Read"), id="one between others"),
    pytest.param(("Bash(ademem:*)",), id="all of ademem"),
    pytest.param(tuple(reversed(PERMISSIONS)), id="all of ours in another order"),
]


def rules(local):
    return json.loads(local.read_text())["permissions"]["allow"]


@pytest.mark.parametrize("own", OWN_RULES)
def test_a_rule_that_was_the_person_s_survives_every_way_out(project, local, own):
    given = {"permissions": {"allow": list(own)}, "model": "opus"}
    local.write_text(json.dumps(given))

    put(project)
    install(str(project), Where.LOCAL, python="/another/python", hooks="/another/hooks")
    local.write_text(local.read_text().replace("opus", "sonnet"))
    take(project)
    assert rules(local) == list(own)
    take(project)

    assert json.loads(local.read_text()) == given | {"model": "sonnet"}


@pytest.mark.parametrize("own", OWN_RULES)
def test_a_rule_of_the_person_s_survives_where_the_record_is_lost(project, local, own):
    local.write_text(json.dumps({"permissions": {"allow": list(own)}}))
    put(project)
    for record in (project / ".ade/run").glob("original-*"):
        record.unlink()
    take(project)

    assert set(own) <= set(rules(local))
    assert count(project) == 0
