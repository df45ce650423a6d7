"""The sections of a briefing: each a list of entries, with its share of the budget."""

from __future__ import annotations

from ademem.core.memory import Importance
from ademem.core.text import counted, opening, preview
from ademem.core.untrusted import import_label
from ademem.core.value import Value, replace
from ademem.files import project_brief
from ademem.session.briefing.committed import by_people, latest
from ademem.session.briefing.reader import Reader, line, memory_entry
from ademem.store import briefing_queries, missions, revisions, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.core.memory import Memory
    from ademem.files.project_brief import CoreMemory
    from ademem.session.briefing.reader import Entry, Reader


LOOKED_AT = 200
"""Newest changes that are looked through; when there are as many, "at least" is said."""
CHARS = 160
"""Of what is no longer valid; what says something else now is told like any other."""


def since_last_session(reader: Reader) -> list[Entry]:
    """How much changed, then what says something else now, then what went."""
    moment = sessions.last_seen(reader.store, reader.now, but=reader.session)
    if moment is None:
        return []
    turned = revisions.since(reader.store, moment, LOOKED_AT)
    known = [
        (memory, is_new)
        for memory, is_new in turned
        if memory.scope == "project"
        and not memory.quarantine_reason
        and not memory.hidden
        and memory.source_branch in (None, reader.branch)
    ]
    fresh = [memory for memory, is_new in known if memory.live and is_new]
    other = [memory for memory, is_new in known if memory.live and not is_new]
    gone = [memory for memory, is_new in known if not memory.live and not is_new]
    shown = [memory for memory in gone if not memory.deleted_at]
    counts = ((fresh, "new"), (other, "changed"), (gone, "no longer valid"))
    said = ", ".join(f"{len(found)} {what}" for found, what in counts if found)
    if not said:
        return []
    least = "at least " if len(turned) == LOOKED_AT else ""
    return [
        line(f"{least}{said} since {moment[:16].replace('T', ' ')} UTC"),
        *(memory_entry(memory) for memory in other[: reader.level]),
        *(line(f"- no longer valid: {opening(m.content, CHARS)}") for m in shown[: reader.level]),
    ]


FIELD_CHARS = 600
"""Of a field of the project brief."""
POOL = 2
"""Rows looked at for each that is told, by importance."""
SPARE = 4
"""Rows beyond the level of those that fit a branch: some have been told, or do not fit in."""
BRANCH_WORDS = 4
MATCHES = 100
"""Rows with one of a branch's words that are compared, the newest first."""
GENERIC = frozenset(
    "feature feat fix bugfix hotfix chore docs refactor test tests wip release main master develop"
    " dev trunk staging production dependabot renovate merge update add and the for with from into"
    " branch issue ticket task user users".split()
)
"""Words of branch names that say nothing of what is done there."""


class Section(Value):
    title: str
    tell: Callable[[Reader], list[Entry]]
    share: float
    """Most it may take of the briefing."""
    ranked: bool = False
    """There is more of it than one wants to hear: as many as the level says."""


def pinned(reader: Reader) -> list[Entry]:
    return [memory_entry(memory) for memory in reader.visible.pinned()]


def core_brief(reader: Reader) -> list[Entry]:
    return standing(project_brief.labelled(reader.store, project_brief.load(reader.store)), reader)


def standing(document: CoreMemory | None, reader: Reader) -> list[Entry]:
    """A project brief, one line a field, whole items only; where it is from, if not from here.

    What came with the files stands beside the rest, with its label.
    """
    entries = []
    for label, texts in project_brief.items(document):
        claimed = tuple(text for text in texts if document and text in document.claimed)
        own = tuple(text for text in texts if text not in claimed)
        if own:
            entries.append(line(f"{label}: {_items(own)}"))
        if claimed and document:
            entries.append(
                line(f"{label} ({import_label(document.claimed_author)}): {_items(claimed)}")
            )
    if entries and not reader.store.is_trusted:
        entries.insert(0, line(project_brief.MADE_ELSEWHERE))
    return entries


def of_mission(reader: Reader) -> list[Entry]:
    """What the mission is for, and the worthiest of what it learned."""
    if not reader.mission:
        return []
    mission = missions.get(reader.store, reader.mission)
    entries = sorted(reader.by_worth(reader.of_mission()), key=_is_not_pinned)
    if mission is None and not entries:
        return []
    goal = preview(mission.goal, FIELD_CHARS) if mission else ""
    over = "" if mission is None or mission.status == missions.RUNNING else f"{mission.status}; "
    held = f"{counted(len(entries), 'memory')}: `ademem mission list {reader.mission}`"
    return [line(f"{goal or reader.mission} ({over}{held})"), *entries[: reader.level]]


def by_branch(reader: Reader) -> list[Entry]:
    """What has words in common with the name of the branch; nothing on a trunk."""
    names = branch_words(reader.branch or "")
    if not names:
        return []
    fits = briefing_queries.word_matches(reader.store, names, MATCHES)
    best = sorted(fits, key=lambda seq: (-fits[seq], -seq))[: reader.level + SPARE]
    entries = reader.by_worth(reader.visible.established(best))
    top = max(fits.values(), default=1.0)
    weighed = [replace(each, worth=each.worth * fits[_seq(each)] / top) for each in entries]
    return sorted(weighed, key=lambda entry: -entry.worth)


def recent_knowledge(reader: Reader) -> list[Entry]:
    """The newest things learned, confirmed or not."""
    return [memory_entry(memory) for memory in _newest(reader)]


def procedures(reader: Reader) -> list[Entry]:
    """How things are done here, the most trusted first."""
    return reader.by_worth(reader.visible.procedures(POOL * reader.level))


def knowledge(reader: Reader) -> list[Entry]:
    """Established memories, the worthiest first; an agent's own lead."""
    own = reader.visible.of_agent()
    found: list[Memory] = []
    for sinking in (False, True):
        for importance in sorted(Importance, key=lambda each: -each.weight):
            found += reader.visible.of_project(
                importance,
                POOL * reader.level - len(found),
                sinking=sinking,
            )
    return reader.by_worth(own) + reader.by_worth(found)


def fresh(reader: Reader) -> list[Entry]:
    """What is pinned or new, and was not before the reader's eyes."""
    newest = _newest(reader)
    if reader.mission:
        newest = [*reader.of_mission()[: reader.settings.recent], *newest]
    found = [entry.memory for entry in pinned(reader) if entry.memory not in newest] + newest
    return [memory_entry(memory) for memory in found if memory and memory.id not in reader.seen]


def branch_words(branch: str) -> list[str]:
    """The words of a branch's name that may say what is done there."""
    words = "".join(char if char.isalnum() else " " for char in branch.casefold()).split()
    telling = (word for word in words if len(word) > 2 and not word.isdecimal())
    return [word for word in dict.fromkeys(telling) if word not in GENERIC][:BRANCH_WORDS]


def _newest(reader: Reader) -> list[Memory]:
    return reader.visible.newest(reader.settings.recent)


def _seq(entry: Entry) -> int:
    return entry.memory.seq if entry.memory else 0


def _is_not_pinned(entry: Entry) -> bool:
    return entry.memory is None or not entry.memory.is_pinned


def _items(texts: tuple[str, ...]) -> str:
    """As many whole items as fit on the line, at least a part of the first; how many more."""
    kept = [preview(texts[0], FIELD_CHARS)]
    for text in texts[1:]:
        if len("; ".join(kept)) + len(text) > FIELD_CHARS:
            break
        kept.append(preview(text, FIELD_CHARS))
    more = len(texts) - len(kept)
    return "; ".join(kept) + (f" (and {more} more: `ademem core show`)" if more else "")


PINNED = Section(title="Pinned", tell=pinned, share=0.5)
CORE = Section(title="Project brief", tell=core_brief, share=0.4)
MISSION = Section(title="This mission", tell=of_mission, share=0.3)
BRANCH = Section(title="On this branch", tell=by_branch, share=0.25, ranked=True)
COMMITS = Section(title="Last commits", tell=latest, share=0.1)
RECENT = Section(title="Recent knowledge", tell=recent_knowledge, share=0.25)
PROCEDURES = Section(title="Procedures", tell=procedures, share=0.15, ranked=True)
PEOPLE = Section(title="Committed outside of sessions", tell=by_people, share=0.15)
SINCE = Section(title="Since the last session", tell=since_last_session, share=0.15)
KNOWN = Section(title="Project knowledge", tell=knowledge, share=1.0, ranked=True)

SECTIONS = (PINNED, CORE, MISSION, BRANCH, COMMITS, RECENT, PROCEDURES, PEOPLE, SINCE, KNOWN)
"""What a session is told, in order; what one leaves of its share is there for those below."""

NEWS = (PEOPLE, Section(title="New", tell=fresh, share=1.0))
"""What a session is told that goes on."""
