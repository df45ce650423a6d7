"""Adopt the instruction files of a project in place, and decide what their lines may do here."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from ademem.core import git, who
from ademem.core.clock import stamp
from ademem.core.errors import NotFound, UsageError
from ademem.core.text import counted
from ademem.core.value import Value, replace
from ademem.files.instructions.reading import Adopted
from ademem.search import binding, binding_keys, mentions
from ademem.store import adopted, jobs, memories, memory_queries
from ademem.store.adopted import Mark
from ademem.store.runtime import Runtime
from ademem.sync import adopting, instruction_state
from ademem.sync.adopting import Outcome

MOST_COMPARED = 300
"""Confirmed memories that are compared with the items."""
NEAR = 3
ALIKE = 0.4
"""Share of common words from which a person is asked to read a memory and an item together."""


class Disagreement(Value):
    """A line of a file that does not fit the project or a memory."""

    path: str
    line: int
    why: str


class Adoption(Value):
    """The state of adoption in a clone."""

    outcome: Outcome
    is_taken: bool
    may_stop: bool
    has_answer: bool
    stopping: int = 0
    """Lines that may stop a call after a person's yes."""
    disagreements: tuple[Disagreement, ...] = ()
    marks: tuple[Mark, ...] = ()
    lost: tuple[str, ...] = ()
    """A line for each decision whose line is gone."""


class NoSuchItem(NotFound):
    hint = "`ademem adopt --json` shows the ids"

    def __init__(self, id: str) -> None:
        super().__init__(f"no line of an instruction file has the id {id!r}")


def preview_adoption(runtime: Runtime) -> Adoption:
    """Read the instruction files of the project, and store nothing."""
    return _describe(runtime, Outcome(reading=adopting.look(runtime)))


def adopt_files(runtime: Runtime) -> Adoption:
    """Adopt the instruction files, and keep them in step from now on."""
    if not instruction_state.is_on(runtime):
        raise UsageError(
            "adopt.files is off", "`ademem config set adopt.files auto` lets files be adopted"
        )
    adopted.take(runtime.store, runtime.clock())
    outcome = adopting.adopt(runtime)
    jobs.queue(runtime.store, "adopt", "project", runtime.clock())
    binding.renew_lists(runtime)
    return _describe(runtime, outcome)


def answer_adoption(runtime: Runtime, *, yes: bool) -> None:
    """Note a person's answer: may lines of the team's files stop calls in this clone?"""
    who.require_person(runtime.by, "whether lines of files stop calls", "/ademem:adopt yes")
    adopted.answer(runtime.store, yes=yes)
    binding.renew_lists(runtime)


def mark_item(
    runtime: Runtime,
    id: str,
    *,
    stop: bool = False,
    ignore: bool = False,
    plain: bool = False,
    at: Sequence[str] = (),
) -> Mark | None:
    """Note what a person decides about an item; *plain* takes it back."""
    who.require_person(runtime.by, "a mark on a line of an instruction file")
    row = adopted.get(runtime.store, runtime.project.root, id)
    if row is None:
        if plain and adopted.find_mark(runtime.store, id):
            adopted.drop_mark(runtime.store, id)
            return None
        raise NoSuchItem(id)
    mark = None
    if plain:
        adopted.drop_mark(runtime.store, row["id"])
    else:
        mark = _change_mark(runtime, row, stop=stop, ignore=ignore, at=at)
        adopted.put_mark(runtime.store, mark)
    adopting.adopt(runtime)
    binding.renew_lists(runtime)
    return mark


def _change_mark(
    runtime: Runtime, row: sqlite3.Row, *, stop: bool, ignore: bool, at: Sequence[str]
) -> Mark:
    """Return the mark of an item with a decision; what was decided before stays beside it."""
    root = runtime.project.root
    bound = tuple(binding_keys.show(binding_keys.parse_at(key, root)) for key in at)
    mark = adopted.find_mark(runtime.store, row["id"])
    if mark is None:
        head = (row["heads"].splitlines() or [""])[-1]
        mark = Mark(id=row["id"], path=row["path"], head=head, text=row["text"], at="")
    return replace(
        mark,
        stop=(mark.stop or stop) and not ignore,
        ignored=ignore or (mark.ignored and not stop and not at),
        bound=bound or mark.bound,
        at=stamp(runtime.clock()),
    )


def restore_mark(runtime: Runtime, id: str, mark: Mark | None) -> None:
    """Bring back what a person had decided about an item, or that nothing was."""
    who.require_person(runtime.by, "a mark on a line of an instruction file")
    if mark:
        adopted.put_mark(runtime.store, mark)
    else:
        adopted.drop_mark(runtime.store, id)
    adopting.adopt(runtime)
    binding.renew_lists(runtime)


def forget_adoption(runtime: Runtime) -> str:
    """Delete what adoption stored, in the bytes of the database, too; the files stay as they are.

    Returns what a person has to do where another process uses the database.
    """
    from ademem.store import texts

    with runtime.store.transaction():
        had_any = memories.any_adopted(runtime.store)
        adopted.forget(runtime.store)
    binding.renew_lists(runtime)
    try:
        if had_any:
            texts.clean_pages(runtime.store, ("adopted_fts",))
    except texts.InUse as error:
        return f"{error}: {error.hint}"
    return ""


def summarize(adoption: Adoption) -> str:
    read = adoption.outcome.reading
    return f"{counted(len(read.files), 'file')} with {counted(len(read.items), 'item')}"


def _describe(runtime: Runtime, outcome: Outcome) -> Adoption:
    store, items = runtime.store, outcome.reading.items
    return Adoption(
        outcome=outcome,
        is_taken=adopted.is_taken(store),
        may_stop=adopted.may_stop(store),
        has_answer=adopted.has_answer(store),
        stopping=sum(map(may_stop, items)),
        disagreements=(*_with_code(runtime.project.root, items), *_with_memories(runtime)),
        marks=tuple(adopted.list_marks(store)),
        lost=tuple(instruction_state.describe_lost(runtime)),
    )


def may_stop(item: Adopted) -> bool:
    """Tell whether an item may stop a call after the person's yes."""
    return item.is_current and mentions.binds(item.text)


def _with_code(root: str, items: Iterable[Adopted]) -> Iterable[Disagreement]:
    """Compare items with the tree; what git ignores is made by a build, and may be gone."""
    named = [(item, name) for item in items if item.live for name in item.missing]
    asked = {path for item, name in named[:MOST_COMPARED] for path in (name, item.folder + name)}
    ignored = set(git.text(root, "check-ignore", "--", *asked).splitlines()) if asked else set()
    for item, name in named:
        if ignored.isdisjoint((name, item.folder + name)):
            yield Disagreement(
                path=item.path, line=item.first, why=f"names `{name}`, which is not in the project"
            )


def _with_memories(runtime: Runtime) -> Iterable[Disagreement]:
    """Compare confirmed memories with the items that share most words with them and say more."""
    from ademem.core.text import jaccard, words
    from ademem.search import instruction_search

    if not memories.any_adopted(runtime.store):
        return
    for memory in memory_queries.list_confirmed(runtime.store, MOST_COMPARED):
        for row in instruction_search.nearest(runtime, memory.whole_text, NEAR):
            is_near = jaccard(words(memory.whole_text), words(row["text"])) >= ALIKE
            if is_near and not _says(row, memory.whole_text):
                yield Disagreement(
                    path=row["path"],
                    line=row["first"],
                    why=f"may say otherwise than the memory {memory.id}: {memory.content}",
                )


def _says(row: sqlite3.Row, text: str) -> bool:
    """Tell whether an item, or a sentence of it, has the words of a text in their order.

    Other words may stand between them, but for those that turn the sense.
    """
    import re

    from ademem.core.text import list_words

    whole = row["text"]
    said = (whole, adopted.in_context(row), *re.split(r"(?<=[.!?])\s+|\n", whole))
    wanted = list_words(text)
    return any(_adds_nothing_else(list_words(each), wanted) for each in said)


def _adds_nothing_else(words: Sequence[str], wanted: Sequence[str]) -> bool:
    """Tell whether *words* are those that are *wanted*, with words between that turn no sense."""
    left = list(wanted)
    for word in words:
        if left and word == left[0]:
            del left[0]
        elif mentions.turns_sense(word):
            return False
    return not left
