"""Answer the slash commands that a person types: `/ademem:review keep ID`, `/ademem:why`.

The prompt hook reads them, so a decision comes from what the person typed. What a model runs never
gets here. Answers go to the person alone, but for the hits of a recall.
"""

from __future__ import annotations

from ademem.core import client, untrusted, who
from ademem.core.client import Payload, mission_of
from ademem.core.errors import AdememError
from ademem.core.memory import Memory, Trust, claimed_name
from ademem.core.text import counted, preview, sha256_hex
from ademem.core.untrusted import visible
from ademem.core.value import replace
from ademem.search.engine import Filters, as_shown, current, search
from ademem.session import linked_files, notices, review_list
from ademem.session.turn_tracking import new_key
from ademem.store import (
    adopted,
    injections,
    kept_copies,
    ledger,
    logs,
    memories,
    relations,
    revisions,
    transitions,
    turns,
)
from ademem.store.transitions import Act, CannotDo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from ademem.files.instructions.reading import Reading
    from ademem.search.ranking import Hit
    from ademem.store.runtime import Runtime

    Command = Callable[[str, Payload, Runtime], str]
    Change = Callable[[str, Act], str]

NEEDS_TERMINAL = "`ademem review` in your own terminal shows it and asks"
HITS = 5
LISTED = 20
MOST_DIGITS = 3
"""Longest number of an item in a list; a memory's id is longer."""
CHARS = 50
"""Longest text in a line, behind the id of its memory: the client breaks lines above 66."""
ITEM_CHARS = 100
"""Longest text of a line of a file, for the model."""
TEXT_CHARS = 41
"""Behind what was done with it."""
DECIDE_CHANGE = (
    "/ademem:review take ID lets theirs hold, /ademem:review mine ID yours, for everybody"
)
DECIDE = "/ademem:review keep ID confirms, /ademem:review drop ID removes; several ids are fine"
HOW_TO_EDIT = "/ademem:edit ID NEW TEXT changes one"
HOW_TO_PIN = "/ademem:pin ID shows it in each briefing, /ademem:pin off ID no longer"
HOW_TO_KEEP = "/ademem:keep ID or its number confirms one; without either what was named last"
HOW_TO_DROP = "/ademem:drop ID or its number removes one; without either what was named last"
HOW_TO_UNDO = "/ademem:undo ID takes back its last change, with an event of `ademem log` that act"


def answer(payload: Payload, runtime: Runtime) -> str | None:
    name, text = _split(payload.prompt)
    command = COMMANDS.get(name)
    if command is None:
        return None
    if not runtime.is_read_only and runtime.by.is_proven:
        key = f"{payload.session_id}:{payload.prompt_id}:{sha256_hex(payload.prompt)}"
        if not ledger.claim(runtime.store, "prompt", key, runtime.now):
            return ""  # the hook of a second installation answered
    return command(text, payload, runtime)


def dictation(prompt: str) -> str:
    """Return `/ademem:remember TEXT` as the dictation that it is, on one line; others as typed."""
    name, text = _split(prompt)
    return f"remember: {' '.join(text.split())}" if name == "remember" and text else prompt


def recall(text: str, payload: Payload, runtime: Runtime) -> str:
    """Show the hits to the person and to the model, whose turn counts as one with a search."""
    if not text:
        return _block("ademem: name what to look for: /ademem:recall login tokens")
    filters = Filters(here=runtime.branch, elsewhere=False, mission=mission_of(runtime.environment))
    found = search(text, runtime.store, filters, runtime.now, limit=HITS)
    hits = [hit for hit in current(found) if not hit.weak]
    weaker = len(found.hits) - len(found.answers)
    rest = f" ({weaker} weaker: `ademem recall --all`)" if weaker else ""
    items = _find_items(text, runtime)
    if not hits and not items:
        return _block(
            f"ademem: nothing found for “{preview(visible(text), TEXT_CHARS // 2)}”{rest}"
        )
    entries = [
        untrusted.entry(hit.memory, mark=hit.mark, newer=hit.newer.line if hit.newer else "")
        for hit in hits
    ]
    entries += map(untrusted.escape, items)
    context = f"Project memory, as the person looked it up:\n{untrusted.fence(entries)}"
    if not runtime.is_read_only and runtime.by.is_proven:
        _note_lookup(text, hits, entries, context, payload, runtime)
    number = counted(len(hits), "memory")
    lines = [f"ademem: {number}{rest}", *(_line(hit.memory) for hit in hits)]
    lines += (preview(f"  {visible(item)}", review_list.CHARS) for item in items)
    return client.context("UserPromptSubmit", context, ["\n".join(lines)])


def _find_items(text: str, runtime: Runtime) -> list[str]:
    """Return lines of instruction files that answer, without what the client itself loads."""
    if not memories.any_adopted(runtime.store):
        return []
    from ademem.search import instruction_search

    found = instruction_search.search(runtime, text)
    return [
        f"{each.where} [{each.kind}] {preview(each.text, ITEM_CHARS)}"
        for each in found
        if not each.loaded
    ]


def _note_lookup(
    text: str,
    hits: Sequence[Hit],
    entries: Sequence[str],
    context: str,
    payload: Payload,
    runtime: Runtime,
) -> None:
    key = new_key(payload, runtime)
    with runtime.store.transaction():
        turns.begin(runtime.store, key, "none", "memory is looked up", "", runtime.now)
        turns.note_search(runtime.store, key, runtime.now)
        logs.log_shown(runtime.store, "recall", as_shown(hits), runtime.now, key=key, query=text)
        placed = injections.place_entries((hit.memory for hit in hits), entries[: len(hits)])
        injections.record(runtime, "user_prompt_submit", context, key, placed)


def review(text: str, payload: Payload, runtime: Runtime) -> str:
    verb, *ids = text.split() or [""]
    if verb == "changes":
        return _block("\n".join(_change_lines(runtime)))
    if verb not in DECISIONS:
        return _block("\n".join(_waiting_lines(payload, runtime)))
    return _act_on(DECISIONS[verb], ids, DECIDE, payload, runtime)


def keep(text: str, payload: Payload, runtime: Runtime) -> str:
    """Confirm memories; without an id what was named last in this session."""
    return _decide(_keep, HOW_TO_KEEP, text, payload, runtime)


def drop(text: str, payload: Payload, runtime: Runtime) -> str:
    return _decide(_drop, HOW_TO_DROP, text, payload, runtime)


def _decide(change: Change, how: str, text: str, payload: Payload, runtime: Runtime) -> str:
    """Decide by ids, by numbers of the list that was printed last, or what was named last."""
    words = text.split()
    numbers = [word for word in words if word.isdecimal() and len(word) <= MOST_DIGITS]
    if numbers and len(numbers) + sum(word in review_list.CHOICES for word in words) == len(words):
        printed = review_list.find_printed(payload.session_id, runtime)
        if printed is None:
            return _block("\n".join(_waiting_lines(payload, runtime)))
        return _decide_numbered(change, how, words, printed, payload, runtime)
    ids = words or ledger.list_offered(runtime.store, payload.session_id)
    return _act_on(change, ids, how, payload, runtime)


def _decide_numbered(
    change: Change,
    how: str,
    words: Sequence[str],
    printed: Sequence[review_list.Item],
    payload: Payload,
    runtime: Runtime,
) -> str:
    """Decide about items by their numbers, and about a contradiction by the word behind it."""
    chosen: dict[str, str] = {}
    last = ""
    for word in words:
        if word in review_list.CHOICES:
            chosen[last] = word if last else ""
        elif not 0 < int(word) <= len(printed):
            return _block("\n".join(_waiting_lines(payload, runtime)))
        else:
            last = printed[int(word) - 1].key
            chosen[last] = ""
    pairs = {item.key: item.found for item in printed if len(item.found) > 1}

    def decide(key: str, act: Act) -> str:
        if key not in pairs:
            return change(key, act)
        older, newer = pairs[key]
        match chosen[key]:
            case "new":
                transitions.supersede(older.id, act, newer.id)
                return f"keeps: {_text(newer)}"
            case "old":
                transitions.supersede(newer.id, act, older.id)
                return f"keeps: {_text(older)}"
            case "both":
                relations.resolve(act.store, older, newer, act.actor, act.now)
                return f"both are true: {_text(older)}"
        raise CannotDo("two memories contradict each other", "say which: new, old or both")

    return _act_on(decide, list(chosen), how, payload, runtime)


def _waiting_lines(payload: Payload, runtime: Runtime) -> list[str]:
    lines = review_list.print_items(payload.session_id, runtime)
    lines += linked_files.describe_missing(runtime)
    if adopted.is_taken(runtime.store):
        from ademem.sync import instruction_state

        lines += map(visible, instruction_state.describe_lost(runtime))
    return lines


def edit(text: str, payload: Payload, runtime: Runtime) -> str:
    """Give a memory a new text, which may have several lines."""
    id, *rest = text.split(None, 1) or [""]

    def change(id: str, act: Act) -> str:
        return f"edited: {_text(_edit(id, rest[0], act, runtime))}"

    return _act_on(change, [id] if rest else [], HOW_TO_EDIT, payload, runtime)


def pin(text: str, payload: Payload, runtime: Runtime) -> str:
    ids = text.split()
    is_off = ids[:1] == ["off"]

    def change(id: str, act: Act) -> str:
        memory = transitions.pin(_decidable(id, act).id, act, pinned=not is_off)
        return f"{'unpinned' if is_off else 'pinned'}: {_text(memory)}"

    return _act_on(change, ids[is_off:], HOW_TO_PIN, payload, runtime)


def undo(text: str, payload: Payload, runtime: Runtime) -> str:
    """Take back an act, the last change of a memory, or without an id what a person did last."""
    last = revisions.last_event_of_person(runtime.store)
    return _act_on(_undo, text.split() or ([last] if last else []), HOW_TO_UNDO, payload, runtime)


def why(_text: str, payload: Payload, runtime: Runtime) -> str:
    from ademem.session import session_moments  # few prompts ask

    lines = session_moments.describe(payload.session_id, runtime)
    if not lines:
        return _block("ademem: this session was shown no memory yet")
    return _block("\n".join(lines))


def terminal(text: str, _payload: Payload, runtime: Runtime) -> str:
    """Add a terminal program to those in which commands count as a person's."""
    if not runtime.by.is_person:
        return _block(f"ademem: a person adds a terminal, and {who.describe(runtime.by)}")
    name = text.strip()
    if not name or len(name.split()) > 1 or "/" in name:
        return _block("ademem: name its process, as a refusal shows it: /ademem:terminal newterm")
    who.add_terminal(name)
    return _block(f"ademem: commands below {visible(name)} count as typed by you")


def adopt(text: str, _payload: Payload, runtime: Runtime) -> str:
    """Read the instruction files in place; a person says whether their lines may stop calls."""
    if runtime.is_read_only:
        return _block(runtime.copy_notice)
    if not runtime.by.is_person:
        return _block(f"ademem: a person adopts files, and {who.describe(runtime.by)}")
    from ademem.search import binding  # few prompts adopt
    from ademem.store import jobs
    from ademem.sync import adopting, instruction_state

    if not instruction_state.is_on(runtime):
        return _block("ademem: adopt.files is off: `ademem config set adopt.files auto`")
    word = text.strip().lower()
    if word not in ("", "yes", "no"):
        return _block("ademem: /ademem:adopt reads the files; yes or no behind it decides")
    adopted.take(runtime.store, runtime.now)
    if word:
        adopted.answer(runtime.store, yes=word == "yes")
    read = adopting.adopt(runtime).reading
    jobs.queue(runtime.store, "adopt", "project", runtime.now)
    binding.renew_lists(runtime)
    return _block("\n".join(_describe_adopted(read, adopted.may_stop(runtime.store))))


def _describe_adopted(read: Reading, may_stop: bool) -> list[str]:
    from ademem.search import mentions

    binds = [each for each in read.items if each.is_current and mentions.binds(each.text)]
    lines = [
        f"ademem: {counted(len(read.items), 'item')} of {counted(len(read.files), 'file')} adopted"
    ]
    lines += [f"  {visible(each.path)}: {counted(each.items, 'item')}" for each in read.files]
    lines = [*lines[:LISTED], "  …"] if len(lines) > LISTED else lines
    if may_stop:
        lines.append(f"{counted(len(binds), 'line')} may stop a call: /ademem:adopt no ends that")
    elif binds:
        lines.append(f"{counted(len(binds), 'line')} may stop a call after /ademem:adopt yes")
    return lines


def _block(text: str) -> str:
    """Answer in place of the model, in lines that the client does not break anew."""
    return client.block("\n".join(part for line in text.split("\n") for part in _wrap(line)))


def _wrap(line: str) -> list[str]:
    if len(line) <= review_list.CHARS:
        return [line]
    from textwrap import wrap

    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return wrap(
        line,
        review_list.CHARS,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


COMMANDS: dict[str, Command] = {
    "adopt": adopt,
    "drop": drop,
    "edit": edit,
    "keep": keep,
    "pin": pin,
    "recall": recall,
    "review": review,
    "terminal": terminal,
    "undo": undo,
    "why": why,
}
"""Commands that are answered here; `/ademem:remember` is a dictation."""


def _split(prompt: str) -> tuple[str, str]:
    name, *rest = prompt.removeprefix(client.SLASH).split(None, 1) or [""]
    return name, "".join(rest).strip()


def _act_on(
    change: Change, ids: Sequence[str], how: str, payload: Payload, runtime: Runtime
) -> str:
    """Let a person change each memory, and say what was done."""
    if runtime.is_read_only:
        return _block(runtime.copy_notice)
    if not runtime.by.is_person:
        return _block(f"ademem: a person decides this, and {who.describe(runtime.by)}")
    if not ids:
        return _block(f"ademem: name the memory\n  {how}")
    done = [f"ademem: {_change(change, id, payload, runtime)}" for id in ids]
    notices.update_status_line(runtime, payload.session_id)
    return _block("\n".join(done))


def _change(change: Change, id: str, payload: Payload, runtime: Runtime) -> str:
    store = _holding(id, runtime).store
    act = Act(
        store=store,
        now=runtime.now,
        actor=Trust.USER,
        session_id=payload.session_id,
        branch=runtime.branch,
    )
    try:
        with store.transaction():
            return change(id, act)
    except AdememError as error:
        return f"{error}\n  {error.hint}" if error.hint else str(error)


def _holding(id: str, runtime: Runtime) -> Runtime:
    own = runtime.open_personal()
    return own if own and revisions.has_event(own.store, id) else runtime.holding(id)


def _decidable(id: str, act: Act) -> Memory:
    """Return a memory that is not quarantined: to approve one needs a terminal."""
    memory = memories.get(act.store, id)
    if memory.quarantine_reason:
        raise CannotDo(f"{memory.id} reads like an order to a model", NEEDS_TERMINAL)
    return memory


def _keep(id: str, act: Act) -> str:
    return f"confirmed: {_text(transitions.promote(_decidable(id, act).id, act))}"


def _drop(id: str, act: Act) -> str:
    return f"removed: {_text(transitions.refuse(_decidable(id, act).id, act))}"


def _take(id: str, act: Act) -> str:
    return f"taken: {_text(kept_copies.take(id, act))}"


def _keep_mine(id: str, act: Act) -> str:
    return f"yours holds: {_text(kept_copies.keep_mine(id, act))}"


DECISIONS: dict[str, Change] = {"keep": _keep, "drop": _drop, "take": _take, "mine": _keep_mine}
"""What may stand behind `/ademem:review`."""


def _edit(id: str, text: str, act: Act, runtime: Runtime) -> Memory:
    from ademem.synthesis import anchoring  # few prompts edit

    memory, settings = _decidable(id, act), runtime.settings.gate
    if excess := transitions.describe_excess(text, memory.title, settings):
        raise CannotDo(f"the text {excess}")
    changes: dict[str, Any] = {"content": text}
    if memory.anchors:
        changes["anchors"] = anchoring.renew_values(
            memory.anchors, runtime.project.root, replace(memory, content=text).whole_text
        )
    return transitions.edit(memory.id, act, settings, **changes)


def _undo(named: str, act: Act) -> str:
    from ademem.synthesis.undoing import undo_event  # few prompts undo

    event = named
    if not revisions.has_event(act.store, named):
        event = revisions.last(act.store, memories.get(act.store, named).id).event_id
    for memory in undo_event(event, act, dry_run=True):
        _decidable(memory.id, act)
    texts = [
        memory.id if memory.quarantine_reason else _text(memory)
        for memory in undo_event(event, act)
    ]
    more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
    return f"undone: {texts[0]}{more}"


def _change_lines(runtime: Runtime) -> Iterator[str]:
    found = kept_copies.list_changes(runtime.store)
    if not found:
        yield "ademem: nobody else changed what you stated"
        return
    yield f"ademem: others changed {counted(len(found), 'memory')} of yours, which stay in force"
    for each in found[:LISTED]:
        who = claimed_name(each.author) or "another person"
        text = "removed" if each.kind == "removed" else _text(each.shared)
        if each.until:
            text = f"deleted for good; yours is kept until {each.until.date().isoformat()}"
        yield f"{_line(each.copy)}"
        yield f"    {who}: {text}" + (" (marks)" if each.kind == "marks" else "")
    yield DECIDE_CHANGE


def _text(memory: Memory | None) -> str:
    return preview(visible(memory.content), TEXT_CHARS) if memory else "it is gone"


def _line(memory: Memory) -> str:
    return f"  {memory.id}  {preview(visible(memory.content), CHARS)}"
