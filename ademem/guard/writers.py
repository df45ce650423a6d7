"""Programs that write files, and which words of a command name these.

One table, `WRITERS`, for all that asks what a command changes. Nothing is looked up in the file
system here: what a word names may depend on what is there, and `Written` says how.
"""

from __future__ import annotations

import posixpath
from itertools import pairwise, takewhile

from ademem.core import regex
from ademem.core.settings import GuardSettings
from ademem.core.value import Value, replace
from ademem.guard import mutation, shell
from ademem.guard.shell import Command, Word, is_option, sets_option, takes_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ademem.guard.shell import Script

    Pick = Callable[["Arguments"], Iterable["Written"]]


class Written(Value):
    """A file, or a folder with all below it, that a command may write, create, move or delete."""

    word: Word
    into: tuple[str, ...] = ()
    """Names of the files that are written in it if it is a folder."""
    is_new: bool = False
    """True if nothing is written where it is there already."""
    is_guess: bool = False
    """True if the word may stand for something else; it counts if there is such a file."""
    is_gone: bool = False
    """True if it is deleted or moved away."""
    fills: bool = False
    """True if files of other names are written in it if it is a folder."""
    implied: bool = False
    """True if the command names no file, and takes the working folder."""
    listed: Word | None = None
    """A patch that names the files, for who can read it."""


class Writer(Value):
    pick: Pick
    valued: str = ""
    """Options whose value is the next word."""
    only: str = ""
    """Options without any of which it writes nothing."""
    unless: str = ""
    """Options with any of which it writes nothing."""
    edits: bool = False
    """True if the command does nothing but edit files: `sed -i`, `tee`, `patch`."""


class Arguments:
    """The words behind a program and its subcommands."""

    def __init__(self, words: Sequence[Word], valued: str, command: Command) -> None:
        self.words = words
        self.command = command
        self.valued = valued.split()
        self.operands: list[Word] = []
        self.behind: list[Word] | None = None
        """Operands behind `--`; None without one."""
        left = iter(words)
        for word in left:
            if self.behind is not None:
                self.behind.append(word)
                self.operands.append(word)
            elif word.text == "--" and not word.quoted:
                self.behind = []
            elif is_option(word.text):
                if takes_value(word.text, self.valued):
                    next(left, None)
            else:
                self.operands.append(word)

    def has(self, option: str, *, whole: bool = False) -> bool:
        """True if *option* is set, also abbreviated unless it must stand *whole*."""
        is_long = whole and option[:2] == "--"
        return any(
            word.text.partition("=")[0] == option if is_long else _sets(word.text, option)
            for word in self.words
        )

    def values(self, *options: str) -> list[Word]:
        """Return the values of options: `-o x`, `-ox`, `--output x`, `--output=x`."""
        found: list[Word] = []
        for word, following in pairwise((*self.words, Word(text=""))):
            name, equals, value = word.text.partition("=")
            if word.text in options:
                found.append(following)
            elif equals and name in options:
                found.append(replace(word, text=value))
            elif (glued := _value_in_cluster(word.text, options)) is not None:
                found.append(replace(word, text=glued) if glued else following)
        return [word for word in found if word.text]


def _sets(word: str, option: str) -> bool:
    if option in ("-i", "-w", "-n") and word[:2] in ("-M", "-I"):  # of perl: a module, a folder
        return False
    if len(option) > 2 and option[1] != "-":
        return word == option or word.startswith(f"{option}=")
    return sets_option(word, option)


def _value_in_cluster(word: str, options: Sequence[str]) -> str | None:
    """Return what stands behind the letter of an option: `-qO-`; None if it is not set there."""
    if word[:1] != "-" or word[:2] == "--":
        return None
    for at, letter in enumerate(word[1:], 2):
        if f"-{letter}" in options:
            return word[at:].removeprefix("=")
        if not letter.isalpha():
            break
    return None


def _as_written(words: Iterable[Word]) -> Iterator[Written]:
    return (Written(word=word) for word in words)


def _operands(arguments: Arguments) -> Iterator[Written]:
    return _as_written(arguments.operands)


def _removed(arguments: Arguments) -> Iterator[Written]:
    return (Written(word=word, is_gone=True) for word in arguments.operands)


def _behind_first(arguments: Arguments) -> Iterator[Written]:
    return _as_written(arguments.operands[1:])


def _first(arguments: Arguments) -> Iterator[Written]:
    return _as_written(arguments.operands[:1])


def _last(arguments: Arguments) -> Iterator[Written]:
    return _as_written(arguments.operands[-1:])


def _new(arguments: Arguments) -> Iterator[Written]:
    return (Written(word=word, is_new=True) for word in arguments.operands)


_HERE = Word(text=".")
_UNKNOWN = Word(text="{}", expands=True)


def _tree(arguments: Arguments) -> Iterator[Written]:
    """The operands, or the working folder: `ruff format`, `go fmt ./...`."""
    for word in arguments.operands:
        text = word.text.removesuffix("...").rstrip("/") or "."
        yield Written(word=replace(word, text=text))
    if not arguments.operands:
        yield Written(word=_HERE, implied=True)


def _target(arguments: Arguments, *, sources: Sequence[Word], target: Word) -> Iterator[Written]:
    is_whole = arguments.has("--parents", whole=True)
    paths = (word.text.strip("/") for word in sources)
    names = tuple(path if is_whole else posixpath.basename(path) for path in paths)
    yield Written(word=target, into=names, fills=True)


def _copied(arguments: Arguments) -> Iterator[Written]:
    folders = arguments.values("-t", "--target-directory")
    operands = arguments.operands
    if folders:
        yield from _target(arguments, sources=operands, target=folders[0])
    elif len(operands) > 1:
        yield from _target(arguments, sources=operands[:-1], target=operands[-1])


def _moved(arguments: Arguments) -> Iterator[Written]:
    folders = arguments.values("-t", "--target-directory")
    operands = arguments.operands
    if folders or len(operands) > 1:
        sources = operands if folders else operands[:-1]
        yield from (Written(word=word, is_gone=True) for word in sources)
        yield from _copied(arguments)


def _linked(arguments: Arguments) -> Iterator[Written]:
    operands = arguments.operands
    if len(operands) == 1 and not arguments.values("-t", "--target-directory"):
        yield Written(word=replace(operands[0], text=posixpath.basename(operands[0].text)))
    yield from _copied(arguments)


def _installed(arguments: Arguments) -> Iterator[Written]:
    return _new(arguments) if arguments.has("-d") else _copied(arguments)


_REMOTE = r"(?:[\w.-]+@)?[\w.-]{2,}:(?!\\)|\w+://"


def _synchronised(arguments: Arguments) -> Iterator[Written]:
    operands = arguments.operands
    if arguments.has("--remove-source-files"):
        yield from _as_written(operands[:-1])
    if len(operands) < 2 or regex.match(_REMOTE, operands[-1].text):
        return
    whole = (
        arguments.has("--delete")
        or any(word.text.endswith("/") for word in operands[:-1])
        or any(word.text == "sync" for word in arguments.command.words[1:3])
    )
    names = () if whole else tuple(posixpath.basename(word.text) for word in operands[:-1])
    yield Written(word=operands[-1], into=names, fills=True)


def _sorted(arguments: Arguments) -> Iterator[Written]:
    for word in arguments.words:
        if word.text.startswith("--o") and "=" in word.text:
            yield Written(word=replace(word, text=word.text.partition("=")[2]))
    yield from _as_written(arguments.values("-o", "--output"))


def _of_dd(arguments: Arguments) -> Iterator[Written]:
    for word in arguments.words:
        if word.text.startswith("of="):
            yield Written(word=replace(word, text=word.text[3:]))


def _behind_script(arguments: Arguments) -> Iterator[Written]:
    """Files of sed, perl and awk: the first operand is the script, unless an option has it."""
    scripts = ("-e", "-f", "-E", "--expression", "--file", "--source")
    has_script = any(
        any(takes_value(word.text, [each]) for each in scripts[:3] if each in arguments.valued)
        or word.text.partition("=")[0] in scripts[3:]
        for word in arguments.words
        if is_option(word.text)
    )
    files = [word for word in arguments.operands if word.text]  # BSD: `sed -i '' …`
    return (Written(word=word) for word in (files if has_script else files[1:]))


def _of_perl(arguments: Arguments) -> Iterator[Written]:
    yield from _behind_script(arguments) if arguments.has("-i") else _of_code(arguments)


def _of_sed(arguments: Arguments) -> Iterator[Written]:
    """Files that the script writes with `w`; with `-i` the operands."""
    for word in (*arguments.values("-e", "--expression"), *arguments.operands[:1]):
        for path in regex.findall(r"(?:^|[;\n{}/|gp\d])\s*w\s+([^\s;}]+)", word.text):
            yield Written(word=Word(text=path, quoted=True))
    if arguments.has("-i") or arguments.has("--in-place"):
        yield from _behind_script(arguments)


def _of_awk(arguments: Arguments) -> Iterator[Written]:
    """Files that the script prints to; with `-i inplace` the operands."""
    for word in arguments.operands[:1]:
        for path in regex.findall(r"\bprintf?\b[^;}\n]{0,200}>\s*\"([^\"]+)\"", word.text):
            yield Written(word=Word(text=path, quoted=True))
    if any(word.text == "inplace" for word in arguments.values("-i", "--include")):
        yield from _behind_script(arguments)


def _unpacked(arguments: Arguments) -> Iterator[Written]:
    """The archive that tar makes, or the folder into which it unpacks."""
    options = _tar_options(arguments.words)
    if options & {"x", "--extract", "--get"}:
        folders = arguments.values("-C", "--directory", "--one-top-level")
        if options.isdisjoint(("O", "--to-stdout")):
            yield Written(word=folders[-1] if folders else _HERE, implied=not folders, fills=True)
    elif options & {"c", "r", "u", "--create", "--append", "--update"}:
        archives = arguments.values("--file") or _value_of_cluster(arguments.words, "f")
        yield from _as_written(word for word in archives if word.text != "-")
        if "--remove-files" in options:
            yield from _as_written(arguments.operands[_has_old_style(arguments.words) :])


def _has_old_style(words: Sequence[Word]) -> bool:
    """True where the first word of tar are its letters, without a dash: `tar czf`."""
    return bool(words) and words[0].text[:1] not in ("", "-")


def _tar_options(words: Sequence[Word]) -> set[str]:
    """Return the letters and the long options of tar."""
    texts = [word.text for word in words]
    clusters = [text for text in texts if regex.fullmatch(r"-\w+", text)]
    if _has_old_style(words):
        clusters.append(texts[0])
    long = {text.partition("=")[0] for text in texts if text.startswith("--")}
    return long.union(*clusters)


def _value_of_cluster(words: Sequence[Word], letter: str) -> list[Word]:
    """Return the word behind a cluster that ends in *letter*: `tar czf a.tgz`."""
    for at, word in enumerate(words[:-1]):
        if regex.fullmatch(rf"-?\w*{letter}", word.text) and (at == 0 or word.text[:1] == "-"):
            return [words[at + 1]]
    return []


def _of_unzip(arguments: Arguments) -> Iterator[Written]:
    folders = arguments.values("-d")
    yield Written(word=folders[0] if folders else _HERE, implied=not folders, fills=True)


def _of_7z(arguments: Arguments) -> Iterator[Written]:
    folders = arguments.values("-o")
    verb = arguments.operands[0].text if arguments.operands else ""
    if verb in ("x", "e"):
        yield Written(word=folders[0] if folders else _HERE, implied=not folders, fills=True)
    elif verb in ("a", "d", "u"):
        yield from _as_written(arguments.operands[1:2])


_PACKED = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst"}


def _compressed(arguments: Arguments) -> Iterator[Written]:
    """Files that are packed or unpacked, and by default removed; names of both."""
    ending = _PACKED.get(arguments.command.name, "")
    for word in arguments.operands:
        if not arguments.has("-k") and not arguments.has("--keep"):
            yield Written(word=word, is_gone=True)
        bare, dot, last = word.text.rpartition(".")
        is_packed = dot and f".{last}" in (".gz", ".bz2", ".xz", ".zst", ".lz4")
        yield Written(word=replace(word, text=bare if is_packed else word.text + ending))


def _patched(arguments: Arguments) -> Iterator[Written]:
    """Files that a patch names, or the folder in which one applies that cannot be read here."""
    if arguments.operands:
        yield from _as_written(arguments.operands[:1])
    else:
        patches = arguments.values("-i", "--input")
        yield from _in_patch(arguments, patches, arguments.values("-d", "--directory"))


def _applied(arguments: Arguments) -> Iterator[Written]:
    yield from _in_patch(arguments, arguments.operands, arguments.values("--directory"))


def _in_patch(
    arguments: Arguments, patches: Sequence[Word], folders: Sequence[Word]
) -> Iterator[Written]:
    command = arguments.command
    fed = [redirect.target for redirect in command.redirects if redirect.operator == "<"]
    if command.stdin and not command.stdin.expands and not patches:
        for path in files_in_patch(command.stdin.text):
            whole = posixpath.join(folders[0].text, path) if folders else path
            yield Written(word=Word(text=whole, quoted=True))
        return
    listed = next(iter((*patches, *fed)), None)
    yield Written(word=folders[0] if folders else _HERE, implied=True, listed=listed)


def files_in_patch(text: str) -> list[str]:
    """Return the paths that a patch changes, in the forms of diff, git, and `*** Update File:`."""
    lines = (
        r"(?m)^(?:(?:\+\+\+|---) (?:[ab]/)?|\*\*\* (?:Add|Update|Delete) File: "
        r"|rename (?:from|to) )"
    )
    found = regex.findall(rf"{lines}([^\t\n]+)", text)
    return list(dict.fromkeys(path.strip() for path in found if path.strip() != "/dev/null"))


def _restored(arguments: Arguments) -> Iterator[Written]:
    """Files of `git checkout`: behind `--` or a commit; one word may be a branch, too."""
    if arguments.behind is not None:
        yield from _as_written(arguments.behind)
    elif not any(
        arguments.has(option) for option in ("-b", "-B", "--orphan", "--detach", "--track")
    ):
        first, *rest = arguments.operands or [_HERE]
        if arguments.operands:
            is_folder = first.text in (".", "..") or first.text.startswith(("./", "../", ":/"))
            yield Written(word=first, is_guess=not is_folder)
        yield from _as_written(rest)


def _of_restore(arguments: Arguments) -> Iterator[Written]:
    staged = arguments.has("--staged") or arguments.has("-S")
    if not staged or arguments.has("--worktree") or arguments.has("-W"):
        yield from _operands(arguments)


def _behind_dashes(arguments: Arguments) -> Iterator[Written]:
    return _as_written(arguments.behind or ())


def _cloned(arguments: Arguments) -> Iterator[Written]:
    first, *rest = arguments.operands or [_HERE]
    if rest:
        yield Written(word=rest[0])
    elif arguments.operands:
        name = posixpath.basename(first.text.rstrip("/")).removesuffix(".git")
        yield Written(word=replace(first, text=name.rpartition(":")[2]))


def _found(arguments: Arguments) -> Iterator[Written]:
    """Folders in which find deletes, and files that it writes."""
    if arguments.has("-delete"):
        yield from _as_written(searched(arguments.command))
    yield from _as_written(arguments.values("-fprint", "-fprint0", "-fls"))


def _of_curl(arguments: Arguments) -> Iterator[Written]:
    by_address = any(map(arguments.has, ("-O", "--remote-name", "--remote-name-all")))
    return _downloaded(
        named=arguments.values("-o", "--output"),
        folders=arguments.values("--output-dir"),
        unnamed=arguments.operands if by_address else [],
    )


def _of_wget(arguments: Arguments) -> Iterator[Written]:
    return _downloaded(
        named=arguments.values("-O", "--output-document"),
        folders=arguments.values("-P", "--directory-prefix"),
        unnamed=arguments.operands,
    )


def _downloaded(
    *, named: Sequence[Word], folders: Sequence[Word], unnamed: Sequence[Word]
) -> Iterator[Written]:
    """Files of an option, or else those that have the last part of their address as a name."""
    folder = folders[0].text if folders else ""
    files = [word for word in named if word.text != "-"]
    if not named:
        files = [replace(word, text=_last_part(word.text)) for word in unnamed]
    for word in files:
        yield Written(word=replace(word, text=posixpath.join(folder, word.text)))


def _last_part(address: str) -> str:
    path = address.split("?")[0].split("#")[0]
    return posixpath.basename(path.rstrip("/")) or "index.html"


_CHANGES_ROWS = (
    r"(?is)^\s*(?:insert|update|delete|drop|alter|create|replace|vacuum|reindex|with\b.*\b"
    r"(?:insert|update|delete)|begin|pragma\s+\w+\s*=|\.(?:import|restore|read|recover|clone))\b"
)


_WRITES_FILE = (
    r"(?i)^\s*(?:vacuum\s+into|copy\b.{1,2000}\bto|export\s+database"
    r"|\.(?:backup|save|output|once|excel)(?:\s+main)?)\s+['\"]?([^'\"\s()]+)"
)
"""Statements that write a file beside the database."""
_COMMENTS = r"(?s)--[^\n]*|/\*.*?\*/"


def _of_database(arguments: Arguments) -> Iterator[Written]:
    """The file that sqlite3 or duckdb opens if a statement changes it, and files it exports to."""
    command, stdin = arguments.command, arguments.command.stdin
    texts = [word.text for word in (*arguments.operands[1:], *arguments.values("-c", "-s", "-cmd"))]
    texts += [stdin.text] if stdin else []
    changes = any(redirect.operator == "<" for redirect in command.redirects)
    changes |= command.source is not None and not texts
    for statement in _statements(texts):
        if export := regex.match(_WRITES_FILE, statement):
            yield Written(word=Word(text=export[1], quoted=True))
        elif regex.match(_CHANGES_ROWS, statement):
            changes = True
    if changes:
        yield from _first(arguments)


def _statements(texts: Iterable[str]) -> Iterator[str]:
    """Yield the statements of texts in SQL, without comments."""
    for text in texts:
        yield from regex.sub(_COMMENTS, " ", text).split(";")


_OUTPUTS = ("-o", "--output", "--output-file", "-out")


def _in_place(arguments: Arguments) -> Iterator[Written]:
    """The named output; without one the files themselves."""
    outputs = arguments.values(*_OUTPUTS)
    return _as_written(outputs or arguments.operands)


def _one_in_place(arguments: Arguments) -> Iterator[Written]:
    """The named output; without one the first file."""
    outputs = arguments.values(*_OUTPUTS)
    return _as_written(outputs or arguments.operands[:1])


def _named_files(arguments: Arguments) -> Iterator[Written]:
    """Operands with an ending, as others are values of options."""
    files = (word for word in arguments.operands if regex.search(r"\.\w*[A-Za-z*]\w*$", word.text))
    return _as_written(files)


def _tagged(arguments: Arguments) -> Iterator[Written]:
    """Files of exiftool, if it sets a tag."""
    if any(regex.match(r"-[\w:#-]+[+^-]?[<=]", word.text) for word in arguments.words):
        yield from _operands(arguments)


def _second(arguments: Arguments) -> Iterator[Written]:
    return _as_written(arguments.operands[1:2])


def _third(arguments: Arguments) -> Iterator[Written]:
    return _as_written(arguments.operands[2:3])


def _archived(arguments: Arguments) -> Iterator[Written]:
    """The archive of ar, whose first operand are letters."""
    if arguments.operands and set("dmqrs") & set(arguments.operands[0].text):
        yield from _second(arguments)


def _behind_output(arguments: Arguments) -> Iterator[Written]:
    """The file behind a bare word: `pdftk a.pdf cat 1-2 output b.pdf`."""
    pairs = pairwise(arguments.operands)
    return (Written(word=word) for name, word in pairs if name.text == "output")


def _of_ghostscript(arguments: Arguments) -> Iterator[Written]:
    for word in arguments.words:
        if word.text.startswith(("-sOutputFile=", "-o")) and len(word.text) > 2:
            yield Written(word=replace(word, text=word.text.partition("=")[2] or word.text[2:]))


def _fetched(arguments: Arguments) -> Iterator[Written]:
    folders = arguments.values("-D", "--dir") or arguments.values("-O", "--output")
    yield Written(word=folders[0] if folders else _HERE, implied=not folders, fills=True)


def _of_option(arguments: Arguments) -> Iterator[Written]:
    return _as_written(arguments.values("-f", "--file", "-r", "--result-file"))


def _of_package(arguments: Arguments) -> Iterator[Written]:
    if [word.text for word in arguments.operands[:1]] != ["get"]:
        yield Written(word=Word(text="package.json"))


def _opened(arguments: Arguments) -> Iterator[Written]:
    """Files of an editor that gets commands: `vim -c …`, `ex -s`, `emacs --batch`."""
    words = [word for word in arguments.operands if not word.text.startswith("+")]
    gets = any(arguments.has(each) for each in ("-c", "-es", "-s", "--cmd", "--batch"))
    if gets or len(words) < len(arguments.operands) or arguments.command.stdin:
        yield from _as_written(words)


def _of_code(arguments: Arguments) -> Iterator[Written]:
    """Paths in code that an interpreter gets as text, if the code writes at all."""
    from ademem.guard import interpreted_code  # most commands have none

    for code in _codes(arguments):
        if interpreted_code.may_write(code, arguments.command.name):
            yield from _paths_in(code)
            if "argv" in code:
                yield from _as_written(word for word in arguments.operands if word.text != "-")


def _codes(arguments: Arguments) -> list[str]:
    """Return the code behind options and behind `eval` of deno, or else that on standard input."""
    operands = [word.text for word in arguments.operands[:2]]
    codes = [word.text for word in arguments.values("-c", "-e", "-r", "-p", "--eval", "--print")]
    if operands[:1] == ["eval"]:
        codes += operands[1:]
    stdin = arguments.command.stdin
    return [stdin.text] if not codes and stdin and operands[:1] in ([], ["-"]) else codes


def written_in_code(code: str) -> Iterator[Written]:
    """Yield the literals that may be paths of code that seems to write files."""
    from ademem.guard import interpreted_code

    if interpreted_code.may_write(code):
        yield from _paths_in(code)


def _paths_in(code: str) -> Iterator[Written]:
    from ademem.guard import interpreted_code

    for text, is_path in interpreted_code.paths(code):
        yield Written(word=Word(text=text, quoted=True), is_guess=not is_path)


_PATH_PARAMETERS = (
    "-path -literalpath -filepath -destination -newname -outfile -destinationpath -target".split()
)


def _of_cmdlet(arguments: Arguments) -> Iterator[Written]:
    """Parameters of PowerShell that name files, else the first operands."""
    named, positional = _parameters(arguments.words)
    most = 2 if arguments.command.name.lower().startswith(_MOVING) else 1
    found = named + positional[: max(0, most - len(named))]
    if not found and arguments.command.source:
        found = [_UNKNOWN]
    for word in found:
        yield from _as_written(replace(word, text=path) for path in word.text.split(","))


def _parameters(words: Iterable[Word]) -> tuple[list[Word], list[Word]]:
    """Return the values of parameters of PowerShell that name files, and the operands."""
    named: list[Word] = []
    positional: list[Word] = []
    left = iter(words)
    for word in left:
        lower = word.text.lower()
        if not is_option(lower):
            positional.append(word)
        elif lower not in _SWITCHES and (value := next(left, None)):
            named += [value] if lower in _PATH_PARAMETERS else []
    return named, positional


_MOVING = ("move", "copy", "cp", "mv", "mi", "ren", "rni")
"""Beginnings of the names of cmdlets that have a source and a target."""
_SWITCHES = frozenset(
    "-recurse -force -append -confirm -whatif -nonewline -verbose -passthru".split()
)


def _valued(arguments: Arguments, *options: str) -> Iterator[Written]:
    return _as_written(arguments.values(*options))


_SQLITE_UTILS = (
    "add-column add-foreign-key add-foreign-keys bulk convert create-index create-table create-view"
    " disable-fts drop-table drop-view duplicate enable-fts extract insert insert-files optimize"
    " populate-fts rebuild-fts rename-table transform upsert vacuum"
)
"""Commands of sqlite-utils 3 whose first operand is the database that they change."""
_SED = Writer(pick=_of_sed, valued="-e -f", edits=True)
_COPY = "-t --target-directory -S --suffix"
_TREE = Writer(pick=_tree)


def _formatter(only: str = "", unless: str = "--check --diff", valued: str = "") -> Writer:
    return Writer(pick=_tree, only=only, unless=unless, valued=valued)


_PRETTIER = "--config --parser --ignore-path --plugin --print-width --tab-width --log-level"
_ESLINT = "-c --config --ext --rule --parser --plugin --ignore-path -f --format --max-warnings"
_RUFF = "--config --select --ignore --extend-select --line-length --target-version --exclude"
_CODE = Writer(pick=_of_code, valued="-c -e -r -p --eval --print -W -X")
_CMDLET = Writer(pick=_of_cmdlet)

WRITERS: dict[str, Writer] = {
    # files
    "tee": Writer(pick=_operands, edits=True),
    "sponge": Writer(pick=_operands, edits=True),
    "cp": Writer(pick=_copied, valued=_COPY),
    "mv": Writer(pick=_moved, valued=_COPY),
    "ln": Writer(pick=_linked, valued=_COPY),
    "link": Writer(pick=_copied),
    "install": Writer(pick=_installed, valued=f"{_COPY} -m -o -g --mode --owner --group"),
    "rsync": Writer(
        pick=_synchronised,
        valued="-e --rsh --exclude --include --filter -f --files-from --exclude-from",
        unless="-n --dry-run --list-only",
    ),
    **dict.fromkeys(
        ("scp", "rclone copy", "rclone sync"), Writer(pick=_synchronised, valued="-P -i")
    ),
    **dict.fromkeys(
        ("rm", "unlink", "shred", "srm", "trash", "trash-put", "rimraf", "del-cli", "rmdir"),
        Writer(pick=_removed, valued="-n --iterations -s --size"),
    ),
    "truncate": Writer(pick=_operands, valued="-s --size -r --reference"),
    "touch": Writer(pick=_operands, valued="-d -t -r --date --reference --time"),
    "mkdir": Writer(pick=_new, valued="-m --mode"),
    "mkfifo": Writer(pick=_operands),
    "fallocate": Writer(pick=_operands, valued="-l -o --length --offset"),
    **dict.fromkeys(("chmod", "chown", "chgrp"), Writer(pick=_behind_first)),
    "dd": Writer(pick=_of_dd),
    "uniq": Writer(pick=_behind_first, valued="-f -s -w"),
    "xxd": Writer(pick=_behind_first, valued="-c -g -l -o -s"),
    "sort": Writer(pick=_sorted),
    "mktemp": Writer(pick=_operands, valued="-p --tmpdir --suffix"),
    **dict.fromkeys(
        ("aws s3 cp", "aws s3 sync", "aws s3 mv", "gsutil cp", "gsutil rsync"),
        Writer(pick=_synchronised, valued="--profile --region", unless="--dryrun"),
    ),
    "gcloud storage cp": Writer(pick=_synchronised),
    "gh release download": Writer(pick=_fetched),
    "gh repo clone": Writer(pick=_cloned),
    **dict.fromkeys(("hg revert", "svn revert"), Writer(pick=_operands, valued="-r --rev")),
    **dict.fromkeys(("hg rm", "hg remove", "svn rm", "svn delete"), Writer(pick=_removed)),
    **dict.fromkeys(("docker cp", "kubectl cp"), Writer(pick=_synchronised, valued="-c -n")),
    "mkdirp": Writer(pick=_new),
    **dict.fromkeys(("cpy", "copyfiles", "ncp", "cpx"), Writer(pick=_copied)),
    "split": Writer(pick=_behind_first, valued="-b -l -n -a"),
    "rename": Writer(pick=_behind_first, unless="-n --no-act"),
    # texts
    **dict.fromkeys(("sed", "gsed"), _SED),
    **dict.fromkeys(("perl", "ruby"), Writer(pick=_of_perl, valued="-e -E", edits=True)),
    **dict.fromkeys(
        ("awk", "gawk", "mawk"),
        Writer(pick=_of_awk, valued="-i -f -F -v --include --file --source -e"),
    ),
    **dict.fromkeys(("xmlstarlet ed", "xml ed"), Writer(pick=_last, only="-L --inplace")),
    "crudini": Writer(pick=_first, only="--set --del --merge"),
    **dict.fromkeys(("npm pkg", "npm init"), Writer(pick=_of_package)),
    **dict.fromkeys(("pg_dump", "pg_dumpall", "ssh-keygen", "mysqldump"), Writer(pick=_of_option)),
    "script": Writer(pick=_first, valued="-c --command -E -I -O -B -T -t -m"),
    **dict.fromkeys(
        ("sd", "replace-in-file", "replace"),
        Writer(pick=lambda given: (Written(word=word) for word in given.operands[2:])),
    ),
    "yq": Writer(pick=_behind_first, only="-i --inplace --in-place"),
    **dict.fromkeys(
        ("yq e", "yq eval"), Writer(pick=_behind_first, only="-i --inplace --in-place")
    ),
    **dict.fromkeys(("dasel put", "dasel delete"), Writer(pick=_of_option)),
    "plutil": Writer(pick=_last, only="-replace -insert -remove -convert"),
    "sops": Writer(pick=_last, only="-i --in-place"),
    "mlr": Writer(pick=_last, only="-I"),
    "jupyter nbconvert": Writer(pick=_named_files, only="--inplace"),
    "nbstripout": Writer(pick=_operands, unless="--dry-run -t --textconv"),
    "msgmerge": Writer(pick=_one_in_place, only="-U --update -o --output-file"),
    **dict.fromkeys(
        ("pybabel update", "pybabel init", "pybabel compile", "pybabel extract"),
        Writer(pick=lambda given: _valued(given, "-d", "-o", "--output-dir", "--output-file")),
    ),
    **dict.fromkeys(("ed", "red"), Writer(pick=_operands, valued="-p", edits=True)),
    **dict.fromkeys(
        ("ex", "vi", "vim", "nvim", "emacs"), Writer(pick=_opened, valued="-c --cmd -S -u")
    ),
    "patch": Writer(
        pick=_patched,
        valued="-i -d -p -o --input --directory --strip",
        unless="--dry-run",
        edits=True,
    ),
    "comby": Writer(
        pick=lambda given: (Written(word=word) for word in given.operands[2:]), only="-i"
    ),
    "ast-grep": Writer(
        pick=_tree, only="-U --update-all", valued="-p -r -l --pattern --rewrite --lang"
    ),
    "codemod": Writer(pick=_tree),
    "jscodeshift": Writer(pick=_operands, valued="-t --transform --parser", unless="-d --dry"),
    "dos2unix": Writer(pick=_operands),
    "unix2dos": Writer(pick=_operands),
    # pictures and films
    **dict.fromkeys(("convert", "magick", "ffmpeg", "cwebp", "qpdf"), Writer(pick=_last)),
    "mogrify": Writer(pick=_named_files),
    "sox": Writer(pick=_second, valued="-b -c -e -r -t"),
    "exiftool": Writer(pick=_tagged),
    **dict.fromkeys(("optipng", "jpegoptim", "svgo", "oxipng"), Writer(pick=_in_place)),
    "pngquant": Writer(pick=_named_files, only="--ext", valued="--ext --quality --speed"),
    "pdftk": Writer(pick=_behind_output),
    "gs": Writer(pick=_of_ghostscript),
    "sass": Writer(pick=_second),
    **dict.fromkeys(("pdftotext", "pdfunite"), Writer(pick=_behind_first)),
    # archives, downloads and databases
    **dict.fromkeys(("tar", "bsdtar", "gtar"), Writer(pick=_unpacked, valued="-f -C -T -X --file")),
    "unzip": Writer(pick=_of_unzip, valued="-d -x", unless="-l -p -t -v -Z"),
    **dict.fromkeys(("7z", "7za", "7zz"), Writer(pick=_of_7z)),
    "zip": Writer(pick=_first),
    **dict.fromkeys(
        ("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd"),
        Writer(pick=_compressed, unless="-c -l -t --stdout --list --test"),
    ),
    "curl": Writer(
        pick=_of_curl,
        valued="-o --output --output-dir -H -d -X -u -A -m -F -b -c -w -e -T --data --header"
        " --request --user --max-time --retry --url --cookie --form --json --data-raw --data-binary"
        " --proxy -x",
    ),
    "wget": Writer(
        pick=_of_wget,
        valued="-O -P -o -U --output-document --directory-prefix --header --user-agent",
    ),
    **dict.fromkeys(
        ("sqlite3", "duckdb", "sqlite-utils", "sqlite-utils query"),
        Writer(
            pick=_of_database,
            valued="-c -s -cmd -init -separator -newline -nullvalue -mmap -vfs -maxsize",
            unless="-readonly --readonly",
        ),
    ),
    **{f"sqlite-utils {verb}": Writer(pick=_first) for verb in _SQLITE_UTILS.split()},
    "redis-cli": Writer(pick=lambda given: _valued(given, "--rdb")),
    "keytool": Writer(
        pick=lambda given: _valued(given, "-keystore"),
        only="-genkey -genkeypair -genseckey -import -importcert -importkeystore -delete",
    ),
    "htpasswd": Writer(pick=_first, valued="-C", unless="-n"),
    # binary files
    "strip": Writer(pick=_in_place, valued="-o -O -R -K -N"),
    "objcopy": Writer(pick=_last, valued="-O -I -B -j -R -K -N"),
    "patchelf": Writer(pick=_last, unless="--print-rpath --print-needed --print-interpreter"),
    "ar": Writer(pick=_archived),
    "bsdiff": Writer(pick=_third),
    "bspatch": Writer(pick=_second),
    "setfacl": Writer(pick=_operands, valued="-m -x -M -X --modify --remove --set"),
    "xattr": Writer(pick=_last, only="-w -d -c"),
    # git
    "git checkout": Writer(pick=_restored, valued="-b -B --orphan --conflict"),
    "git restore": Writer(pick=_of_restore, valued="-s --source"),
    "git mv": Writer(pick=_moved, unless="-n --dry-run"),
    "git rm": Writer(pick=_removed, unless="--cached -n --dry-run"),
    "git clean": Writer(pick=_tree, valued="-e --exclude", unless="-n --dry-run"),
    **dict.fromkeys(
        ("git apply", "git am"),
        Writer(
            pick=_applied,
            valued="-p --directory --exclude --include --whitespace -C",
            unless="--check --stat --numstat --summary --cached --abort",
            edits=True,
        ),
    ),
    **dict.fromkeys(
        ("git stash", "git stash push"), Writer(pick=_behind_dashes, valued="-m --message")
    ),
    "git clone": Writer(
        pick=_cloned, valued="-b --branch --depth -o --origin -c --config -j --filter"
    ),
    "git worktree add": Writer(pick=_first, valued="-b -B"),
    "git submodule add": Writer(pick=_cloned, valued="-b --name"),
    "git init": Writer(pick=_new, valued="-b --initial-branch --template"),
    # searches
    "find": Writer(pick=_found),
    # formatters and linters
    "prettier": _formatter("--write -w", "--check -c", _PRETTIER),
    "black": _formatter(
        unless="--check --diff -c", valued="-l -t --line-length --config --exclude"
    ),
    **dict.fromkeys(("isort", "yapf", "autopep8", "autoflake", "docformatter"), Writer(pick=_tree)),
    "isort": _formatter(
        unless="--check --check-only --diff -c", valued="-l --profile -p --settings"
    ),
    **dict.fromkeys(
        ("autopep8", "autoflake", "docformatter", "clang-format", "yapf"),
        Writer(pick=_operands, only="-i --in-place"),
    ),
    "pyupgrade": Writer(pick=_operands),
    "ruff format": _formatter(valued=_RUFF),
    "ruff check": _formatter("--fix --fix-only --add-noqa", "--diff", _RUFF),
    **dict.fromkeys(
        ("gofmt", "goimports", "gofumpt"), Writer(pick=_operands, only="-w", valued="-r")
    ),
    "go fmt": _formatter(unless="-n"),
    "go fix": _TREE,
    "golangci-lint run": _formatter("--fix"),
    "golangci-lint fmt": _TREE,
    **dict.fromkeys(
        ("eslint", "standard", "xo", "oxlint"), _formatter("--fix", "--fix-dry-run", _ESLINT)
    ),
    "stylelint": _formatter("--fix"),
    **dict.fromkeys(("markdownlint", "markdownlint-cli2"), Writer(pick=_operands, only="--fix -f")),
    **dict.fromkeys(
        ("biome format", "biome check", "biome lint"),
        _formatter("--write --fix --apply --apply-unsafe", "", "--config-path --max-diagnostics"),
    ),
    **dict.fromkeys(
        ("dprint fmt", "deno fmt", "mix format", "zig fmt", "alejandra", "nixfmt"), _formatter()
    ),
    "cargo fmt": Writer(pick=lambda _: [Written(word=_HERE, implied=True)], unless="--check"),
    "cargo fix": Writer(pick=lambda _: [Written(word=_HERE, implied=True)]),
    "cargo clippy": Writer(pick=lambda _: [Written(word=_HERE, implied=True)], only="--fix"),
    "rustfmt": Writer(pick=_operands, unless="--check", valued="--edition --config"),
    **dict.fromkeys(("terraform fmt", "tofu fmt"), _formatter(unless="-check -diff")),
    "dart format": _formatter(unless="--output=none", valued="-l -o"),
    **dict.fromkeys(
        ("shfmt", "buf format"), Writer(pick=_tree, only="-w --write", valued="-i -ln")
    ),
    "stylua": _formatter(),
    "swiftformat": _formatter(unless="--lint"),
    "swiftlint lint": _formatter("--fix --autocorrect"),
    "rubocop": _formatter(
        "-a -A --autocorrect --auto-correct --autocorrect-all --fix-layout -x", ""
    ),
    "standardrb": _formatter("--fix"),
    "php-cs-fixer": Writer(pick=_behind_first, unless="--dry-run"),
    **dict.fromkeys(("phpcbf", "pint"), _formatter(unless="--test")),
    "ktlint": _formatter("-F --format"),
    "taplo": Writer(pick=_behind_first, unless="--check --diff"),
    "sqlfluff": Writer(pick=_behind_first, unless="--dialect-only"),
    "codespell": Writer(pick=_operands, only="-w --write-changes"),
    **dict.fromkeys(("gradle spotlessApply", "mvn spotless:apply", "npm-check-updates"), _TREE),
    # code, and other shells
    **dict.fromkeys(("python", "pypy", "node", "deno", "bun", "php", "lua"), _CODE),
    **dict.fromkeys(
        (
            *("set-content", "add-content", "clear-content", "out-file", "new-item", "remove-item"),
            *(
                "move-item",
                "copy-item",
                "rename-item",
                "tee-object",
                "export-csv",
                "set-itemproperty",
            ),
            *("expand-archive", "sc", "ac", "clc", "ni", "ri", "del", "erase", "rd", "mi", "move"),
            *("cpi", "copy", "ren", "rni", "md"),
        ),
        _CMDLET,
    ),
}
"""Programs and subcommands, as `mutation.look_up` names them, that write files."""

_NO_SETTINGS = GuardSettings()
_OUTPUT = (
    r"--?export-filename|--?(?:\w+[_-])?(?:out(?:put)?|-?out-?(?:file|dir|path)|output[_-](?:file|dir|path|folder))"
    r"|--(?:junit-?xml|log-file|report-file|dest(?:ination)?|target-dir)|-o|-keyout"
)
"""Options of many programs that name what these write."""


def key_of(command: Command) -> tuple[str, tuple[Word, ...]]:
    """Return the key of a command in WRITERS, or an empty text, and the words behind it."""
    part = mutation.look_up(command, _NO_SETTINGS)
    words = command.words
    for key, behind in _keys(part.key, words):
        if key in WRITERS:
            return key, behind
    return "", words[1:]


def _keys(key: str, words: tuple[Word, ...]) -> Iterator[tuple[str, tuple[Word, ...]]]:
    """Yield names of a command, the longest first, and the words behind each."""
    names = key.split()
    at = 1
    for name in names[1:]:
        at = next((i + 1 for i in range(at, len(words)) if words[i].text == name), at)
    behind = words[at:]
    if behind and not is_option(behind[0].text):
        yield f"{key} {behind[0].text}", behind[1:]
    yield key, behind
    if key.lower() != key:
        yield key.lower(), behind
    if words:
        yield Command(words=words).name, words[1:]  # `sqlite3`, which has no version


def written_by(command: Command) -> Iterator[Written]:
    """Yield what a command writes, by its redirections and its words."""
    for redirect in command.redirects:
        if redirect.writes:
            yield Written(word=redirect.target)
    if len(command.words) > 1 or (command.words and command.stdin):
        yield from _written_by_words(command)


def _written_by_words(command: Command) -> Iterator[Written]:
    key, words = key_of(command)
    writer = WRITERS.get(key)
    if writer is None or writer is _CODE:
        yield from _written_elsewhere(command)
    if writer is None:
        return
    arguments = Arguments(words, writer.valued, command)
    if writer.only and not any(map(arguments.has, writer.only.split())):
        return
    if not any(arguments.has(option, whole=True) for option in writer.unless.split()):
        yield from writer.pick(arguments)


def codes_of(command: Command) -> list[str]:
    """Return the texts that an interpreter gets as code."""
    _, words = key_of(command)
    return _codes(Arguments(words, _CODE.valued, command))


def runs_code(command: Command) -> bool:
    """True for an interpreter, whose script may write any file."""
    return command.name in ("perl", "ruby", "sqlite3") or WRITERS.get(key_of(command)[0]) is _CODE


def is_edit_in_place(command: Command) -> bool:
    """True if the words of a command hold the new text of the files that it changes: `sed -i`."""
    return command.name in ("sed", "gsed", "perl", "ruby", "awk", "gawk", "sd", "sqlite3")


def _written_elsewhere(command: Command) -> Iterator[Written]:
    """Yield the values of options such as `--output` that look like paths, if it may write."""
    named = [word for word in _output_values(command) if regex.fullmatch(_LIKE_PATH, word.text)]
    bare = replace(command, redirects=())
    if named and mutation.judge_part(mutation.look_up(bare, _NO_SETTINGS)).mutates:
        yield from _as_written(named)


_LIKE_PATH = r"(?=.*[/.\w)}])[^-\s]\S*"


def _output_values(command: Command) -> Iterator[Word]:
    for word, following in pairwise((*command.words, Word(text="-"))):
        name, equals, value = word.text.partition("=")
        if word.text[:1] == "-" and regex.fullmatch(_OUTPUT, name, regex.IGNORECASE):
            yield replace(word, text=value) if equals else following


_LISTERS = {
    "find": "",
    **dict.fromkeys(("fd", "fdfind"), "-e -t -E -d -c -j --extension --type --exclude"),
    **dict.fromkeys(("grep", "egrep", "fgrep", "git grep"), "-A -B -C -e -f -m"),
    **dict.fromkeys(("rg", "ag"), "-A -B -C -e -f -g -m -t -T --glob --type"),
    **dict.fromkeys(("ls", "git ls-files", "git diff"), "-I -w"),
    **dict.fromkeys(("get-childitem", "gci", "dir"), "-Filter -Include -Exclude"),
}
"""Programs that list files, and their options with a value."""
_WITHOUT_PATTERN = ("ls", "git ls-files", "git diff", "get-childitem", "gci", "dir")


def searched(command: Command) -> list[Word]:
    """Return the folders or files in which a command searches for files; empty if it does not."""
    name = command.name.lower()
    words = command.words[1:]
    if name == "git" and words:
        name, words = f"git {words[0].text}", words[1:]
    if name not in _LISTERS:
        return []
    if name in _FINDERS:
        words = tuple(takewhile(lambda word: word.text not in _EXECUTING, words))
    if name == "find":
        places = takewhile(lambda word: not word.text.startswith(_TESTS), _without_links(words))
        return list(places) or [_HERE]
    operands = shell.without_values(words, _LISTERS[name].split())
    named = [word for word in operands if not is_option(word.text)]
    return named[_takes_pattern(name, words) :] or [_HERE]


def _takes_pattern(name: str, words: Iterable[Word]) -> bool:
    """True if the first operand of a program that lists files is what it searches for."""
    if name in _WITHOUT_PATTERN:
        return False
    given = {word.text.partition("=")[0] for word in words}
    return name in _FINDERS or given.isdisjoint(("-e", "--regexp", "--files"))


_FINDERS = ("find", "fd", "fdfind")
_EXECUTING = ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch")


_TESTS = ("-", "(", "!")


def _without_links(words: Iterable[Word]) -> Iterator[Word]:
    return (word for word in words if word.text not in ("-H", "-L", "-P"))


class FileEdit(Value):
    path: str
    """As written, behind the folders of earlier `cd` commands."""
    is_whole: bool
    """True if the command does nothing but edit files: `sed -i`, `echo … >`, `tee`, `patch`."""


def find_edits(script: Script, folder: str = "") -> list[FileEdit]:
    """Return the files that a script names and changes, each once, the last edit of each."""
    found = [edit for _, edits in edits_by_command(script, folder) for edit in edits]
    return list({edit.path: edit for edit in reversed(found)}.values())[::-1]


def edits_by_command(script: Script, folder: str = "") -> Iterator[tuple[Command, list[FileEdit]]]:
    """Yield each command of a script with the files that it names and changes."""
    for command in script:
        edits = [
            replace(edit, path=posixpath.normpath(posixpath.join(folder, edit.path)))
            for plain in shell.unwrap(command)
            for edit in _edits_of(plain)
        ]
        yield command, edits
        if command.name == "cd" and len(command.words) == 2 and not command.words[1].expands:
            folder = posixpath.join(folder, command.words[1].text)


_PRINTERS = frozenset({"", "echo", "printf", "cat", "tee"})


def _edits_of(command: Command) -> Iterator[FileEdit]:
    prints = command.name in _PRINTERS
    for redirect in command.redirects:
        if redirect.writes and _is_file(redirect.target):
            yield FileEdit(path=redirect.target.text, is_whole=prints)
    writer = WRITERS.get(key_of(command)[0])
    for written in written_by(replace(command, redirects=())):
        if written.implied or written.is_guess or not _is_file(written.word):
            continue
        for path in paths_of(written, is_folder=len(written.into) > 1):
            yield FileEdit(path=path, is_whole=writer is not None and writer.edits)


def paths_of(written: Written, *, is_folder: bool) -> list[str]:
    """Return the paths of what is written, with the files in it where it *is_folder*."""
    text = written.word.text
    if written.into and (is_folder or text.endswith("/")):
        return [posixpath.join(text, name) for name in written.into]
    return [text]


def _is_file(word: Word) -> bool:
    return bool(word.text) and not word.expands and not word.text.startswith(("/dev/", "-", "&"))
