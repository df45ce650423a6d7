"""Where memories apply: bindings that follow from them, and lists of their keys for the shell.

A hook's shell line reads lists of fixed strings before it starts Python, in `.ade/run/keys`. A call
that can meet a memory names one of `runs` as a whole word, or one of `always` anywhere; unless it
surely only reads, `words` and `pieces` are asked in the same way, of a command `writers` and
`trees` as well, and `texts` of what it writes or runs. Places that words alone suggest count for an
edit whose lines share a rare word with their memory: it names one of `weak`, and its text has one
of `rare`.

A reader, a session or a subagent, to whom some was said has lists with the rest (`reader_lists`).
They hold more than there is rather than less; one that is stale or missing costs time.
"""

from __future__ import annotations

import os
import time
from itertools import chain, takewhile

from ademem import store as store_
from ademem.core import confined, plugins, regex
from ademem.core.bytecode import rooms_state
from ademem.core.clock import Deadline
from ademem.core.errors import UsageError, suppress
from ademem.core.memory import SHORT_ID, Trust
from ademem.core.text import sha256_hex
from ademem.core.value import replace
from ademem.search import reader_lists
from ademem.search.common_words import rare_words
from ademem.search.reader_lists import LISTS
from ademem.store import Store, adopted
from ademem.store import bindings as table
from ademem.store.bindings import BROAD, MOST, SESSION, STRENGTHS, Binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ademem.core.client import TurnKey
    from ademem.core.memory import Memory
    from ademem.core.project import Project
    from ademem.store.runtime import Runtime
    from ademem.store.tree_index import Tree

    _Lines = dict[str, dict[str, None]]
    """Strings of each list, in the order in which they were added."""

ALWAYS = (
    *("\\\\", ".ade", "ademem", "settings", "promote"),
    *(".a", ".[", ".?", ".*", ".{", ".$", ".'"),  # what may stand for the name of our folder
)
"""Pieces of calls that Python reads in any case: escapes, places and words of ademem."""
SERVER = "mcp__"
"""Piece of each call of an MCP server, whose arguments have any names."""
MOST_WEAK = 1250
"""Places that words suggest, whose memories have more than MOST_LINES rare words: four forms each
are few."""
MOST_LINES = 5000
"""Above it, of places or of lines, the lists let everything through to Python."""
ANYTHING = ""
"""The string that every line holds."""
RENAMING = frozenset("npm pnpm yarn bun cnpm conda cargo pip python".split())
"""Programs whose subcommands have several names, or that have a number behind their own; here, as
a session that starts does not load the vocabulary of acts."""
DERIVE_S = 0.2
"""Seconds in which a hook or a command derives bindings; the worker does what is left."""
TRIES = 3
"""Of lists that another process changes while they are written; a session's start looks again."""
BATCH = 100
"""Memories of one transaction."""
PLACED = ("path", "anchor", "dir", "glob", "runs")
ENDS = "\"' ;&|)<>/`\\"
"""What may stand behind the name of a folder that a call names as a whole; in JSON a backslash
begins a tab, the end of a line and a quote."""


def derive(
    memory: Memory,
    tree: Tree | None = None,
    session_files: Sequence[str] = (),
    learned: Sequence[Binding] = (),
) -> list[Binding]:
    """Return where a memory applies, the surest first.

    A person's choice replaces all others, but for what an agent added to it since. What was
    *learned* from the session counts again, as its files may be unknown by now.
    """
    from ademem.core import anchor

    chosen = list(_chosen(memory, tree))
    if any(text.startswith(anchor.GIVEN) for text in memory.anchors):
        return [*(each for each in chosen if each.strength == "given"), *_added(memory, tree)][
            :MOST
        ]
    from ademem.search import places

    found = [*chosen, *_not_narrowed(places.places_in(memory.whole_text, tree), chosen)]
    if not any(each.kind in PLACED and each.strength != "worded" for each in found):
        found += learned
        found += places.candidates(memory.whole_text, tree, session_files) if tree else ()
    unique: dict[tuple[str, ...], Binding] = {}
    for each in sorted(_not_denied(memory, found), key=lambda each: STRENGTHS.index(each.strength)):
        unique.setdefault((each.kind, each.key, each.pattern, each.holds), each)
    return list(unique.values())[:MOST]


def _added(memory: Memory, tree: Tree | None) -> Iterable[Binding]:
    """Yield what an agent added to a person's choice."""
    from ademem.core import anchor

    by_agent = tuple(text for text in memory.anchors if text.startswith(anchor.READ))
    return _chosen(replace(memory, anchors=by_agent, file_scope_pattern=None), tree)


def _not_denied(memory: Memory, found: list[Binding]) -> list[Binding]:
    """Leave out the places of which somebody said that they are none."""
    from ademem.core import anchor

    wrong = {text.removeprefix(anchor.NOT) for text in memory.anchors if anchor.NOT in text}
    return [each for each in found if describe(each) not in wrong] if wrong else found


def _not_narrowed(found: Iterable[Binding], chosen: Iterable[Binding]) -> list[Binding]:
    """Leave out what somebody chose for some of its calls only."""
    narrow = [each for each in chosen if each.op != "any" or each.holds]
    places = {(each.kind, each.key, each.pattern) for each in narrow}
    return [each for each in found if (each.kind, each.key, each.pattern) not in places]


def _chosen(memory: Memory, tree: Tree | None) -> Iterable[Binding]:
    """Yield what the flags of a memory name; who wrote it chose them."""
    from ademem.core import anchor
    from ademem.search import binding_keys, places

    by_person = memory.trust is Trust.USER
    strength = "given" if by_person else "read"
    if pattern := memory.file_scope_pattern:
        glob = Binding(kind="glob", key=last_folder(pattern), pattern=pattern, source="flag")
        yield places.limit(replace(glob, strength=strength), tree)
    for text in memory.anchors:
        if at := anchor.at(text):
            key, chooser = at
            with suppress(UsageError):
                binding = replace(binding_keys.parse_at(key), strength=chooser, source="flag")
                yield places.limit(places.settle(binding, tree) if tree else binding, tree)
        elif words := anchor.command(text):
            if command := binding_keys.of_command(words):
                yield places.limit(replace(command, strength=strength, source="flag"), tree)
        elif place := anchor.place(text):
            yield Binding(
                kind="anchor",
                key=place.path,
                pattern=place.plain,
                strength=strength,
                source="flag",
            )


def last_folder(glob: str) -> str:
    """Return the last name of a folder in a pattern that stands for itself."""
    folders = glob.removeprefix("./").split("/")[:-1]
    return next((each for each in reversed(folders) if each and not set(each) & set("*?[{},]")), "")


def update_bindings(
    store: Store, project: Project | None = None, seconds: float = float("inf")
) -> bool:
    """Derive anew the bindings of memories that changed, as far as the time allows.

    Without a *project* nothing is looked up in its tree. Returns False where none changed.
    """
    due = table.list_due(store)
    if not due:
        return False
    deadline = Deadline(time.monotonic, seconds)
    tree = _open_tree(project)
    files = _SessionFiles(store, project)
    while due:
        part, due = due[:BATCH], due[BATCH:]
        with store.transaction():
            for memory in table.read_due(store, part):
                learned = [each for each in table.list_of(store, memory) if each.source == SESSION]
                table.drop(store, memory)
                table.put(store, memory, derive(memory, tree, files.of(memory), learned))
                if deadline.left_s <= 0:
                    due = []
                    break
            else:
                table.clear_due(store, part)
    if tree:
        tree.close()
    return True


def _open_tree(project: Project | None) -> Tree | None:
    if project is None:
        return None
    from ademem.search.tree import open_tree

    return open_tree(project)


class _SessionFiles:
    """Files that the session of a memory read or wrote, for the memories that came from one."""

    def __init__(self, store: Store, project: Project | None) -> None:
        self.store, self.project = store, project
        self.known: dict[str, list[str]] = {}

    def of(self, memory: Memory) -> list[str]:
        session = memory.source_session_id
        if self.project is None or not session:
            return []
        if session not in self.known:
            from ademem.search.session_files import files_of

            self.known[session] = files_of(self.store, session, self.project.root)
        return self.known[session]


def refresh(runtime: Runtime, seconds: float = DERIVE_S) -> None:
    is_listed = table.is_listed_due(runtime.store)
    if update_bindings(runtime.store, runtime.project, seconds) and is_listed:
        renew_lists(runtime)


def describe(binding: Binding) -> str:
    """Write a binding as `--at` reads it."""
    from ademem.search import binding_keys

    return binding_keys.show(binding)


def tell_place(binding: Binding, tick: str = "") -> str:
    """Write where a binding meets calls in words, a command between two *tick*."""
    from ademem.search import binding_keys

    return binding_keys.tell(binding, tick)


TICK = "`"


def join_places(at: Iterable[Binding], files: int = 0) -> str:
    """Write places with their strength and how many of the tracked *files* they meet."""
    told = ((tell_place(each, TICK), ", ".join(_facts_of(each, files))) for each in at)
    return ", ".join(f"{place} ({facts})" for place, facts in told)


def _facts_of(binding: Binding, files: int) -> Iterator[str]:
    yield binding.strength
    if binding.state in ("gone", BROAD):
        yield "gone" if binding.state == "gone" else "only reminds"
    met = round(binding.reach * files)
    if binding.kind in ("dir", "glob", "suffix") and met:
        yield f"{met} of {files} files"


def at_line(
    id: str,
    at: Iterable[Binding],
    maybe: Iterable[Binding] = (),
    program: str = "ademem",
    files: int = 0,
) -> str:
    """Write where a memory applies in one line, with the command that changes it."""
    command = f"{program} at {id[:SHORT_ID]} --at KEY"
    if places := join_places(at, files):
        return f"at: {places} · elsewhere? {command} | --none"
    offered = ", ".join(map(describe, maybe))
    return f"at: no place{f' · maybe {offered}' if offered else ''} · {command}"


def renew_lists(runtime: Runtime, *, is_start: bool = False) -> None:
    """Write the lists, and let parts write what they make of the same bindings.

    At a start the lists of the shell are left where they are those of the places in the store.
    """
    project, store = runtime.project, runtime.store
    if is_start and _are_current(project, store):
        _forget_commands(project)
    else:
        write_lists(project, store)
    for part in plugins.modules("LISTS"):
        plugins.attempt(part.write, runtime)


def write_lists(project: Project, store: Store) -> None:
    """Write the lists of all, again where another process changed places or lists meanwhile."""
    _forget_commands(project)
    for _ in range(TRIES):
        state = _state_of(project, store)
        lists = _listed(project, store)
        if _write(project, "", lists):
            reader_lists.prune(project)
        with suppress(OSError):
            signed = _sign(state, map(_text_of, lists.values()))
            confined.write_text(project.root, _state_path(project), signed, sync=False)
        if _are_current(project, store):
            break


def _forget_commands(project: Project) -> None:
    with suppress(OSError):
        confined.remove(project.root, reader_lists.commands_path(project))


def _state_of(project: Project, store: Store) -> str:
    """Digest what the lists follow from: places, and memories that may be shown."""
    return sha256_hex(
        *(project.root, store_.creation_time(store), str(store_.changes(store))),
        *(str(table.count_changes(store)), str(table.is_shown_due(store))),
        *(str(store.is_trusted), str(store.judged)),
        str(adopted.may_stop(store)),
    )


def _sign(state: str, texts: Iterable[str]) -> str:
    """Digest lists with what they follow from, the rooms that compile them included."""
    return sha256_hex(state, rooms_state("guard", "search", "store"), *texts)


def _are_current(project: Project, store: Store) -> bool:
    """Tell whether the lists that are there were written of what the store has now."""
    folder = reader_lists.folder(project)
    paths = (*(os.path.join(folder, name) for name in LISTS), _state_path(project))
    with suppress(OSError, UnicodeDecodeError):
        *texts, signed = (confined.read_text(project.root, path) for path in paths)
        there = [text for text in texts if text is not None]
        return len(there) == len(texts) and signed == _sign(_state_of(project, store), there)
    return False


def _state_path(project: Project) -> str:
    return os.path.join(project.run, "listed")


def write_rest(project: Project, store: Store, key: TurnKey, said: Iterable[str]) -> None:
    """Write the lists of a reader without what was *said*; before that those of all are its own."""
    said = set(said)
    if not said:
        reader_lists.remove(project, key)
    elif reader := reader_lists.name(key):
        state = _state_of(project, store)
        _write(project, f"{reader}.", _listed(project, store, said))
        with suppress(OSError):
            confined.remove(project.root, reader_lists.after_path(project, key))
        if _state_of(project, store) != state:  # whoever changed it removed the lists before
            reader_lists.remove(project, key)


def _listed(project: Project, store: Store, hidden: Iterable[str] = ()) -> dict[str, list[str]]:
    """Return the lists for all memories and adopted items but those that are *hidden*.

    All goes to Python while a memory is not derived yet.
    """
    if table.is_shown_due(store):
        return list_lines(None)
    hidden = set(hidden)
    sure = table.list_all(store, hidden, most=MOST_LINES + 1)
    sure += adopted.list_bindings(store, project.root, hidden)
    weak = table.list_weak(store, hidden, most=MOST_WEAK) if len(sure) <= MOST_LINES else []
    is_small = len(sure) <= MOST_LINES and len(weak) < MOST_WEAK
    return list_lines(sure if is_small else None, weak)


def list_lines(
    bindings: Collection[Binding] | None, weak: Iterable[tuple[Binding, str]] = ()
) -> dict[str, list[str]]:
    """Return the lines of each list; without bindings those that every call has.

    *weak* are places that words suggest, each with the text of its memory.
    """
    if bindings is None:
        return {name: [ANYTHING] for name in LISTS}
    lines: _Lines = {name: {} for name in LISTS}
    lines["always"].update(dict.fromkeys(ALWAYS))
    _add_sure(lines, bindings)
    _add_weak(lines, weak)
    if bindings or lines["weak"]:
        lines["always"][SERVER] = None
    is_open = any(ANYTHING in strings for strings in lines.values())
    if is_open or sum(map(len, lines.values())) > MOST_LINES:
        return list_lines(None)
    return {name: list(strings) for name, strings in lines.items()}


def _add_sure(lines: _Lines, bindings: Collection[Binding]) -> None:
    is_placed = False
    for binding in bindings:
        is_placed |= binding.kind in PLACED or binding.kind == "suffix"
        for name, strings in _strings(binding).items():
            lines[name].update(dict.fromkeys(strings))
    if is_placed:  # a call may write a whole tree without the name of a folder in it
        lines["trees"].update(dict.fromkeys(_WHOLE_TREE))
        lines["writers"].update(dict.fromkeys(_TREE_WRITERS))
    if bindings:
        lines["writers"].update(dict.fromkeys(_RUNNERS))


def _add_weak(lines: _Lines, weak: Iterable[tuple[Binding, str]]) -> None:
    """Add places that words suggest, and what may stand for them if no sure place added it."""
    for binding, text in weak:
        if rare := sorted(rare_words(text)):
            lines["rare"].update(dict.fromkeys(form for word in rare for form in _cases(word)))
            lines["weak"].update(dict.fromkeys(chain.from_iterable(_strings(binding).values())))
    if lines["weak"]:
        every = {*_WHOLE_TREE, *_TREE_WRITERS, *_RUNNERS}
        asked = {*lines["trees"], *lines["writers"]}
        lines["weak"].update(dict.fromkeys(sorted(every - asked)))


_WHOLE_TREE = ("*", "?", "{", "[", "$", "`", " .", "/.", ".. ", "~")
"""Pieces of words that may stand for a file without its name, or for the folder it is in."""
_TREE_WRITERS = (
    "stash reset restore clean checkout switch apply am cherry-pick revert merge rebase pull"
    " format fmt fix write tar unzip patch rsync xargs delete exec"
).split()
_RUNNERS = "make gmake npm pnpm yarn bun".split()
"""Programs that run commands which stand in a file: Makefile, package.json."""


def _strings(binding: Binding) -> dict[str, list[str]]:
    """Return strings by their list; each call that can meet the binding holds one of them."""
    kind, key = binding.kind, binding.key
    if kind in ("path", "anchor", "dir"):
        return _names(key)
    match kind:
        case "runs":
            return _strings_of_run(key)
        case "glob":
            return _names_of_glob(binding.pattern or key)
        case "suffix":
            return {"pieces": [key]}
        case "program":
            return _strings_of_program(key, binding.pattern.split())
        case "act":
            from ademem.guard import acts

            return _sorted_out(acts.programs_of(key))
        case "family":
            return _sorted_out(_list_members(key))
        case "literal":
            return {"texts": _cases(key)}
    return {}


def _strings_of_run(key: str) -> dict[str, list[str]]:
    """Return the name of a target, such as `lint` of `make:lint`, or those of a script's path."""
    _, colon, name = key.partition(":")
    return {"pieces": [name]} if colon else _names(key)


def _strings_of_program(program: str, words: list[str]) -> dict[str, list[str]]:
    is_plain = bool(words) and program not in RENAMING
    return {"runs": [words[-1]]} if is_plain else {"always": [program]}


def _list_members(family: str) -> set[str]:
    from ademem.guard import acts

    members = acts.FAMILIES.get(family, "").split(",")
    return {each.split()[0] for each in members if each.strip()}


def _cases(text: str) -> list[str]:
    """Return a text as it is usually written; grep knows the case of ASCII letters alone."""
    if text.isascii():
        return [text]
    upper = "".join(char.upper() if len(char.upper()) == 1 else char for char in text)
    return list(dict.fromkeys((text, upper, upper[0] + text[1:])))


def _sorted_out(names: Iterable[str]) -> dict[str, list[str]]:
    """List stems and programs with a number behind their name as pieces, all others as words."""
    from ademem.guard import act_names, acts

    stems = {*act_names.NAMED, *acts.STEMS.values(), *RENAMING}
    sorts: dict[str, list[str]] = {"runs": [], "always": []}
    for name in sorted(names):
        sorts["always" if name in stems else "runs"].append(name)
    return sorts


def _names(path: str) -> dict[str, list[str]]:
    """Return the last name of a path as a word, and the folders above where they end."""
    *folders, last = path.replace("\\", "\\\\").replace('"', '\\"').split("/")  # as in JSON
    ends = [end for end in ENDS if end != "/"]
    pieces = [f"{folder}{way}{end}" for folder in folders for way in ("", "/") for end in ends]
    return {"words": [last], "pieces": pieces}


def _names_of_glob(pattern: str) -> dict[str, list[str]]:
    """Return what each file of a glob has in its name, and the folders above where they end."""
    from ademem.search.hint_patterns import expand_glob

    found: dict[str, list[str]] = {"words": [], "pieces": []}
    for each in expand_glob(pattern):
        *folders, last = each.split("/")
        above = list(takewhile(lambda name: not set(name) & _OPEN, folders))
        fixed = [name for name in (*folders, last) if name and not set(name) & _OPEN]
        part = max(regex.split(r"[*?]|\[[^\]]*\]?", last), key=len)
        if fixed[-1:] == [last] or (fixed and len(part) < SHORTEST_PIECE):
            found["words"] += _names(fixed[-1])["words"]
        else:
            found["pieces"] += _names(part)["words"] if len(part) >= SHORTEST_PIECE else [ANYTHING]
        found["pieces"] += _names("/".join([*above, last]))["pieces"]
    return found


_OPEN = frozenset("*?[")
SHORTEST_PIECE = 3


def _write(project: Project, prefix: str, lists: dict[str, list[str]]) -> bool:
    """Return whether a list changed; where one cannot be written, memories are missed."""
    changed = False
    for name, lines in lists.items():
        path = os.path.join(reader_lists.folder(project), prefix + name)
        try:
            changed |= confined.write_text(project.root, path, _text_of(lines), sync=False)
        except OSError:
            continue
    return changed


def _text_of(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
