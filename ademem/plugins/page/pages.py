"""Pages: each reads through operations, and returns the values of its template."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import groupby
from typing import Any

from ademem.core.clock import parse, tell_day, tell_time
from ademem.core.errors import NoSuchMemory, NotFound, UsageError
from ademem.core.memory import Memory
from ademem.core.value import Value
from ademem.doors import reading, undoable
from ademem.doors.undoable import Done, NotAllowed, list_recorded
from ademem.doors.views import session as session_view
from ademem.operations import curation, files, inspecting, memory_operations, reports, searching
from ademem.operations.curation import COUNTED, require_revision
from ademem.operations.sessions import list_episodes, list_sent, list_sessions, name_session
from ademem.plugins.page import (
    forms,
    memory_pages,
    practice_pages,
    replay_page,
    today_page,
    upkeep_pages,
)
from ademem.plugins.page.entry import Act, Page, PageRequest, revision_of, row_number
from ademem.plugins.page.memory_pages import PAGE, read_moment
from ademem.plugins.page.paging import cut
from ademem.plugins.procedures import operations
from ademem.store import effects, injections
from ademem.store.runtime import Runtime


def head_of(memories: Runtime) -> dict[str, Any]:
    return {
        "project": memories.project.name,
        "branch": memories.branch or "",
        "mode": searching.get_search_mode(memories),
        "notice": memories.copy_notice,
        "waiting": sum(curation.count_queue(memories).values()),
    }


def _overview(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    found = request.project.check.findings
    hooks = next((each for each in found if each.check == "rehearsal"), None)
    return reading.read_overview(memories) | {"hooks": hooks}


def _review(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    shown = reading.read_review(memories, request.query.get("id", ""))
    return shown | {"can_show_digits": request.site.show_digits is not None}


TIMELINE_FILTERS = ("branch", "agent", "mission")


def _timeline(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    filters = {name: request.query.get(name, "").strip() for name in TIMELINE_FILTERS}
    chosen = {name: value or None for name, value in filters.items()}
    after = request.query.get("after") or None
    rows = list_sessions(memories, PAGE + 1, **chosen, after=after)
    found = rows[:PAGE]
    now, ids = memories.clock(), [row["id"] for row in found]
    days = groupby(found, lambda row: tell_day(row["started_at"], now))
    episodes = list_episodes(memories, None, session_ids=ids)
    return {
        "effects": _count_effects(memories, found),
        "characters": injections.sum_characters(memories.store, ids),
        "next": found[-1]["id"] if len(rows) > PAGE else "",
        "days": [(day, list(sessions)) for day, sessions in days],
        "works": {each.session_id: session_view.to_work(each) for each in reversed(episodes)},
        "decisions": reports.count_decisions(memories, found),
        "filters": filters,
        "choices": {
            "agent": [each.name for each in files.list_agents(memories)],
            "mission": [each.id for each in operations.list_missions(memories)],
        },
    }


def _count_effects(memories: Runtime, found: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Map the listed sessions to what memory did in each, without what is zero."""
    if not found:
        return {}
    rows = effects.collect(memories, parse(found[-1]["started_at"]), all=True).rows
    counts: dict[str, dict[str, int]] = {}
    for row in rows:
        of = counts.setdefault(row.session_id, dict.fromkeys(effects.KINDS, 0))
        of[row.kind] += 1
    return counts


def _is_withheld(request: PageRequest) -> Callable[[Memory], bool]:
    """Return what hides quarantined texts from a page that an agent may read."""
    return lambda memory: bool(request.site.read_only and memory.quarantine_reason)


def _session(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    page = reading.read_session(memories, request.path["id"], _is_withheld(request))
    newest, earlier = cut(page["moments"][::-1], "key", request.query.get("after", ""))
    id, done = (
        page["session"]["id"],
        effects.collect(memories, session=page["session"]["id"], all=True),
    )
    carried = {each for moment in newest for each in moment.get("carried", ())}
    episodes = list_episodes(memories, None, session_ids=[id])
    return page | {
        "moments": newest[::-1],
        "earlier": earlier,
        "title": name_session(memories, id),
        "began": tell_time(page["session"]["started_at"], memories.clock()),
        "counts": done.counts,
        "told": len(
            {
                part["id"]
                for moment in page["moments"]
                if moment["kind"] == "sent"
                for part in moment["parts"]
            }
        ),
        "done": {row.memory_id: row for row in done.rows if row.kind != effects.LEARNED},
        "carried": memories.list_by_ids(carried),
        "work": session_view.to_work(episodes[0]) if episodes else None,
    }


def _why(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    """Run one selection of a session again for a memory, or find the memory by words."""
    session, at = request.path["id"], request.query.get("at", "")
    given = request.query.get("memory", "").strip()
    values: dict[str, Any] = {"session": session, "at": at, "given": given, "hits": (), "why": None}
    try:
        found = inspecting.explain_selection(memories, session, at, given)
    except NoSuchMemory:
        if at:
            read_moment(at)  # the page shows it
        return values | {
            "hits": searching.search(memories, given, None, PAGE).hits if given else ()
        }
    left_out = session_view.LEFT_OUT.get(found.left_out, found.left_out)
    return values | {
        "why": found,
        "left_out": left_out,
        "stopped": session_view.why_stopped(found),
    }


def _read_sent_text(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    texts = list_sent(memories, request.path["id"])[1]
    number = row_number(request.path["number"])
    if number is None or number >= len(texts):
        raise NotFound("this session has no such text")
    if missing := session_view.missing_text(texts[number], _is_withheld(request)):
        raise NotFound(f"the text is {missing}")
    return {"raw": texts[number].text}


def _injections(memories: Runtime, _: PageRequest) -> dict[str, Any]:
    ledger = reports.get_ledger(memories)
    by_day = sorted(ledger.by_day, key=lambda spent: spent.name.partition(" ")[0], reverse=True)
    return {
        "impressions": reports.get_impressions(memories),
        "by_day": by_day,
        "characters": sum(spent.characters for spent in by_day),
        "costly": [
            (spent, memory)
            for spent in ledger.unused
            if (memory := ledger.memories.get(spent.name)) and memory.live
        ],
    }


def _cost(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    ledger, spent = reports.get_ledger(memories), reports.get_cost(memories)
    texts = session_view.spent_json(ledger, _is_withheld(request))
    return {"spent": spent, "texts": texts, "days": session_view.spent_days(ledger, spent["ai"])}


LOGGED = 20


def _log(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    at, after = request.query.get("at", ""), request.query.get("after", "")
    if at:
        then = curation.list_at(memories, read_moment(at), PAGE, after)
        following = then.memories[-1].id if then.has_more and then.memories else ""
        return {"at": at, "then": then, "most": COUNTED, "next": following}
    events = curation.list_events(memories, PAGE + 1, after)
    page = {
        "at": "",
        "others": list_recorded(memories),
        "events": events[:PAGE],
        "next": events[PAGE - 1].id if len(events) > PAGE else "",
    }
    for name, read in (("refusals", reports.list_refusals), ("decisions", reports.list_decisions)):
        rows = read(memories, LOGGED + 1, before=row_number(request.query.get(name, "")))
        page[name] = rows[:LOGGED]
        page[f"earlier_{name}"] = rows[LOGGED - 1]["id"] if len(rows) > LOGGED else ""
    return page


PAGES = (
    Page("/", "today.html", today_page.read, live="memory session injection guard job"),
    Page("/memories", "memories.html", memory_pages.read_list, part="rows.html", live="memory"),
    Page("/review", "review.html", _review, part="review_card.html", live="review"),
    Page("/sessions", "sessions.html", _timeline, live="session"),
    Page("/session/{id}", "session.html", _session, live="session injection memory guard"),
    Page("/session/{id}/why", "why.html", _why),
    Page("/session/{id}/text/{number}", "", _read_sent_text),
    Page("/injections", "injections.html", _injections, "What was sent", live="injection"),
    Page("/cost", "cost.html", _cost, "Cost"),
    Page("/log", "log.html", _log, "Log and undo", live="memory guard"),
    *memory_pages.PAGES,
    *replay_page.PAGES,
    *practice_pages.PAGES,
    *upkeep_pages.PAGES,
    Page("/upkeep", "upkeep.html", _overview, "Upkeep", live="memory session guard job"),
    Page("/keys", "keys.html", lambda *_: {}, "Keys"),
)


class Place(Value):
    """One of the four that the bar on top leads to."""

    path: str
    name: str
    below: tuple[str, ...] = ()
    """Beginnings of the addresses of its pages."""


PLACES = (
    Place(path="/", name="Today"),
    Place(path="/memories", name="Memories", below=("/memory/", "/line/")),
    Place(path="/review", name="Review"),
    Place(path="/sessions", name="Sessions", below=("/session/",)),
)
MORE = {
    "Look closer": "/replay /log /cost /injections /graph",
    "Teach": "/procedures /skills /missions /agents /eval",
    "Keep running": "/doctor /settings /upkeep /keys",
}
"""Pages under More, by what somebody wants there."""


def list_more() -> list[tuple[str, list[Page]]]:
    by_path = {page.path: page for page in PAGES}
    return [(title, [by_path[path] for path in paths.split()]) for title, paths in MORE.items()]


def _act(
    verb: str, act: Callable[..., Done], read: Callable[[PageRequest], Any] = lambda _: {}
) -> Act:
    def do(memories: Runtime, request: PageRequest) -> Done:
        return act(memories, request.path["id"], request.revision, **read(request))

    return Act(f"/memory/{{id}}/{verb}", do)


def _fields(*names: str) -> Callable[[PageRequest], dict[str, str]]:
    return lambda request: {
        name: request.form.get(name, "").replace("\r\n", "\n").strip() for name in names
    }


def _follow(verb: str, function: Callable[..., Memory], **fixed: Any) -> Act:
    """Return the act of an operation on one memory, whose fields are those of its signature."""

    def do(memories: Runtime, request: PageRequest) -> Done:
        form = request.form | {"id": request.path["id"]}
        memory = forms.call(memories, function, form, **fixed)
        return undoable.by_memory(verb, memories, memory)

    return Act(f"/memory/{{id}}/{verb}", do)


def _skip(memories: Runtime, request: PageRequest) -> Done:
    return undoable.skip(memories, searching.get(memories, request.path["id"]).id)


def _promote(memories: Runtime, request: PageRequest, *, pinned: bool = False) -> Done:
    """Confirm a memory; a quarantined one needs the digits that the terminal shows."""
    memory = searching.get(memories, request.path["id"])
    if memory.quarantine_reason:
        if request.site.show_digits is None:
            raise NotAllowed(f"{memory.id} is in quarantine, and no terminal shows digits for it")
        if not request.site.entry.check_digits(memory.id, request.form.get("digits", "")):
            raise NotAllowed(
                f"these are not the digits for {memory.id}", "ask for new ones on its page"
            )
    form = request.form | {"id": memory.id}
    promoted = forms.call(memories, memory_operations.promote, form, pinned=pinned)
    return undoable.by_memory("pin" if pinned else "promote", memories, promoted)


def _show_digits(memories: Runtime, request: PageRequest) -> None:
    memory = searching.get(memories, request.path["id"])
    if request.site.show_digits is None:
        raise NotAllowed("no terminal shows digits")
    request.site.show_digits(memory.id, request.site.entry.new_digits(memory.id))


def _delete_hard(memories: Runtime, request: PageRequest) -> None:
    memory = searching.get(memories, request.path["id"])
    if request.form.get("typed", "").strip() != memory.id:
        raise UsageError("the typed id is another one", f"type {memory.id} to delete it for good")
    form = request.form | {"id": memory.id}
    forms.call(memories, memory_operations.remove, form, hard=True)
    request.project.done.clear()  # which hold texts; the log takes back those of other memories
    request.project.undone.clear()


def _settle(memories: Runtime, request: PageRequest) -> Done:
    return undoable.keep_both(memories, request.path["id"], request.form.get("other", ""))


def _accept_place(memories: Runtime, request: PageRequest) -> Done:
    return undoable.accept_place(memories, request.path["id"], request.form.get("place", ""))


def _undo_event(memories: Runtime, request: PageRequest, label: str = "") -> Done:
    """Undo an act of the log; an act is brought back by undoing the undo of it."""
    event = request.form.get("event", "")
    return undoable.by_event(label or f"undo {event}", event).undo(memories)


def _decide_all(memories: Runtime, request: PageRequest) -> Done:
    """Decide in one act about the memories of each `ID:REVISION` that is selected."""
    found = []
    for given in dict.fromkeys(request.lists.get("id", [])):  # one of two pairs may stand twice
        id, _, revision = given.partition(":")
        memory = searching.get(memories, id)
        require_revision(memory, revision_of(revision))
        found.append(memory)
    verb, tag = (request.form.get(name, "").strip() for name in ("verb", "tag"))
    return undoable.decide_all(memories, found, verb, tag)


ACTS = (
    Act("/memory/{id}/promote", _promote),
    Act("/memory/{id}/promote-pinned", partial(_promote, pinned=True)),
    Act("/memory/{id}/digits", _show_digits),
    _act("edit-promote", undoable.edit_and_promote, lambda request: request.changes),
    Act("/memory/{id}/skip", _skip),
    _follow("reject", memory_operations.reject, confirmed=True),
    _follow("archive", memory_operations.remove, how="archive"),
    _follow("restore", memory_operations.restore),
    _follow("delete", memory_operations.remove, how="delete"),
    _follow("pin", memory_operations.pin),
    _follow("unpin", memory_operations.pin, pinned=False),
    _act("edit", undoable.edit, lambda request: request.changes | {"when": request.occasions}),
    Act("/memory/{id}/delete-hard", _delete_hard),
    Act("/memory/{id}/settle", _settle),
    _act("supersede", undoable.supersede, _fields("by")),
    _act("only-tell", undoable.only_tell),
    Act("/memory/{id}/belongs", _accept_place),
    _act("merge", undoable.merge, _fields("into", "content")),
    Act("/memories/decide", _decide_all),
    *memory_pages.ACTS,
    *replay_page.ACTS,
    *today_page.ACTS,
    Act("/log/undo", _undo_event),
    Act("/log/redo", partial(_undo_event, label="redo")),
    *practice_pages.ACTS,
    *upkeep_pages.ACTS,
)
