"""The shape of the package: what imports what, and what a hook loads."""

import ast
import functools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ademem import operations
from ademem.core import client_memory, clock, project
from ademem.core.memory import Draft, Origin, Trust
from ademem.operations import writing
from ademem.session import answer, user_prompt_submit
from bench import house
from tests import extras

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ademem"
SOURCES = sorted(PACKAGE.rglob("*.py"))
HOOKS = sorted((ROOT / "hooks").glob("*.py"))

ROOMS = tuple(
    """
    core guard store search capture files sync synthesis worker session operations doors plugins
    """.split()
)
"""The names at the root, each with one job; a room imports those before it. See ARCHITECTURE."""

_SLOW = """
    argparse click contextlib dataclasses datetime hashlib inspect jsonlines logging numpy
    onnxruntime orjson pathlib pydantic rich socket subprocess tomllib traceback typer typing yaml
"""
SLOW = frozenset(_SLOW.split())
"""Modules that cost a hook more than its own work does."""

_NETWORK = """
    _socket aiohttp asyncio ftplib http httpx imaplib poplib requests smtplib socket socketserver
    ssl telnetlib urllib urllib3 websockets xmlrpc
"""
NETWORK = frozenset(_NETWORK.split())

BROAD_EXCEPT = (
    *("core/plugins.py", "core/plugins.py"),  # of parts, on load and when a function is called
    "plugins/mcp/access.py",
    "doors/cli/__init__.py",
    "plugins/hub/server.py",
    "plugins/http/loopback.py",
    "plugins/ade/server.py",
    "search/embedding/__init__.py",
    *("session/__init__.py", "session/__init__.py"),  # of a hook, and of reading changes before it
    "worker/warm_server.py",
    "worker/running.py",
)
"""Where a failure that nobody foresaw ends; each of them logs it, or hands it to who waits."""


def name_of(node):
    """The dotted name of what is called or read, with an empty part for what has no name."""
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


@functools.cache
def imports(tree):
    """Dotted names of all that is imported, wherever the import stands."""
    found = []
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


parsed, nodes = house.parse, house.nodes


def room(path):
    """The room of a file."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_the_root_has_the_rooms_and_nothing_else():
    names = {room(path) for path in SOURCES} - {"__init__", "__main__"}

    assert sorted(names) == sorted(ROOMS)


def test_rooms_import_one_way():
    backwards = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in SOURCES
        for name in imports(parsed(path))
        if name.startswith("ademem.") and name.split(".")[1] in ROOMS and room(path) in ROOMS
        if ROOMS.index(name.split(".")[1]) > ROOMS.index(room(path))
    ]

    assert backwards == []


def test_no_more_than_three_modules_import_each_other_at_run_time():
    found = house.circles(house.Checkout(ROOT))

    assert [sorted(circle) for circle in found if len(circle) > 3] == []


def test_a_circle_counts_imports_in_functions_and_none_for_types(tmp_path):
    package = tmp_path / "ademem"
    package.mkdir()
    lines = {
        "__init__": "",
        "a": "from ademem import b",
        "b": "def late():\n    import ademem.c",
        "c": "from ademem.a import something",
        "d": "if TYPE_CHECKING:\n    from ademem import e",
        "e": "from ademem import d",
    }
    for name, text in lines.items():
        (package / f"{name}.py").write_text(text)

    assert house.circles(house.Checkout(tmp_path)) == [{"ademem.a", "ademem.b", "ademem.c"}]


DOORS = ("operations", "doors")


def test_events_import_the_capability_they_need_and_no_door():
    doors = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in (PACKAGE / "session").glob("*.py")
        for name in imports(parsed(path))
        if name.startswith("ademem.") and name.split(".")[1] in DOORS
    ]

    assert doors == []


PEERS = {"core/who.py"}
"""What asks the kernel who made a socket that it was started with."""
LOCAL = {"plugins/ade/server.py", "worker/warm.py", "worker/warm_server.py"}
"""What talks over a socket that is a file of this machine."""


LOOPBACK = {"plugins/http/loopback.py"}
"""What listens on a port, at an address that no other machine reaches."""


ABROAD = {
    "search/embedding/install.py",
    "synthesis/ai/openai.py",
    "plugins/hub/transport.py",
}
"""What reaches the network: fetching the model, an AI's address in a setting, a joined hub."""


WAITING = {"plugins/hub/server.py", "plugins/page/memory_threads.py"}
"""What waits in a server's event loop for its turn, a thread, or the next look."""


def test_two_modules_can_reach_the_network():
    reached = {
        str(path.relative_to(PACKAGE))
        for path in SOURCES
        for name in imports(parsed(path))
        if name.split(".")[0] in NETWORK
    }

    assert reached == ABROAD | LOCAL | LOOPBACK | WAITING | PEERS


ASKING_WHO = {"core/who.py"}
_WHO = re.compile(r"\b(?:CLAUDECODE|getppid|LOCAL_PEERPID|has_terminal)")
_OTHER_USES = {
    "doors/calls.py": "a server ends with the process that started it",
    "doors/cli/editor.py": "an editor needs a terminal to be shown in",
    "synthesis/ai/claude.py": "variables that a client of ours does not inherit",
}


def test_one_module_asks_for_variables_terminals_and_parents():
    asking = {
        str(path.relative_to(PACKAGE))
        for path in SOURCES
        if _WHO.search(path.read_text(encoding="utf-8"))
    }

    assert asking == ASKING_WHO | _OTHER_USES.keys()


STARTING = {"core/process.py", "synthesis/ai/claude.py"}
"""What starts other programs: one module for all of them, and the door to an AI's."""

_STARTERS = "fork forkpty posix_spawn posix_spawnp system popen startfile"
_STARTER = re.compile(rf"os\.(?:{'|'.join(_STARTERS.split())}|exec\w+|spawn\w+)")


def starts_a_program(path):
    tree = parsed(path)
    modules = {name.split(".")[0] for name in imports(tree)}
    called = (name_of(node.func) for node in nodes(tree) if isinstance(node, ast.Call))
    return bool(modules & {"subprocess", "multiprocessing", "pty"}) or any(
        map(_STARTER.fullmatch, called)
    )


def test_one_module_starts_programs_and_one_an_ai():
    starting = {path.relative_to(PACKAGE).as_posix() for path in SOURCES if starts_a_program(path)}

    assert starting == STARTING


def test_one_module_starts_git():
    naming = {
        path.relative_to(PACKAGE).as_posix()
        for path in SOURCES
        for node in nodes(parsed(path))
        if isinstance(node, ast.List) and node.elts and ast.unparse(node.elts[0]) == "'git'"
    }

    assert naming == {"core/git.py"}


def importers(module):
    """Which files of the package import *module*, or something out of it."""
    return {
        str(path.relative_to(PACKAGE))
        for path in SOURCES
        for name in imports(parsed(path))
        if f"{name}.".startswith(f"ademem.{module}.")
    }


@pytest.mark.parametrize(
    ("module", "only"),
    [
        pytest.param("search.embedding.install", "operations/model.py", id="installing"),
        pytest.param("operations.model", "doors/cli/model.py", id="the command"),
    ],
)
def test_nothing_but_a_typed_command_leads_to_a_fetch(module, only):
    assert importers(module) == {only}


@pytest.mark.parametrize(
    ("module", "door"),
    [
        pytest.param(
            "search.embedding.minilm",
            "search/embedding/__init__.py search/embedding/install.py",
            id="the model",
        ),
        pytest.param("plugins.models.graph", "", id="the builder"),
        pytest.param(
            "search.dense",
            "plugins/evaluation/measuring.py plugins/procedures/learning.py"
            " operations/inspecting.py search/engine.py search/neighbours.py"
            " search/ranking.py search/statement_search.py synthesis/consolidation.py"
            " worker/embedding.py",
            id="the vectors",
        ),
        pytest.param("synthesis.ai.openai", "synthesis/ai/__init__.py", id="an API"),
        pytest.param(
            "synthesis.ai.claude", "synthesis/ai/__init__.py", id="the client as a program"
        ),
    ],
)
def test_a_heavy_import_has_one_door(module, door):
    assert importers(module) == set(door.split())


def test_no_hook_asks_an_ai():
    asking = [path for path in importers("synthesis.ai") if path.startswith("session/")]

    assert asking == []


def test_onnxruntime_is_loaded_only_where_it_is_silenced():
    loading = {
        str(path.relative_to(ROOT))
        for path in [*SOURCES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "bench").rglob("*.py")]
        if "onnxruntime" in path.read_text(encoding="utf-8")
        for name in imports(parsed(path))
        if name.split(".")[0] == "onnxruntime"
    }

    assert loading == {"ademem/search/embedding/minilm.py"}


@pytest.mark.parametrize("path", sorted(LOOPBACK))
def test_a_port_is_bound_at_the_loopback_address(path):
    tree = parsed(PACKAGE / path)
    bound = [
        ast.unparse(node)
        for node in nodes(tree)
        if isinstance(node, ast.Call) and name_of(node.func).endswith(".bind")
    ]

    assert bound == ["listener.bind((ADDRESS, port))"]
    assert "ADDRESS = '127.0.0.1'" in ast.unparse(tree)


@pytest.mark.parametrize("path", sorted(LOCAL))
def test_a_socket_is_a_file_or_comes_from_one(path):
    made = [
        ast.unparse(argument)
        for node in nodes(parsed(PACKAGE / path))
        if isinstance(node, ast.Call) and name_of(node.func) == "sockets.socket"
        for argument in [*node.args[:1], *(given.value for given in node.keywords)]
    ]

    assert made
    assert set(made) <= {"sockets.AF_UNIX", "handle"}


_STATEMENT = re.compile(
    r"\s*(?:select\s.+\sfrom\s|insert\s+(?:or\s+\w+\s+)?into\s|update\s.+\sset\s|delete\s+from\s"
    r"|(?:create|drop|alter)\s+(?:virtual\s+|temp\s+)?(?:table|index|view|trigger)\s|pragma\s)"
    r"|.*\b(?:is\s+(?:not\s+)?null|order\s+by)\b",
    re.I | re.S,
)


def texts_in(tree):
    """Literal texts but for docstrings, each f-string as far as it is literal."""
    expressions = (node for node in nodes(tree) if isinstance(node, ast.Expr))
    docstrings = {id(node.value) for node in expressions}
    for node in nodes(tree):
        if id(node) in docstrings:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = [part for part in node.values if isinstance(part, ast.Constant)]
            yield " ".join(part.value for part in parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def runs_sql(tree):
    """True if the module executes statements, hands conditions to the store, or has SQL in it."""
    methods = {"execute", "executemany", "executescript"}
    called = (node.func for node in nodes(tree) if isinstance(node, ast.Call))
    for each in called:
        name = name_of(each)
        if isinstance(each, ast.Attribute) and each.attr in methods:
            return True
        if name == "memories.find":
            return True
    return any(map(_STATEMENT.match, texts_in(tree)))


def test_sql_stands_in_the_store_and_that_of_a_parts_own_database_in_the_parts():
    running = {
        path.relative_to(PACKAGE).as_posix()
        for path in SOURCES
        if room(path) != "store"
        and not path.match("plugins/*/store/*.py")
        and runs_sql(parsed(path))
    }

    assert running == set()


ROWS = {
    "store/ade.py": "rows of another database",
    "plugins/procedures/export.py": "a dry run, which stores nothing",
    "sync/record_import.py": "a line of the files, before it is a row",
    "store/adopted.py": "an item of a file, shown as memories are",
}
"""Modules that make whole rows, and so set status and tier."""

STATE = {"status", "tier", "promoted_at", "superseded_by"}


def sets_state(tree):
    """True if a status or tier is written into a memory, or into fields for one."""
    for node in nodes(tree):
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            given = [(key.value, value) for key, value in pairs if isinstance(key, ast.Constant)]
        elif isinstance(node, ast.Call) and name_of(node.func) in ("replace", "Memory"):
            given = [(each.arg, each.value) for each in node.keywords]
        else:
            continue
        if any(name in STATE and _STATE.match(ast.unparse(value)) for name, value in given):
            return True
    return False


_STATE = re.compile(r"(?:Status|Tier)\.[A-Z]+\b(?!\.value)")


def test_a_status_and_a_tier_are_set_by_transitions_and_by_new_rows():
    setting = {
        path.relative_to(PACKAGE).as_posix()
        for path in SOURCES
        if path.name != "transitions.py" and sets_state(parsed(path))
    }

    assert setting == set(ROWS)


_OPERATIONS = """
    listdir scandir walk replace rename unlink remove rmdir makedirs mkdir stat lstat utime truncate
    link symlink chmod open
    path.exists path.lexists path.isdir path.isfile path.islink path.getsize path.getmtime
"""
OPERATIONS = {"open", *(f"os.{name}" for name in _OPERATIONS.split())}
METHODS = {
    "read_text",
    "read_bytes",
    "write_text",
    "write_bytes",
    "write_atomic",
    "iterdir",
    "rglob",
}
"""Of `pathlib` and `ademem.core.shared_files`."""

OPENERS = {
    "files/enrolment.py": "the list of the projects of this machine",
    "core/shared_files.py": "replaces and locks files for those below",
    "core/confined.py": "is the way to all files below `.ade/`",
    "synthesis/ai/": "looks for a program, and makes temporary files for it",
    "search/embedding/": "the cache of models, in the user's own folder",
    "core/bytecode.py": "the package's own code, compiled",
    "core/regex.py": "its patterns, compiled",
    "search/places.py": "is there the file that a text names",
    "sync/provenance.py": "git's log, and transcripts of the client",
    "sync/proposal.py": "a temporary index for git",
    "plugins/exchange/folder.py": "is the folder there that the person named",
    "core/repository.py": "git's small files",
    "core/project.py": "is there a folder `.ade` or a worktree; nothing in it is opened",
    "capture/learned.py": "is there a `.git`, and a file of the project that a command named",
    "synthesis/anchoring.py": "source files of the project that memories speak of",
    "core/client_memory.py": "the client's own memories, which are only read",
    "core/transcript_lines.py": "transcripts of the client",
    "capture/transcript.py": "transcripts of the client",
    "search/meeting.py": "is a path that a call writes a folder",
    "synthesis/reader/reading.py": "is there the file that a lesson names",
    "synthesis/episode_building.py": "size of a transcript",
    "core/plugins.py": "which parts came with the package",
    "core/judge.py": "the judges, which came with the package",
    "core/credential_judge.py": "the weights, which came with the package",
    "operations/judging.py": "what a judge was trained on, in a checkout of the repository",
    "plugins/evaluation/commands.py": "files that the person named",
    "core/prompt_notes.py": "what the module in the client notes, in the person's own folder",
    "core/who.py": "processes, in /proc, and terminals that the person added",
    "core/trust.py": "what the person agreed to, in their own folder",
    "core/settings.py": "are there files of settings",
    "core/clone_variables.py": "settings of the client, in the clone",
    "guard/touched_by_commands.py": "files that it names, Makefile and package.json; not `.ade/`",
    "guard/own_places.py": "is a file that a call names a link; nothing is opened",
    "guard/client_settings.py": "settings of the client, which a call would change",
    "core/setting_sources.py": "the person's own settings, and what was read of them before",
    "operations/files.py": "is there a database",
    "operations/overview.py": "settings and transcripts of the client, is there a log of failures",
    "operations/configuring.py": "writes the person's own settings",
    "core/failure_log.py": "makes the user's own folder for logs",
    "doors/cli/": "files that the person named on the command line, and the log of crashes",
    "plugins/agents/installing.py": "settings and plugins of other agents",
    "plugins/client/": "files in the person's own folder, for the module in the client",
    "plugins/importers/": "files that the person named",
    "plugins/engram/": "a database that the person named",
    "files/readers/": "files that the person named",
    "files/instructions/": "instruction files of the project, Makefile and package.json",
    "sync/adopting.py": "files of the project where git does not list them",
    "sync/instruction_state.py": "size and time of instruction files",
    "store/ledger.py": "size and time of files that the person imported",
    "store/foreign.py": "is there a log beside a database that the person named",
    "operations/install/": "settings of the client and hooks of git",
    "plugins/evaluation/measuring.py": "a temporary project",
    "worker/read_only.py": "a copy of the checked database, in the user's cache folder",
    "store/runtime.py": "is there a database",
    "operations/doctor.py": "size of the database, /proc/mounts, and a temporary project",
    "operations/recovery.py": "sets a damaged database aside",
    "store/__init__.py": "size of the log of a database",
    "store/opening.py": "is there a database",
    "store/database.py": "makes the database, and reads the schema",
    "store/backup_files.py": "names and sizes of backups, in the data folder",
    "store/backups.py": "writes backups into the data folder; checked copies replace a database",
    "store/repair.py": "copies a damaged database, and reads the copy",
    "store/embeddings.py": "inode of the database",
    "store/admission.py": "sets a database aside, by the descriptor of its checked folder",
    "plugins/hub/store/": "migrations of the hub, and backups in the folder that was named",
    "worker/warm_server.py": "the socket, in its checked folder",
    "core/process.py": "/dev/null",
    "plugins/mcp/process.py": "/dev/null",
    "plugins/page/rendering.py": "static files of the package",
    "plugins/replay/transcripts.py": "the client's transcripts",
    "session/notices.py": "the client's file of variables; inode of a database set aside",
    "session/pre_tool_use.py": "the client's own memories",
}
"""Who opens, lists, changes or looks for a file by its path, and which: none below `.ade/`."""

LOOKS = ("os.path.lexists", "os.path.exists", "os.path.isdir", "os.path.islink")
"""Questions that reveal and change nothing."""
BELOW_ADE = re.compile(r"\.(ade|run|log|memory|config|local_config)\b")


@functools.cache
def file_operations(path):
    """Calls that reach a file by its path alone."""
    found = []
    for node in nodes(parsed(path)):
        if not isinstance(node, ast.Call):
            continue
        called = name_of(node.func)
        module, _, name = called.rpartition(".")
        by_method = (name in METHODS or called in METHODS) and module != "confined"
        if (
            called in OPERATIONS
            or by_method
            or called == "shared_files.remove"
            or module in ("shutil", "tempfile")
        ):
            found.append(node)
    return found


def opener(path):
    """The entry of OPENERS that the file belongs to."""
    inside = path.relative_to(PACKAGE).as_posix()
    return next((name for name in OPENERS if inside == name or inside.startswith(name)), None)


def test_files_below_ade_are_reached_through_one_module():
    unlisted = [
        f"{path.relative_to(ROOT)}:{call.lineno}: {ast.unparse(call)}"
        for path in SOURCES
        if opener(path) is None
        for call in file_operations(path)
    ]
    below = [
        f"{path.relative_to(ROOT)}:{call.lineno}: {ast.unparse(call)}"
        for path in SOURCES
        for call in file_operations(path)
        if any(BELOW_ADE.search(ast.unparse(argument)) for argument in call.args)
        if name_of(call.func) not in LOOKS
    ]

    assert unlisted == []
    assert below == []
    assert {opener(path) for path in SOURCES if file_operations(path)} == set(OPENERS)


LOCKING_ELSEWHERE = {
    "core/shared_files.py",
    "core/trust.py",
    "search/embedding/cache.py",
    "search/embedding/install.py",
    "store/database.py",  # the folder of a database that was checked
}


def test_a_lock_below_ade_is_reached_like_a_file():
    without_root = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        if path.relative_to(PACKAGE).as_posix() not in LOCKING_ELSEWHERE
        for node in nodes(parsed(path))
        if isinstance(node, ast.Call) and name_of(node.func) in ("locked", "is_held")
        if "root" not in {given.arg for given in node.keywords}
    ]

    assert without_root == []


EDIT = {"tool_name": "Edit", "tool_input": {"file_path": "src/auth.py"}, "tool_use_id": "t1"}
ERROR = {"tool_name": "Bash", "tool_input": {"command": "npm test"}, "error": "Exit code 1\nboom"}
FINAL = {"last_assistant_message": "## Key learnings\n\n1. Tokens expire in UTC, never locally."}
AGENT = {"agent_id": "a1", "agent_type": "Explore"}


def bash(command):
    response = {"stdout": "", "stderr": "", "interrupted": False}
    return {
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_response": response,
        "tool_use_id": "t2",
    }


DAY = (
    ("session_start", {"source": "startup"}),
    ("session_start", {"source": "compact"}),
    ("user_prompt_submit", {"prompt": "Why do login tokens expire?"}),
    ("pre_tool_use", EDIT),
    ("pre_tool_use", bash("git commit -am 'fix login' && rm -rf build")),
    ("post_tool_use", bash('ademem recall "login"')),
    ("post_tool_use", bash('bd comment BD-1 "LEARNED: tokens expire in UTC, never locally"')),
    ("post_tool_use_failure", ERROR),
    ("post_tool_batch", {"tool_calls": []}),
    ("cwd_changed", {}),
    ("late_recall", bash("make")),
    ("pre_compact", {"trigger": "auto"}),
    ("subagent_start", AGENT),
    ("subagent_stop", AGENT | FINAL),
    ("stop", FINAL),
    ("session_end", {"reason": "clear"}),
)
"""Payloads of an ordinary day: a turn that has to recall, finds, learns and fails."""

FIRE = """
import sys
sys.path.insert(0, sys.argv[1])
from os import environ

from ademem.core import bytecode
bytecode.in_use = sys.argv[2] or None
from ademem.core.clock import now
from ademem.session import answer
from ademem.session.{event} import handle

loaded = set(sys.modules)
said = answer(handle, sys.stdin.buffer.read(), environ, now())
handled = set(sys.modules)
from ademem.core import regex
regex.keep()
import json
print(json.dumps([sorted(loaded), sorted(handled), said]))
"""


class Day:
    """A project that remembers something, and a turn that has to recall before it changes files."""

    def __init__(self, root):
        self.root = root
        self.environment = {
            "CLAUDE_PROJECT_DIR": str(root),
            "HOME": os.environ["HOME"],  # where `init` noted that the database was made here
            "CLAUDE_CONFIG_DIR": f"{root}/claude",
            "PATH": "/usr/bin:/bin",
            "TMPDIR": str(root),
            "ADEMEM_JOBS_AUTO": "false",
        }
        operations.init(str(root))
        with operations.open_memories(str(root), environment=self.environment) as memories:
            writing.write(memories, Draft(content="Login tokens expire in UTC", promoted=True))
            rule = Draft(
                content="The folder is made anew, and a commit has a ticket",
                category="convention",
                anchors=("@ build/", "@ `git commit`"),
                promoted=True,
                origin=Origin(trust=Trust.USER),
            )
            writing.write(memories, rule)
        prompt = self.payload("user_prompt_submit", {"prompt": "Fix the login bug in src/auth.py"})
        answer(user_prompt_submit.handle, prompt, self.environment, clock.now())

    def payload(self, event, keys):
        head = {"session_id": "s1", "prompt_id": "p1", "cwd": str(self.root)}
        return json.dumps(head | {"hook_event_name": camel(event)} | keys).encode()

    def fire(self, event, keys, package=""):
        """What a fresh interpreter loaded to import the event, and to handle it; its answer.

        Beside a *package* it keeps what patterns compile to.
        """
        ran = subprocess.run(
            [sys.executable, "-I", "-S", "-c", FIRE.format(event=event), str(ROOT), str(package)],
            input=self.payload(event, keys),
            capture_output=True,
            env=self.environment,
            timeout=20,
            check=True,
        )
        failures = self.root / ".ade/log/hooks.log"
        assert not failures.exists(), failures.read_text()
        return json.loads(ran.stdout)


@pytest.fixture
def day(tmp_path):
    return Day(tmp_path)


def camel(event):
    return "".join(word.capitalize() for word in event.split("_"))


@pytest.mark.parametrize(
    ("event", "payload"), [pytest.param(*row, id=f"{at} {row[0]}") for at, row in enumerate(DAY, 1)]
)
def test_a_hook_loads_nothing_slow(day, event, payload):
    at_import, after_handling, _ = day.fire(event, payload)

    assert SLOW.isdisjoint(at_import)
    assert SLOW.isdisjoint(after_handling)
    assert not [name for name in after_handling if name.startswith("ademem.doors")]


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        pytest.param(*row, id=row[0])
        for row in DAY
        if row[0] in ("user_prompt_submit", "pre_tool_use", "post_tool_use_failure", "stop")
    ],
)
def test_a_hook_loads_no_compiler_of_patterns_once_one_kept_them(day, event, payload):
    (day.root / "package/__pycache__").mkdir(parents=True)
    fired = [
        day.fire(event, payload | {"prompt_id": f"p{at}"}, day.root / "package") for at in (2, 3)
    ]

    assert ["re" in handled for _, handled, _ in fired] == [True, False]
    assert "collections" not in fired[1][1]


def loads_patterns_or_enums(name):
    """True if importing the module imports `re` or `enum`."""
    path = PACKAGE.parent.joinpath(*name.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    top = [node for node in parsed(source).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return any(name.split(".")[0] in ("re", "enum") for node in top for name in imports(node))


def test_a_session_starts_without_a_pattern_or_an_enum(day):
    at_import, after_handling, _ = day.fire("session_start", {"source": "startup"})
    loaded = {name for name in {*at_import, *after_handling} if name.startswith("ademem.")}

    assert not list(filter(loads_patterns_or_enums, loaded))


def test_the_clients_memory_loads_nothing_slow_and_no_pattern_where_it_is_as_it_was(day):
    (main, *_) = client_memory.list_folders(project.at(str(day.root)), day.environment)
    note = Path(main.path, "mail.md")
    note.parent.mkdir(parents=True)
    note.write_text("---\ntype: project\n---\n\nThe mail server sleeps at night\n")
    call = {"tool_name": "Write", "tool_input": {"file_path": str(note)}}
    _, after_reading, _ = day.fire("post_tool_use", call)
    at_import, after_start, _ = day.fire("session_start", {"source": "startup"})
    loaded = {name for name in {*at_import, *after_start} if name.startswith("ademem.")}

    assert "ademem.capture.memory_files" in after_reading
    assert SLOW.isdisjoint(after_reading)
    assert "ademem.capture.reconciling" in loaded
    assert not list(filter(loads_patterns_or_enums, loaded))


def test_a_prompt_loads_the_ranking_only_where_no_process_with_a_model_ranks(day):
    prompt = {"prompt": "Why do login tokens expire?", "prompt_id": "p2"}
    at_import, after_handling, said = day.fire("user_prompt_submit", prompt)

    assert "ademem.search.ranking" not in at_import
    assert "ademem.search.ranking" in after_handling
    assert "expire in UTC" in said


@pytest.mark.parametrize(
    ("event", "payload", "needless"),
    [
        pytest.param(
            *("user_prompt_submit", {"prompt": "Look at the login", "prompt_id": "p2"}),
            "guard.acts guard.shell search.binding core.client_memory",
            id="a prompt that names no act",
        ),
        pytest.param(
            *("stop", {"last_assistant_message": "Done."}),
            "core.redaction core.who search.binding store.memory_queries store.sessions",
            id="the end of a turn",
        ),
    ],
)
def test_a_hook_leaves_out_what_a_rare_call_needs(day, event, payload, needless):
    _, loaded, _ = day.fire(event, payload)

    assert {f"ademem.{name}" for name in needless.split()}.isdisjoint(loaded)


def test_a_file_of_settings_is_parsed_once(day):
    (day.root / ".ade/config.toml").write_text("[search]\nlimit = 3\n[ai]\nmodel = 'small'\n")
    _, first, _ = day.fire("pre_tool_use", EDIT)
    _, second, _ = day.fire("pre_tool_use", EDIT)

    assert "tomllib" in first
    assert SLOW.isdisjoint(second)


def test_the_guard_denies_on_such_a_day(day):
    _, _, denial = day.fire("pre_tool_use", bash("git commit -am 'fix login' && rm -rf build"))

    assert json.loads(denial)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_the_day_has_every_event():
    assert {event for event, _ in DAY} == {hook.stem for hook in HOOKS}


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.stem)
def test_a_hook_is_six_lines(hook):
    title, *rest = hook.read_text(encoding="utf-8").splitlines()

    assert re.fullmatch(rf'"""{camel(hook.stem)}: [a-z].*\."""', title)
    assert rest == [
        "",
        "from ademem.session import run",
        f"from ademem.session.{hook.stem} import handle",
        "",
        "run(handle)",
    ]


def swallows_anything(handler):
    """Catches whatever comes and does not raise it again."""
    broad = handler.type is None or ast.unparse(handler.type) in ("Exception", "BaseException")
    return broad and not any(
        isinstance(node, ast.Raise) and node.exc is None for node in handler.body
    )


def test_a_failure_is_swallowed_where_it_is_logged_and_nowhere_else():
    swallowing = [
        str(path.relative_to(PACKAGE))
        for path in SOURCES
        for node in nodes(parsed(path))
        if (isinstance(node, ast.ExceptHandler) and swallows_anything(node))
        or (
            isinstance(node, ast.Call)
            and name_of(node.func) == "suppress"
            and ast.unparse(node) == "suppress(Exception)"
        )
    ]

    assert sorted(swallowing) == sorted(BROAD_EXCEPT)


def tracked():
    """Files that are in the repository, or would be with the next commit."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]


def elsewhere():
    """What only this machine, or a package index, would be called."""
    shared = set(map(Path, ("/", "/tmp", "/dev/shm", tempfile.gettempdir())))  # on every machine
    folders = {f"{folder}/" for folder in {ROOT, ROOT.parent, Path.home()} - shared}
    hosts = r"\b(?:pypi|npm\w*|crates|\w*\.debian|files\.python\w*)\.(?:org|com|net|io)\b"
    return re.compile("|".join([hosts, *map(re.escape, folders)]))


def test_no_file_names_a_path_of_this_machine_or_a_registry():
    foreign = elsewhere()
    named = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in tracked()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if foreign.search(line)
    ]

    assert named == []


BETWEEN_PARTS = {
    "ade": {"mcp", "procedures"},
    "engram": {"exchange", "mcp"},
    "hub": {"http", "page"},
    "mcp": {"http"},
    "page": {"evaluation", "http", "procedures", "replay", "verify"},
}
"""Parts that import others: for tools, chunks, servers, and what the page shows."""


def test_a_part_imports_no_other_but_where_it_is_listed():
    between = {}
    for path in (PACKAGE / "plugins").rglob("*.py"):
        part = path.relative_to(PACKAGE / "plugins").parts[0]
        named = [name.split(".") for name in imports(parsed(path))]
        if others := {each[2] for each in named if each[:2] == ["ademem", "plugins"]} - {part}:
            between[part] = between.get(part, set()) | others

    assert between == BETWEEN_PARTS


def test_the_terminal_is_reached_by_its_command_alone_and_textual_by_the_terminal():
    loading = {
        path.relative_to(PACKAGE).as_posix()
        for path in SOURCES
        for name in imports(parsed(path))
        if name.split(".")[0] == "textual"
    }

    assert importers("plugins.terminal.browser") == {"plugins/terminal/command.py"}
    assert loading == {"plugins/terminal/browser.py"}


OF_EXTRAS = {
    "plugins/http/loopback.py": "http web hub",
    "plugins/hub/server.py": "hub",
    "plugins/mcp/process.py": "mcp",
    "plugins/mcp/server.py": "mcp",
    "plugins/mcp/streamable.py": "mcp+http",
    "plugins/terminal/browser.py": "tui",
    "plugins/hub/page.py": "hub",
    "plugins/page/memory_pages.py": "web hub",
    "plugins/page/pages.py": "web hub",
    "plugins/page/rendering.py": "web hub",
    "plugins/page/replay_page.py": "web hub",
    "plugins/page/server.py": "web hub",
    "plugins/page/upkeep_pages.py": "web hub",
    "plugins/hub/store/copies.py": "hub",
    "plugins/hub/store/database.py": "hub",
    "plugins/hub/store/requests.py": "hub",
}
"""Modules that a default installation cannot import, and the extras with any of which it can."""

WITHIN = {"plugins/hub/store/administration.py": "psycopg"}
"""A function that only the server runs imports it, in a module that clients import, too."""


def statements_at_import(tree):
    """Statements that run when the module is imported, and so not those for types alone."""
    waiting = list(tree.body)
    while waiting:
        each = waiting.pop()
        yield each
        if isinstance(each, ast.If) and name_of(each.test) == "TYPE_CHECKING":
            waiting += each.orelse
        elif not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += [part for part in ast.iter_child_nodes(each) if isinstance(part, ast.stmt)]


@functools.cache
def imported_first(path):
    """Dotted names of what a module imports at once."""
    found = [ast.Module([each], []) for each in statements_at_import(parsed(path))]
    return [name for each in found if is_import(each) for name in imports(each)]


def is_import(module):
    return isinstance(module.body[0], ast.Import | ast.ImportFrom)


def modules_on(name):
    """Modules of the package that an import of a dotted name executes."""
    parts = name.split(".")
    return [
        module
        for count in range(1, len(parts) + 1)
        if (module := ".".join(parts[:count])) in BY_NAME
    ]


@functools.cache
def imports_of_ours(module):
    """Modules of the package, and foreign packages, that a module imports at once."""
    names = imported_first(BY_NAME[module])
    ours = {each for name in [module, *names] for each in modules_on(name)}
    return ours, {name.split(".")[0] for name in names} & extras.PACKAGES


def needed_at_import(module):
    """Packages of extras without which the module cannot be imported."""
    waiting, seen, needed = [module], set(), set()
    while waiting:
        ours, foreign = imports_of_ours(waiting.pop())
        needed |= foreign
        waiting += ours - seen
        seen |= ours
    return needed


def dotted(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


BY_NAME = {dotted(path): path for path in SOURCES}


def brought_by(names):
    return set().union(*(extras.EXTRAS[name] for name in names.split("+")))


def test_a_module_that_needs_an_extra_is_named_with_it():
    needing = {
        path.relative_to(PACKAGE).as_posix(): needed
        for name, path in BY_NAME.items()
        if (needed := needed_at_import(name))
    }
    lacking = [
        f"{path} needs {name}, which {extra} does not bring"
        for path, needed in needing.items()
        for extra in OF_EXTRAS.get(path, "").split()
        for name in needed - brought_by(extra)
    ]

    assert needing.keys() == OF_EXTRAS.keys()
    assert lacking == []


def test_a_function_imports_a_package_of_an_extra_only_where_it_is_listed():
    within = {
        path.relative_to(PACKAGE).as_posix(): ",".join(sorted(later))
        for path in SOURCES
        if (later := of_extras(imports(parsed(path))) - of_extras(imported_first(path)))
        and path.relative_to(PACKAGE).as_posix() not in OF_EXTRAS
        and not later <= of_extras(for_types(parsed(path)))
    }

    assert within == WITHIN


def of_extras(names):
    return {name.split(".")[0] for name in names} & extras.PACKAGES


def for_types(tree):
    blocks = [node for node in nodes(tree) if isinstance(node, ast.If)]
    return [
        name
        for block in blocks
        if name_of(block.test) == "TYPE_CHECKING"
        for name in imports(ast.Module(block.body, []))
    ]


NUMBERED = {
    *("operations/browsing.py", "operations/curation.py", "operations/inspecting.py"),
    *(
        "operations/searching.py",
        "files/records.py",
    ),
    *("plugins/engram/answers.py", "plugins/engram/documents.py", "search/engine.py"),
    *("search/near_hits.py", "search/neighbours.py", "search/ranking.py"),
    *("session/user_prompt_submit.py", "worker/embedding.py", "worker/warm_server.py"),
}
"""Modules that name a memory by the number of its row, as the indexes do; elsewhere by its id.

Each uses the numbers of one store at a time, or beside the number of the store (`browsing`).
"""


def test_a_row_number_leaves_the_store_only_where_it_is_listed():
    using = {
        path.relative_to(PACKAGE).as_posix()
        for path in SOURCES
        if room(path) != "store"
        and any(
            isinstance(node, ast.Attribute) and node.attr == "seq" for node in nodes(parsed(path))
        )
    }

    assert using == NUMBERED
