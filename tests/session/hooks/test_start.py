"""hooks/start.sh, run as Claude Code runs it: the registered command line in a shell."""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest

from ademem import operations
from ademem.operations.install import registration
from ademem.search.reader_lists import LISTS
from tests import persons, shells

HOOKS = Path(__file__).parents[3] / "hooks"
SHELLS = shells.installed("sh", "dash", "bash", "zsh")

RECORDER = """#!/bin/sh
printf '%s\\n' "$@" >"$0.arguments"
cat >"$0.stdin"
echo answer
echo complaint >&2
exit 2
"""


LATE = "the late hook of PostToolUse"


class Machine:
    """A project, a recorder in the place of Python, and a shell to start a hook in."""

    def __init__(self, root: Path, shell: str) -> None:
        self.shell = shell
        self.project = root / "my project"
        self.python = root / "it's python"
        self.hooks = HOOKS
        (self.project / ".ade/run/clear").mkdir(parents=True)
        self.python.write_text(RECORDER)
        self.python.chmod(0o755)

    def command(self, event: str, payload: bytes = b"") -> str:
        events = (*registration.EVENTS, *registration.NEWER)
        python, hooks = self.python and quote(str(self.python)), quote(str(self.hooks))
        groups = registration.make_groups(python=python, hooks=hooks, events=events)
        if event == LATE:
            return groups["PostToolUse"][-1]["hooks"][0]["command"]
        named = re.search(rb'"tool_name": ?"(\w+)"', payload)
        tool = named[1].decode() if named else "Bash"
        fitting = (each for each in groups[event] if re.search(each.get("matcher", ""), tool))
        return next(fitting, groups[event][0])["hooks"][0]["command"]

    def start(self, event: str, payload: bytes, /, cwd: Path | None = None, **environment: str):
        there = {"PATH": "/usr/bin:/bin", "CLAUDE_PROJECT_DIR": str(self.project)} | environment
        return subprocess.run(
            [self.shell, "-c", self.command(event, payload)],
            input=payload,
            capture_output=True,
            cwd=cwd or self.project,
            env={name: value for name, value in there.items() if value},
            timeout=60,
        )

    def type(self, text: str):
        """Start the hook of a prompt that a person types in a client."""
        there = {"PATH": "/usr/bin:/bin", "CLAUDE_PROJECT_DIR": str(self.project)} | self.there
        command = [self.shell, "-c", self.command("UserPromptSubmit")]
        return persons.type_prompt(command, prompt(text), there, self.project)

    @property
    def asked(self) -> bool:
        """Whether Python was started, and so decides."""
        return Path(f"{self.python}.stdin").exists()

    @property
    def heard(self) -> bytes:
        return Path(f"{self.python}.stdin").read_bytes()

    def clear(self, *ids: str) -> None:
        for id in ids:
            (self.project / ".ade/run/clear" / id).touch()

    def list(self, lists: dict[str, str]) -> None:
        """Say what memories are bound to: lists by their name, of all and of each reader named."""
        (self.project / ".ade/run/keys").mkdir()
        readers = {name.rpartition(".")[0] for name in lists} | {""}
        for reader in readers:
            for kind in LISTS:
                name = f"{reader}.{kind}" if reader else kind
                text = lists.get(name, "")
                (self.project / ".ade/run/keys" / name).write_text(f"{text}\n" if text else "")


@pytest.fixture(params=SHELLS)
def machine(request, tmp_path):
    return Machine(tmp_path, request.param)


@pytest.mark.parametrize(
    ("spelling", "file", "asked"),
    [
        pytest.param("ADEMEM_DISABLE", "settings.json", True, id="by the team's settings"),
        pytest.param("\\u0041DEMEM_DISABLE", "settings.json", True, id="by an escaped name"),
        pytest.param("ADEMEM_OTHER", "settings.json", False, id="by the person's shell"),
    ],
)
def test_a_clone_does_not_switch_its_hooks_off(machine, spelling, file, asked):
    (machine.project / ".claude").mkdir()
    (machine.project / ".claude" / file).write_text(f'{{"env": {{"{spelling}": "1"}}}}')
    machine.start("SessionStart", b"{}", ADEMEM_DISABLE="1")

    assert machine.asked is asked


@pytest.mark.parametrize("name", ["ADEMEM_PREFIX", "ADEMEM_DATA_DIR", "XDG_DATA_HOME"])
def test_a_clone_names_no_interpreter(machine, name):
    planted = machine.project / "planted"
    (planted / "bin").mkdir(parents=True)
    (planted / "ademem-data").mkdir()
    (planted / "bin/python").write_text("#!/bin/sh\ntouch ran\n")
    (planted / "bin/python").chmod(0o755)
    for note in (planted / "python", planted / "ademem-data/python"):
        note.write_text(f"{planted}/bin/python\n")
    (machine.project / ".claude").mkdir()
    settings = {"env": {name: str(planted)}}
    (machine.project / ".claude/settings.json").write_text(json.dumps(settings))
    machine.python = ""
    machine.start("SessionStart", b"{}", HOME=str(machine.project), **{name: str(planted)})

    assert not (machine.project / "ran").exists()


def before_tool(input: object = None, *, after: dict | None = None, **header: object) -> bytes:
    """A PreToolUse payload with its keys in the client's order."""
    payload = {"session_id": "s", "cwd": "/w", "prompt_id": "turn-1"} | header
    payload |= {"hook_event_name": "PreToolUse", "tool_name": header.get("tool_name", "Bash")}
    payload |= {"tool_input": {"command": "ls"} if input is None else input} | (after or {})
    return written({name: value for name, value in payload.items() if value is not None})


def after_tool(stdout: str) -> bytes:
    return written({"tool_name": "Bash", "tool_input": {}, "tool_response": {"stdout": stdout}})


def written(payload: object) -> bytes:
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("tool", ["Bash", "Write"])
def test_what_the_client_says_on_several_lines_arrives_whole(machine, tool):
    payload = json.dumps({"tool_name": tool, "tool_input": {"command": "a\nb"}}, indent=1)
    machine.start("PreToolUse", payload.encode())

    assert json.loads(machine.heard) == json.loads(payload)


@pytest.mark.parametrize("head", [{"cwd": '/a "quoted" folder'}, {"more": ["tool_input", ":"]}])
def test_of_a_head_that_the_shell_may_misread_python_decides(machine, head):
    machine.clear("turn-1")
    machine.list({})
    machine.start("PreToolUse", before_tool(**head))

    assert machine.asked is ("cwd" in head)


def test_a_script_answers_and_its_complaints_and_exit_code_stay_out(machine):
    done = machine.start("SessionStart", b"{}")

    assert (done.returncode, done.stdout, done.stderr) == (0, b"answer\n", b"")
    arguments = Path(f"{machine.python}.arguments").read_text().splitlines()
    assert arguments[:2] == ["-I", f"{HOOKS}/session_start.py"]


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(b'{"a":"C:\\\\new\\\\table \\u00e9 \\n"}', id="backslashes"),
        pytest.param(b'{"a":"100% %s %d %n"}', id="percent signs"),
        pytest.param(b'{\n  "a": 1\n}', id="newlines"),
        pytest.param('{"a":"Grüße 記憶 🧠"}'.encode(), id="UTF-8"),
        pytest.param(b'{"a":"$(touch x) `touch x` $HOME \'"}', id="words of the shell"),
        pytest.param(b"-n not JSON", id="looks like an option"),
        pytest.param(b"", id="nothing"),
        pytest.param(b'"' + b"x" * 300_000 + b'"', id="more than an argument list holds"),
    ],
)
def test_python_reads_the_payload_byte_for_byte(machine, payload):
    machine.start("UserPromptSubmit", payload)

    assert machine.heard == payload


def test_a_payload_too_large_for_the_environment_still_starts_python(machine):
    machine.start("Stop", b"x" * 300_000, payload="exported", head="exported")

    assert len(machine.heard) == 300_000


def test_a_turn_that_is_clear_is_let_through_without_python(machine):
    machine.clear("turn-1")
    machine.list({})

    done = machine.start("PreToolUse", before_tool())

    assert not machine.asked
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_subagent_is_let_through_with_a_flag_of_its_own(machine):
    machine.clear("agent-7")
    machine.list({})

    machine.start("PreToolUse", before_tool(agent_id="agent-7", agent_type="Explore"))

    assert not machine.asked


@pytest.mark.parametrize(
    ("flags", "payload"),
    [
        pytest.param([], before_tool(), id="no flag"),
        pytest.param(["turn-0"], before_tool(), id="flag of another turn"),
        pytest.param(["turn-1"], before_tool(agent_id="agent-7"), id="subagent in a clear turn"),
        pytest.param(
            ["turn-1"], before_tool(after={"agent_id": "agent-7"}), id="agent named at the end"
        ),
        pytest.param(
            ["forged"],
            before_tool({"command": "ls", "prompt_id": "forged"}),
            id="prompt_id inside tool_input",
        ),
        pytest.param(
            ["forged"],
            before_tool({"prompt_id": "forged"}, prompt_id=None),
            id="prompt_id only inside tool_input",
        ),
        pytest.param(
            ["forged"],
            before_tool(cwd='/w","prompt_id":"forged', prompt_id=None),
            id="prompt_id spelled in a path",
        ),
        pytest.param(
            ["forged"],
            before_tool(agent_type='x","agent_id":"forged'),
            id="agent_id spelled in an agent's type",
        ),
        pytest.param(["turn-1"], before_tool(prompt_id="./turn-1"), id="id with a slash"),
        pytest.param([], before_tool(prompt_id=".."), id="id that is a folder"),
        pytest.param([], before_tool(prompt_id=""), id="empty id"),
        pytest.param(["turn-1"], before_tool(prompt_id="turn-1 "), id="id with a blank"),
        pytest.param(["turn-1"], before_tool(prompt_id=None), id="client without prompt_id"),
        pytest.param(
            ["turn-1"], b'{"prompt_id":"turn-1","tool_input":{}}', id="no tool before the input"
        ),
        pytest.param(["turn-1"], b'{"prompt_id":"turn-1","tool_name":"Bash"}', id="no input"),
        pytest.param(["turn-1"], b"not JSON", id="not JSON"),
    ],
)
def test_in_doubt_python_decides_about_a_tool_call(machine, flags, payload):
    machine.clear(*flags)

    machine.start("PreToolUse", payload)

    assert machine.heard == payload


@pytest.mark.parametrize(
    "command", ["ademem promote 0123", "ade''mem promote 0123", "python3 -m ademem trust"]
)
def test_a_command_that_may_be_ours_is_for_python_in_a_clear_turn_too(machine, command):
    machine.clear("turn-1")

    machine.start("PreToolUse", running(command))

    assert machine.asked


@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        ("mcp__ademem__memory_add", True),
        ("mcp__plugin_ademem_ademem__mem_save", True),
        ("mcp__docs__search", False),
    ],
)
def test_a_call_of_our_mcp_tools_is_noted_by_python_in_a_clear_turn_too(machine, tool, asked):
    machine.clear("turn-1")
    machine.list({})

    machine.start("PreToolUse", before_tool({"content": "x"}, tool_name=tool))

    assert machine.asked is asked


def editing(path="/w/src/auth.py", key="file_path", **header):
    return before_tool({key: path, "content": '"command":"git push"'}, **header)


def running(command, **header):
    return before_tool({"command": command, "description": "to src/auth.py"}, **header)


@pytest.mark.parametrize(
    ("lists", "payload"),
    [
        pytest.param({"words": "auth.py"}, editing(), id="a file"),
        pytest.param({"words": "docs\nsrc"}, editing(), id="a folder, the second of two"),
        pytest.param({"words": "SRC"}, editing(), id="in capitals"),
        pytest.param({"pieces": ".ipynb"}, editing("/w/a.ipynb", "notebook_path"), id="notebook"),
        pytest.param({"words": "schön.py"}, editing("/w/schön.py"), id="any script"),
        pytest.param({"words": "push"}, running("git -C x push"), id="a command"),
        pytest.param({"words": "push"}, running("ls\npush x"), id="on a later line"),
        pytest.param({"words": "api"}, running("./x", cwd="/w/api"), id="the folder it works in"),
        pytest.param({"texts": "git push"}, editing(), id="a text that is written"),
        pytest.param({"texts": "console.log"}, running("echo 'console.log' > a.js"), id="or typed"),
        pytest.param({"s.words": "auth.py"}, editing(), id="left to tell the session"),
        pytest.param(
            {"s.words": "", "agent-7.words": "auth.py"},
            editing(agent_id="agent-7"),
            id="left to tell the subagent",
        ),
        pytest.param({"always": "\n"}, running("ls"), id="a list for anything"),
    ],
)
def test_a_call_that_memory_may_know_something_of_reaches_python(machine, lists, payload):
    machine.clear("turn-1", "agent-7")
    machine.list(lists)

    machine.start("PreToolUse", payload)

    assert machine.heard == payload


@pytest.mark.parametrize(
    ("lists", "payload"),
    [
        pytest.param({}, editing(), id="empty lists"),
        pytest.param({"words": "docs\nauth"}, editing("/w/src/authors.py"), id="another file"),
        pytest.param({"words": "push"}, editing(), id="a command in the content"),
        pytest.param({"words": "push"}, running("git status"), id="another command"),
        pytest.param({"words": "auth.py", "s.words": ""}, editing(), id="all told in the session"),
        pytest.param(
            {"words": "auth.py", "agent-7.words": ""},
            editing(agent_id="agent-7"),
            id="all told to the subagent",
        ),
    ],
)
def test_a_call_that_memory_knows_nothing_of_is_let_through(machine, lists, payload):
    machine.clear("turn-1", "agent-7")
    machine.list(lists)

    done = machine.start("PreToolUse", payload)

    assert not machine.asked
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    "input",
    [
        pytest.param({"file_path": "/p/.ade/memory/gotchas.md"}, id="file"),
        pytest.param({"command": "sed -i s/a/b/ .ade/memory/gotchas.md"}, id="command"),
    ],
)
def test_a_call_that_names_a_file_of_memory_reaches_python_in_a_clear_turn_too(machine, input):
    machine.clear("turn-1")
    machine.list({"words": "other", "pieces": ".ade\nademem"})
    machine.start("PreToolUse", before_tool(input))

    assert machine.asked


@pytest.mark.parametrize(
    ("given", "header"),
    [
        pytest.param({"command": "sqlite3 m/ade.db"}, {}, id="the database by a link"),
        pytest.param({"command": "rm run/x"}, {"cwd": "/w/.ade"}, id="in the folder"),
        pytest.param({"command": "rm x"}, {"cwd": "/w/.ade/run"}, id="in one below"),
        pytest.param({"command": "rm x"}, {"cwd": "/h/.config/ademem"}, id="in the settings"),
        pytest.param({"path": ".ade"}, {"tool_name": "mcp__files__remove"}, id="by another server"),
        pytest.param(
            {"command": "create", "file_path": "a", "path": "/w/.ade/ade.db"},
            {"tool_name": "mcp__files__edit"},
            id="by a server that names a file and a command, too",
        ),
    ],
)
def test_a_call_at_a_place_of_ours_reaches_python_in_a_clear_turn_too(machine, given, header):
    machine.clear("turn-1")
    machine.list({"words": "other", "pieces": ".ade\nademem"})
    machine.start("PreToolUse", before_tool(given, **header))

    assert machine.asked


@pytest.mark.parametrize(
    ("payload", "asked"),
    [
        pytest.param("file", True, id="a file of an enrolled project below"),
        pytest.param("folder", True, id="a command in one"),
        pytest.param("elsewhere", False, id="a file of none"),
    ],
)
def test_a_session_above_projects_asks_that_of_the_call(machine, tmp_path, payload, asked):
    given = {
        "file": editing(f"{machine.project}/src/a.py"),
        "folder": running("make", cwd=str(machine.project)),
        "elsewhere": editing(f"{tmp_path}/other/a.py"),
    }
    machine.start("PreToolUse", given[payload], CLAUDE_PROJECT_DIR=str(tmp_path / "above"))

    assert machine.asked is asked


def test_a_file_of_an_inner_project_is_for_python(machine):
    machine.clear("turn-1")
    machine.list({})
    (machine.project / "inner/.ade").mkdir(parents=True)
    machine.start("PreToolUse", editing(f"{machine.project}/inner/src/a.py"))

    assert machine.asked


def test_a_turn_without_lists_is_for_python(machine):
    machine.clear("turn-1")

    machine.start("PreToolUse", editing())

    assert machine.asked


def test_where_there_is_no_grep_python_decides(machine, tmp_path):
    machine.clear("turn-1")
    machine.list({"words": "docs"})
    (tmp_path / "bin").mkdir()
    for name in ("cat", machine.shell):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))

    machine.start("PreToolUse", editing(), PATH=str(tmp_path / "bin"))

    assert machine.asked


def test_lists_alone_let_nothing_through(machine):
    machine.list({})

    machine.start("PreToolUse", editing())

    assert machine.asked


@pytest.mark.parametrize(
    "path", [".ade", ".ade/run", ".ade/run/clear", ".ade/run/keys", ".ade/run/keys/words"]
)
def test_flags_and_lists_behind_a_link_let_nothing_through(machine, tmp_path, path):
    machine.clear("turn-1")
    machine.list({})
    (machine.project / path).rename(tmp_path / "elsewhere")
    (machine.project / path).symlink_to(tmp_path / "elsewhere")

    machine.start("PreToolUse", editing())

    assert machine.asked


def test_a_flag_that_is_a_folder_is_none(machine):
    (machine.project / ".ade/run/clear/turn-1").mkdir()

    machine.start("PreToolUse", before_tool())

    assert machine.asked


def test_a_flag_speaks_for_tool_calls_only(machine):
    machine.clear("turn-1")

    machine.start("Stop", before_tool())

    assert machine.asked


@pytest.mark.parametrize(
    "stdout",
    [
        pytest.param(f"{prefix}: WAL needs shared memory", id=prefix)
        for prefix in (
            *("LEARNED", "INVESTIGATION", "DECISION", "FACT", "PATTERN", "GOTCHA", "CONVENTION"),
            *("learned", "Decision", "gOtChA"),
        )
    ]
    + [
        pytest.param("ran ademem recall", id="a search of memory"),
        pytest.param("mcp__mem__mem_search", id="a memory server"),
    ],
)
def test_a_result_with_something_to_learn_reaches_python(machine, stdout):
    machine.start("PostToolUse", after_tool(stdout))

    assert machine.heard == after_tool(stdout)


def after_write(path: str, tool: str = "Write") -> bytes:
    head = {"session_id": "s", "cwd": "/w", "hook_event_name": "PostToolUse", "tool_name": tool}
    return written(head | {"tool_input": {"file_path": path, "content": "a memory, LEARNED: much"}})


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit"])
@pytest.mark.parametrize(
    ("path", "asked"),
    [
        pytest.param(
            "/home/me/.claude/projects/-w/memory/flags.md", True, id="the client's memory"
        ),
        pytest.param("/w/.claude/agent-memory/reviewer/MEMORY.md", True, id="a subagent's"),
        pytest.param("/home/me/notes/flags.md", True, id="where it was moved"),
        pytest.param('/home/me/memory/a"b.md', True, id="a path with a quote"),
        pytest.param("/w/docs/memory.md", False, id="another page"),
        pytest.param("/w/src/memory/main.py", False, id="no page"),
    ],
)
def test_a_written_file_of_the_clients_memory_reaches_python_and_no_other(
    machine, tool, path, asked
):
    (machine.project / ".ade/run/client_memory").write_text("notes\n")
    machine.start("PostToolUse", after_write(path, tool))

    assert machine.asked is asked


@pytest.mark.parametrize("kind", ["pipe", "link", "absent"])
def test_a_list_that_is_no_file_moves_nothing(machine, kind, tmp_path):
    place = machine.project / ".ade/run/client_memory"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "link":
        (tmp_path / "list").write_text("notes\n")
        place.symlink_to(tmp_path / "list")
    machine.start("PostToolUse", after_write("/home/me/notes/flags.md"))

    assert not machine.asked


def test_a_command_that_names_a_moved_memory_reaches_python(machine):
    (machine.project / ".ade/run/client_memory").write_text("notes\n")
    command = {"tool_name": "Bash", "tool_input": {"command": "rm ~/notes/flags.md"}}
    machine.start("PostToolUse", written(command))

    assert machine.asked


@pytest.mark.parametrize(
    "stdout",
    [
        pytest.param("12 files changed", id="nothing of interest"),
        pytest.param("lessons learned, facts and patterns", id="words without a colon"),
        pytest.param("", id="no output"),
    ],
)
def test_any_other_result_is_left_alone(machine, stdout):
    machine.start("PostToolUse", after_tool(stdout))

    assert not machine.asked


def test_a_project_that_is_not_enrolled_notices_nothing(machine):
    (machine.project / ".ade").rename(machine.project / "elsewhere")

    done = machine.start("SessionStart", b"{}")

    assert not machine.asked
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_folder_inside_the_project_belongs_to_it(machine):
    inside = machine.project / "src" / "deep"
    inside.mkdir(parents=True)

    machine.start("SessionStart", b"{}", CLAUDE_PROJECT_DIR=str(inside))

    assert machine.asked


def test_the_session_stays_in_its_project_when_the_model_changes_folder(machine, tmp_path):
    machine.start("SessionStart", b"{}", cwd=tmp_path)

    assert machine.asked


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"CLAUDE_PROJECT_DIR": ""}, id="the working folder, when nothing is named"),
        pytest.param({"ADEMEM_PROJECT": ".", "CLAUDE_PROJECT_DIR": "/"}, id="ADEMEM_PROJECT first"),
    ],
)
def test_the_project_is_found_as_ademem_finds_it(machine, environment):
    machine.start("SessionStart", b"{}", **environment)

    assert machine.asked


def test_a_session_of_ademem_itself_starts_no_hook(machine):
    machine.start("SessionStart", b"{}", ADEMEM_DISABLE="1")

    assert not machine.asked


def _no_python(machine):
    machine.python.unlink()


def _no_hooks(machine):
    machine.hooks = machine.project / "gone"


def _damaged_start(machine):
    machine.hooks = machine.project / "hooks"
    machine.hooks.mkdir()
    (machine.hooks / "start.sh").write_text("case half in\n")


@pytest.mark.parametrize(
    "break_it",
    [
        pytest.param(_no_python, id="no interpreter"),
        pytest.param(_no_hooks, id="no start.sh"),
        pytest.param(_damaged_start, id="half a start.sh"),
    ],
)
def test_a_broken_installation_never_blocks_a_tool_call(machine, break_it):
    break_it(machine)

    done = machine.start("PreToolUse", before_tool())

    assert (done.returncode, done.stdout) == (0, b"")
    assert not machine.asked


def test_without_a_named_interpreter_the_one_of_the_prefix_is_used(machine, tmp_path):
    (tmp_path / "prefix/bin").mkdir(parents=True)
    machine.python.rename(tmp_path / "prefix/bin/python")
    machine.python = tmp_path / "prefix/bin/python"
    line = registration.make_groups(python="", hooks=quote(str(HOOKS)))["Stop"][0]["hooks"][0][
        "command"
    ]
    machine.command = lambda *_: line

    machine.start("Stop", b"{}", ADEMEM_PREFIX=str(tmp_path / "prefix"), python="/bin/false")

    assert machine.asked


@pytest.fixture
def plugin(machine, tmp_path):
    """A client that has the plugin alone, with one Python on PATH."""
    python = tmp_path / "bin/python3"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    machine.python = ""
    machine.there = {"PATH": f"{python.parent}:/usr/bin:/bin", "HOME": str(tmp_path)}
    machine.there |= {"ADEMEM_PREFIX": str(tmp_path / "none"), "ADEMEM_JOBS_AUTO": "false"}
    return machine


def prompt(text: str) -> bytes:
    return written({"session_id": "s", "prompt_id": text, "prompt": text})


def test_a_plugin_alone_runs_its_hooks_with_any_python(plugin, tmp_path):
    operations.init(str(plugin.project))
    said = plugin.type("remember: deploys need approval")

    assert b"ademem kept: deploys need approval" in said.stdout
    noted = tmp_path / ".local/share/ademem-data/python"
    assert Path(noted.read_text().strip()).samefile(sys.executable)


def test_without_any_python_the_start_of_a_session_says_so_and_the_rest_nothing(plugin, tmp_path):
    (tmp_path / "bin/python3").unlink()
    for name in {"sh", "cat", "mkdir", plugin.shell}:
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    environment = plugin.there | {"PATH": str(tmp_path / "bin")}

    said = plugin.start("SessionStart", b"{}", **environment)
    assert "Python 3.11" in json.loads(said.stdout)["systemMessage"]
    said = plugin.start("UserPromptSubmit", prompt("hello"), **environment)
    assert (said.returncode, said.stdout, said.stderr) == (0, b"", b"")


def test_a_plugin_alone_enrols_and_recalls(plugin):
    def ademem(*arguments):
        command = [plugin.shell, "-c", '"$0" "$@"', str(HOOKS.parent / "bin/ademem"), *arguments]
        return subprocess.run(
            command, cwd=plugin.project, env=plugin.there, capture_output=True, text=True
        )

    plugin.there["PYTHONPATH"] = ""
    subprocess.run(["git", "init", "-q", plugin.project], check=True)
    assert ademem("init").returncode == 0
    assert "ademem" not in (plugin.project / ".git/config").read_text(), "a driver that git lacks"
    plugin.type("remember: deploys need approval")
    assert "deploys need approval" in ademem("recall", "deploys").stdout
    assert "deploys need approval" in ademem("list").stdout
    added = json.loads(ademem("add", "the port is 8081", "--category", "gotcha", "--json").stdout)
    assert added["memory"]["category"] == "gotcha"
    assert "the port is 8081" in ademem("get", added["memory"]["id"]).stdout
    for arguments in (["add", "x", "--category", "nonsense"], ["get"], ["get", "none"]):
        assert ademem(*arguments).returncode not in (0, 3)
    assert "at: src/* (" in ademem("add", "x", "--path", "src/*").stdout
    assert "waits" not in ademem("review").stderr
    for arguments in (["graph"], ["eval", "run"], ["export"]):
        assert f"sh {HOOKS.parent}/install.sh --project ." in ademem(*arguments).stderr


LONG = "a digit made in the header\n" * 3_000
"""Words of which a pattern of two, such as `*git*commit*`, finds the first often."""


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        pytest.param(
            "PreToolUse",
            before_tool({"content": LONG, "file_path": "/w/a.py"}, tool_name="Write"),
            id="the path behind the text",
        ),
        pytest.param("PreToolUse", running("cat " + "a " * 40_000), id="a long command that reads"),
        pytest.param("PreToolUse", running(LONG * 12), id="a long command"),
        pytest.param(
            "PostToolUse",
            before_tool({"command": LONG}, after={"tool_response": {"stdout": ""}}),
            id="the result of one",
        ),
        pytest.param("PostToolUse", after_tool("a fact " * 3_000_000), id="a long result"),
    ],
)
def test_a_long_call_takes_no_time(machine, event, payload):
    machine.clear("turn-1")
    machine.list({"words": "other", "pieces": "another", "texts": "neither"})
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    machine.start(event, payload)

    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 0.5


@pytest.mark.parametrize("carrying", [False, True])
def test_the_end_of_the_calls_matters_only_after_a_denial(machine, carrying):
    if carrying:
        (machine.project / ".ade/run/carrying").touch()

    machine.start("PostToolBatch", b"{}")

    assert machine.asked is carrying


def test_a_changed_file_is_noted_without_python_and_asks_it_at_the_next_call(machine):
    machine.clear("turn-1")
    machine.list({"words": "docs"})
    machine.start("PreToolUse", editing())
    assert not machine.asked
    machine.start("FileChanged", b'{"file_path":"/p/CLAUDE.md","event":"change"}')
    assert (machine.project / ".ade/run/changed").exists()
    assert not machine.asked
    machine.start("PreToolUse", editing())

    assert machine.asked


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_what_a_clone_puts_in_place_of_the_note_is_none_and_holds_up_nothing(
    machine, kind, tmp_path
):
    note = machine.project / ".ade/run/changed"
    if kind == "folder":
        note.mkdir()
    elif kind == "pipe":
        os.mkfifo(note)
    else:
        (tmp_path / "file").touch()
        note.symlink_to(tmp_path / "file")
    machine.clear("turn-1")
    machine.list({"words": "docs"})
    machine.start("FileChanged", b'{"file_path":"/p/CLAUDE.md","event":"change"}')
    machine.start("PreToolUse", editing())

    assert not machine.asked


@pytest.mark.parametrize(
    ("ids", "name"),
    [
        pytest.param({"session_id": "s-1"}, "s-1", id="session"),
        pytest.param({"session_id": "s-1", "agent_id": "a1"}, "a1", id="subagent"),
        pytest.param({"session_id": "../../x"}, None, id="no name of a file"),
        pytest.param({"session_id": "s-1", "file_path": "x" * 4000}, None, id="too long"),
    ],
)
def test_what_the_client_loaded_is_noted_without_python(machine, ids, name):
    payload = json.dumps(ids | {"load_reason": "include"}, separators=(",", ":"))
    for _ in range(2):
        done = machine.start("InstructionsLoaded", payload.encode())
    loaded = machine.project / ".ade/run/loaded"

    assert (done.returncode, done.stdout, done.stderr, machine.asked) == (0, b"", b"", False)
    noted = {path.name: path.read_text() for path in loaded.iterdir()} if name else {}
    assert noted == ({name: f"{payload}\n" * 2} if name else {})
    assert not list(machine.project.parent.rglob("x"))


def test_no_note_follows_a_link_of_a_clone(machine, tmp_path):
    (tmp_path / "outside").mkdir()
    (machine.project / ".ade/run/loaded").symlink_to(tmp_path / "outside")
    (machine.project / ".ade/run/changed").symlink_to(tmp_path / "outside/made")
    machine.start("InstructionsLoaded", b'{"session_id":"s-1"}')
    machine.start("FileChanged", b"{}")

    assert list((tmp_path / "outside").iterdir()) == []


def test_the_late_hook_ends_with_2_and_its_text_only_for_a_note_that_has_an_answer(machine):
    assert machine.start(LATE, b"{}").returncode == 0
    assert not machine.asked
    (machine.project / ".ade/run/late").mkdir()
    (machine.project / ".ade/run/late/p1").touch()
    done = machine.start(LATE, b"{}")

    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"answer\n")
    machine.python.write_text("#!/bin/sh\nexit 2\n")
    done = machine.start(LATE, b"{}")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
