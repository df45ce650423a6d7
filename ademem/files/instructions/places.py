"""Where an item applies: paths and globs of the tree in backticks, and commands that they hold.

What stands in backticks was meant literally. A name that is neither in the tree nor a command of a
known program or a script of the project is no place. In a sentence without such a place, what
it forbids is read as in a memory.
"""

from __future__ import annotations

import os

from ademem.core import regex
from ademem.core.caching import cached_property, lru_cache
from ademem.core.errors import suppress
from ademem.core.json_text import loads
from ademem.guard import acts
from ademem.guard.programs import SUBCOMMANDS
from ademem.search.binding_keys import NoKey, of_command, of_path
from ademem.search.mentions import FILE_WRITERS, PROGRAMS, REPLACEABLE, binds, has_many_verbs
from ademem.store.bindings import Binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ademem.files.instructions.verdicts import Verdicts

MOST = 8
MOST_PACKAGES = 50
MANIFEST_BYTES = 64_000
_SPAN = regex.compile(r"(?<!`)`([^`\n]{1,200})`(?!`)")
_PATH = regex.compile(r"[\w.@+\[\]()$/{},*?-]+")
_PLAIN = regex.compile(r"[\w./:=@%+,~-]+(?: [\w./:=@%+,~-]+)*")
_LAST_PARTS = regex.compile(r"[\w.-]++(?!/[\w.-])")
_PROGRAMS = frozenset(
    (
        *(
            command.partition(" ")[0]
            for commands in acts.COMMANDS.values()
            for command in commands.split(", ")
        ),
        *(command.partition(" ")[0] for command in SUBCOMMANDS),
        *REPLACEABLE,
    )
)


class Files:
    """The files of a project by path, its folders, and the scripts that it names."""

    def __init__(self, root: str, paths: Iterable[str]) -> None:
        self.root = root
        self.paths = frozenset(paths)
        self.folders = frozenset(folder for path in self.paths for folder in _folders_above(path))
        self._scripts: dict[str, frozenset[str]] = {}
        self._ignored: dict[str, frozenset[str]] = {}

    def ignored(self, folder: str) -> frozenset[str]:
        """Return what the `.gitignore` of a folder names in full."""
        if folder not in self._ignored:
            found = f"{folder}.gitignore" in self.paths and _ignored_names(self.root, folder)
            self._ignored[folder] = frozenset(found or ())
        return self._ignored[folder]

    def scripts(self, folder: str) -> frozenset[str]:
        """Return targets and scripts of a folder, as `make:x` and `script:x`."""
        if folder not in self._scripts:
            found: list[str] = []
            if f"{folder}package.json" in self.paths:
                found += _package_scripts(os.path.join(self.root, folder, "package.json"))
            for name in ("Makefile", "makefile", "GNUmakefile"):
                if folder + name in self.paths:
                    found += _targets(os.path.join(self.root, folder, name))
            self._scripts[folder] = frozenset(found)
        return self._scripts[folder]

    def has_script(self, key: str, folder: str) -> bool:
        """Tell whether a folder or the root has a target, a script of a manifest or a file."""
        if key in self.scripts(folder) | self.scripts(""):
            return True
        return ":" not in key and self.find(key, folder) is not None

    @cached_property
    def name_parts(self) -> frozenset[str]:
        """What the names of files and folders are made of, and of those that git ignores."""
        lists = (path for path in self.paths if path.endswith(".gitignore"))
        ignored = (name for path in lists for name in self.ignored(path.removesuffix(".gitignore")))
        return frozenset(_name_parts("\n".join((*self.paths, *self.folders, *ignored))))

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    def list_below(self, path: str, folder: str) -> list[str]:
        """Return the files of packages below a folder that have the path, read in the package."""
        plain = path.removeprefix("./")
        named = self.by_name.get(plain.rpartition("/")[2], [])
        return [each for each in named if each.startswith(folder) and each.endswith(f"/{plain}")]

    def has_script_below(self, key: str, folder: str) -> bool:
        """Tell whether one of the first packages below a folder has a target or a script."""
        manifest = "package.json" if key.startswith("script:") else "Makefile"
        found = self.list_below(manifest, folder)[:MOST_PACKAGES]
        return any(key in self.scripts(path.removesuffix(manifest)) for path in found)

    def find(self, path: str, folder: str) -> Binding | None:
        """Return the file or folder of a path, read in the folder of its text, else in the root.

        One with a slash at its end may be a folder that git ignores, which need not be there.
        """
        plain = path.removeprefix("./").rstrip("/")
        if not plain.strip(".") or ".." in plain.split("/") or plain.startswith(("/", "~")):
            return None
        for base in dict.fromkeys((folder, "")):
            if base + plain in self.paths:
                return Binding(kind="path", key=base + plain)
            is_named = "/" in path or "." in path
            if is_named and base + plain in self.folders:
                return Binding(kind="dir", key=base + plain)
        return self._find_ignored(plain, folder) if path.endswith("/") else None

    def _find_ignored(self, plain: str, folder: str) -> Binding | None:
        """Return a folder that git ignores there or in the root."""
        for base in dict.fromkeys((folder, "")):
            if plain in self.ignored(base):
                return Binding(kind="dir", key=(base if "/" in plain else folder) + plain)
            if f"/{plain}" in self.ignored(base):
                return Binding(kind="dir", key=base + plain)
        return None


def find_places(text: str, folder: str, files: Files, verdicts: Verdicts) -> list[Binding]:
    """Return the places that a text names in backticks, else what it forbids, at most MOST."""
    found: dict[tuple[str, str, str], Binding] = {}
    for span in _spans_in(text):
        for each in _places_of(span, folder, files):
            found.setdefault((each.kind, each.key, each.pattern), each)
    return list(found.values())[:MOST] or _places_of_order(text, folder, files, verdicts)


@lru_cache(maxsize=8)
def _spans_in(text: str) -> Sequence[str]:
    """Return what stands in backticks, without the prompt of a shell."""
    spans = dict.fromkeys(_SPAN.findall(text)) if "`" in text else ()
    return [span.strip().removeprefix("$ ") for span in spans]


def _places_of_order(text: str, folder: str, files: Files, verdicts: Verdicts) -> list[Binding]:
    """Return the files and commands that a sentence forbids."""
    if not binds(text):
        return []
    words = (word.strip(".,:;!?") for word in text.lower().split())
    if "/" not in text and not any(word in _PROGRAMS or "." in word for word in words):
        return []
    if not _may_name_place(text, files):
        return []
    found = (_in_project(each, folder, files) for each in verdicts.forbidden_in(text))
    return [place for place in found if place][:MOST]


def _may_name_place(text: str, files: Files) -> bool:
    """Tell cheaply of most texts that they name neither a program nor a path of the project.

    A path is looked for by its last part. Code with blanks may be a command of any program, and
    of a script without blanks between its words no part is sure.
    """
    if not text.isascii() or any(" " in span for span in _spans_in(text)):
        return True
    parts = _name_parts(text)
    return not (files.name_parts.isdisjoint(parts) and PROGRAMS.isdisjoint(map(str.lower, parts)))


def _name_parts(text: str) -> set[str]:
    """Return what the last names of paths are made of between signs, without dots around it."""
    return {part.strip(".") for part in _LAST_PARTS.findall(text)}


def _in_project(place: Binding, folder: str, files: Files) -> Binding | None:
    """Return a place as the project has it; None for a text, and for what is not there."""
    match place.kind:
        case "path":
            return files.find(place.key, folder)
        case "dir":
            return files.find(f"{place.key}/", folder)  # as it was named
        case "runs":
            return place if files.has_script(place.key, folder) else None
        case "program" | "family":
            return place
    return None


def find_missing(text: str, folder: str, files: Files) -> list[str]:
    """Return what a text names in backticks and the project has not: paths, targets, scripts.

    A path counts if its first folder is there, as others are of another project, or examples.
    """
    return [
        span
        for span in _spans_in(text)
        if _names_missing_script(span, folder, files) or _names_missing_path(span, folder, files)
    ]


def _names_missing_script(span: str, folder: str, files: Files) -> bool:
    """Tell of a script that the project lacks where it has others of that kind."""
    binding = command_of(span) if " " in span and _PLAIN.fullmatch(span) else None
    if binding is None or binding.kind != "runs" or ":" not in binding.key:
        return False
    scripts = files.scripts(folder) | files.scripts("")
    kind = f"{binding.key.partition(':')[0]}:"
    is_lacking = binding.key not in scripts and any(each.startswith(kind) for each in scripts)
    return is_lacking and not files.has_script_below(binding.key, folder)


def _names_missing_path(span: str, folder: str, files: Files) -> bool:
    if not regex.fullmatch(r"(?:\./)?[\w.@-]+(?:/[\w.@-]+)+\.\w{1,8}", span):
        return False
    first = span.removeprefix("./").partition("/")[0]
    is_ours = folder + first in files.folders or first in files.folders
    return is_ours and not files.find(span, folder) and not files.list_below(span, folder)


def _places_of(span: str, folder: str, files: Files) -> Iterator[Binding]:
    if _PATH.fullmatch(span):
        if "*" in span:
            yield from _glob_of(span, folder, files)
            return
        if place := files.find(span, folder):
            yield place
            return
        if "/" in span and "." in span and not span.startswith("./"):
            return
    if not _PLAIN.fullmatch(span.partition(" <")[0]):
        return
    binding = command_of(span)
    if binding is None:
        return
    if binding.kind != "runs" or files.has_script(binding.key, folder):
        yield binding


def _glob_of(span: str, folder: str, files: Files) -> Iterator[Binding]:
    is_glob = "/" in span or span.startswith("*.")
    first = span.removeprefix("./").partition("/")[0]
    if not is_glob or span.startswith(("/", "~")):
        return
    with suppress(NoKey):
        if "*" in first or first in files.folders:
            yield _as_glob(span)
        elif folder + first in files.folders:
            yield _as_glob(folder + span.removeprefix("./"))


def _as_glob(glob: str) -> Binding:
    binding = of_path(glob)
    if binding.state == "gone":
        raise NoKey(f"{glob} is outside of the project")
    return binding


@lru_cache(maxsize=4096)
def command_of(span: str) -> Binding | None:
    """Return the binding of a command; None for words that are no command of a known program."""
    if not _may_be_command(span):
        return None
    binding = of_command(span)
    if binding is None or binding.kind == "runs":
        return binding
    is_known = binding.key in _PROGRAMS
    return binding if is_known and (binding.pattern or not has_many_verbs(binding.key)) else None


def _may_be_command(span: str) -> bool:
    """Tell of a program or a path with arguments, of a script, and of a program for one act."""
    first, _, arguments = span.partition(" ")
    name = first.rpartition("/")[2]
    if name in FILE_WRITERS:
        return False
    if arguments:
        return name in _PROGRAMS or "/" in first
    if span.startswith("./") or span.endswith((".sh", ".bash")):
        return True
    is_program = span in _PROGRAMS and span not in REPLACEABLE
    return is_program and bool(acts.acts_of((span,))) and not has_many_verbs(span)


def _folders_above(path: str) -> Iterator[str]:
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _ignored_names(root: str, folder: str) -> list[str]:
    """Return the paths that the `.gitignore` of a folder names in full."""
    path = os.path.join(root, folder, ".gitignore")
    with suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
        return [line.strip().rstrip("/") for line in file.read(MANIFEST_BYTES).splitlines()]
    return []


def _package_scripts(path: str) -> list[str]:
    with suppress(OSError, ValueError, RecursionError, AttributeError):
        with open(path, encoding="utf-8") as file:
            scripts = loads(file.read(MANIFEST_BYTES)).get("scripts", {})
        return [f"script:{name}" for name in scripts]
    return []


def _targets(path: str) -> list[str]:
    with suppress(OSError, ValueError):
        with open(path, encoding="utf-8") as file:
            text = file.read(MANIFEST_BYTES)
        return [f"make:{name}" for name in regex.findall(r"(?m)^([\w./-]+)[ \t]*:(?!=)", text)]
    return []
