"""What the guard decides about a tool call, and the flags that spare it the deciding."""

import os
from datetime import timedelta

import pytest

from ademem.core.client import Turn, TurnKey
from ademem.core.settings import GuardSettings
from ademem.core.value import replace
from ademem.guard.policy import CallContext, Outcome, ToolCall, decide
from ademem.session import flags
from tests import builders

TURN = Turn(
    key=TurnKey(session_id="s1", prompt_id="p1"),
    turn_class="required",
    why="it asks to fix",
    hint="login",
    searched=False,
    denied=(),
    started_at="2026-01-31T12:00:00.000Z",
)
EDIT = ToolCall(tool="Edit", path="/srv/app/src/auth.py", tool_use_id="t1")
SETTINGS = GuardSettings()


def known(turn=TURN, settings=SETTINGS, ours=(), switches=(), empty=False):
    return CallContext(
        turn=turn, settings=settings, ours=ours, switches=switches, empty_store=lambda: empty
    )


def bash(command):
    return ToolCall(tool="Bash", command=command, tool_use_id="t1")


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(EDIT, id="edit"),
        pytest.param(ToolCall(tool="Write", path="/srv/app/new.py"), id="write"),
        pytest.param(ToolCall(tool="MultiEdit", path="/srv/app/a.py"), id="several edits"),
        pytest.param(ToolCall(tool="NotebookEdit", path="/srv/app/a.ipynb"), id="notebook"),
        pytest.param(bash("git commit -am x"), id="command"),
        pytest.param(ToolCall(tool="PowerShell", command="Remove-Item x"), id="PowerShell"),
        pytest.param(ToolCall(tool="Monitor", command="make watch"), id="background command"),
        pytest.param(ToolCall(tool="mcp__fs__write_file"), id="MCP"),
    ],
)
def test_a_change_is_denied_until_memory_was_consulted(call):
    assert decide(call, known()) is Outcome.DENY
    assert decide(call, known(replace(TURN, searched=True))) is Outcome.PASS_TURN


OFF = GuardSettings(mode="off")


@pytest.mark.parametrize(
    ("call", "known", "outcome"),
    [
        pytest.param(EDIT, known(settings=OFF), Outcome.PASS_TURN, id="guard off"),
        pytest.param(EDIT, known(None), Outcome.PASS, id="no turn"),
        pytest.param(
            EDIT, known(replace(TURN, turn_class="soft")), Outcome.PASS_TURN, id="soft turn"
        ),
        pytest.param(
            EDIT, known(replace(TURN, turn_class="none")), Outcome.PASS_TURN, id="small talk"
        ),
        pytest.param(EDIT, known(replace(TURN, searched=True)), Outcome.PASS_TURN, id="consulted"),
        pytest.param(bash("git log"), known(), Outcome.PASS, id="reading"),
        pytest.param(ToolCall(tool="Read"), known(), Outcome.PASS, id="reading tool"),
        pytest.param(ToolCall(tool="ToolSearch"), known(), Outcome.PASS, id="ToolSearch"),
        pytest.param(ToolCall(tool="mcp__fs__read_file"), known(), Outcome.PASS, id="MCP reading"),
        pytest.param(
            EDIT,
            known(replace(TURN, denied=("a", "b"))),
            Outcome.PASS_TURN,
            id="denied often enough",
        ),
        pytest.param(EDIT, known(empty=True), Outcome.PASS, id="empty store"),
    ],
)
def test_what_passes_and_for_how_long(call, known, outcome):
    assert decide(call, known) is outcome


def test_a_strict_guard_denies():
    assert decide(EDIT, known(settings=GuardSettings(mode="strict"))) is Outcome.DENY


@pytest.mark.parametrize(
    ("max_blocks", "denied", "passes"),
    [
        pytest.param(2, (), False, id="the first"),
        pytest.param(2, ("a",), False, id="the second"),
        pytest.param(2, ("a", "b"), True, id="the third"),
        pytest.param(2, ("a", "t1"), False, id="the twin hook of one that was denied"),
        pytest.param(0, (), True, id="never"),
        pytest.param(5, ("a", "b", "c", "d"), False, id="a longer patience"),
    ],
)
def test_a_turn_is_denied_so_often_and_no_more(max_blocks, denied, passes):
    settings = GuardSettings(max_blocks=max_blocks)
    outcome = decide(EDIT, known(replace(TURN, denied=denied), settings))

    assert (outcome is not Outcome.DENY) is passes


def test_the_store_is_asked_only_about_calls_that_would_be_denied():
    def asked():
        raise AssertionError("the store was asked")

    for call, turn in ((bash("ls"), TURN), (EDIT, replace(TURN, searched=True))):
        decide(call, replace(known(turn), empty_store=asked))
    with pytest.raises(AssertionError):
        decide(EDIT, replace(known(), empty_store=asked))


@pytest.fixture
def machine(tmp_path):
    """A project and the client's folders as a machine has them; gives a decision for a path."""
    root, config = tmp_path.resolve() / "app", tmp_path.resolve() / "config"
    for folder in (root / ".ade/memory", root / ".ade/run", config / "projects/-app/memory"):
        folder.mkdir(parents=True)
    (tmp_path / "to run").symlink_to(root / ".ade/run")
    (root / ".ade/memory/link.md").symlink_to(root / "src.py")
    facts = known(
        ours=tuple(map(str, (root / ".ade", config / "projects/-app/memory", config / "plans"))),
        switches=tuple(map(str, (root / ".ade/config.toml", root / ".ade/run"))),
    )
    return lambda path: decide(replace(EDIT, path=str(tmp_path / path)), facts)


@pytest.mark.parametrize(
    ("path", "passes"),
    [
        pytest.param("app/src.py", False, id="a source"),
        pytest.param("app/.ade/memory/MEMORY.md", True, id="our memory files"),
        pytest.param("app/.ade/skills/new/deep.md", True, id="what is not there yet"),
        pytest.param("app/.ade/config.toml", False, id="our settings"),
        pytest.param("app/.ade/run/clear/p1", False, id="a flag"),
        pytest.param("app/.ade/memory/../config.toml", False, id="our settings by a detour"),
        pytest.param("to run/clear/p1", False, id="a flag by a link"),
        pytest.param("app/.ade/memory/link.md", False, id="a source by a link among ours"),
        pytest.param("app/.ade/../src.py", False, id="out of ours again"),
        pytest.param("app/.adenoid/x.md", False, id="a name that only begins like ours"),
        pytest.param("config/projects/-app/memory/MEMORY.md", True, id="the client's memory"),
        pytest.param("config/projects/-app/session.jsonl", False, id="the client's transcript"),
        pytest.param("config/plans/fix.md", True, id="a plan"),
        pytest.param("config/settings.json", False, id="the client's settings"),
    ],
)
def test_memory_and_plans_may_always_be_written_and_what_switches_us_off_never(
    machine, path, passes
):
    assert (machine(path) is not Outcome.DENY) is passes


@pytest.mark.parametrize(
    ("tool", "passes"),
    [
        pytest.param("mcp__ademem__memory_add", True, id="ours"),
        pytest.param("mcp__ademem__memory_update_core", True, id="ours, with a changing word"),
        pytest.param("mcp__plugin_ademem_ademem__mem_delete", True, id="ours as a plugin"),
        pytest.param("mcp__ademem_fake__update", False, id="a stranger with a name like ours"),
        pytest.param("mcp__plugin_ademem_evil__update", False, id="another plugin's"),
    ],
)
def test_the_tools_of_memory_itself_always_run(tool, passes):
    assert (decide(ToolCall(tool=tool), known()) is not Outcome.DENY) is passes


@pytest.fixture
def project(tmp_path):
    return builders.project(tmp_path)


def raised(project):
    folder = os.path.join(project.run, "clear")
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


@pytest.mark.parametrize(
    ("key", "names"),
    [
        pytest.param(TurnKey(session_id="s", prompt_id="p-1_a"), ["p-1_a"], id="a prompt"),
        pytest.param(TurnKey(session_id="s", prompt_id="p", agent_id="a"), ["a"], id="a subagent"),
        pytest.param(TurnKey(session_id="s"), [], id="no id"),
        pytest.param(TurnKey(session_id="s", prompt_id="../../x"), [], id="a path"),
        pytest.param(TurnKey(session_id="s", prompt_id="--"), [], id="no letter"),
    ],
)
def test_a_flag_has_the_name_of_its_turn(project, key, names):
    flags.set_quiet(project, key, True)
    flags.set_quiet(project, key, True)

    assert raised(project) == names

    flags.set_quiet(project, key, False)
    flags.set_quiet(project, key, False)

    assert raised(project) == []


def test_a_flag_that_cannot_be_written_is_done_without(project):
    with open(project.run, "w"):
        pass

    flags.set_quiet(project, TURN.key, True)

    assert raised(project) == []


def test_only_flags_of_forgotten_turns_are_pruned(project):
    flags.prune(project, builders.NOW)
    for name, age in (("old", timedelta(days=1, seconds=1)), ("young", timedelta(hours=23))):
        flags.set_quiet(project, TurnKey(session_id="s", prompt_id=name), True)
        stamp = (builders.NOW - age).timestamp()
        os.utime(os.path.join(project.run, "clear", name), (stamp, stamp))

    flags.prune(project, builders.NOW)

    assert raised(project) == ["young"]
