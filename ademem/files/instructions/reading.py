"""Read the instruction files of a project: items, and a reason for what is not taken."""

from __future__ import annotations

import os
import stat

from ademem.core import regex
from ademem.core.globs import Scope, read_scope, split_patterns
from ademem.core.text import bytes_hex, sha256_hex
from ademem.core.value import Value, replace
from ademem.files.instructions import formats, items
from ademem.files.instructions.formats import Load, Place
from ademem.files.instructions.front_matter import FrontMatter, read_front_matter
from ademem.files.instructions.places import Files, find_missing, find_places
from ademem.files.instructions.verdicts import Verdicts
from ademem.guard.prompts import CHANGE
from ademem.search import mentions
from ademem.store.bindings import Binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

MOST_FILES = 400
MOST_ITEMS = 20_000
MOST_BYTES = 256 * 1024
DEEPEST_IMPORT = 5
MOST_SKIPPED = 2000

TOO_LARGE = f"too large: over {MOST_BYTES // 1024} KiB"
NOT_TEXT = "not text"
NOT_READ = "cannot be read"
OUTSIDE = "link outside of the project"
MISSING = "import missing"
TOO_DEEP = f"import deeper than {DEEPEST_IMPORT} levels"
TOO_MANY = "over the number of files that are read"
FULL = "over the number of items that are kept"
EMPTY = "no text"
SECRET = "has a secret of several lines"
OFF = "not among adopt.files"

KINDS = ("rule", "procedure", "gotcha", "fact", "decision", "reason", "status")
_STATUS = regex.compile(r"(?im)^[ \t*#-]*status[*: \t]*(?:\n+[ \t]*)?([a-z]+)")
_NOT_LIVE = frozenset("superseded deprecated rejected proposed draft".split())
_PASSING = regex.compile(r"(?:^|/)(?:activeContext|progress)\.md$")
_IMPORTED = formats.Format(name="import", pattern="", load=Load.CLIENT)
_LABEL = regex.compile(r"\W*(?:\*\*|__)[^*_\n]{1,60}(?::\*\*|\*\*:|:__|__:)")
_EXPLAINED = regex.compile(r"\W*`[^`]*`\s*(?:\([^)]*\))?\s*[:—–-]|\W*\*\*[^*]+\*\*\s*[:(]")
"""A name in code or bold, and a sign behind which it is explained."""
FEWEST_BESIDE, MOST_RULES = 3, 0.5
"""Items below a heading, and the share of rules among them, from which all are rules."""
_FIRST = regex.compile(r"[\s*_\"'(]*([^\W\d_]+)(?![:*])")
"""The first word of a text, unless it is a label."""
_BEHIND_CLAUSE = regex.compile(r"[^.!?;:,(|·]{8,},\s+([^\W\d_]+)")
"""The word behind the clause that a text begins with: when, if or for what it holds."""
_ORDERING = CHANGE | mentions.READING | mentions.USING
_MANY_TEXTS = ("md", "mdc", "txt", "markdown")


class Adopted(Value):
    """An item of an instruction file, and where it holds."""

    id: str
    path: str
    first: int
    last: int
    heads: tuple[str, ...]
    lead: str
    text: str
    kind: str
    folder: str
    """The folder that its file is about, with a slash at its end; empty for the project."""
    scope: Scope = Scope()
    load: str
    places: tuple[Binding, ...] = ()
    sources: tuple[str, ...] = ()
    """Other places with the same text, as path:line."""
    merged: bool = False
    live: bool = True
    missing: tuple[str, ...] = ()
    """What it names and the project has not."""

    @property
    def is_placed(self) -> bool:
        return bool(self.places) or not self.scope.is_everything

    @property
    def is_current(self) -> bool:
        """True if a call may be told: it holds, is the team's word, and names a place."""
        return self.live and self.merged and self.kind != "status" and self.is_placed


class LeftOut(Value):
    path: str
    line: int = 0
    """0 for the whole file."""
    why: str


class FileRead(Value):
    path: str
    digest: str
    stamp: str
    """Size and time, by which a later look tells that nothing changed."""
    format: str
    items: int = 0


class Reading(Value):
    files: tuple[FileRead, ...] = ()
    items: tuple[Adopted, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def stamp_of(found: os.stat_result) -> str:
    return f"{found.st_size} {found.st_mtime_ns}"


def find_files(paths: Iterable[str], patterns: Sequence[str] = ("auto",)) -> list[Place]:
    """Return the instruction files among paths of a project, those that Claude Code loads first."""
    wanted = None if "auto" in patterns else read_scope(patterns)
    found = [
        place
        for path in paths
        if formats.may_be_instructions(path)
        and (wanted is None or wanted.holds(path))
        and (place := formats.find_format(path))
    ]
    return sorted(found, key=lambda place: (ORDER.index(place.format.load), place.path))


ORDER = (Load.CLIENT, Load.MATCHING, Load.ALONE, Load.NONE)
"""Of a text that several files have, the first is the source."""


def read(
    root: str,
    paths: Collection[str],
    patterns: Sequence[str] = ("auto",),
    merged: Mapping[str, Sequence[str] | None] | None = None,
    verdicts: Verdicts | None = None,
) -> Reading:
    """Read the instruction files among *paths*.

    *merged* maps paths to the lines that they have on the default branch; without it no line is.
    What *verdicts* know of texts is not found again.
    """
    reader = _Reader(root, paths, merged or {}, verdicts or Verdicts())
    for place in find_files(paths, patterns):
        reader.take(place, is_merged=True)
    return reader.result()


class Merged(Value):
    """What the default branch has of a file."""

    is_same: bool = False
    """It has all that is there now."""
    ids: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()


def _id_of(path: str, item: items.Item) -> str:
    """Return the id of a text at its place, which a move below the same heading does not change."""
    head = item.heads[-1] if item.heads else ""
    return sha256_hex(path, head, item.lead, item.text)[:16]


def _without_imports(place: Place, lines: Sequence[str]) -> list[str]:
    if place.format.load is not Load.CLIENT:
        return list(lines)
    return ["" if "@" in line and items.is_import_alone(line) else line for line in lines]


class _NotRead(Exception):
    """The reason for which a file is not read."""


def _read_text(real: str) -> tuple[bytes, str]:
    """Return the bytes of a file and its text; raises _NotRead without either."""
    try:
        handle = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        raise _NotRead(NOT_READ) from None
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _NotRead(NOT_TEXT)
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise _NotRead(TOO_LARGE)
    if b"\0" in data:
        raise _NotRead(NOT_TEXT)
    try:
        return data, data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _NotRead(NOT_TEXT) from None


class _Reader:
    def __init__(
        self,
        root: str,
        paths: Collection[str],
        merged: Mapping[str, Sequence[str] | None],
        verdicts: Verdicts,
    ) -> None:
        self.verdicts = verdicts
        self.root = os.path.realpath(root)
        self.listed = Files(root, paths)
        self.merged = merged
        self.has_root_file = "CLAUDE.md" in self.listed.paths
        self.files: dict[str, FileRead] = {}
        self.left_out: list[LeftOut] = []
        self.items: dict[str, Adopted] = {}
        self.texts: dict[tuple[str, Scope], dict[tuple[str, str], str]] = {}
        """Ids of items by their lead and text, of each folder and globs."""
        self.real: dict[str, str] = {}

    def result(self) -> Reading:
        return Reading(
            files=tuple(self.files.values()),
            items=tuple(self.items.values()),
            left_out=tuple(self.left_out[:MOST_SKIPPED]),
        )

    def leave(self, path: str, why: str, line: int = 0) -> None:
        self.left_out.append(LeftOut(path=path, line=line, why=why))

    def take(self, place: Place, *, is_merged: bool, depth: int = 0) -> None:
        """Read one file and what it imports; nothing twice."""
        path = place.path
        if path in self.files:
            return
        try:
            real = self._find_real(path)
            data, text = _read_text(real)
        except _NotRead as error:
            return self.leave(path, str(error))
        self.real[real] = path
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        front = read_front_matter(lines)
        held = self._read_merged(place, lines, front) if is_merged else Merged()
        self.files[path] = FileRead(
            path=path,
            digest=bytes_hex(data),
            stamp=stamp_of(os.stat(real)),
            format=place.format.name,
        )
        if place.format.load is Load.CLIENT and "@" in text:
            self._import(place, lines, front.lines, held, depth)
        count = self._add_items(place, "\n".join(lines), lines, front, held)
        self.files[path] = replace(self.files[path], items=count)
        if not count and not any(each.path == path for each in self.left_out):
            self.leave(path, EMPTY)
        return None

    def _find_real(self, path: str) -> str:
        """Follow the links of a path; raises _NotRead for a file that is left out."""
        if formats.is_left_out(path):
            raise _NotRead(formats.VENDORED)
        if len(self.files) >= MOST_FILES:
            raise _NotRead(TOO_MANY)
        real = os.path.realpath(os.path.join(self.root, path))
        if not real.startswith(self.root + os.sep):
            raise _NotRead(OUTSIDE)
        if other := self.real.get(real):
            raise _NotRead(f"same as {other}")
        return real

    def _read_merged(self, place: Place, lines: Sequence[str], front: FrontMatter) -> Merged:
        """Return the items and imports of the file on the default branch."""
        base = self.merged.get(place.path)
        if base is None:
            return Merged()
        if list(base) == list(lines):
            return Merged(is_same=True)
        before = read_front_matter(list(base))
        if list(base[: before.lines]) != list(lines[: front.lines]):  # other globs
            return Merged()
        imports = frozenset(named for _, named in items.find_imports(base, before.lines))
        shown = _without_imports(place, self.verdicts.redact("\n".join(base)).text.split("\n"))
        ids = {_id_of(place.path, each) for each in items.parse(shown, before.lines).items}
        return Merged(ids=frozenset(ids), imports=imports)

    def _import(
        self, place: Place, lines: Sequence[str], start: int, held: Merged, depth: int
    ) -> None:
        for line, named in items.find_imports(lines, start):
            ending = named.rpartition(".")[2].lower()
            folder = os.path.dirname(place.path)
            path = os.path.normpath(os.path.join(folder, named)).replace(os.sep, "/")
            is_text = ending in _MANY_TEXTS
            if named.startswith(("~", "/")) or path.startswith("../"):
                if is_text:
                    self.leave(place.path, OUTSIDE, line)
                continue
            if not os.path.isfile(os.path.join(self.root, path)):
                if is_text:
                    self.leave(place.path, MISSING, line)
                continue
            if depth == DEEPEST_IMPORT:
                self.leave(place.path, TOO_DEEP, line)
                continue
            imported = Place(path=path, format=_IMPORTED, folder=place.folder)
            is_merged = held.is_same or named in held.imports
            self.take(imported, is_merged=is_merged, depth=depth + 1)

    def _add_items(
        self,
        place: Place,
        text: str,
        lines: Sequence[str],
        front: FrontMatter,
        held: Merged,
    ) -> int:
        hidden = self.verdicts.redact(text)
        if hidden.found:
            lines = hidden.text.split("\n")
        if len(lines) != len(text.split("\n")):  # a secret of several lines
            self.leave(place.path, SECRET)
            return 0
        parsed = items.parse(_without_imports(place, lines), front.lines)
        for skipped in parsed.skipped:
            self.leave(place.path, skipped.why, skipped.line)
        scope = read_globs(place, front)
        folder, load = self._folder_of(place), self._load_of(place, scope)
        is_live = not _is_ended(place, text, front)
        texts = self.texts.setdefault((folder, scope), {})
        count = 0
        for each, kind in zip(parsed.items, _list_kinds(place, parsed.items), strict=True):
            if len(self.items) >= MOST_ITEMS:
                self.leave(place.path, FULL, each.first)
                break
            identity = (" ".join(each.lead.split()), " ".join(each.text.split()))
            if other := texts.get(identity):
                known = self.items[other]
                here = f"{place.path}:{each.first}"
                self.items[other] = replace(known, sources=(*known.sources, here))
                self.leave(place.path, f"same as {known.path}:{known.first}", each.first)
                continue
            id = _id_of(place.path, each)
            if id in self.items:  # the same text below the same heading, with other globs
                continue
            places = (
                ()
                if kind == "status"
                else find_places(each.text, folder, self.listed, self.verdicts)
            )
            self.items[id] = Adopted(
                id=id,
                path=place.path,
                first=each.first,
                last=each.last,
                heads=each.heads,
                lead=each.lead,
                text=each.text,
                kind=kind,
                folder=folder,
                scope=scope,
                load=load.value,
                places=tuple(places),
                sources=(),
                merged=held.is_same or id in held.ids,
                live=is_live,
                missing=tuple(find_missing(each.text, folder, self.listed)),
            )
            texts[identity] = id
            count += 1
        return count

    def _folder_of(self, place: Place) -> str:
        """Return the folder that a file is about."""
        if place.format.is_decision:
            return formats.package_above(place.folder, self.listed.paths)
        return place.folder

    def _load_of(self, place: Place, scope: Scope) -> Load:
        """Return how the client loads the file here; none where a CLAUDE.md takes its place."""
        load = place.format.load
        if load is Load.MATCHING and scope.is_everything:
            return Load.CLIENT
        if load is Load.ALONE:
            beside = f"{place.folder}CLAUDE.md" in self.listed.paths
            return Load.NONE if self.has_root_file or beside else load
        return load


def read_globs(place: Place, front: FrontMatter) -> Scope:
    """Return the globs of a file; none where it says that it always applies."""
    always = front.is_true("alwaysApply") or front.text("trigger") == "always_on"
    if always and place.format.name in ("cursor", "windsurf"):
        return Scope()
    given = _list_patterns(front, place.format.fields)
    if not given:
        return Scope()
    if place.format.load is not Load.MATCHING:
        return read_scope(given)
    scope = read_scope(given, like_gitignore=True)
    if not place.folder or not scope.globs:
        return scope
    return replace(scope, globs=tuple(_below(glob, place.folder) for glob in scope.globs))


def _list_patterns(front: FrontMatter, fields: Iterable[str]) -> list[str]:
    return [
        pattern
        for field in fields
        for text in front.fields.get(field, ())
        for pattern in split_patterns(text)
    ]


def _below(glob: str, folder: str) -> str:
    """Return a pattern of the rules in a folder as one of the project."""
    negation, plain = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
    is_anchored = "/" in plain.rstrip("/")
    return f"{negation}/{folder}{plain.lstrip('/') if is_anchored else f'**/{plain}'}"


def _is_ended(place: Place, text: str, front: FrontMatter) -> bool:
    """Tell of a decision that says that it holds no more, or not yet."""
    if not place.format.is_decision:
        return False
    given = front.text("status").split()[:1]
    if not given:
        found = _STATUS.search(text[:4000])
        given = [found[1]] if found else []
    return bool(given) and given[0].lower().strip(",.") in _NOT_LIVE


def _list_kinds(place: Place, found: Sequence[items.Item]) -> list[str]:
    """Say what sort of text each item is, by its words and by those beside it.

    Where most items below a heading are rules, the others are, too, unless they explain a name.
    """
    kinds = [_kind_of(place, each) for each in found]
    headings = _find_headings_of_rules(found, kinds)
    return [
        "rule" if kind == "fact" and each.heads in headings and not _explains(each) else kind
        for each, kind in zip(found, kinds, strict=True)
    ]


def _find_headings_of_rules(
    found: Sequence[items.Item], kinds: Sequence[str]
) -> set[tuple[str, ...]]:
    """Return the headings below which most items that may be rules are, where there are several."""
    beside: dict[tuple[str, ...], list[bool]] = {}
    for item, kind in zip(found, kinds, strict=True):
        if kind in ("rule", "fact") and not _explains(item):
            beside.setdefault(item.heads, []).append(kind == "rule")
    return {
        heads
        for heads, are_rules in beside.items()
        if len(are_rules) >= FEWEST_BESIDE and sum(are_rules) >= MOST_RULES * len(are_rules)
    }


def _explains(item: items.Item) -> bool:
    """Tell of code alone, and of an item that explains its first name, as in a glossary."""
    return item.is_row or not item.prose or _EXPLAINED.match(item.text) is not None


def _kind_of(place: Place, item: items.Item) -> str:
    """Say what sort of text it is; a filter for readers, which decides no denial."""
    if place.format.is_decision:
        return "decision"
    if place.format.is_bank and _PASSING.search(place.path):
        return "status"
    for word in item.heads[-1].lower().split() if item.heads else ():
        if word.rstrip("s") in ("gotcha", "decision", "reason", "procedure"):
            return word.rstrip("s")
    if item.is_steps:
        return "procedure"
    return "rule" if is_order(item.prose) or mentions.binds(item.lead) else "fact"


def is_order(text: str) -> bool:
    """Tell whether a text tells to do something, or forbids it, or says what must be."""
    found = () if _LABEL.match(text) else (_FIRST.match(text), _BEHIND_CLAUSE.match(text))
    verbs = {each[1].lower() for each in found if each}
    if text.rstrip().endswith(
        (":", "：")
    ):  # the name of the code behind it, as in "Run the tests:"
        verbs -= mentions.RUNNING
    return not _ORDERING.isdisjoint(verbs) or mentions.binds(text)
