"""Find the places at which a memory applies in its text, with the index of the project's files."""

from __future__ import annotations

import os

from ademem.core import regex
from ademem.core.errors import suppress
from ademem.core.text import split_humps, word_set
from ademem.core.value import replace
from ademem.guard import act_names, acts
from ademem.search import mentions
from ademem.search.binding_keys import (
    SHORTEST_LITERAL,
    NoKey,
    is_bare,
    literal_key,
    of_command,
    of_literal,
    of_path,
)
from ademem.search.binding_keys import parse_at as parse_at
from ademem.search.binding_keys import show as show
from ademem.search.common_words import COMMON_WORDS
from ademem.search.hint_patterns import command_words, expand_glob
from ademem.search.mentions import (
    FILE_WRITERS,
    FORBIDDEN,
    MEMBERS,
    NEUTRAL,
    READ_CHARS,
    RECOMMENDED,
    REPLACEABLE,
    Mention,
    find_mentions,
)
from ademem.search.query import STOP_WORDS
from ademem.store.bindings import BROAD, MOST, STRENGTHS, Binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ademem.store.tree_index import Tree

FIRST = 20
"""Files of the whole tree among which a file of the session has to be."""
MOST_RANKED = 200
MOST_ALIKE = 3
"""Files of one folder and ending that count among the first; of MANY_FILES one."""
MANY_FILES = 60
LEAST_SCORE = 1e-9
MOST_LEARNED = 2
LEAST_OF_BEST = 0.7
"""Part of the score of the best file of a session that the second one has at least."""
MOST_GUESSED = 3
MOST_ASKED = 40
MOST_DEFINING = 3
"""Files up to which the definition of a name is a place."""
MOST_OWNED = 50
"""Files with a name that are compared with those of the type it belongs to."""
MOST_OF_STEM = 2
MOST_OF_NAME = 2
SHORTEST_MESSAGE = 12
_QUOTED = (
    r"\"([^\"\n]{12,200})\"|(?<!\w)'([^'\n]{12,200})'(?!\w)|“([^”\n]{12,200})”|«\s?([^»\n]{12,200}?)\s?»"
    r"|„([^“”\n]{12,200})[“”]|「([^」\n]{12,200})」"
)
"""Marks of quotation; what stands in backticks is code."""
BROAD_SHARE = 0.06
BROAD_FILES = 10
"""A place that is met by more than both is none that a text names by itself; one of more files only
reminds, where an agent chose it."""

_MAY_BE_PROGRAMS = (mentions.PROGRAM, mentions.COMMAND, mentions.WORD)
_TESTS = r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)test_[^/]*$|[._](?:test|spec)\.\w+$"
_PLACES = (mentions.PATH, mentions.FOLDER, mentions.GLOB, mentions.SUFFIX)
_NAMING = (mentions.PATH, mentions.FOLDER, mentions.GLOB, mentions.COMMAND)
_ENGLISH = word_set("""
    ant ava black find go http invoke just locate mage make n ninja node parcel poetry puma pure
    rake rye standard task thin tox turbo unicorn unittest volta xo
""")
"""Programs whose names are words of any text; only in backticks they are programs for sure."""


def places_in(text: str, tree: Tree | None) -> list[Binding]:
    """Return the places that a text names, the surest first, with their reach.

    What it forbids comes before what it names in passing; what it recommends is no place of it.
    An act counts only where nothing else is named. Without a *tree* no name is looked up.
    """
    mentioned = find_mentions(text)
    places: dict[tuple[str, str, str], Binding] = {}

    def add(bindings: Iterable[Binding]) -> None:
        for each in bindings:
            places.setdefault((each.kind, each.key, each.pattern), each)

    add(_mentioned_places(mentioned, tree))
    add(_families(mentioned))
    add(_messages(text))
    if all(binding.kind == "code" for binding in places.values()):
        add(_acts(text))
    if tree:
        plain = [mention.text for mention in mentioned if mention.kind in _NAMING]
        keys = {key for _, key, _ in places}
        add(each for each in _worded(_without(text, plain), tree) if each.key not in keys)
    ranked = sorted(places.values(), key=lambda each: STRENGTHS.index(each.strength))
    return ranked[:MOST]


def _mentioned_places(mentioned: Iterable[Mention], tree: Tree | None) -> Iterator[Binding]:
    """Yield the places of mentions with their reach, those of files that are forbidden first.

    "Never edit a.py: change b.py" is no rule about b.py, though it speaks of it.
    """
    in_order = sorted(mentioned, key=lambda each: (each.kind not in _PLACES, each.stance))
    forbids_place = any(each.stance == FORBIDDEN and each.kind in _PLACES for each in in_order)
    files = tree.count if tree else 0
    named: set[str] = set()
    for mention in in_order:
        if mention.stance == RECOMMENDED:
            continue
        is_forbidden = mention.stance == FORBIDDEN
        is_beside = forbids_place and not is_forbidden and mention.kind in _PLACES
        for binding in list(_bindings_of(mention, tree, named)):
            named.add(binding.key)
            weighed = _weigh(binding, tree, files, is_forbidden=is_forbidden)
            yield replace(weighed, strength="worded") if is_beside else weighed


def forbidden_in(text: str) -> list[Binding]:
    """Return the places that a text forbids; of replaceable programs, if it wants another one.

    No name is looked up.
    """
    found = find_mentions(text)
    places = [
        each
        for mention in found
        if mention.stance == FORBIDDEN and mention.kind != mentions.WORD
        for each in _bindings_of(mention, None, set())
    ]
    return [*places, *(_families(found) if _chooses(found) else ())]


def settle(binding: Binding, tree: Tree) -> Binding:
    """Look up a place that was chosen: its whole path, its new one, and its reach.

    What is neither tracked nor there, and no renamed file, has the state `gone`.
    """
    if binding.state == "gone" and not _is_inside(binding.key):
        return binding
    found = replace(_look_up(binding, tree), op=binding.op, holds=binding.holds)
    reach = round(count_met(found, tree) / tree.count, 4) if tree.count else 0.0
    return replace(found, strength=binding.strength, weight=binding.weight, reach=reach)


def limit(binding: Binding, tree: Tree | None) -> Binding:
    """Give a place that an agent chose the state `broad` if it is too wide for its word alone."""
    is_too_wide = binding.strength == "read" and binding.state is None and is_broad(binding, tree)
    return replace(binding, state=BROAD) if is_too_wide else binding


def is_broad(binding: Binding, tree: Tree | None) -> bool:
    """Tell whether a place is met by many files, or by calls of any kind as a whole program is."""
    if not is_bare(binding):
        return False
    met = count_met(binding, tree) if tree else 0
    if binding.kind in ("dir", "glob", "suffix"):
        return met > BROAD_FILES
    return binding.kind == "act" or (binding.kind == "program" and not binding.pattern)


def _look_up(binding: Binding, tree: Tree) -> Binding:
    kind, key = binding.kind, binding.key
    if kind == "glob":
        wider = _widen(binding, tree)
        is_there = count_met(wider, tree) or _is_there(tree, _plain_part(binding.pattern))
        return replace(wider, state=None if is_there else "gone")
    if kind not in ("path", "dir", "runs") or ":" in key:
        return binding
    place = _find(key, tree)
    if place is None:
        return replace(binding, state="gone")
    if kind == "runs":
        return replace(binding, key=place.key, source=place.source, state=None)
    source = place.source if place.source == "moved" else binding.source
    return replace(binding, kind=place.kind, key=place.key, source=source, state=None)


def _find(path: str, tree: Tree) -> Binding | None:
    """Find a file or folder: by its path or the end of it, untracked, or under a new name."""
    files, folders = tree.files_ending(path), tree.folders_ending(path)
    for kind, found in (("path", files), ("dir", folders)):
        if len(found) == 1 or path in found:
            return Binding(kind=kind, key=found[0])
    if _is_there(tree, path):
        is_folder = os.path.isdir(os.path.join(tree.root, path))
        return Binding(kind="dir" if is_folder else "path", key=path)
    if after := tree.renamed(path):
        return Binding(kind="path", key=after, source="moved")
    if after := _renamed_folder(path, tree):
        return Binding(kind="dir", key=after, source="moved")
    return None


def _renamed_folder(folder: str, tree: Tree) -> str:
    """Return the folder that the files of a missing one moved to; empty if there is none."""
    for before, after in tree.renamed_below(folder):
        rest = before[len(folder) :]
        if after.endswith(rest) and tree.has_folder(after.removesuffix(rest)):
            return after.removesuffix(rest)
    return ""


def _plain_part(glob: str) -> str:
    """Return the folders of a glob up to its first sign that stands for others."""
    return regex.split(r"[*?\[{]", glob)[0].rpartition("/")[0]


def _is_inside(path: str) -> bool:
    return not regex.match(r"/|~|[A-Za-z]:/", path) and ".." not in path.split("/")


def candidates(text: str, tree: Tree, session_files: Sequence[str] = ()) -> list[Binding]:
    """Return the files that the words of a text speak of, the likeliest first.

    Of the files of the session those two are `learned` that are also among the first FIRST of the
    whole tree; the MOST_GUESSED first others are `guessed`.
    """
    session = set(session_files)
    found = _first_files(tree.search(_asked(text), MOST_RANKED), session, tree)
    best = max(found[0][1], LEAST_SCORE) if found else 1.0
    learned = [each for each in found if each[0] in session][:MOST_LEARNED]
    learned = [each for each in learned if each[1] >= LEAST_OF_BEST * learned[0][1]]
    guessed = [each for each in found if each not in learned][:MOST_GUESSED]
    kinds = (("learned", "session", learned), ("guessed", "tree", guessed))
    reach = 1 / max(1, tree.count)
    return [
        Binding(
            kind="path",
            key=path,
            strength=strength,
            source=source,
            reach=reach,
            weight=round(score / best, 3),
        )
        for strength, source, files in kinds
        for path, score in files
    ]


def _first_files(
    ranked: list[tuple[str, float]], session: set[str], tree: Tree
) -> list[tuple[str, float]]:
    """Return the first FIRST files; of a folder of many alike, such as fixtures, few count."""
    alike: dict[tuple[str, str], int] = {}
    sizes: dict[str, int] = {}
    first: list[tuple[str, float]] = []
    for path, score in ranked:
        folder, _, name = path.rpartition("/")
        kind = (folder, name.rpartition(".")[2])
        alike[kind] = alike.get(kind, 0) + 1
        if folder not in sizes:
            sizes[folder] = tree.count_below(folder) if folder else 0
        most = MOST_ALIKE if sizes[folder] <= MANY_FILES else 1
        if alike[kind] <= most or path in session:
            first.append((path, score))
        if len(first) == FIRST:
            break
    return first


def count_met(binding: Binding, tree: Tree) -> int:
    """Count the tracked files that a place meets; of a literal, those that hold it."""
    kind, key = binding.kind, binding.key
    if kind == "path":
        return int(tree.has_file(key))
    if kind == "dir":
        return tree.count_below(key)
    if kind == "glob":
        return tree.count_matching(expand_glob(binding.pattern))
    if kind == "suffix":
        return tree.count_matching([f"*{key}"])
    if kind == "literal":
        return tree.count_holding(regex.findall(r"[^\W_]+", binding.pattern))
    return 0


def _weigh(binding: Binding, tree: Tree | None, files: int, *, is_forbidden: bool) -> Binding:
    """Add the reach; what is named in passing is no sure place if it is met everywhere.

    A text that is written is one only where it is forbidden: others are named as what to write.
    """
    met = count_met(binding, tree) if tree else 0
    reach = round(met / files, 4) if files else 0.0
    is_broad = binding.kind == "literal" or (reach > BROAD_SHARE and met > BROAD_FILES)
    strength = "worded" if is_broad and not is_forbidden else binding.strength
    return replace(binding, reach=reach, strength=strength)


def _bindings_of(mention: Mention, tree: Tree | None, named: set[str]) -> Iterator[Binding]:
    """Yield the places of a mention; of several files that define a name those that are *named*."""
    match mention.kind:
        case mentions.PATH | mentions.FOLDER | mentions.GLOB | mentions.SUFFIX:
            with suppress(NoKey):
                yield from _paths_of(mention, tree)
        case mentions.COMMAND:
            yield from _commands_of(mention, tree)
        case mentions.CODE:
            yield Binding(kind="code", key=mention.text.lower())
            files = _files_defining(mention.text, tree, named)
            yield from (Binding(kind="path", key=path) for path in files)
        case mentions.NAME:
            yield from _names_of(mention, tree, named)
        case mentions.LITERAL:
            literal = of_literal(mention.text)
            if literal:
                yield literal
        case mentions.PROGRAM if mention.stance == FORBIDDEN and _is_single(mention.text):
            yield Binding(kind="program", key=mention.text)
        case mentions.PROGRAM:
            for path in _files_defining(mention.text, tree, named)[:MOST_OF_NAME]:
                yield Binding(kind="path", key=path, strength="worded")


def _is_single(program: str) -> bool:
    """Tell whether a program is one that does one thing, and that no other replaces."""
    return bool(acts.acts_of((program,))) and not (
        mentions.has_many_verbs(program) or program in REPLACEABLE
    )


def _paths_of(mention: Mention, tree: Tree | None) -> Iterator[Binding]:
    text, kind = mention.text, mention.kind
    if not _is_inside(text):
        return
    plain = text.removeprefix("./").rstrip("/")
    if kind == mentions.GLOB:
        yield _widen(of_path(text), tree)
    elif kind == mentions.SUFFIX:
        yield Binding(kind="suffix", key=text)
    elif tree and plain.strip("."):
        yield from _find_named(mention, plain, tree)
    elif plain.strip(".") and _is_plainly_path(mention):
        yield from _unresolved(mention, plain)


def _find_named(mention: Mention, path: str, tree: Tree) -> Iterator[Binding]:
    """Yield the file or folder that a mention names; one that is not there has the state `gone`."""
    if place := _find(path, tree):
        yield from _file(place, mention) if place.kind == "path" else (place,)
        return
    several = tree.files_ending(path)
    if several:  # a name that several files have names none of them for sure
        some = several if len(several) <= MOST_OF_NAME else []
        yield from (Binding(kind="path", key=each, strength="worded") for each in some)
    elif _is_plainly_path(mention) and (mention.is_marked or "/" in mention.text):
        yield from (replace(each, state="gone") for each in _unresolved(mention, path))


def _is_there(tree: Tree, path: str) -> bool:
    return bool(tree.root and path) and os.path.lexists(os.path.join(tree.root, path))


def _is_plainly_path(mention: Mention) -> bool:
    """Tell whether a mention is a path where no tree tells: "and/or" is none."""
    text = mention.text
    last = text.rpartition("/")[2]
    if mention.kind == mentions.FOLDER:
        return "/" in text or mention.is_marked
    if "/" not in text or mention.is_marked or text.startswith("./"):
        return True
    if mention.stance == FORBIDDEN and regex.fullmatch(r"(?:[\w.-]{3,}/)+[\w.-]{3,}", text):
        return True
    return regex.fullmatch(r".*\w\.[A-Za-z][A-Za-z\d]{0,7}", last) is not None


def _unresolved(mention: Mention, path: str) -> Iterator[Binding]:
    if mention.kind == mentions.FOLDER or "." not in path.rpartition("/")[2]:
        yield Binding(kind="dir", key=path)
    else:
        yield from _file(Binding(kind="path", key=path), mention)


def _file(file: Binding, mention: Mention) -> Iterator[Binding]:
    """A script that the text says to run is a place when it runs; other scripts also in an edit."""
    is_script = file.key.endswith((".sh", ".bash", ".ps1")) or mention.text.startswith("./")
    if is_script:
        yield replace(file, kind="runs")
    if not (is_script and mention.is_run):
        yield file


def _widen(binding: Binding, tree: Tree | None) -> Binding:
    """Let a glob that meets no file below the root meet those whose paths end so."""
    if tree is None or binding.kind not in ("glob", "dir") or count_met(binding, tree):
        return binding
    if binding.kind == "dir":
        folders = tree.folders_ending(binding.key)
        return replace(binding, key=folders[0]) if len(folders) == 1 else binding
    wider = replace(binding, pattern=f"**/{binding.pattern}")
    return wider if count_met(wider, tree) else binding


def _commands_of(mention: Mention, tree: Tree | None) -> Iterator[Binding]:
    """A command that changes the files it names is a place of theirs."""
    program, _, rest = mention.text.partition(" ")
    if program in FILE_WRITERS:
        written = _written_places(rest.split(), tree)
        if written:
            yield from written
            return
    if "<" in mention.text or "…" in mention.text:
        words = command_words(mention.text)
        if " " not in words and mentions.has_many_verbs(words):
            return
    binding = of_command(mention.text)
    if binding and (binding.pattern or not mentions.has_many_verbs(binding.key)):
        yield binding


def _written_places(operands: Iterable[str], tree: Tree | None) -> list[Binding]:
    """Return the places of the first operand that has some."""
    for operand in operands:
        inner = find_mentions(f"`{operand}`")
        paths = [each for each in inner if each.kind in (mentions.PATH, mentions.FOLDER)]
        if paths and (places := list(_paths_of(paths[0], tree))):
            return places
    return []


def _names_of(mention: Mention, tree: Tree | None, named: set[str]) -> Iterator[Binding]:
    """A name that few files define is a place there; any other, and a forbidden one, as a text."""
    text = mention.text
    plain = regex.sub(r"\(.*", "", text)
    files = _files_defining(plain, tree, named)
    yield from (Binding(kind="path", key=path) for path in files)
    if files and mention.stance != FORBIDDEN:
        return
    is_camel = regex.fullmatch(r"_?[A-Za-z]+\d*|[A-Z][a-z\d]+(?:\.\w+)+", text) is not None
    literal = of_literal(plain + "(" if plain != text and plain.isalpha() else plain)
    if literal and (mention.is_marked or not is_camel):
        yield literal


def _files_defining(name: str, tree: Tree | None, named: set[str]) -> list[str]:
    """Return the few files that define a name; of `Type.method` those that define both.

    Tests often define once more what they test.
    """
    owner, last = (["", *regex.split(r"\.|::|->", name)])[-2:]
    if tree is None or len(last) < SHORTEST_LITERAL:
        return []
    files = tree.files_defining(last, MOST_OWNED)
    if owner:
        files = _prefer(tree.files_defining(owner, MOST_OWNED), files)
    files = _prefer(named, files)
    files = _prefer([path for path in files if not regex.search(_TESTS, path)], files)
    return files if len(files) <= MOST_DEFINING else []


def _prefer(preferred: Collection[str], files: list[str]) -> list[str]:
    """Return those of the files that are preferred, or all if none is."""
    return [path for path in files if path in preferred] or files


_NOUNS = frozenset(
    ("test", "e2e", "database", "container", "runtime", "branch", "tag", "dependency", "migration")
)
"""Acts whose names are things, of which texts speak that are about something else."""


def _acts(text: str) -> Iterator[Binding]:
    """An act is a sure place in an order, and where a clause begins with it; else a word."""
    is_order = mentions.gives_order(text)
    dense = regex.sub(r"\n\s+", "\n", text[:READ_CHARS])
    openings = regex.findall(r"(?:^|[.;:,!?\n]\s*)((?:\S+\s*){1,3})", dense)
    opening = {act for words in openings for act in act_names.find_acts(words)}
    for act in act_names.acts_in(text):
        is_sure = (is_order or act in opening) and act not in _NOUNS
        yield Binding(kind="act", key=act, strength="named" if is_sure else "worded")


def chooses_program(text: str) -> bool:
    """Tell whether a text wants one program and not another it replaces: "use pnpm, not npm"."""
    return _chooses(find_mentions(text))


def _chooses(found: Iterable[Mention]) -> bool:
    stances, sure = _stances_on_programs(found)
    for members in MEMBERS.values() if sure else ():
        said = {stances[each] for each in members if each in stances}
        if said >= {RECOMMENDED, FORBIDDEN} and not sure.isdisjoint(members):
            return True
    return False


def _families(found: list[Mention]) -> Iterator[Binding]:
    """Bind to the programs that the named one replaces: "use pnpm", "pnpm, not npm"."""
    stances, sure = _stances_on_programs(found)
    for name, members in MEMBERS.items():
        if right := _find_right(name, members, stances, sure):
            pattern = " ".join(f"!{each}" for each in dict.fromkeys(right))
            yield Binding(kind="family", key=name, pattern=pattern)


def _stances_on_programs(found: Iterable[Mention]) -> tuple[dict[str, int], set[str]]:
    """Return the stance on each program of a family, and those that are surely named."""
    stances: dict[str, int] = {}
    sure: set[str] = set()
    for mention in found:
        program = mention.text.partition(" ")[0]
        if program not in REPLACEABLE or mention.kind not in _MAY_BE_PROGRAMS:
            continue
        is_bare = program == mention.text
        if program not in stances or (is_bare and mention.stance):
            stances[program] = mention.stance
        if is_bare and (mention.is_marked or program not in _ENGLISH):
            sure.add(program)
    return stances, sure


def _find_right(
    name: str, members: Iterable[str], stances: Mapping[str, int], sure: set[str]
) -> list[str]:
    """Return the members of a family that a text wants, or those beside what it forbids."""
    if sure.isdisjoint(members):
        return []
    wanted, neutral, forbidden = (
        [program for program in members if stances.get(program) == stance]
        for stance in (RECOMMENDED, NEUTRAL, FORBIDDEN)
    )
    if wanted:
        named = len(wanted) + len(neutral) + len(forbidden)
        return wanted if named > 1 or _is_bare_member(name, wanted[0]) else []
    if neutral:
        return neutral if forbidden else []
    return _list_others(name, members, forbidden, sure)


def _list_others(
    name: str, members: Iterable[str], forbidden: Sequence[str], sure: set[str]
) -> list[str]:
    """Return the other members of a family of which a text only forbids some."""
    is_bare = any(each in sure and _is_bare_member(name, each) for each in forbidden)
    return [each for each in members if each not in forbidden] if is_bare else []


def _is_bare_member(family: str, program: str) -> bool:
    return program in (each.strip() for each in acts.FAMILIES[family].split(","))


def _messages(text: str) -> Iterator[Binding]:
    """Yield messages that a text quotes, as codes: a failure that prints one meets it."""
    for quoted in regex.findall(_QUOTED, text[:READ_CHARS]):
        message = next(filter(None, quoted))
        key = literal_key(message)
        if key and len(message) >= SHORTEST_MESSAGE and " " in message.strip():
            yield Binding(kind="code", key=key, pattern=message.strip().lower())


def _worded(text: str, tree: Tree) -> Iterator[Binding]:
    """Yield the files of which a word of the text is the stem."""
    for word in _telling_words(text):
        files = tree.files_of_stem(word)
        if 0 < len(files) <= MOST_OF_STEM:
            yield from (
                Binding(kind="path", key=path, strength="worded", reach=1 / tree.count)
                for path in files
            )


def _without(text: str, parts: Iterable[str]) -> str:
    for part in parts:
        text = text.replace(part, " ")
    return text


def _telling_words(text: str) -> list[str]:
    words = dict.fromkeys(
        word.lower() for word in regex.findall(r"[^\W\d_]\w{3,60}", text[:READ_CHARS])
    )
    return [word for word in words if word not in STOP_WORDS and word not in COMMON_WORDS]


def _asked(text: str) -> list[str]:
    """Return the words of a text that are searched for, names also as their parts."""
    spaced = f"{text[:READ_CHARS]} {split_humps(text[:READ_CHARS])}"
    words = dict.fromkeys(word.lower() for word in regex.findall(r"[^\W_]{2,60}", spaced))
    return [word for word in words if word not in STOP_WORDS][:MOST_ASKED]
