"""Whether the places that memories speak of still say what they said."""

from __future__ import annotations

from ademem.core import anchor
from ademem.core.value import Value, replace
from ademem.search.hints import settle
from ademem.store import hints as table
from ademem.store import jobs, memories, memory_queries
from ademem.store.memories import Change
from ademem.synthesis.working_tree import CHANGED, FRESH, GONE, MOVED, Tree, standing, worst

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from ademem.core.memory import Memory
    from ademem.core.project import Project
    from ademem.store import Store
    from ademem.synthesis.working_tree import Standing


class Checked(Value):
    """One anchor of one memory."""

    memory: Memory
    anchor: str
    standing: Standing
    fixed: bool = False

    @property
    def sound(self) -> bool:
        return self.fixed or self.standing.state == FRESH


def check(project: Project, store: Store) -> list[Checked]:
    """Every place of every live memory, in the order the memories came; git is asked once for all.

    How each stands is kept for the ranking.
    """
    tree = Tree(project.root)
    found = [
        each for memory in memory_queries.with_anchors(store) for each in _checked(memory, tree)
    ]
    settle(store)
    with store.transaction():
        _note(found, store)
    return found


def fix(found: Iterable[Checked], store: Store, now: datetime, actor: str) -> list[Checked]:
    """Let anchors follow the text that moved, and note what stands at those that never were."""
    done = []
    change = Change(
        operation="edit", actor=actor, at=now, reason="anchors", event_id=memories.new_event()
    )
    with store.transaction():
        for each in found:
            new = each.standing.now.text if each.standing.now else each.anchor
            if new == each.anchor:
                done.append(each)
                continue
            memory = memories.get(store, each.memory.id)
            anchors = tuple(new if old == each.anchor else old for old in memory.anchors)
            changed = replace(memory, anchors=anchor.joined((), anchors))
            memories.update(store, changed, change)
            jobs.queue(store, "mirror", "project", now)
            done.append(replace(each, fixed=True))
        settle(store)
        _note(done, store)
    return done


def states(found: Iterable[Memory], project: Project) -> dict[str, str]:
    """By id how the places of these memories stand now, if one is not as noted.

    For few memories and at once: where a renamed file is, only `check` finds out.
    """
    tree = Tree(project.root, ask_git=False)
    stand = {
        memory.id: worst(each.standing for each in _checked(memory, tree))
        for memory in found
        if memory.anchors
    }
    return {id: state for id, state in stand.items() if state in (MOVED, CHANGED, GONE)}


def _note(found: Iterable[Checked], store: Store) -> None:
    for each in found:
        if not each.fixed:
            table.note(store, each.memory.seq, each.anchor, each.standing.state)


def _checked(memory: Memory, tree: Tree) -> list[Checked]:
    places = [(text, anchor.place(text)) for text in memory.anchors]
    return [
        Checked(memory=memory, anchor=text, standing=standing(place, tree))
        for text, place in places
        if place
    ]
