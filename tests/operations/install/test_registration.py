"""Our entries in the text of a settings file, put in and taken out again."""

import json
import os
import re
import shutil
import subprocess
from copy import deepcopy
from itertools import chain

import pytest
from hypothesis import given

from ademem.operations.install import hooks_folder, registration
from ademem.operations.install.json_text import parse
from ademem.operations.install.registration import EVENTS, PERMISSIONS
from tests.operations.install.settings_texts import FOREIGN, odd_texts, tidy_texts

OURS = registration.make_groups(python="/venv/bin/python", hooks="/venv/share/hooks")


def with_ours(settings: dict) -> dict:
    """What the installed file has to say, worked out without any text."""
    settings = deepcopy(settings)
    for event, groups in OURS.items():
        settings.setdefault("hooks", {}).setdefault(event, []).extend(deepcopy(groups))
    allowed = settings.setdefault("permissions", {}).setdefault("allow", [])
    missing = [permission for permission in PERMISSIONS if permission not in allowed]
    allowed += missing if len(missing) == len(PERMISSIONS) else reversed(missing)
    return settings


@given(text=odd_texts() | tidy_texts())
def test_the_file_then_has_its_own_entries_and_ours(text):
    assert parse(registration.add_entries(text, OURS)) == with_ours(parse(text))


@given(text=odd_texts() | tidy_texts())
def test_taking_our_entries_out_gives_every_byte_back(text):
    assert registration.remove_entries(registration.add_entries(text, OURS), text) == text


@given(text=tidy_texts())
def test_without_the_original_what_others_entered_comes_back_all_the_same(text):
    settings = parse(registration.remove_entries(registration.add_entries(text, OURS), None))

    assert of_others(settings) == of_others(parse(text))


def of_others(settings: dict) -> dict:
    """The settings without our permissions and without empty containers."""
    hooks = {event: groups for event, groups in settings.get("hooks", {}).items() if groups}
    permissions = settings.get("permissions", {})
    allow = [entry for entry in permissions.get("allow", []) if entry not in PERMISSIONS]
    return settings | {"hooks": hooks, "permissions": permissions | {"allow": allow}}


def test_after_an_edit_the_client_starts_a_hook_for_texts_alone():
    of_others, of_edits = OURS["PostToolUse"]

    assert [each.get("if") for each in of_others["hooks"]] == [None]
    assert not re.search(of_others["matcher"], "Edit")
    tools = ("Write", "Edit", "MultiEdit")
    assert [each["if"] for each in of_edits["hooks"]] == [f"{tool}(//**/*.md)" for tool in tools]
    assert all(re.search(of_edits["matcher"], tool) for tool in tools)


def test_entries_that_are_there_are_recognised_wherever_they_stand():
    settings = with_ours({})
    settings["hooks"]["Stop"].insert(0, FOREIGN)

    assert registration.is_current(settings, OURS)


def _other_python(settings):
    settings["hooks"] = registration.make_groups(python="/old/python", hooks="/old")


def _doubled(settings):
    settings["hooks"]["Stop"] *= 2


def _stripped_hook(settings):
    del settings["hooks"]["PreToolUse"]


def _stripped_permission(settings):
    settings["permissions"]["allow"].remove(PERMISSIONS[0])


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_other_python, id="another interpreter"),
        pytest.param(_doubled, id="twice"),
        pytest.param(_stripped_hook, id="a hook is gone"),
        pytest.param(_stripped_permission, id="a permission is gone"),
    ],
)
def test_entries_other_than_the_wanted_ones_are_not_current(change):
    settings = with_ours({})
    change(settings)

    assert not registration.is_current(settings, OURS)


def test_a_handler_that_somebody_put_into_our_group_stays():
    settings = with_ours({})
    settings["hooks"]["Stop"][0]["hooks"] += FOREIGN["hooks"]

    left = parse(registration.remove_entries(json.dumps(settings, indent=2), "{}"))

    assert left == {"hooks": {"Stop": [FOREIGN]}}


def test_a_permission_that_was_the_user_s_own_stays():
    original = json.dumps({"permissions": {"allow": [PERMISSIONS[0]]}})

    assert (
        registration.remove_entries(registration.add_entries(original, OURS), original) == original
    )


def test_every_script_is_found_by_its_event():
    commands = registration.list_commands(with_ours({"hooks": {"Stop": [FOREIGN]}}))

    assert commands.keys() == {event.name for event in EVENTS}
    assert all(f"{event.hook} " in commands[event.name] for event in EVENTS)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        pytest.param([], "it is not a JSON object", id="a list"),
        pytest.param({"hooks": []}, '"hooks" is not an object', id="hooks"),
        pytest.param({"hooks": None}, '"hooks" is not an object', id="null"),
        pytest.param({"hooks": {"Stop": {}}}, '"hooks.Stop" is not a list', id="an event"),
        pytest.param({"permissions": []}, '"permissions" is not an object', id="permissions"),
        pytest.param(
            {"permissions": {"allow": "Bash"}}, '"permissions.allow" is not a list', id="allow"
        ),
        pytest.param({"hooks": {"Notification": 1}}, None, id="what is not ours to judge"),
    ],
)
def test_settings_of_another_shape_are_reported_in_words(settings, why):
    assert registration.find_misfit(settings) == why


@pytest.mark.parametrize(
    ("python", "hooks", "shown"),
    [
        ("/h/me/v/bin/python", "/h/me/v/share/ademem/hooks", "~/v/share/ademem/hooks/ademem"),
        ("/v/bin/python", "/v/share/ademem/hooks", "/v/share/ademem/hooks/ademem"),
        ("", '"$A/hooks"', '"$A/hooks"/ademem'),
    ],
)
def test_the_command_that_the_client_shows_after_a_compaction_is_short(
    monkeypatch, python, hooks, shown
):
    monkeypatch.setenv("HOME", "/h/me")
    groups = registration.make_groups(python=python, hooks=hooks)

    assert groups["PreCompact"][0]["hooks"][0]["command"] == f"{shown} pre_compact || :"


def test_each_hook_ends_well_where_the_program_is_gone(tmp_path):
    groups = registration.make_groups(python="/gone/bin/python", hooks="/gone/share/ademem/hooks")
    handlers = [handler for group in chain(*groups.values()) for handler in group["hooks"]]
    codes = [subprocess.call(["sh", "-c", each["command"]], cwd=tmp_path) for each in handlers]

    assert codes == [0] * len(handlers)


def test_an_entry_of_an_earlier_installation_without_that_is_renewed():
    wanted = registration.make_groups(python="/v/bin/python", hooks="/v/share/ademem/hooks")
    earlier = json.loads(json.dumps(wanted).replace("pre_compact || :", "pre_compact"))
    text = registration.add_entries("{}", earlier)
    assert not registration.is_current(json.loads(text), wanted)

    assert json.loads(registration.remove_entries(text, "{}")) == {}


def test_a_hook_that_is_started_by_its_name_finds_the_python_beside_it(tmp_path):
    hooks, python = tmp_path / "v/share/ademem/hooks", tmp_path / "v/bin/python"
    shutil.copytree(hooks_folder(), hooks)
    python.parent.mkdir()
    python.write_text('#!/bin/sh\necho "$2"\n')
    python.chmod(0o755)
    (tmp_path / ".ade").mkdir()
    (group,) = registration.make_groups(python=str(python), hooks=str(hooks))["PreCompact"]
    (command,) = group["hooks"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    ran = subprocess.run(
        ["sh", "-c", command["command"]],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout == f"{hooks}/pre_compact.py\n"
