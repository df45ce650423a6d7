"""Where and when memories apply: shown, chosen by a person, added to by an agent, and missing."""

from __future__ import annotations

from ademem.core import anchor
from ademem.core.actor import By
from ademem.core.clock import timedelta
from ademem.core.errors import AdememError, NoSuchMemory, UsageError, suppress
from ademem.core.json_text import loads
from ademem.core.memory import NOTE, RULE, SHORT_ID, STOP, Memory, Trust
from ademem.core.text import counted, preview
from ademem.core.value import Value, replace
from ademem.search import binding, binding_keys
from ademem.store import bindings as table
from ademem.store import memories
from ademem.store.bindings import Binding
from ademem.store.review_queue import GONE_DAYS
from ademem.store.runtime import Runtime, program
from ademem.store.transitions import CannotDo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ademem.store.tree_index import Tree

MOST_OFFERED = 5
WIDEST = 0.5
"""Share of the tracked files above which a place is refused to an agent."""
FIRM = ("given", "read")
UNSURE = ("worded", "guessed")
SHOWN_CALLS = 3


class Placed(Value):
    memory: Memory
    at: tuple[Binding, ...]
    candidates: tuple[Binding, ...] = ()
    """Places that the words of the memory suggest, where it has none that is sure."""
    files: int = 0
    """Tracked files of the project; 0 without an index of them."""
    advice: tuple[str, ...] = ()
    """How a place is chosen, what meets less than those that it has, and how occasions are told."""
    notes: tuple[str, ...] = ()


class Misplaced(Value):
    """A memory that may not belong where it is bound."""

    memory: Memory
    place: Binding
    why: str


class Choice(Value):
    """What somebody decides about the places and the occasions of a memory."""

    id: str
    at: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    """Keys of places that are none, or occasions as they were told."""
    nowhere: bool = False
    when: tuple[str, ...] = ()
    is_beside: bool = False
    """It comes with another change of the memory, which no refused occasion prevents."""
    line: str = ""
    """Where it stands among several, as in "line 2"."""

    @property
    def places(self) -> bool:
        return bool(self.at or self.drop or self.nowhere)

    @property
    def decides(self) -> bool:
        return self.places or bool(self.when)


class _tree_of:
    """Open the index of the files for a block; None where there is none."""

    def __init__(self, runtime: Runtime) -> None:
        from ademem.search.tree import open_tree

        self._tree = open_tree(runtime.project)

    def __enter__(self) -> Tree | None:
        return self._tree

    def __exit__(self, *_: object) -> None:
        if self._tree:
            self._tree.close()


def show_places(runtime: Runtime, id: str) -> Placed:
    """Return where a memory applies, and what else its words suggest."""
    runtime = runtime.holding(id)
    binding.refresh(runtime)
    memory = memories.get(runtime.store, id)
    with _tree_of(runtime) as tree:
        return _placed(memory, runtime, tree)


def list_places(runtime: Runtime, id: str) -> list[Binding]:
    """Return where a memory applies, without what its words only suggest; changes nothing."""
    runtime = runtime.holding(id)
    at = table.list_of(runtime.store, memories.get(runtime.store, id))
    return [each for each in at if each.strength not in UNSURE]


def read_keys(runtime: Runtime, keys: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return anchors for places that an agent chooses, and notes on them.

    Raises NoKey, and CannotDo for a place that is too wide.
    """
    wanted = [binding_keys.parse_at(key, runtime.project.root) for key in keys]
    if not wanted:
        return (), ()
    with _tree_of(runtime) as tree:
        notes = _check_reach(wanted, False, tree)
    shown = map(binding_keys.show, wanted)
    return tuple(anchor.of_key(key, by_person=False) for key in shown), tuple(notes)


def choose_places(
    runtime: Runtime, keys: Iterable[str], *, by_person: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the places of a new memory as anchors, and notes on what an agent may not choose."""
    if not by_person:
        return read_keys(runtime, keys)
    return tuple(anchor.of_key(key, by_person=True) for key in check_keys(runtime, keys)), ()


def check_keys(runtime: Runtime, keys: Iterable[str]) -> list[str]:
    """Return keys as `ademem at` shows them; raises NoKey."""
    root = runtime.project.root
    return [binding_keys.show(binding_keys.parse_at(key, root)) for key in keys]


def choose_occasions(given: Iterable[str]) -> tuple[str, ...]:
    """Return anchors for occasions; raises UsageError for one that says nothing or too much."""
    found = tuple(dict.fromkeys(map(anchor.of_occasion, given)))
    for text in (each.removeprefix(anchor.WHEN) for each in found):
        if len(text) > anchor.OCCASION_CHARS:
            size = f"at most {anchor.OCCASION_CHARS} characters, this one {len(text)}"
            hint = "shorten it, or tell two"
            raise UsageError(f"an occasion has {size}: {preview(text, 40)}", hint)
        if not any(map(str.isalnum, text)):
            raise UsageError("an occasion is empty", _OCCASION)
    if len(found) > anchor.MOST_OCCASIONS:
        most = f"at most {anchor.MOST_OCCASIONS} occasions, not {len(found)}"
        raise UsageError(f"a memory has {most}", "leave out those that are nearly the same")
    return found


_OCCASION = 'say in some words what somebody does, asks or sees: --when "adding a test that fails"'


def place(runtime: Runtime, choice: Choice) -> Placed:
    """Choose places: a person's replace all others, an agent's are added. Occasions replace others.

    An agent drops what it chose or what words suggest; raises OfPerson for a person's choice.
    """
    from ademem.operations.curation import _decide, get_speaker
    from ademem.store import outcomes, transitions

    runtime = runtime.holding(choice.id)
    memory = memories.get(runtime.store, choice.id)
    with _tree_of(runtime) as tree:
        anchors, notes = _choose(memory, choice, runtime, tree)
        if anchors != memory.anchors:
            memory = _decide(transitions.place, runtime, choice.id, anchors)
        if choice.places and get_speaker(runtime) is Trust.USER:
            outcomes.accept_place(runtime.store, memory.id)
        binding.refresh(runtime)
        return replace(_placed(memory, runtime, tree), notes=tuple(notes))


def place_all(runtime: Runtime, choices: Sequence[Choice]) -> list[Placed]:
    """Choose places for several memories: all, or none if one of them cannot be."""
    from ademem.operations.curation import get_speaker
    from ademem.store import transitions

    lines: dict[str, str] = {}
    for choice in choices:
        with _naming(f"{choice.line} ({choice.id})"):
            holder = runtime.holding(choice.id)
            memory = memories.get(holder.store, choice.id)
            if (line := lines.setdefault(memory.id, choice.line)) != choice.line:
                raise UsageError(f"{line} is about the same memory", "put both in one line")
            with _tree_of(holder) as tree:
                chosen, _ = _choose(memory, choice, holder, tree)
            if chosen != memory.anchors:
                anchors, speaker = transitions.clean_anchors(chosen), get_speaker(holder)
                transitions.check_placing(memory, anchors, by_person=speaker is Trust.USER)
    return [place(runtime, choice) for choice in choices]


def list_unplaced(runtime: Runtime, most: int) -> tuple[list[Placed], int]:
    """Return memories that lack an occasion, then those of which nobody chose a place; their total.

    How both are chosen is told with the first.
    """
    binding.refresh(runtime)
    found = table.list_unchosen(runtime.store, most)
    with _tree_of(runtime) as tree:
        unplaced = [_placed(memory, runtime, tree) for memory in found]
    how = _advise_list(unplaced[0], runtime) if unplaced else ()
    listed = [replace(each, advice=() if at else how) for at, each in enumerate(unplaced)]
    return listed, table.count_unchosen(runtime.store)


def _advise_list(first: Placed, runtime: Runtime) -> tuple[str, ...]:
    from ademem.search import place_advice

    command = f"{program(runtime.environment)} at"
    ask = place_advice.ask_occasions(command, f"--from -, with {_FORM}")
    return _advise(first.memory, first.at, ask)


def _advise(memory: Memory, at: Sequence[Binding], ask: str) -> tuple[str, ...]:
    """Return how places are chosen, and the line that asks for occasions where it has none."""
    from ademem.search import place_advice

    advice = place_advice.advise(memory, at)
    return (*advice, *([ask] if ask and not anchor.occasions(memory.anchors) else []))


def list_misplaced(runtime: Runtime) -> list[Misplaced]:
    """Return memories of which a person is asked whether they belong where they are bound."""
    from ademem.store import gone_places, outcomes

    store = runtime.store
    found = []
    for doubt in outcomes.list_doubted(store):
        with suppress(NoSuchMemory):
            memory = memories.get(store, doubt.memory_id)
            at = table.list_of(store, memory) if memory.live else ()
            place = next((each for each in at if each.place == doubt.binding), None)
            if place is None:
                continue
            times = counted(len(doubt.calls), "time")
            calls = "; ".join(filter(None, doubt.calls[:SHOWN_CALLS]))
            why = f"overruled {times} at {binding.tell_place(place, binding.TICK)}: {calls}"
            found.append(Misplaced(memory=memory, place=place, why=why))
    long_ago = runtime.clock() - timedelta(days=GONE_DAYS)
    for id, place in gone_places.list_since(store, long_ago):
        why = f"{binding.tell_place(place, binding.TICK)} is gone for {GONE_DAYS} days"
        found.append(Misplaced(memory=memories.get(store, id), place=place, why=why))
    return found


def find_misplaced(runtime: Runtime, id: str, place: str) -> Misplaced | None:
    found = (each for each in list_misplaced(runtime) if each.memory.id == id)
    return next((each for each in found if each.place.place == place), None)


def accept_place(runtime: Runtime, found: Misplaced) -> dict[int, str]:
    """Keep the memory where it is, as a person says; return what `doubt_place` needs."""
    from ademem.store import gone_places, outcomes

    store = runtime.store
    if found.place.state == "gone":
        gone_places.note_again(store, found.memory.id, found.place, runtime.clock())
        return {}
    return outcomes.accept_place(store, found.memory.id, found.place.place)


def doubt_place(runtime: Runtime, id: str, place: str, before: Mapping[int, str]) -> None:
    """Ask about a place again; *before* are the outcomes that stood before it was accepted."""
    from ademem.store import gone_places, outcomes

    if before:
        return outcomes.restore(runtime.store, before)
    since = runtime.clock() - timedelta(days=GONE_DAYS)
    for each in table.list_of(runtime.store, memories.get(runtime.store, id)):
        if each.place == place:
            gone_places.note_again(runtime.store, id, each, since)
    return None


def only_tell(runtime: Runtime, memory: Memory) -> Memory:
    """Let the memory deny no call any more: it is a note."""
    from ademem.operations.curation import edit

    tags = [tag for tag in memory.tags if tag not in (RULE, STOP, NOTE)]
    revision = memory.revision_count
    return edit(runtime, memory.id, revision=revision, tags=(*tags, NOTE))


def read_choices(text: str) -> list[Choice]:
    """Read choices as JSON, a list or an object a line: `id` with what is chosen of it."""
    if text.lstrip()[:1] == "[":
        with _naming("the list"):
            given = [(f"choice {at}", each) for at, each in enumerate(_load(text), 1)]
    else:
        given = list(_lines(text))
    return [_read_choice(each, line) for line, each in given]


class _naming:
    """Say in an error of a block which choice it is about, and that none was stored."""

    def __init__(self, which: str) -> None:
        self._which = which

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, AdememError):
            error.args = (f"{self._which}: {error}; nothing was stored",)


def _read_choice(given: Any, line: str) -> Choice:
    id = given.get("id") if isinstance(given, dict) else None
    named = f"{line} ({id})" if isinstance(id, str) and id.isprintable() else line
    with _naming(named):
        return replace(_check_read(given), line=line)


def _check_read(given: Any) -> Choice:
    id = given.get("id") if isinstance(given, dict) else None
    if not isinstance(id, str) or not id.isprintable():
        raise UsageError("each choice is an object with the id of a memory", _FORM)
    at, drop, nowhere = _texts(given, "at"), _texts(given, "drop"), given.get("none", False)
    when = _texts(given, "when")
    if not isinstance(nowhere, bool) or (nowhere and (at or drop)):
        raise UsageError("'none' is true, and excludes 'at' and 'drop'", _FORM)
    choice = Choice(id=id, at=at, drop=drop, nowhere=nowhere, when=when)
    if not choice.decides:
        raise UsageError(f"nothing is chosen for {id}: at, when, drop or none", _FORM)
    return choice


_FORM = '{"id": "6b0ed9e3c3e1", "at": ["`npm install`"], "when": ["a test fails"]} on each line'


def _lines(text: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            with _naming(f"line {number}"):
                yield f"line {number}", _load(line)


def _load(text: str) -> Any:
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"this is not JSON: {error}", _FORM) from None


def _texts(given: dict[str, Any], name: str) -> tuple[str, ...]:
    found = given.get(name, [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise UsageError(f"{name!r} is a list of texts", _FORM)
    return tuple(found)


def _choose(
    memory: Memory, choice: Choice, runtime: Runtime, tree: Tree | None
) -> tuple[tuple[str, ...], list[str]]:
    """Return the anchors after a choice, and notes on it."""
    from ademem.operations.curation import get_speaker

    by_person = get_speaker(runtime) is Trust.USER
    told = {text: anchor.of_occasion(text) for text in choice.drop}
    ended = {text for text in told.values() if text in memory.anchors}
    drop = tuple(text for text in choice.drop if told[text] not in ended)
    anchors, notes = _choose_places(memory, replace(choice, drop=drop), by_person, runtime, tree)
    when, left_out = _choose_when(memory, choice, by_person)
    if when:
        ended.update(text for text in anchors if text.startswith(anchor.WHEN))
    if ended.difference(when):
        _require_author(memory, by_person, runtime)
    return (*(text for text in anchors if text not in ended), *when), [*notes, *left_out]


def _choose_when(
    memory: Memory, choice: Choice, by_person: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return occasions without an agent's that are orders, and notes on these.

    Where nothing else is chosen, they stay, so that the choice is refused.
    """
    from ademem.guard.injection import drop_orders
    from ademem.store import transitions

    when = transitions.clean_anchors(choose_occasions(choice.when))
    if by_person:
        return when, ()
    kept, left_out = drop_orders(when, memory.anchors)
    is_beside = choice.places or choice.is_beside
    return (kept, left_out) if kept or is_beside else (when, ())


def _require_author(memory: Memory, by_person: bool, runtime: Runtime) -> None:
    """Let an agent take nothing away from a person's memory, to which it may add."""
    from ademem.store import transitions

    if not by_person and memories.is_of_person(runtime.store, memory):
        raise transitions.OfPerson(memory, "at")


def _choose_places(
    memory: Memory, choice: Choice, by_person: bool, runtime: Runtime, tree: Tree | None
) -> tuple[tuple[str, ...], list[str]]:
    root = runtime.project.root
    wanted = [binding_keys.parse_at(key, root) for key in choice.at]
    at = table.list_of(runtime.store, memory) if choice.drop else []
    unwanted = _read_dropped(at, choice.drop, runtime)
    notes = [*_check_reach(wanted, by_person, tree), *_note_unknown(memory, at, unwanted)]
    of_person = {anchor.of_key(key, by_person=True) for key in unwanted}
    of_person |= {anchor.NOWHERE} if wanted else set()
    if choice.nowhere or not of_person.isdisjoint(memory.anchors):
        _require_right(memory, by_person, runtime)
    if choice.nowhere:
        return (*_others(memory.anchors), anchor.NOWHERE), notes
    new = [anchor.of_key(binding_keys.show(each), by_person=by_person) for each in wanted]
    new += _exclude(unwanted, memory, runtime)
    old = _others(memory.anchors) if by_person and wanted else memory.anchors
    replaced = {*new, *of_person, *(anchor.of_key(key, by_person=False) for key in unwanted)}
    return (*(text for text in old if text not in replaced), *dict.fromkeys(new)), notes


def _exclude(unwanted: Sequence[str], memory: Memory, runtime: Runtime) -> list[str]:
    """Return the anchors that keep a memory from those of the places to which its words lead."""
    if not unwanted:
        return []
    derived = {binding_keys.show(each) for each in _derived(memory, runtime)}
    return [anchor.NOT + key for key in unwanted if key in derived]


def _read_dropped(at: Sequence[Binding], given: Iterable[str], runtime: Runtime) -> list[str]:
    """Return the keys of places, each given as its key or in the words that name it."""
    told = {binding.tell_place(each, tick): each for each in at for tick in ("", binding.TICK)}
    told |= {binding_keys.show(each): each for each in at}  # a key goes before words
    return [
        binding_keys.show(told[key]) if key in told else check_keys(runtime, [key])[0]
        for key in given
    ]


def _note_unknown(memory: Memory, at: Iterable[Binding], dropped: Iterable[str]) -> Iterator[str]:
    known = {binding_keys.show(each) for each in at}
    known |= {found[0] for text in memory.anchors if (found := anchor.at(text))}
    for key in dropped:
        if key not in known:
            yield f"it had no place or occasion {key}"


def _others(anchors: Iterable[str]) -> list[str]:
    """Return the anchors that are no choice of a place: places in the code, commands, occasions."""
    return [text for text in anchors if not text.startswith("@") or text.startswith(anchor.WHEN)]


def _derived(memory: Memory, runtime: Runtime) -> list[Binding]:
    stored = table.list_of(runtime.store, memory)
    return [each for each in stored if each.strength not in FIRM]


def _require_right(memory: Memory, by_person: bool, runtime: Runtime) -> None:
    from ademem.store import transitions

    if by_person:
        return
    if any(text.startswith(anchor.GIVEN) and text != anchor.NOWHERE for text in memory.anchors):
        raise transitions.OfPerson(memory, "at", "placed")
    _require_author(memory, by_person, runtime)


def _check_reach(wanted: Sequence[Binding], by_person: bool, tree: Tree | None) -> list[str]:
    from ademem.search import places

    notes = []
    for each in (places.settle(each, tree) for each in wanted) if tree else ():
        key = binding_keys.show(each)
        if each.state == "gone":
            notes.append(f"{key} is no place in the project yet")
        if each.reach > WIDEST and binding_keys.is_bare(each):
            share = f"{key} is {each.reach:.0%} of the tracked files"
            if not by_person:
                narrower = " or ".join(binding_keys.narrow(each))
                raise CannotDo(share, f"name a file or a folder of it, {narrower}")
            notes.append(share)
    return notes


def _placed(memory: Memory, runtime: Runtime, tree: Tree | None) -> Placed:
    from ademem.search import place_advice

    at = table.list_of(runtime.store, memory)
    command = f"{program(runtime.environment)} at {memory.id[:SHORT_ID]}"
    ask = place_advice.ask_occasions(command) if runtime.by.by is By.AGENT else ""
    return Placed(
        memory=memory,
        at=tuple(each for each in at if each.strength not in UNSURE),
        candidates=tuple(_list_unsure(memory, at, tree)[:MOST_OFFERED]),
        files=tree.count if tree else 0,
        advice=_advise(memory, at, ask),
    )


def _list_unsure(memory: Memory, at: Sequence[Binding], tree: Tree | None) -> list[Binding]:
    """Return places of a memory that may be wrong; without a sure one, also those in its words."""
    from ademem.search import places

    unsure = [each for each in at if each.strength in UNSURE]
    if not tree or any(each.strength in (*FIRM, "named") for each in at):
        return unsure
    known = {(each.kind, each.key) for each in at}
    likely = places.candidates(memory.whole_text, tree)
    return unsure + [each for each in likely if (each.kind, each.key) not in known]
