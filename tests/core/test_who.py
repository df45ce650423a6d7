"""Who acts: a person, an agent, or neither; told by the processes that the kernel names."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ademem.core import who
from ademem.core.actor import By
from ademem.core.who import Process, client_in, of_command, of_hook
from tests import persons

ROOT = Path(__file__).parents[2]
TTY = 34816
ASK = (
    "import os, sys; from ademem.core import who\n"
    "found = getattr(who, sys.argv[1])(os.environ); print(found.by, found.is_proven, found.why)"
)
linux = pytest.mark.skipif(sys.platform != "linux", reason="it names processes as Linux does")


def line(*names, end=0, terminal=0, variables=()):
    """A table of processes with these names, the nearest first, from the parent of this one up."""
    first, table = os.getppid(), {}
    pids = [first, *range(900_001, 900_000 + len(names))]
    for place, name in enumerate(names):
        parent = pids[place + 1] if place + 1 < len(names) else end
        table[pids[place]] = Process(
            pid=pids[place],
            parent=parent,
            name=name.rpartition("/")[2][:15],
            command=(name,),
            terminal=terminal,
            client_variable="CLAUDECODE" if name in variables else "",
        )
    init = Process(pid=1, parent=0, name="init")
    return ({1: init} | table).get, pids


@pytest.mark.parametrize(
    "host",
    [
        "sshd",
        "sshd-session",
        "login",
        "mosh-server",
        "gnome-terminal-server",
        "konsole",
        "xfce4-terminal",
        "xterm",
        "kitty",
        "alacritty",
        "wezterm-gui",
        "ghostty",
        "foot",
        "tilix",
        "terminator",
        "warp",
        "/Applications/iTerm.app/Contents/MacOS/iTerm2",
        "/System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal",
        "/usr/share/code/code",
        "/home/anna/.vscode-server/bin/abc/node",
        "/home/anna/.cursor-server/bin/abc/node",
        "/opt/idea/bin/idea",
        "zed-editor",
        "emacs",
        "gnome-shell",
        "plasmashell",
        "SessionLeader",
        "Relay(338)",
    ],
)
def test_a_terminal_below_a_login_an_editor_or_a_desktop_is_a_persons(host):
    read, _ = line("bash", host, end=1)

    assert of_command({}, read=read, terminal=True).by is By.PERSON


@pytest.mark.parametrize(
    ("names", "options", "terminal", "by", "why"),
    [
        pytest.param(("bash",), {"end": 1}, True, By.UNKNOWN, "no login", id="an orphan"),
        pytest.param(
            ("sh", "script"), {"end": 1}, True, By.UNKNOWN, "(script)", id="setsid and script"
        ),
        pytest.param(
            ("bash", "sshd"), {"end": 1}, False, By.UNKNOWN, "no terminal", id="cron, CI, a pipe"
        ),
        pytest.param(
            ("bash", "claude", "bash", "sshd"), {}, True, By.AGENT, "claude", id="a client"
        ),
        pytest.param(
            ("bash", "sshd", "claude", "sshd"), {}, True, By.AGENT, "claude", id="a false login"
        ),
        pytest.param(
            ("bash", "script", "sshd"),
            {"variables": ("script",)},
            True,
            By.AGENT,
            "CLAUDECODE",
            id="started with a client's variables",
        ),
        pytest.param(("bash",), {}, True, By.PERSON, "container", id="docker exec -it"),
        pytest.param(("sh",), {"end": 1, "terminal": TTY}, True, By.UNKNOWN, "no login", id="init"),
        pytest.param(
            ("bash", "tmux: server"), {"end": 1}, True, By.UNKNOWN, "attached", id="tmux alone"
        ),
        pytest.param((), {}, True, By.UNKNOWN, "cannot be read", id="an unreadable table"),
    ],
)
def test_others_are_no_persons(names, options, terminal, by, why):
    read, _ = line(*names, **options)
    found = of_command({}, read=read, terminal=terminal)

    assert found.by is by
    assert why in found.why


@pytest.mark.parametrize(
    ("own", "one_user", "by"),
    [
        pytest.param(TTY, False, By.PERSON, id="docker run -it"),
        pytest.param(TTY + 1, False, By.UNKNOWN, id="an orphan in a terminal of its own"),
        pytest.param(TTY, True, By.UNKNOWN, id="a namespace that anybody makes"),
    ],
)
def test_process_1_with_this_terminal_is_that_of_a_container(own, one_user, by, monkeypatch):
    monkeypatch.setattr(who, "_maps_one_user", lambda: one_user)
    first = Process(pid=1, parent=0, name="bash", terminal=TTY)
    parent = Process(pid=os.getppid(), parent=1, name="sh", terminal=own)
    table = {1: first, os.getppid(): parent}

    assert of_command({}, read=table.get, terminal=True).by is by


def test_a_variable_of_a_client_makes_an_agent_and_nothing_makes_a_person():
    read, _ = line("bash", "sshd", end=1)
    orphan, _ = line("bash", end=1)

    assert of_command({"GEMINI_CLI": "1"}, read=read, terminal=True).by is By.AGENT
    assert of_command({"SSH_TTY": "/dev/pts/1"}, read=orphan, terminal=True).by is By.UNKNOWN


def test_a_terminal_that_the_person_added_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(who, "terminals_path", lambda: str(tmp_path / "own" / "terminals"))
    read, _ = line("bash", "newterm", end=1)
    before = of_command({}, read=read, terminal=True)
    who.add_terminal("newterm")

    assert before.by is By.UNKNOWN
    assert "/ademem:terminal" in before.why
    assert of_command({}, read=read, terminal=True).by is By.PERSON


CLIENT = ("sh", "claude", "bash", "sshd")


@pytest.mark.parametrize(
    ("names", "maker", "environment", "by", "proven"),
    [
        pytest.param(CLIENT, 1, {}, By.PERSON, True, id="typed"),
        pytest.param(CLIENT[1:], 0, {}, By.PERSON, True, id="a client without the shell"),
        pytest.param(CLIENT, 0, {}, By.UNKNOWN, False, id="a socket of the shell"),
        pytest.param(CLIENT, 2, {}, By.UNKNOWN, False, id="a socket of one further above"),
        pytest.param(("sh", "python3", "sshd"), 1, {}, By.UNKNOWN, False, id="no client"),
        pytest.param((*CLIENT[:3], *CLIENT), 1, {}, By.AGENT, True, id="a client below one"),
        pytest.param(
            CLIENT, 1, {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, By.UNKNOWN, True, id="claude -p"
        ),
        pytest.param(
            CLIENT, 1, {"CLAUDE_CODE_SESSION_ATTENDED": "0"}, By.UNKNOWN, True, id="unattended"
        ),
        pytest.param(("sh", "claude", "bash"), 1, {}, By.UNKNOWN, True, id="an orphan"),
    ],
)
def test_a_prompt_is_typed_where_a_client_below_a_login_made_the_socket(
    names, maker, environment, by, proven
):
    read, pids = line(*names, end=1, terminal=TTY)
    found = of_hook(environment, maker=pids[maker], read=read)

    assert (found.by, found.is_proven) == (by, proven)


def test_a_client_without_a_terminal_is_attended_in_an_editor_alone():
    read, pids = line("sh", "claude", "/usr/share/code/code", end=1)

    assert of_hook({}, maker=pids[1], read=read).by is By.UNKNOWN
    editor = {"CLAUDE_CODE_ENTRYPOINT": "claude-vscode"}
    assert of_hook(editor, maker=pids[1], read=read).by is By.PERSON


@pytest.mark.parametrize(
    ("words", "client"),
    [
        pytest.param("claude --continue", "claude", id="by its name"),
        pytest.param("/opt/bin/Codex", "codex", id="by its path"),
        pytest.param("node /usr/lib/node_modules/@openai/codex/bin/codex.js", "codex", id="node"),
        pytest.param(
            "node --max-old-space-size=9 /x/@anthropic-ai/claude-code/cli.js",
            "claude-code",
            id="by its package",
        ),
        pytest.param("/usr/bin/python3.12 -E /venv/bin/aider", "aider", id="in Python"),
        pytest.param("bash /home/me/claude/run.sh", "", id="a folder of that name"),
        pytest.param("vim claude", "", id="a file of that name"),
        pytest.param("-zsh", "", id="a shell"),
        pytest.param("", "", id="no command line"),
    ],
)
def test_a_client_is_known_by_its_command_line(words, client):
    assert client_in(words.split()) == client


def asked(*names, what="of_command", within=(), **options):
    """What a real process below processes of these names finds out about itself."""
    command = [*within, sys.executable, "-c", ASK, what]
    variables = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]} | options.pop("more", {})
    ran = persons.run_below(*names, command=command, environment=variables, folder=ROOT, **options)
    return ran.stdout.decode()


@linux
@pytest.mark.parametrize(
    ("names", "options", "by"),
    [
        pytest.param(("sshd", "bash"), {}, "person", id="a login"),
        pytest.param(("sshd", "bash"), {"terminal": False}, "unknown", id="no terminal"),
        pytest.param(("bash",), {}, "unknown", id="an orphan"),
        pytest.param(("claude", "sshd"), {}, "agent", id="a false login below a client"),
        pytest.param(
            ("sshd",), {"started_with": {"CLAUDECODE": "1"}}, "agent", id="variables of its start"
        ),
    ],
)
def test_a_real_command(names, options, by):
    assert asked(*names, **options).startswith(by)


@linux
@pytest.mark.parametrize(
    ("names", "options", "answer"),
    [
        pytest.param(("sshd", "claude"), {}, "person True", id="typed"),
        pytest.param(("sshd", "claude"), {"socket": False}, "unknown False", id="a pipe"),
        pytest.param(("sshd", "bash"), {}, "unknown False", id="a socket of no client"),
        pytest.param(("claude", "bash", "claude"), {}, "agent True", id="below a client"),
    ],
)
def test_a_real_hook(names, options, answer):
    assert asked(*names, what="of_hook", **({"socket": True} | options)).startswith(answer)


@linux
@pytest.mark.parametrize(
    ("names", "by"),
    [
        pytest.param(("bash", "sshd"), By.UNKNOWN, id="a program of the person"),
        pytest.param(("bash", "claude", "sshd"), By.AGENT, id="a client above"),
    ],
)
def test_who_is_at_the_other_end_of_a_socket(names, by):
    read, _ = line(*names, end=1)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        found = who.of_peer(ours.fileno(), read=lambda pid: read(_up(pid)))

    assert found.by is by


def _up(pid):
    return os.getppid() if pid == os.getpid() else pid


def test_a_peer_that_cannot_be_read_counts_as_an_agent():
    with open(os.devnull, "rb") as file:
        assert who.of_peer(file.fileno()).by is By.AGENT


@linux
def test_where_there_is_no_proc_ps_tells_the_same():
    table = who._PsTable()
    here = who.line_above(os.getppid(), who.read_process)[:8]

    assert [table.get(each.pid).parent for each in here] == [each.parent for each in here]
    assert [bool(table.get(each.pid).terminal) for each in here] == [
        bool(each.terminal) for each in here
    ]


@linux
@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
@pytest.mark.parametrize("host", ["sshd", "bash"])
def test_tmux_counts_while_a_terminal_of_a_person_is_attached(host, tmp_path):
    socket, answer, done = tmp_path / "s", tmp_path / "answer", tmp_path / "go"
    question = f"PYTHONPATH={ROOT} {sys.executable} -c '{ASK}' of_command"
    script = tmp_path / "ask.sh"
    script.write_text(
        f"until [ -e {done} ]; do sleep 0.05; done\n{question} >{answer}.new 2>&1\n"
        f"mv {answer}.new {answer}\nuntil [ -e {tmp_path}/end ]; do sleep 0.05; done\n"
    )
    tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
    clean = {"PATH": os.environ["PATH"], "TERM": "xterm", "LANG": "C.UTF-8"}
    subprocess.run([*tmux, "new-session", "-d", f"sh {script}"], env=clean, check=True)
    try:
        watcher = (
            f"( sleep 0.5; : >{done}; until [ -e {answer} ]; do sleep 0.05; done;"
            f" : >{tmp_path}/end ) &"
            f' exec {" ".join(tmux)} attach <"$PTY" >"$PTY"'
        )
        persons.run_below(
            *(host, "bash"), command=["sh", "-c", watcher], environment=clean, folder=tmp_path
        )
    finally:
        subprocess.run([*tmux, "kill-server"], env=clean, capture_output=True)

    assert answer.read_text().startswith("person" if host == "sshd" else "unknown")


@linux
def test_a_process_1_that_an_agent_made_is_no_container():
    made = ["unshare", "-Urpf", "--mount-proc"]
    if not shutil.which("unshare") or subprocess.run([*made, "true"], check=False).returncode:
        pytest.skip("this machine lets nobody make namespaces")
    answer = asked("bash", within=[*made, "sh", "-c", '"$@"; exit', "sh"])

    assert answer.startswith("unknown")


def test_a_multiplexer_of_a_container_counts_while_its_terminal_is_attached(monkeypatch):
    read, _ = line("bash", "tmux: server", end=1)
    monkeypatch.setattr(who, "_tmux_clients", lambda *_: [800_001])
    shell = Process(pid=800_002, parent=0, name="bash", terminal=TTY)
    client = Process(pid=800_001, parent=800_002, name="tmux: client", terminal=TTY)
    table = {800_001: client, 800_002: shell}

    found = of_command({}, read=lambda pid: table.get(pid) or read(pid), terminal=True)
    assert (found.by, found.where) == (By.PERSON, "tmux")


@linux
def test_it_takes_less_than_a_millisecond():
    maker = os.getppid()
    best = min(_time(lambda: of_hook({}, maker=maker)) for _ in range(20))

    assert best < 0.001


def _time(do):
    began = time.perf_counter()
    do()
    return time.perf_counter() - began
