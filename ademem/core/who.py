"""Tell a person from an agent, or from neither; asked once, where a process begins.

The answer is handed on as a value (`Runtime.by`). It follows from processes that the kernel names:
who made the socket of a hook, and the line of processes above this one up to a program that a
login or a desktop starts. No variable, option or file of a project makes anybody a person; a
variable of a client only takes that away.
"""

from __future__ import annotations

import os
import sys

from ademem.core.actor import By, Who
from ademem.core.caching import cache
from ademem.core.errors import AdememError, suppress
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Read = Callable[[int], "Process | None"]


CLIENTS = frozenset(
    "aider amp claude claude-code codex copilot crush cursor-agent droid gemini gemini-cli goose"
    " kiro-cli opencode opencode-ai qwen qwen-code".split()
)

CLIENT_VARIABLES = tuple(
    "CLAUDECODE CLAUDE_CODE_SESSION_ID CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_ENTRYPOINT"
    " CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CODEX_THREAD_ID CURSOR_AGENT GEMINI_CLI OPENCODE"
    " CLINE_ACTIVE GOOSE_TERMINAL".split()
)

HOSTS = (
    # logins
    *("sshd", "sshd-session", "dropbear", "login", "mosh-server", "et", "etterminal", "tailscaled"),
    *("getty", "agetty", "SessionLeader", "Relay(*", "wslhost", "wslhost.exe"),
    # terminals of GNOME, KDE, Xfce, LXDE, MATE, Cinnamon, elementary, Deepin
    *("gnome-terminal-server", "gnome-terminal", "gnome-console", "kgx", "ptyxis", "ptyxis-agent"),
    *("konsole", "yakuake", "xfce4-terminal", "lxterminal", "mate-terminal", "qterminal"),
    *("io.elementary.terminal", "pantheon-terminal", "deepin-terminal", "tilix", "terminator"),
    *("guake", "tilda", "terminology", "cosmic-term"),
    # terminals of their own
    *("xterm", "uxterm", "urxvt", "urxvtd", "rxvt", "st", "mlterm", "kitty", "alacritty", "foot"),
    *("footserver", "wezterm", "wezterm-gui", "wezterm-mux-server", "ghostty", "rio", "contour"),
    *("warp", "warp-terminal", "tabby", "hyper", "wave", "waveterm", "blackbox", "cool-retro-term"),
    *("Terminal", "iTerm2", "iTermServer-*", "Warp.app/", "Ghostty.app/", "Hyper.app/"),
    # editors with terminals
    *("code", "code-insiders", "codium", "vscodium", "code-oss", "code-server", "cursor"),
    *("windsurf", "positron", "trae", "kiro", ".vscode-server/", ".vscode-server-insiders/"),
    *(".vscodium-server/", ".cursor-server/", ".windsurf-server/", ".vscode-remote/"),
    *("Visual Studio Code.app/", "Cursor.app/", "Windsurf.app/", "Zed.app/"),
    *("zed", "zed-editor", "zeditor", "zed-remote-server", ".zed_server/", "emacs", "emacs-*"),
    *("Emacs.app/", "gvim", "sublime_text", "kate", "gnome-builder", "theia"),
    *("idea", "idea64", "pycharm", "webstorm", "phpstorm", "goland", "clion", "rider", "rubymine"),
    *("rustrover", "datagrip", "dataspell", "fleet", "studio", "studio64", "remote-dev-server"),
    *("JetBrains/", "IntelliJ IDEA.app/", "PyCharm.app/", "WebStorm.app/"),
    # desktop sessions
    *("gnome-shell", "gnome-session", "gnome-session-binary", "plasmashell", "startplasma-x11"),
    *("startplasma-wayland", "ksmserver", "krunner", "xfce4-session", "xfdesktop", "lxsession"),
    *("mate-session", "cinnamon", "cinnamon-session", "budgie-panel", "sway", "Hyprland", "i3"),
    *("niri", "river", "labwc", "wayfire", "awesome", "openbox", "bspwm", "dwm", "xmonad"),
    *("gdm-session-worker", "gdm-x-session", "gdm-wayland-session", "sddm-helper", "lightdm"),
    *("xinit", "xrdp-sesman", "Xvnc", "loginwindow", "Finder"),
)
"""Programs that a login or a desktop starts, and in which people type.

A name is that of the process or of its program; with `/` at its end it is a folder of the program's
path, and `*` ends the beginning of a name.
"""

MULTIPLEXERS = frozenset({"tmux", "screen", "zellij", "dtach", "abduco"})
"""Programs that keep terminals without anybody before them."""
SHELLS = frozenset("ash bash busybox dash fish ksh mksh sh zsh".split())
INTERPRETERS = ("node", "bun", "deno", "python", "ruby")
MAX_DEPTH = 64
COMMAND_LINE_BYTES = 4096
NAME_CHARS = 15
"""Length to which Linux cuts the name of a process."""
TMUX_S, PS_S = 2.0, 5.0
ADD_TERMINAL = "type `/ademem:terminal NAME` in Claude Code in a terminal that is known"


class NotByPerson(AdememError):
    hint = "type it in your own terminal, outside of any coding agent"


class Process(Value):
    pid: int
    parent: int
    name: str
    """The process may have set it itself."""
    command: tuple[str, ...] = ()
    terminal: int = 0
    """Number of its controlling terminal, or 0."""
    client_variable: str = ""
    """A client's variable in the environment with which it was started."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, _name(self.command[0])) if self.command else (self.name,)


def of_command(
    environment: Mapping[str, str], *, read: Read | None = None, terminal: bool | None = None
) -> Who:
    """Tell who runs this process: a command, or a server that is started."""
    for name in CLIENT_VARIABLES:
        if environment.get(name):
            return Who(by=By.AGENT, why=f"{name} says that a coding agent runs this shell")
    read = read or make_reader()
    line = line_above(os.getppid(), read)
    if agent := _agent_in(line):
        return agent
    if not (has_terminal() if terminal is None else terminal):
        return Who(by=By.UNKNOWN, why="no terminal belongs to this process")
    return _attended(line, environment, read)


def of_hook(
    environment: Mapping[str, str], *, maker: int | None = None, read: Read | None = None
) -> Who:
    """Tell who typed the prompt on standard input; *maker* is the process that made its socket."""
    maker = maker_of_input() if maker is None else maker
    if not maker:
        return _unproven("standard input is no socket of a client")
    read = read or make_reader()
    client = _find_client(maker, read)
    if isinstance(client, Who):
        return client
    line = line_above(client.parent, read)
    if agent := _agent_in(line):
        return agent
    from ademem.core.client import is_run_by_program  # a hook has it, a command may not need it

    if is_run_by_program(environment):
        return Who(by=By.UNKNOWN, why="no person sits before this client (a program runs it)")
    entry = environment.get("CLAUDE_CODE_ENTRYPOINT", "")
    if entry in ("", "cli") and not client.terminal:
        return Who(by=By.UNKNOWN, why="the client has no terminal")
    return _attended(line, environment, read)


def _find_client(maker: int, read: Read) -> Process | Who:
    """Return the client that started this hook and made its input, or why it is none."""
    if not _has_started_us(maker, read):
        return _unproven("another process than the one that started the hook made its input")
    client = read(maker)
    if client and _client_of(client):
        return client
    program = client.name if client else "a process that cannot be read"
    return _unproven(f"{program} started the hook, which is no known client")


def _has_started_us(maker: int, read: Read) -> bool:
    """Tell whether the process *maker* is our parent, or that of a shell between us."""
    parent = os.getppid()
    if maker == parent:
        return True
    between = read(parent)
    return bool(between and between.parent == maker and not SHELLS.isdisjoint(between.names))


def of_peer(handle: int, *, read: Read | None = None) -> Who:
    """Tell if a coding agent is at the other end of a socket; who else is there stays unknown."""
    if not (pid := maker_of(handle)):
        return Who(by=By.AGENT, why="the process at the other end cannot be read")
    agent = _agent_in(line_above(pid, read or make_reader()))
    return agent or Who(by=By.UNKNOWN, why="no coding agent is above the process at the other end")


def _unproven(why: str) -> Who:
    return Who(by=By.UNKNOWN, why=why, is_proven=False)


@cache
def of_process() -> Who:
    """Return the answer of `of_command` for this process, which is asked once."""
    return of_command(os.environ)


SLASH_COMMANDS = {
    "archive": "/ademem:review drop",
    "delete": "/ademem:review drop",
    "edit": "/ademem:edit",
    "pin": "/ademem:pin",
    "pin --off": "/ademem:pin off",
    "promote": "/ademem:review keep",
    "restore": "/ademem:undo",
    "undo": "/ademem:undo",
}
"""What a person types in Claude Code for a command about one memory or event."""


def remedy(verb: str, id: str) -> str:
    """Say how a person does it: by a slash command if there is one, or in a terminal."""
    slash = SLASH_COMMANDS.get(verb)
    typed = f" types {slash} {id} in Claude Code, or in a terminal" if slash else ""
    return f"a person{typed}: `ademem {verb} {id}`"


def require_person(who: Who, act: str, slash: str = "") -> None:
    """Raise NotByPerson unless *who* is one; *act* begins the message.

    *slash* is what a person types in Claude Code instead; without one the act needs a terminal.
    """
    if not who.is_person:
        hint = f"type {slash} in Claude Code, or this in your own terminal" if slash else ""
        raise NotByPerson(f"{act} is for a person to decide, and {describe(who)}", hint)


def refuse_agent(who: Who, act: str) -> None:
    """Raise NotByPerson for a coding agent, but not for a script of a person."""
    if who.by is By.AGENT:
        raise NotByPerson(f"{act} is for a person to decide, and {describe(who)}")


def describe(who: Who) -> str:
    taken = "a coding agent" if who.by is By.AGENT else "not known to be one"
    return f"whoever acts here is {taken}: {who.why}"


def has_terminal() -> bool:
    """Return True if this process has a controlling terminal; its streams may be pipes."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def line_above(pid: int, read: Read) -> list[Process]:
    """Return the process and those above it, the nearest first; it ends where none is readable."""
    line: list[Process] = []
    while pid > 0 and len(line) < MAX_DEPTH:
        found = read(pid)
        if found is None:
            break
        line.append(found)
        pid = found.parent
    return line


def _agent_in(line: Iterable[Process]) -> Who | None:
    for process in line:
        if client := _client_of(process):
            return Who(by=By.AGENT, why=f"{client} started it (process {process.pid})")
        if name := process.client_variable:
            why = f"{process.name} above it was started by a coding agent ({name})"
            return Who(by=By.AGENT, why=why)
    return None


def _client_of(process: Process) -> str:
    return client_in(list(process.command)) or client_in([process.name])


def _attended(line: Sequence[Process], environment: Mapping[str, str], read: Read) -> Who:
    """Tell whether the *line* reaches a program in which people type."""
    if not line:
        return Who(by=By.UNKNOWN, why="the processes above cannot be read")
    for process in line:
        if multiplexer := next(filter(_is_multiplexer, process.names), ""):
            return _attached(multiplexer.rstrip(":"), process, environment, read)
        if host := _host_of(process, HOSTS):
            why = f"{host} is above it (process {process.pid})"
            return Who(by=By.PERSON, why=why, where=host)
    if _is_of_container(line):
        why = "a terminal of a container was opened for it"
        return Who(by=By.PERSON, why=why, where="a container")
    if own := added_terminals():
        hosts = filter(None, (_host_of(process, own) for process in line))
        if host := next(hosts, ""):
            why = f"{host} is above it, a terminal that you added"
            return Who(by=By.PERSON, why=why, where=host)
    return _not_attended(line)


def _not_attended(line: Sequence[Process]) -> Who:
    names = [each.name for each in line if each.pid != 1 and SHELLS.isdisjoint(each.names)]
    above = f" ({', '.join(dict.fromkeys(names))})" if names else ""
    why = f"no login, terminal or editor that ademem knows is above it{above}"
    return Who(by=By.UNKNOWN, why=f"{why}; {ADD_TERMINAL} to add one")


def _is_of_container(line: Sequence[Process]) -> bool:
    """Tell whether the *line* ends outside a container, or at its process 1 in this terminal.

    An orphan has another terminal than the process 1 which adopted it. A user namespace with one
    user in it is no container's: anybody makes one (`unshare --map-root-user --pid`).
    """
    last = line[-1]
    if last.pid != 1:
        return last.parent == 0
    return bool(last.terminal) and last.terminal == line[0].terminal and not _maps_one_user()


def _maps_one_user() -> bool:
    with suppress(OSError), open("/proc/self/uid_map", "rb", buffering=0) as file:
        lines = file.read().split(b"\n")
        return len(lines) == 2 and lines[0].split()[-1:] == [b"1"]
    return False


def _is_multiplexer(name: str) -> bool:
    return name.lower().rstrip(":") in MULTIPLEXERS or name.startswith("tmux: ")


def _attached(name: str, server: Process, environment: Mapping[str, str], read: Read) -> Who:
    """Tell whether a terminal with a person before it is attached to the multiplexer."""
    name = name.lower().partition(":")[0]
    pids = _tmux_clients(server, environment) if name == "tmux" else _front_ends(name, server, read)
    for pid in pids:
        line = line_above(pid, read)[1:]
        if not line or _agent_in(line):
            continue
        own = (*HOSTS, *added_terminals())
        if _is_of_container(line) or any(_host_of(each, own) for each in line):
            why = f"a terminal is attached to {name} (process {pid})"
            return Who(by=By.PERSON, why=why, where=name)
    return Who(by=By.UNKNOWN, why=f"no terminal is attached to {name} above it")


def _tmux_clients(server: Process, environment: Mapping[str, str]) -> list[int]:
    """Ask tmux at the socket in TMUX, if that is of the *server*, by the server's own program."""
    socket, _, rest = environment.get("TMUX", "").partition(",")
    if rest.partition(",")[0] != str(server.pid):
        return []
    from ademem.core import process

    try:
        program = os.readlink(f"/proc/{server.pid}/exe")
    except OSError:
        program = next(filter(os.path.isfile, _TMUX), "")
    with suppress(OSError):
        asked = [program, "-S", socket, "list-clients", "-F", "#{client_pid}"]
        answer = process.run(asked, timeout_s=TMUX_S) if program else None
        return [int(word) for word in answer.text.split() if word.isdigit()] if answer else []
    return []


_TMUX = ("/opt/homebrew/bin/tmux", "/usr/local/bin/tmux", "/opt/local/bin/tmux", "/usr/bin/tmux")


def _front_ends(name: str, server: Process, read: Read) -> list[int]:
    """List the processes of a multiplexer that have a terminal, where it tells nothing itself."""
    pids = _list_pids()
    found = (read(pid) for pid in pids if pid != server.pid)
    return [each.pid for each in found if each and each.terminal and name in each.names]


def _list_pids() -> list[int]:
    with suppress(OSError):
        return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    from ademem.core import process

    with suppress(OSError):
        listed = process.run(["ps", "-axo", "pid="], timeout_s=PS_S).text
        return [int(word) for word in listed.split() if word.isdigit()]
    return []


def _host_of(process: Process, hosts: tuple[str, ...]) -> str:
    path = process.command[0] if process.command else ""
    program = path.rpartition("/")[2].lstrip("-")
    title = path.partition(":")[0]  # "sshd: anna@pts/0"
    name = process.name
    if plain := _plain(hosts) & {name, program, title}:
        return min(plain)
    if len(name) == NAME_CHARS and (cut := [each for each in hosts if each[:NAME_CHARS] == name]):
        return cut[0]
    return _match_pattern(name, process.command[:2], _patterns(hosts))


def _match_pattern(name: str, paths: Sequence[str], patterns: Sequence[str]) -> str:
    """Return the host of the first pattern: `name*` of a process, or `folder/` in its paths."""
    for host in patterns:
        if host.endswith("*") and name.startswith(host[:-1]):
            return name
        if host.endswith("/") and any(f"/{host}" in each for each in paths):
            return host.rstrip("/")
    return ""


@cache
def _plain(hosts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(host for host in hosts if host[-1] not in "/*")


@cache
def _patterns(hosts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(host for host in hosts if host[-1] in "/*")


def added_terminals() -> tuple[str, ...]:
    """Read the names of terminals that the person added, from a place that no variable moves."""
    from ademem.core import shared_files

    with suppress(OSError, ValueError):
        return tuple((shared_files.read_text(terminals_path()) or "").split())
    return ()


def add_terminal(name: str) -> None:
    from ademem.core import shared_files

    names = dict.fromkeys([*added_terminals(), name])
    os.makedirs(os.path.dirname(terminals_path()), mode=0o700, exist_ok=True)
    shared_files.write_atomic(terminals_path(), "\n".join(names) + "\n", mode=0o600)


def terminals_path() -> str:
    import pwd

    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return os.devnull
    return os.path.join(home, ".config", "ademem", "terminals")


def maker_of(handle: int) -> int:
    """Return the id of the process that made the socket, or 0 where it is none that tells."""
    import _socket as sockets  # the module `socket` takes longer to load

    try:
        made = sockets.socket(fileno=os.dup(handle))
    except OSError:
        return 0
    try:
        if made.family != sockets.AF_UNIX:
            return 0
        if sys.platform == "darwin":  # SOL_LOCAL and LOCAL_PEERPID of <sys/un.h>
            return int(made.getsockopt(0, 2))
        return int.from_bytes(
            made.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, 12)[:4], sys.byteorder
        )
    except OSError:
        return 0
    finally:
        made.close()


def maker_of_input() -> int:
    """Return the process that made the socket of standard input.

    macOS names the other end of a socket while it is open. A client closes that of the input once
    it is written, and keeps that of the output, which it made as well, until the hook ends.
    """
    made = maker_of(0)
    if not made and sys.platform == "darwin" and _is_socket(0):
        return maker_of(1)
    return made


def _is_socket(handle: int) -> bool:
    import stat

    try:
        return stat.S_ISSOCK(os.fstat(handle).st_mode)
    except OSError:
        return False


def make_reader() -> Read:
    if os.path.isdir("/proc/self"):
        return read_process
    return read_of_macos if sys.platform == "darwin" else _PsTable().get


def read_of_macos(pid: int) -> Process | None:
    """Read a process on macOS; None where the kernel does not tell."""
    from ademem.core import macos_processes

    try:
        found = macos_processes.Reading(pid)
    except (OSError, AttributeError, ValueError):
        return None
    return Process(
        pid=pid,
        parent=found.parent,
        name=found.program.rpartition("/")[2] or found.name,
        command=found.command,
        terminal=found.terminal,
        client_variable=_client_variable(found.environment, b"\0"),
    )


def read_process(pid: int) -> Process | None:
    """Read a process in /proc; None where its line cannot be read."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            head, _, rest = file.read().decode("utf-8", "replace").rpartition(")")
    except OSError:
        return None
    fields = rest.split()
    command: list[str] = []
    with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb", buffering=0) as file:
        command = file.read(COMMAND_LINE_BYTES).decode("utf-8", "replace").rstrip("\0").split("\0")
    variable = ""
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        variable = _client_variable(b"\0" + file.read(), b"\0")
    return Process(
        pid=pid,
        parent=int(fields[1]),
        name=head.partition("(")[2],
        command=tuple(command),
        terminal=int(fields[4]),
        client_variable=variable,
    )


def _client_variable(environment: bytes, between: bytes) -> str:
    for name in CLIENT_VARIABLES:
        _, found, rest = environment.partition(between + name.encode() + b"=")
        if found and rest[:1] not in (b"", between):
            return name
    return ""


class _PsTable:
    """All processes by `ps`, on a system other than Linux and macOS."""

    def __init__(self) -> None:
        self._found: dict[int, Process] | None = None

    def get(self, pid: int) -> Process | None:
        if self._found is None:
            self._found = {each.pid: each for each in self._list()}
        return self._found.get(pid)

    def _list(self) -> Iterable[Process]:
        from ademem.core import process

        bare, whole = "pid=,ppid=,tty=,command=", "pid=,command="
        try:
            listed = process.run(["ps", "-axwwo", bare], timeout_s=PS_S).text
            started = process.run(["ps", "-axwwEo", whole], timeout_s=PS_S).text
        except OSError:
            return
        with_variables = dict(
            line.split(None, 1) for line in started.splitlines() if line.split()[1:]
        )
        for line in listed.splitlines():
            words = line.split(None, 3)
            if len(words) == 4 and words[0].isdigit() and words[1].isdigit():
                rest = with_variables.get(words[0], "").removeprefix(words[3])
                yield Process(
                    pid=int(words[0]),
                    parent=int(words[1]),
                    name=_name(words[3].split()[0]),
                    command=tuple(words[3][:COMMAND_LINE_BYTES].split()),
                    terminal=int(words[2] not in ("?", "??", "-")),
                    client_variable=_client_variable(rest.encode(), b" "),
                )


def client_in(command: list[str]) -> str:
    if not command:
        return ""
    program = _name(command[0])
    if program in CLIENTS:
        return program
    if program.rstrip("0123456789.") not in INTERPRETERS:
        return ""
    script = next((word for word in command[1:] if not word.startswith("-")), "")
    parts = [_name(part) for part in script.split("/")]
    return next((part for part in parts if part in CLIENTS), "")


def _name(path: str) -> str:
    """Return the bare name of `/usr/bin/Codex`, of a login's `-claude` and of `gemini.js`."""
    name = path.rpartition("/")[2].lstrip("-").lower()
    for suffix in (".js", ".mjs", ".cjs", ".exe"):
        name = name.removesuffix(suffix)
    return name
