"""A change of hooks or variables in the client's settings asks the person."""

import json

import pytest

PLAIN = {"permissions": {"allow": ["Bash(ls)"]}, "env": {"A": "1"}}
HOOKED = PLAIN | {"hooks": {"Stop": []}}


@pytest.fixture
def world(world):
    folder = world.root / ".claude"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(PLAIN))
    world.fire("user_prompt_submit", prompt="What is this?", prompt_id="p1")
    return world


def decided(world, tool, mode="default", **tool_input):
    call = {"tool_use_id": "t1", "tool_name": tool, "tool_input": tool_input}
    printed = world.fire("pre_tool_use", prompt_id="p1", permission_mode=mode, **call)
    answer = json.loads(printed)["hookSpecificOutput"] if printed else {}
    return answer.get("permissionDecision", ""), answer.get("permissionDecisionReason", "")


def path(world, name="settings.json"):
    return str(world.root / ".claude" / name)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        pytest.param("Write", {"content": json.dumps(HOOKED)}, id="hooks are written"),
        pytest.param("Write", {"content": json.dumps({"env": {"B": "2"}})}, id="variables"),
        pytest.param("Write", {"content": '{"hooks": '}, id="what is no JSON"),
        pytest.param(
            "Write", {"content": json.dumps(PLAIN | {"disableAllHooks": True})}, id="all hooks"
        ),
        pytest.param(
            "Write",
            {"content": json.dumps(PLAIN | {"enabledPlugins": {"ademem@x": False}})},
            id="a plugin",
        ),
        pytest.param("Edit", {"old_string": '"1"', "new_string": '"2"'}, id="a variable"),
        pytest.param("Edit", {"old_string": "zebra", "new_string": "x"}, id="an unclear edit"),
        pytest.param(
            "MultiEdit",
            {"edits": [{"old_string": '"env"', "new_string": '"hooks": {"Stop": []}, "env"'}]},
            id="several edits",
        ),
    ],
)
def test_a_file_tool_that_changes_them_asks(world, tool, given):
    decision, why = decided(world, tool, file_path=path(world), **given)

    assert decision == "ask"
    assert ".claude/settings.json" in why


@pytest.mark.parametrize(
    ("tool", "name", "given"),
    [
        pytest.param("Edit", "settings.json", {"old_string": "ls", "new_string": "df"}, id="edit"),
        pytest.param(
            "Write", "settings.json", {"content": json.dumps(PLAIN | {"x": 1})}, id="write"
        ),
        pytest.param("Write", "settings.local.json", {"content": "{}"}, id="a new file"),
        pytest.param("Write", "notes.json", {"content": json.dumps(HOOKED)}, id="another file"),
    ],
)
def test_other_changes_pass(world, tool, name, given):
    assert decided(world, tool, file_path=path(world, name), **given)[0] != "ask"


@pytest.mark.parametrize(
    "command",
    [
        "echo '{}' > .claude/settings.json",
        "jq '.hooks = {}' x | tee .claude/settings.local.json",
        "sed -i s/1/2/ ~/.claude/settings.json",
        "cd .claude && cp x settings.json",
        "python3 -c \"open('.claude/settings.json','w').write('{}')\"",
        "f=.claude/settings.json; echo x > $f",
        'bash -c "echo x > .claude/settings.json"',
        "claude plugin disable ademem@ademem",
        "env -i ~/.local/bin/claude plugin uninstall ademem",
    ],
)
def test_a_command_that_writes_such_a_file_asks(world, command):
    assert decided(world, "Bash", command=command)[0] == "ask"


@pytest.mark.parametrize(
    "command",
    ["cat .claude/settings.json", "git diff .claude/settings.json", "claude plugin list"],
)
def test_a_command_that_reads_one_passes(world, command):
    assert decided(world, "Bash", command=command)[0] != "ask"


def test_the_users_own_settings_and_a_moved_folder_count_too(world):
    moved = world.root.parent / "client"
    moved.mkdir()
    world.environment["CLAUDE_CONFIG_DIR"] = str(moved)
    content = json.dumps(HOOKED)

    asked = decided(world, "Write", file_path=str(moved / "settings.json"), content=content)
    assert asked[0] == "ask"
    assert decided(world, "Bash", command=f"echo x > {moved}/settings.json")[0] == "ask"


def test_a_tool_of_another_server_asks_too(world):
    given = {"path": path(world), "content": "{}"}

    assert decided(world, "mcp__files__write_file", **given)[0] == "ask"
    assert decided(world, "mcp__files__read_file", **given)[0] != "ask"
    assert decided(world, "mcp__files__edit", command="create", **given)[0] == "ask"
    assert decided(world, "mcp__files__write_file", file=".claude/x/../settings.json")[0] == "ask"
    assert decided(world, "Bash", command="cd .claude/x; echo > ../settings.json")[0] == "ask"


def test_a_guard_that_is_off_asks_nothing(world):
    world.environment["ADEMEM_GUARD_MODE"] = "off"

    content = json.dumps(HOOKED)
    assert decided(world, "Write", file_path=path(world), content=content)[0] != "ask"


def test_a_client_that_a_program_runs_is_refused(world):
    world.environment["CLAUDE_CODE_ENTRYPOINT"] = "sdk-cli"

    content = json.dumps(HOOKED)
    assert decided(world, "Write", file_path=path(world), content=content)[0] == "deny"


@pytest.mark.parametrize(
    ("mode", "decision"),
    [("acceptEdits", "ask"), ("plan", "ask"), ("bypassPermissions", "deny"), ("auto", "deny")],
)
def test_a_mode_in_which_nobody_would_be_asked_is_refused(world, mode, decision):
    given = {"file_path": path(world), "content": json.dumps(HOOKED)}

    assert decided(world, "Write", mode, **given)[0] == decision
    assert decided(world, "Bash", mode, command="echo x > .claude/settings.json")[0] == decision
