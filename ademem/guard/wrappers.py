"""Programs that run a command elsewhere or also do something else: containers, terminals, npx.

`shell.unwrap` removes wrappers that add nothing to the command, so that the command alone may be
judged. Here the outer command counts, too, and so more can be unwrapped.
"""

from __future__ import annotations

from itertools import pairwise

from ademem.core import regex
from ademem.core.value import replace
from ademem.guard import acts, programs, shell, writers
from ademem.guard.shell import Command, Prefix, Word, is_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

_CONTAINER = (
    "-v -e -w -p -u -h -l -c -m -a --volume --env --workdir --publish --user --hostname"
    " --label --name"
    " --network --net --entrypoint --mount --env-file --add-host --cpus --memory --platform --pull"
    " --restart --gpus --ipc --pid --shm-size --tmpfs --ulimit --device --cap-add --cap-drop --dns"
    " --expose --link --log-driver --security-opt --userns --volumes-from --stop-signal --runtime"
)
PACKAGE = Prefix(valued="-p --package -w --workspace --filter -F --prefix -C --dir")
_ENVIRONMENT = Prefix(valued="--from -n -p --name --prefix --env -e --python --project --with")
_PLAIN = Prefix()
_ONE = Prefix(operands=1)
_BEHIND_DASHES = Prefix(marked=True)

RUNNERS = {
    **dict.fromkeys(("docker run", "docker container run"), Prefix(valued=_CONTAINER, operands=1)),
    **dict.fromkeys(
        ("docker compose run", "docker-compose run", "podman-compose run"),
        Prefix(valued=f"{_CONTAINER} -T", operands=1),
    ),
    "docker container exec": Prefix(valued="-e -u -w --env --user --workdir", operands=1),
    **dict.fromkeys(("npx", "bunx", "pnpx", "npm exec", "npm x", "pnpm exec", "pnpm dlx"), PACKAGE),
    **dict.fromkeys(("yarn exec", "yarn dlx", "bun x", "yarn run", "corepack"), PACKAGE),
    **dict.fromkeys(
        ("uvx", "pipx run", "uv tool run", "hatch run", "pdm run", "rye run"), _ENVIRONMENT
    ),
    **dict.fromkeys(
        ("pixi run", "conda run", "mamba run", "micromamba run", "uv run"), _ENVIRONMENT
    ),
    **dict.fromkeys(
        ("poetry run", "pipenv run", "bundle exec", "rbenv exec", "pyenv exec"), _PLAIN
    ),
    **dict.fromkeys(("asdf exec", "devbox run", "nodenv exec"), _PLAIN),
    **dict.fromkeys(("nvm exec", "nvm run", "direnv exec", "n exec", "rvm do"), _ONE),
    "fnm exec": Prefix(valued="--using"),
    "volta run": Prefix(valued="--node --npm --yarn --pnpm"),
    **dict.fromkeys(("shx", "coproc", "spawn", "pnpm -c exec"), _PLAIN),
    **dict.fromkeys(
        ("mise exec", "mise x", "rtx exec", "lerna exec", "aws-vault exec"), _BEHIND_DASHES
    ),
    **dict.fromkeys(("op run", "doppler run", "infisical run", "kubectl run"), _BEHIND_DASHES),
    **dict.fromkeys(("nix shell", "devcontainer exec", "heroku run", "wsl"), _PLAIN),
    **dict.fromkeys(
        ("dotenv", "cross-env", "env-cmd", "dotenvx run"), Prefix(valued="-f -e --file")
    ),
    **dict.fromkeys(("chronic", "unbuffer", "caffeinate", "busybox", "toybox", "tini"), _PLAIN),
    **dict.fromkeys(
        ("xvfb-run", "dbus-run-session", "dumb-init", "fakeroot", "proxychains"), _PLAIN
    ),
    **dict.fromkeys(("strace", "ltrace"), Prefix(valued="-e -o -p -s -u")),
    "ionice": Prefix(valued="-c -n -p"),
    **dict.fromkeys(("taskset", "chrt", "setarch", "gosu", "su-exec", "faketime"), _ONE),
    "flock": Prefix(valued="-w -E --timeout", operands=1),
    **dict.fromkeys(("chroot", "arch-chroot"), _ONE),
    "systemd-run": Prefix(valued="-p -u --unit --property --uid --gid"),
    "ssh": Prefix(valued="-p -i -l -o -F -J -L -R -D -b -c -E -m -S -W", operands=1, joins=True),
    "runuser": Prefix(valued="-u -g -G"),
    "parallel": Prefix(valued="-j -a -n -N --jobs --colsep"),
    **dict.fromkeys(
        ("watchexec", "nodemon", "entr", "reflex"), Prefix(valued="-w -e --watch --ext -i")
    ),
    "git bisect run": _PLAIN,
    "git submodule foreach": Prefix(joins=True),
    **dict.fromkeys(("concurrently", "hyperfine", "run-p", "run-s"), _PLAIN),
}
"""Commands with the rest of which another command begins."""

_TEXT_OPTIONS = {
    **dict.fromkeys(("npx", "npm", "npm exec"), "-c --call"),
    **dict.fromkeys(
        ("script", "su", "runuser", "flock", "vagrant", "nix", "expect"), "-c --command"
    ),
    **dict.fromkeys(("nix-shell",), "--run --command"),
    **dict.fromkeys(("nodemon", "watchexec"), "-x --exec"),
    "git": "-x --exec",
    **dict.fromkeys(("fish", "csh", "tcsh"), "-c --command"),
    **dict.fromkeys(("powershell", "pwsh", "cmd"), "-c -command /c -Command"),
    "screen": "stuff",
    "osascript": "-e",
    **dict.fromkeys(("env",), "-S --split-string"),
}
"""Options, or words, behind which a whole command line stands as one word."""

_TERMINALS = {
    "tmux": "new new-session neww new-window split-window splitw respawn-pane respawnp"
    " send-keys send"
    " run-shell run display-popup popup kill-session",
    "screen": "",
    "zellij": "run",
}
_LINES = frozenset("concurrently hyperfine parallel tmux screen zellij run-p run-s".split())
"""Programs whose words are command lines if they hold a blank."""


def inner_commands(command: Command) -> Iterator[Command]:
    """Yield the commands that *command* runs besides doing something of its own."""
    name = programs.SYNONYMS.get(command.name, command.name)
    yield from _behind_runner(command, name)
    for names, read in _READERS:
        if name in names:
            yield from read(command)
    if writers.runs_code(command):
        yield from _in_code(command)


def _behind_runner(command: Command, name: str) -> Iterator[Command]:
    texts = [*name.split(), *(word.text for word in command.words[1 : shell.LONGEST_PREFIX])]
    runner, length = shell.find_prefix(texts, RUNNERS)
    if runner:
        yield from _unwrap(command, runner, length - name.count(" "))
    else:
        yield from _behind_unknown(command)


def _unwrap(command: Command, prefix: Prefix, start: int) -> Iterator[Command]:
    mounts = _mounts(command) if prefix.valued.startswith(_CONTAINER) else {}
    for inner in shell.unwrap_prefix(command, prefix, start):
        if inner is not command and inner.words:
            words = _bare(inner.words)
            if command.name == "parallel":
                words = _with_items(words)
            yield replace(inner, words=_on_this_side(words, mounts))


def _with_items(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Complete a command as parallel does, with what stands behind `:::` or with unknown words."""
    at = next((i for i, word in enumerate(words) if word.text.startswith(":::")), None)
    items = (Word(text="{}", expands=True),) if at is None else words[at + 1 :]
    return (*words[:at], *items)


def _mounts(command: Command) -> dict[str, str]:
    """Return the folders of this machine by the paths at which a container has them.

    The empty path is the folder in which the container starts.
    """
    found: dict[str, str] = {}
    words = [word.text for word in command.words]
    for option, value in pairwise([*words, ""]):
        name, equals, inline = option.partition("=")
        inside, host = _read_mount(name, inline if equals else value)
        found |= {inside.rstrip("/"): host} if inside and host else {}
    starts = [value for option, value in pairwise([*words, ""]) if option in ("-w", "--workdir")]
    if starts and (paths := _paths_on_this_side(starts[-1], found)):
        found[""] = paths[-1]
    return found


def _paths_on_this_side(path: str, mounts: dict[str, str]) -> list[str]:
    """Return the paths here of one in a container, by each of the mounts that have it."""
    return [
        f"{host}{path[len(inside) :]}".rstrip("/")
        for inside, host in mounts.items()
        if f"{path}/".startswith(f"{inside}/")
    ]


def _read_mount(option: str, value: str) -> tuple[str, str]:
    """Return the path in the container and the one here; empty texts for any other option."""
    if option in ("-v", "--volume") and value.count(":") in (1, 2):
        host, inside = value.split(":")[:2]
        return inside, host
    if option != "--mount":
        return "", ""
    keys = dict(pair.partition("=")[::2] for pair in value.split(","))
    inside = keys.get("target") or keys.get("dst") or keys.get("destination") or ""
    return inside, keys.get("source") or keys.get("src") or ""


def _on_this_side(words: tuple[Word, ...], mounts: dict[str, str]) -> tuple[Word, ...]:
    import re  # the places are a person's

    for inside, host in mounts.items():
        if inside:
            path = rf"(?<![\w./-]){re.escape(inside)}(?=[/\s'\";]|$)"
            words = tuple(
                replace(word, text=re.sub(path, host.replace("\\", "/"), word.text))
                for word in words
            )
    if mounts.get("", ".") != ".":
        words = (Word(text="env"), Word(text="-C"), Word(text=mounts[""]), *words)
    return words


_FIRST_WORDS = 5


def _behind_unknown(command: Command) -> Iterator[Command]:
    """Yield the command behind a program that no table has: `./with-env.sh npm install`."""
    name = command.name
    if name in _KNOWN or name in writers.WRITERS or acts.has_program(name):
        return
    words = command.words
    for at, word in enumerate(words[1:_FIRST_WORDS], 1):
        if acts.has_program(word.text) and at + 1 < len(words) and not word.quoted:
            yield replace(command, words=words[at:], redirects=())
            return


_KNOWN = frozenset(f"{programs.READERS} {' '.join(programs.SUBCOMMANDS)} ssh".split())


def _bare(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Leave out `--`, and the version of a package: `npx -y pnpm@9 install`."""
    if words[0].text == "--" and len(words) > 1:
        words = words[1:]
    name = words[0].text
    name = name.partition("/")[2] if name[:1] == "@" else name  # of a scope
    return (replace(words[0], text=name.partition("@")[0] or name), *words[1:])


def _behind_options(command: Command) -> Iterator[Command]:
    words = command.words
    options = _TEXT_OPTIONS[command.name].split()
    for at, word in enumerate(words[:-1], 1):
        name, equals, value = word.text.partition("=")
        if _is_text_option(word.text, options):
            text = words[at].text
            line = text if " " in text else " ".join(word.text for word in words[at:])
            yield from shell.parse(line.replace("\\n", "\n")) or ()
            return
        if equals and name in options:
            yield from shell.parse(value) or ()


def _is_text_option(word: str, options: Sequence[str]) -> bool:
    is_cluster = word[:1] == "-" and word[:2] != "--" and word.endswith("c")
    return word in options or (is_cluster and "-c" in options)


def _lines(command: Command) -> Iterator[Command]:
    for word in command.words[1:]:
        if " " in word.text and not word.text.startswith("-"):
            yield from shell.parse(word.text) or ()


def _in_terminal(command: Command) -> Iterator[Command]:
    """Yield what a terminal is told to run as separate words: `tmux new -d npm test`."""
    words, verbs = command.words, _TERMINALS[command.name].split()
    at = next((i for i, word in enumerate(words) if word.text in verbs), 0 if not verbs else None)
    if at is None:
        return
    at += 1
    while at < len(words) and is_option(words[at].text):
        takes = regex.fullmatch(r"-\w*[cefnstxyFlpS]|--(?:name|cwd)", words[at].text)
        at += 2 if takes else 1
    rest = words[at:]
    if len(rest) > 1 and " " not in rest[0].text:
        yield replace(command, words=rest, redirects=())


def _behind_file(command: Command) -> Iterator[Command]:
    """Yield the command of `script -q /dev/null npm install`, as BSD has it."""
    operands = [at for at, word in enumerate(command.words) if at and not is_option(word.text)]
    has_text = any(regex.fullmatch(r"-\w*c|--command.*", word.text) for word in command.words)
    if not has_text and len(operands) > 1:
        yield replace(command, words=command.words[operands[1] :], redirects=())


def _fed(command: Command) -> Iterator[Command]:
    if command.stdin:
        yield from shell.parse(command.stdin.text) or ()


def _in_code(command: Command) -> Iterator[Command]:
    """Yield the commands that code starts as a text or as words: `os.system("npm ci")`."""
    from ademem.guard import interpreted_code

    for code in writers.codes_of(command):
        for words in interpreted_code.starts(code, command.name):
            yield from _of_known_programs(interpreted_code.commands(words))


def _of_known_programs(script: Iterable[Command]) -> Iterator[Command]:
    for command in script:
        name = command.name
        is_known = name in shell.SHELLS or name in writers.WRITERS or acts.has_program(name)
        if is_known or any(each.writes for each in command.redirects):
            yield command


def _entered(command: Command) -> Iterator[Command]:
    words = command.words
    at = next((at for at, word in enumerate(words, 1) if word.text == "--entrypoint"), len(words))
    for inner in _unwrap(command, RUNNERS["docker run"], 2) if at < len(words) else ():
        yield replace(inner, words=(words[at], *inner.words))


_READERS: tuple[tuple[Collection[str], Callable[[Command], Iterator[Command]]], ...] = (
    (_TEXT_OPTIONS, _behind_options),
    (_LINES, _lines),
    (_TERMINALS, _in_terminal),
    (("script",), _behind_file),
    (("at", "batch"), _fed),
    (("docker",), _entered),
)
"""Programs, and what yields the commands in their words."""
