"""What the commands of a shell touch, through wrappers, scripts, Makefiles and patterns."""

from __future__ import annotations

import os
from itertools import islice, pairwise

from ademem.core import regex
from ademem.core.errors import suppress
from ademem.core.settings import GuardSettings
from ademem.core.value import replace
from ademem.guard import acts, mutation, shell, wrappers, writers
from ademem.guard.shell import Command, Word, is_option
from ademem.guard.shell.variables import Variables, expand_braces, read_variables, resolve
from ademem.guard.touch import Touch, absolute, are_new
from ademem.guard.writers import Written, written_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ademem.guard.shell import Script

MOST_BYTES = 64_000
"""Part of a Makefile, a package.json or a patch that is read."""
MOST_CHARS = 200_000
"""Part of a command that cannot be parsed which is read word by word."""
MOST_COMMANDS = 400
MOST_LISTED = 5000
"""Files of a folder that are compared with a pattern."""
MOST_FILES = 200
"""Files that a pattern may stand for; one that stands for more is its folder."""
_MOST_STARS = 4
_DEEPEST = 6


def touch_command(
    command: str, cwd: str, settings: GuardSettings, *, is_powershell: bool = False
) -> Touch:
    if is_powershell:
        command = command.replace("\\", "/")
    script = shell.parse(command)
    walk = _Walk(cwd, settings)
    if script is None:
        walk.changes = True
        walk.read_words(command[:MOST_CHARS])
    else:
        walk.read(script, command)
    if is_powershell and "::" in command:
        walk.write(writers.written_in_code(command))
    return replace(walk.touch(), command=command[:MOST_CHARS])


def commands_in(script: Script, text: str) -> list[Command]:
    """Return what the commands of a script run, through wrappers and with their variables' values.

    Nothing is looked up in the file system. At most MOST_COMMANDS and those of one more.
    """
    walk, known = _Walk("/", GuardSettings()), read_variables(script, text)
    return [command for outer in script for command in walk.commands(outer, known)]


_IN_A_FOLDER = ("env", "sudo")
"""Wrappers with an option for the folder of what they run."""


class _Walk:
    """Follow the commands of a script in their order, with the folder in which each works."""

    def __init__(self, cwd: str, settings: GuardSettings) -> None:
        self.settings = settings
        self.folder = cwd
        """That of the next command."""
        self.left = cwd
        self.writes: dict[str, None] = {}
        self.works: dict[str, None] = {}
        self.runs: dict[str, None] = {}
        self.looked_up: dict[str, None] = {}
        self.argvs: dict[tuple[str, ...], None] = {}
        self.acts: set[str] = set()
        self.texts: list[str] = []
        self.listed: list[Word] = []
        """Folders in which the script looks for files, for loops over what it finds."""
        self.changes = False
        self.irreversible = False
        self.is_recipe = False
        self.is_elsewhere = False
        """True in a command of another machine, which touches no file here."""
        self.count = 0

    def touch(self) -> Touch:
        writes = tuple(self.writes)
        return Touch(
            writes=writes,
            works=tuple(self.works),
            runs=tuple(self.runs),
            looked_up=tuple(self.looked_up),
            argvs=tuple(self.argvs),
            acts=frozenset(self.acts),
            text="\n".join(self.texts),
            changes=self.changes,
            creates=are_new(writes),
            irreversible=self.irreversible,
        )

    def read(self, script: Iterable[Command], text: str) -> None:
        script = tuple(script)
        entered: list[tuple[int, str]] = []
        known = read_variables(script, text, _top(self.folder) if "rev-parse" in text else ".")
        self.listed += [word for command in script for word in writers.searched(command)]
        for outer in script:
            self._follow_subshells(outer.subshells, entered)
            before = self.folder
            for command in self.commands(outer, known):
                within = outer.subshells
                if command.subshells != within:
                    within += command.subshells
                self._follow_subshells(within, entered)
                if not self._enter(command):
                    self._take(command)
            if outer.name in (*shell.SHELLS, *_IN_A_FOLDER):
                self.folder = before
                del entered[len(outer.subshells) :]

    def _follow_subshells(self, within: tuple[int, ...], entered: list[tuple[int, str]]) -> None:
        """Work on in the folder in which a subshell was *entered* when it is left."""
        while entered and tuple(number for number, _ in entered) != within[: len(entered)]:
            self.folder = entered.pop()[1]
        entered += [(number, self.folder) for number in within[len(entered) :]]

    def read_words(self, text: str) -> None:
        """Cut what is no shell command at `;`, `&`, `|` and lines, and take it word by word."""
        known = Variables(values={}, aliases={}, root=".")
        for piece in regex.split(r"[;|\n(){}`]+|&+(?!>)", text)[:MOST_COMMANDS]:
            targets = regex.findall(r"(?<![<=-])>{1,2}\|?\s*([^\s;|&<>()]+)", piece)
            bare = regex.sub(r"\d?>{1,2}\|?\s*[^\s;|&<>()]+|[\"']", " ", piece)
            words = [Word(text=word) for word in bare.split()]
            while words and (words[0].text in shell.KEYWORDS or shell.is_assignment(words[0].text)):
                words = words[1:]
            redirects = tuple(
                shell.Redirect(operator=">", fd=None, target=Word(text=target.strip("\"'")))
                for target in targets
            )
            command = Command(words=tuple(words), redirects=redirects)
            for each in self.commands(command, known):
                if not self._enter(each):
                    self._take(each)

    def commands(self, outer: Command, known: Variables, depth: int = 0) -> Iterator[Command]:
        """Yield the commands that one runs, through all wrappers, with its variables' values."""
        for command in resolve(outer, known) if depth < _DEEPEST else [outer]:
            if self.count > MOST_COMMANDS:
                return
            for inner in shell.unwrap(command):
                if inner is not command and depth < _DEEPEST:
                    yield from self._behind_wrapper(command, inner, known, depth)
                else:
                    self.count += 1
                    yield inner
                    yield from self._inside(inner, known, depth)

    def _behind_wrapper(
        self, wrapper: Command, inner: Command, known: Variables, depth: int
    ) -> Iterator[Command]:
        self._name(wrapper)
        if wrapper.name in ("fd", "fdfind") and "{}" not in inner.line:
            inner = replace(inner, words=(*inner.words, Word(text="{}")))
        before = self.folder
        if wrapper.name in _IN_A_FOLDER:
            self.folder = self._folder_of(wrapper)
        yield from self.commands(inner, known, depth + 1)
        if wrapper.name in _IN_A_FOLDER:
            self.folder = before

    def _inside(self, command: Command, known: Variables, depth: int) -> Iterator[Command]:
        """Yield what runs in a command that does something itself, on its machine."""
        was_elsewhere = self.is_elsewhere
        self.is_elsewhere = was_elsewhere or command.name == "ssh"
        for inner in wrappers.inner_commands(command) if depth < _DEEPEST else ():
            yield from self.commands(inner, known, depth + 1)
        self.is_elsewhere = was_elsewhere

    def _folder_of(self, command: Command) -> str:
        """Return the folder in which a command works, as its option says or as it is."""
        folder = _folder_option(command)
        return absolute(folder, self.folder) if folder else self.folder

    def _enter(self, command: Command) -> bool:
        """Follow `cd` and its kin; True if the command is one."""
        if command.name.lower() not in ("cd", "pushd", "popd", "chdir", "set-location", "sl"):
            return False
        target = _entered_folder(command)
        if self.is_elsewhere or "$" in target or "`" in target:
            return True
        if target == "-":
            self.folder, self.left = self.left, self.folder
            return True
        self.left = self.folder
        self.folder = absolute(target, self.folder)
        return True

    def _take(self, command: Command) -> None:
        if self.is_elsewhere:
            return self._name(command)
        before = self.folder
        self.folder = self._folder_of(command)
        self.works[self.folder] = None
        mutates = self._judge(command)
        self.listed += writers.searched(command)
        command = _with_braces_expanded(command)
        found = list(written_by(command)) if mutates or command.redirects else []
        self.write(found, command)
        if command.words:
            self._run(command)
            self._name(command)
        if found:
            self.texts += _written_texts(command)
        self.folder = before

    def _judge(self, command: Command) -> bool:
        """Tell if a command changes something; what a recipe runs does not count for the call."""
        part = mutation.look_up(command, self.settings)
        mutates = mutation.judge_part(part).mutates
        if mutates and not self.is_recipe:
            self.changes = True
            self.irreversible = self.irreversible or mutation.is_irreversible(part)
        return mutates

    def _name(self, command: Command) -> None:
        argv = tuple(word.text for word in command.words)
        if argv and argv[0] not in shell.SHELLS and argv[0] != "eval":
            named = (acts.program_name(argv[0]), *argv[1:])
            if named not in self.argvs:
                self.argvs.update(dict.fromkeys((named, acts.canonical(named))))
                self.acts |= acts.acts_of(argv)

    def write(self, found: Iterable[Written], command: Command | None = None) -> None:
        for written in found:
            for each in self._listed_in(written, command):
                self.writes.update(dict.fromkeys(_paths(each, self.folder)))

    def _listed_in(self, written: Written, command: Command | None) -> list[Written]:
        """Return the files of a patch, or the folders searched for what only a search knows."""
        word = written.word
        if written.listed and not written.listed.expands:
            return self._files_of_patch(word, written.listed) or [written]
        if _is_search_result(word):
            sources = _searched_by(command) or _searched_in(word.text) or self.listed
            return [Written(word=each) for each in dict.fromkeys(sources)]
        if "{}" in word.text:
            return [replace(written, word=_with_found(word))]
        return [written]

    def _files_of_patch(self, folder: Word, patch: Word) -> list[Written]:
        text = _read(absolute(patch.text, self.folder))
        base = "" if folder.text == "." else f"{folder.text}/"
        paths = writers.files_in_patch(text)
        return [Written(word=Word(text=base + path, quoted=True)) for path in paths]

    def _run(self, command: Command) -> None:
        folder = self.folder
        words = [word.text for word in command.words]
        if script := _script_of(command, folder):
            self._note_run(absolute(script, folder), os.path.basename(script).partition(".")[0])
        name = acts.program_name(words[0])
        if name in ("make", "gmake"):
            self._run_targets(words[1:], folder)
        elif name in ("npm", "pnpm", "yarn", "bun"):
            self._run_scripts(name, words[1:], folder)

    def _note_run(self, key: str, name: str) -> None:
        self.runs[key] = None
        self.acts.update(acts.acts_named(name))

    def _run_targets(self, words: Sequence[str], folder: str) -> None:
        if any(regex.fullmatch(_RUNS_NOTHING, word) for word in words):
            return
        makefiles = [value for option, value in pairwise(words) if option == "-f"]
        variables = dict(word.partition("=")[::2] for word in words if "=" in word)
        paths = (absolute(name, folder) for name in makefiles or _MAKEFILES)
        text = next(filter(None, map(self._look_up, paths)), "")
        recipes = _recipes(text, variables)
        for target in _targets(words) or list(recipes)[:1]:
            self._note_run(f"make:{target}", target)
            self._read_recipe(recipes.get(target, ""), folder)

    def _run_scripts(self, name: str, words: Sequence[str], folder: str) -> None:
        script, is_run = _script_asked(name, words)
        if script is None:
            return
        folder, scripts = _package_scripts(folder, self._look_up)
        if is_run or script in scripts:
            self._note_run(f"script:{script}", script)
            for each in (f"pre{script}", script, f"post{script}"):
                self._read_recipe(scripts.get(each, ""), folder)

    def _look_up(self, path: str) -> str:
        self.looked_up[path] = None
        return _read(path)

    def _read_recipe(self, text: str, folder: str) -> None:
        if not text or self.is_recipe:
            return
        self.is_recipe, before = True, self.folder
        self.folder = folder
        for line in [text] if shell.parse(text) is not None else text.splitlines():
            script = shell.parse(line)
            if script is None:
                self.read_words(line)
            else:
                self.read(script, line)
        self.is_recipe, self.folder = False, before


_UNKNOWN = r"(?s)\$\w+|\$\{\w+\}|\$\(.*\)|`.*`"


def _is_search_result(word: Word) -> bool:
    """True for `{}`, and for a word that is a variable or an output as a whole."""
    if word.text.startswith("{}"):
        return True
    return word.expands and regex.fullmatch(_UNKNOWN, word.text) is not None


def _with_found(word: Word) -> Word:
    """Return the folder of a path that a search completes, or a pattern for a part of a name."""
    head = word.text.partition("{}")[0]
    if not head or head.endswith("/"):
        return replace(word, text=head or ".")
    return replace(word, text=word.text.replace("{}", "*"), expands=True)


_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")


_RUNS_NOTHING = r"-[bBdeikmLprRsStw]*[nqhv]\w*|--(?:dry-run|just-print|recon|question|help|version)"
_MAKE_VALUED = "-f --file -C --directory -I -o -W".split()


def _targets(words: Iterable[str]) -> list[str]:
    operands = _operands(words, _MAKE_VALUED)
    return [word for word in operands if "=" not in word and not word.isdecimal()]


def _operands(words: Iterable[str], valued: list[str]) -> list[str]:
    bare = shell.without_values((Word(text=word) for word in words), valued)
    return [word.text for word in bare if not is_option(word.text)]


_PACKAGE_VALUED = [*wrappers.PACKAGE.valued.split(), "--cwd"]
_SCRIPT_ALIASES = {"t": "test", "tst": "test"}
_NPM_VERBS = ("test", "start", "stop", "restart")
"""Scripts that npm runs without `run`."""


def _script_asked(name: str, words: Sequence[str]) -> tuple[str | None, bool]:
    """Return the script that npm or another manager is told to run, and True behind `run`.

    Without `run` it may be a command of the manager; None where it is sure to be one.
    """
    operands = _operands(words, _PACKAGE_VALUED) if "--help" not in words else []
    is_run = operands[:1] and operands[0] in ("run", "run-script", "rum", "urn")
    wanted = operands[1:2] if is_run else operands[:1]
    if not wanted:
        return None, False
    script = _SCRIPT_ALIASES.get(wanted[0], wanted[0])
    is_command = name == "npm" and not is_run and script not in _NPM_VERBS
    return (None if is_command else script), bool(is_run)


def _entered_folder(command: Command) -> str:
    """Return the folder that `cd` and its kin name; `-` for the one before."""
    operands = (word for word in command.words[1:] if word.text == "-" or not is_option(word.text))
    first = next(operands, None)
    if command.name.lower() == "popd":
        return "-"
    return first.text if first else "~"


def _with_braces_expanded(command: Command) -> Command:
    if not any(word.expands and "{" in word.text for word in command.words):
        return command
    words = (each for word in command.words for each in expand_braces(word))
    return replace(command, words=tuple(words))


_FOLDER_OPTIONS = {
    "git": ("-C", "--work-tree"),
    **dict.fromkeys(("make", "gmake", "ninja"), ("-C", "--directory")),
    **dict.fromkeys(("npm", "pnpm"), ("-C", "--prefix", "--dir")),
    "yarn": ("--cwd",),
    "bun": ("--cwd",),
    "uv": ("--directory", "--project"),
    "cargo": ("-C",),
    "just": ("-d", "--working-directory"),
    "go": ("-C",),
    "terraform": ("-chdir",),
    "env": ("-C", "--chdir"),
    "sudo": ("-D", "--chdir"),
}


def _folder_option(command: Command) -> str:
    """Return the folder in which a program works that is told by an option, or an empty text."""
    options = _FOLDER_OPTIONS.get(command.name)
    if not options:
        return ""
    words = [word.text for word in command.words]
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if word in options:
            return following
        if equals and name in options:
            return value
        if word[:2] in options:
            return word[2:]
    return ""


INTERPRETERS = (
    "python pypy node bash sh zsh dash ksh ruby perl php lua deno bun tsx ts-node Rscript"
    " source . pwsh"
    " powershell osascript go julia elixir groovy"
).split()


def _script_of(command: Command, folder: str) -> str:
    """Return the file that a command runs: the operand of an interpreter, or itself."""
    program = command.words[0]
    typed = program.text
    if acts.program_name(typed) in INTERPRETERS:
        return _interpreted_file((*command.words[1:], *_fed_file(command)), folder)
    is_own = typed[:1] not in ("/", "~") or typed.startswith(f"{folder}/")
    return typed if "/" in typed and is_own and not program.expands else ""


def _fed_file(command: Command) -> list[Word]:
    """Return the file that an interpreter reads: `sh < x.sh`, `cat x.sh | sh`."""
    source = command.source
    piped = source.words[1:] if source and source.name == "cat" and len(source.words) == 2 else ()
    return [*piped, *(each.target for each in command.redirects if each.operator == "<")]


_CODE_OPTIONS = ("-c", "-e", "-r", "-p", "--eval")
_INTERPRETER_VALUED = ("-W", "-X", "--require", "-I", "--import", "--loader")


def _interpreted_file(words: Iterable[Word], folder: str) -> str:
    """Return the file that is the first operand of an interpreter, or that of its module."""
    left = iter(words)
    for word in left:
        option = word.text
        if option == "-m":
            module = next(left, None)
            return _file_of_module(module.text, folder) if module else ""
        if option in _CODE_OPTIONS:
            return ""
        if option in _INTERPRETER_VALUED:
            next(left, None)
        elif not is_option(option) and option not in ("run", "tool"):
            is_file = not word.expands and regex.search(r"[\w)]\.\w+$|/", option)
            return option if is_file else ""
    return ""


def _file_of_module(module: str, folder: str) -> str:
    path = module.replace(".", "/")
    files = (f"{path}.py", f"{path}/__main__.py")
    return next((each for each in files if os.path.isfile(absolute(each, folder))), "")


def _searched_by(command: Command | None) -> list[Word]:
    """Return the folders searched by what is piped into a command, or by a find that runs it."""
    if command is None:
        return []
    source: Command | None = command
    found: list[Word] = []
    while source is not None and not found:
        found = [word for each in shell.unwrap(source) for word in writers.searched(each)]
        source = source.source
    return found


def _searched_in(text: str) -> list[Word]:
    """Return the folders searched by a command in a substitution: `rm $(find legacy)`."""
    inner = regex.fullmatch(r"\$\((.*)\)|`(.*)`", text, regex.DOTALL)
    script = shell.parse((inner[1] or inner[2] or "").strip()) if inner else None
    return [word for each in script or () for word in writers.searched(each)]


_LINE_CHARS = 2000


def _recipes(text: str, given: dict[str, str]) -> dict[str, str]:
    """Return the lines of each target of a Makefile, those of its prerequisites first.

    *given* are variables of the command line.
    """
    values = dict(regex.findall(r"(?m)^(\w+)[ \t]*[:?]?=[ \t]*(.*)$", text)) | given
    rules = _read_rules(text)

    def value_of(found: regex.Match[str]) -> str:
        return str(values.get(found[1], found[0]))

    recipes = {}
    for target, rule in rules.items():
        if not target.startswith(".") and "%" not in target:
            needed = (line for need in rule.needs if need in rules for line in rules[need].of(need))
            whole = "\n".join([*needed, *rule.of(target)])
            recipes[target] = regex.sub(r"\$[({](\w+)[)}]", value_of, whole).replace("$$", "$")
    return recipes


class _Rule:
    def __init__(self) -> None:
        self.needs: list[str] = []
        """Names of its prerequisites."""
        self.lines: list[str] = []

    def of(self, target: str) -> Iterator[str]:
        """Yield the lines with the names of the target and of what it needs."""
        names = {"$@": target, "$<": " ".join(self.needs[:1]), "$^": " ".join(self.needs)}
        for line in self.lines:
            yield regex.sub(r"(?<!\$)\$[@<^]", lambda found: names[found[0]], line)


def _read_rules(text: str) -> dict[str, _Rule]:
    """Return the rule of each target of a Makefile."""
    rules: dict[str, _Rule] = {}
    current: list[_Rule] = []
    for line in text.replace("\\\n", " ").splitlines():
        line = line[:_LINE_CHARS].rstrip()
        if line[:1] == "\t":
            for rule in current:
                rule.lines.append(line.strip().lstrip("@-+"))
        elif found := regex.match(r"([^\s:#=][^:#=]*?)\s*::?(?!=)\s*([^#=]*)", line):
            needs, _, inline = found[2].partition(";")
            current = [rules.setdefault(target, _Rule()) for target in found[1].split()]
            for rule in current:
                rule.lines += filter(None, [inline.strip()])
                rule.needs += needs.split()
        elif line.strip() and not line.startswith("#"):
            current = []
    return rules


def _package_scripts(folder: str, look_up: Callable[[str], str]) -> tuple[str, dict[str, str]]:
    """Return the nearest folder at or above *folder* with a package.json, and its scripts."""
    from ademem.core.json_text import loads

    at = folder
    while not (text := look_up(os.path.join(at, "package.json"))):
        parent = os.path.dirname(at)
        if parent == at or os.path.lexists(os.path.join(at, ".git")):
            return folder, {}
        at = parent
    with suppress(ValueError, RecursionError):
        found = loads(text)
        scripts = found.get("scripts") if isinstance(found, dict) else None
        items = scripts.items() if isinstance(scripts, dict) else ()
        return at, {name: body for name, body in items if isinstance(body, str)}
    return at, {}


def _read(path: str) -> str:
    """Return the beginning of a plain file; empty for what is none or cannot be read."""
    with suppress(OSError, ValueError):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                return file.read(MOST_BYTES).decode("utf-8", "replace")
    return ""


def _top(folder: str) -> str:
    """Return the nearest folder with a repository at or above *folder*."""
    at = folder
    while not os.path.lexists(os.path.join(at, ".git")):
        parent = os.path.dirname(at)
        if parent == at:
            return folder
        at = parent
    return at


_TEMPORARY = regex.compile(r"(?i)mktemp|\$\{?\w*(?:te?mp)\w*")


def _written_texts(command: Command) -> list[str]:
    """Return the texts that a command writes, as far as its own words have them."""
    words = [word.text for word in command.words[1:]]
    if command.stdin:
        return [command.stdin.text]
    if writers.is_edit_in_place(command):
        return words
    return [" ".join(words)] if command.name in ("echo", "printf") else []


def _paths(written: Written, folder: str) -> Iterator[str]:
    """Yield the files that a word names in a folder, as far as the file system tells."""
    text = written.word.text
    if not text or text.startswith(("/dev/", "&", ">(")) or regex.match(r"[\w+.-]+://", text):
        return
    for spelled in expand_braces(written.word):
        name = _known_part(spelled.text)
        if name and not _is_left_alone(written, name, folder, is_whole=name == spelled.text):
            for path in _files_named(name, folder, may_match=written.word.expands):
                yield from _put_into(path, written.into, is_folder=name.endswith("/"))


def _is_left_alone(written: Written, name: str, folder: str, *, is_whole: bool) -> bool:
    """True for a new folder that is there, and for a guess that meets no file."""
    path = absolute(name, folder)
    if written.is_new and is_whole and os.path.isdir(path):
        return True
    return written.is_guess and not _may_be_file(name, path)


def _files_named(name: str, folder: str, *, may_match: bool) -> list[str]:
    """Return the files that a name stands for; a quoted one is a pattern where none has it."""
    path = absolute(name, folder)
    is_pattern = _has_pattern(name) and (may_match or not os.path.lexists(path))
    return _matches(path) if is_pattern else [path]


def _put_into(path: str, names: Sequence[str], *, is_folder: bool) -> Iterator[str]:
    """Yield the files of these names in a folder, or the path where it is none."""
    if names and (is_folder or len(names) > 1 or os.path.isdir(path)):
        known = dict.fromkeys("." if _is_unknown(name) else name for name in names)
        yield from (os.path.normpath(os.path.join(path, name)) for name in known)
    else:
        yield path


def _known_part(text: str) -> str:
    """Return what is known of a path: behind a leading variable, or before another.

    A folder that a variable names is taken for the working folder, unless it is temporary.
    """
    if "$" not in text and "`" not in text:
        return text
    if _TEMPORARY.search(text):
        return ""
    rest = regex.sub(r"^(?:\$\w+|\$\{[^{}]*\}|\$\([^()]*\)|`[^`]*`)/", "", text)
    known = regex.split(r"[$`]", rest)[0]
    return known if known == rest else known.rpartition("/")[0]


def _may_be_file(text: str, path: str) -> bool:
    return os.path.lexists(path) or ("/" in text and os.path.isdir(os.path.dirname(path)))


def _is_unknown(name: str) -> bool:
    return any(sign in name for sign in "*?[{$`")


def _has_pattern(text: str) -> bool:
    return any(sign in text for sign in "*?[")


def _matches(pattern: str) -> list[str]:
    """Return the files that a pattern stands for, or their folder if these are too many.

    Where none exists it is returned as it is.
    """
    head, _, rest = pattern.partition("/") if pattern[:1] != "/" else ("/", "", pattern[1:])
    found = [head]
    for part in rest.split("/"):
        if not _has_pattern(part):
            found = [os.path.join(each, part) for each in found]
            continue
        if "**" in part or part.count("*") > _MOST_STARS:
            return found
        folders, found = found, _entries(found, part)
        if len(found) > MOST_FILES:
            return folders
        if not found:
            return [pattern]
    return list(filter(os.path.lexists, found)) or [pattern]


def _entries(folders: Iterable[str], part: str) -> list[str]:
    """Return the paths in the folders whose name matches the pattern of one name."""
    import re  # what a person typed is no pattern that is kept

    shape = re.compile(_regex(part))
    found: list[str] = []
    for folder in folders:
        with suppress(OSError, ValueError), os.scandir(folder) as entries:
            names = (entry.name for entry in islice(entries, MOST_LISTED))
            found += [os.path.join(folder, name) for name in names if shape.match(name)]
    return found


def _regex(part: str) -> str:
    """Translate the pattern of one name; a hidden file needs its dot."""
    import re

    body = regex.sub(r"[^*?\[\]\w]", lambda found: re.escape(found[0]), part)
    body = body.replace("*", ".*").replace("?", ".").replace("[!", "[^")
    try:
        re.compile(body)
    except re.error:
        body = ".*".join(map(re.escape, part.split("*")))
    return ("" if part[:1] == "." else r"(?!\.)") + body + r"\Z"
