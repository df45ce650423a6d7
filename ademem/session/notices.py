"""Lines that hooks show to the person, and not to the model: one at a moment.

Of several the first is shown: failures, refusals, others' changes, what was stored, effects,
numbers. The others wait for the next moment of the session, but for effects and numbers.
"""

from __future__ import annotations

import os

from ademem.core import confined, plugins, trust, untrusted
from ademem.core.clock import parse
from ademem.core.errors import suppress
from ademem.core.memory import claimed_name
from ademem.core.project import import_waits
from ademem.core.repository import git_root, under_way
from ademem.core.settings import summarize_warnings
from ademem.core.text import counted, opening, preview, truncate
from ademem.store import admission, ledger
from ademem.store.memories import any_kept_copy
from ademem.store.runtime import Runtime, program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ademem.capture.gate import Written
    from ademem.core.client import Payload
    from ademem.core.memory import Memory
    from ademem.files.texts import Problem

    Notice = Callable[[Runtime], Iterator[str]]

CHARS = 98
"""Longest line without its mark."""
NAMED = 3
CALL_CHARS = 28
MOST_PLACES = 2
NAMES_CHARS = 24
PLACE_CHARS = 32
"""Longest path in a command; a longer one, or one that a shell reads otherwise, is `PATH`."""
MOST_WAITING = 100
MOST_STORED = 3
ENTRIES = 2000
"""Most names below `.ade/` that a hook looks at; `ademem files check` looks at all."""


def is_quiet(runtime: Runtime) -> bool:
    return runtime.settings.notice.level == "quiet"


def choose(session_id: str, lines: Iterable[str], runtime: Runtime) -> list[str]:
    """Return the first of *lines* that tell more than numbers, and let the others wait."""
    found = [*lines]
    if runtime.is_read_only:
        return found[:1]
    left = ledger.list_waiting_notices(runtime.store, session_id)
    found += left
    if found[1:] or left:
        ledger.keep_notices(runtime.store, session_id, found[1:])
    return found[:1]


def summarize(confirmed: int, session_id: str, runtime: Runtime) -> list[str]:
    """Return the line with the numbers of memories and what the last session brought."""
    waiting = write_status(confirmed, session_id, runtime)
    if is_quiet(runtime):
        return []
    if not confirmed and not waiting:
        return [_explain_none(runtime)]
    parts = [_count(confirmed + waiting)]
    if done := _list_last_effects(session_id, runtime):
        parts.append(f"last session {done}")
    if waiting:
        parts.append(f"{_count_waiting(waiting)} (/ademem:review)")
    return [f"ademem: {' · '.join(parts)}"]


def write_status(confirmed: int, session_id: str, runtime: Runtime) -> int:
    """Write what `statusline.sh` shows of the running session; return how many memories wait."""
    from ademem.store import effects, logs, memory_queries  # few hooks count memories

    waiting = min(sum(memory_queries.count_waiting(runtime.store).values()), MOST_WAITING)
    done = effects.collect(runtime, session=session_id).counts if session_id else {}
    parts = [_count(confirmed + waiting) if confirmed or waiting else "no memories yet"]
    parts += (f"{kind} {done[kind]:,}" for kind in logs.EFFECTS if done.get(kind))
    parts += [_count_waiting(waiting)] if waiting else []
    with suppress(OSError, confined.Refused):
        confined.write_text(
            runtime.project.root,
            f"{runtime.project.run}/status",
            f"ademem: {'; '.join(parts)}\n",  # `statusline.sh` shows plain letters alone
            sync=False,
        )
    return waiting


def _count(memories: int) -> str:
    from ademem.store import briefs

    least = "at least " if memories >= briefs.COUNTED else ""
    return f"{least}{counted(memories, 'memory')}"


def _count_waiting(waiting: int) -> str:
    number = f"{waiting} or more" if waiting == MOST_WAITING else str(waiting)
    return f"{number} {'waits' if waiting == 1 else 'wait'}"


def _list_last_effects(session_id: str, runtime: Runtime) -> str:
    """Return what the session before this one brought: “prevented 1, answered 2”."""
    from ademem.store import effects, logs, sessions

    last = sessions.find_last(runtime.store, but=session_id)
    done = effects.collect(runtime, session=last).counts if last else {}
    return ", ".join(f"{kind} {done[kind]:,}" for kind in logs.EFFECTS if done.get(kind))


def _explain_none(runtime: Runtime) -> str:
    """Return the line of a project without memories, and what it asks for."""
    from ademem.store import memory_queries

    if next(memory_queries.list_removed(runtime.store), None):
        return "ademem: all memories are archived (`ademem list --status archived`)"
    if under_way(runtime.project.root):
        return "ademem: no memories yet; files are read when git's merge or rebase is over"
    if import_waits(runtime.project):
        return "ademem: no memories until the files are imported"
    from ademem.sync import instruction_state

    if found := instruction_state.describe_undecided(runtime):
        return f"ademem: no memories yet · {found} (/ademem:adopt)"
    return 'ademem: no memories yet · say "remember: …" to keep one'


def update_status_line(runtime: Runtime, session_id: str = "") -> None:
    from ademem.store import briefs

    write_status(briefs.count_confirmed(runtime.store), session_id, runtime)


def describe_not_stored(written: Iterable[Written]) -> list[str]:
    """Return a line for each text of a prompt that was refused or held back."""
    lines = []
    for each in written:
        if each.memory is None:
            why = (each.reason or each.rule).partition(";")[0]
            lines.append(_fitting("ademem: not stored: it ", why, " (`ademem log --refused`)"))
        elif each.memory.quarantine_reason:
            lines.append("ademem: held back, as it reads like an order to a model: `ademem review`")
    more = len(lines) - MOST_STORED
    return lines[:MOST_STORED] + ([f"ademem: and {more} more"] if more > 0 else [])


def describe_kept(written: Iterable[Written], runtime: Runtime) -> list[str]:
    """Return the line about what a prompt dictated and memory has now."""
    kept = [each for each in written if each.memory and not each.memory.quarantine_reason]
    if not kept or is_quiet(runtime):
        return []
    first, memory = kept[0], kept[0].memory
    assert memory
    is_typed = runtime.by.is_person
    done = "kept" if is_typed else "noted for review"
    done += " in part, as it is too long" if first.is_cut else ""
    end = f" (+{len(kept) - 1})" if len(kept) > 1 else ""
    if first.deduped:
        end += " (kept already)"
    elif not is_typed:
        end += f" (confirm: `ademem promote {memory.id}`)"
    else:
        places = _places_of(memory, runtime)
        end += f"{places} (undo: /ademem:undo)"
    return [_fitting(f"ademem {done}: ", memory.content, end)]


def _places_of(memory: Memory, runtime: Runtime) -> str:
    """Return “ · at npm install, npx” for a memory that is bound to something surely."""
    from ademem.search import binding
    from ademem.store import bindings

    binding.refresh(runtime)
    at = bindings.list_of(runtime.holding(memory.id).store, memory)
    names = [
        confined.printable(binding.tell_place(each))
        for each in at
        if each.strength not in ("worded", "guessed")
    ]
    return f" · at {preview(', '.join(names[:MOST_PLACES]), PLACE_CHARS)}" if names else ""


def describe_given(found: Sequence[Memory], runtime: Runtime) -> list[str]:
    """Return the line about memories that were added to a prompt."""
    if is_quiet(runtime) or not found:
        return []
    more = f" (+{len(found) - 1})" if len(found) > 1 else ""
    return [_fitting("ademem gave Claude: ", found[0].content, more)]


def describe_told(found: Sequence[Memory], call: str, runtime: Runtime) -> list[str]:
    """Return the line about memories that were added to a call."""
    if is_quiet(runtime) or not found:
        return []
    more = f" (+{len(found) - 1})" if len(found) > 1 else ""
    before = preview(untrusted.visible(call), CALL_CHARS)
    return [_fitting(f"ademem told Claude before {before}: ", found[0].content, more)]


def describe_turn(prevented: Sequence[str], noted: Sequence[Memory], runtime: Runtime) -> list[str]:
    """Return the line about a turn that ended: what was prevented in it, and what was noted."""
    if is_quiet(runtime) or not (prevented or noted):
        return []
    if not prevented:
        number = f" {len(noted)}" if len(noted) > 1 else ""
        text = noted[0].content.partition("\n")[0]
        return [_fitting(f"ademem noted{number}: ", text, " (/ademem:keep or /ademem:drop)")]
    more = f" (+{len(prevented) - 1})" if len(prevented) > 1 else ""
    end = f"{more} · noted {len(noted)} (/ademem:keep)" if noted else more
    return [_fitting("ademem prevented ", prevented[0], end)]


def describe_untrusted(rule: Memory, how: str, runtime: Runtime) -> list[str]:
    if is_quiet(runtime):
        return []
    return [_fitting("ademem: only noted: ", rule.content, f"; `{how}` lets it stop calls")]


def describe_problems(problems: Sequence[Problem]) -> list[str]:
    if not problems:
        return []
    first, more = problems[0], len(problems) - 1
    where = first.path if first.line is None else f"{first.path}:{first.line}"
    text = first.message if first.hint else f"{where}: {first.message}"
    end = f"{f' (and {more} more)' if more else ''} (`{first.hint or 'ademem files check'}`)"
    return [_fitting("ademem: not imported: ", text, end)]


def describe_receipts(runtime: Runtime) -> list[str]:
    """Tell once what was done outside the client in the person's name."""
    from ademem.store import receipts

    rows = receipts.take(runtime.store)
    found = runtime.list_by_ids(id for *_, id in rows) if rows else {}
    lines = []
    for at, where, done, id in rows[:MOST_STORED]:
        here = f"ademem: {done} in {where} at {parse(at).astimezone():%H:%M}"
        memory = found.get(id)
        if not id:
            back = " (not you? `ademem trust --revoke`)" if done.startswith("trusted") else ""
            lines.append(f"{here}{back}")
        elif memory is None or memory.quarantine_reason:
            lines.append(f"{here}: {id} (not you? `ademem log`)")
        else:
            lines.append(_fitting(f"{here}: “", memory.content, f"” (not you? /ademem:undo {id})"))
    more = len(rows) - MOST_STORED
    if more > 0:
        lines.append(f"ademem: and {counted(more, 'more act')} in your name (`ademem log`)")
    return lines


def describe_sender(runtime: Runtime) -> list[str]:
    """Tell once for a database that its client is not recognised, and what follows."""
    by = runtime.by
    if not runtime.is_read_only:
        from ademem.store import sessions

        sessions.note_sender(runtime.store, "" if by.is_proven else by.why, runtime.now)
    if by.is_proven or not trust.claim_notice(
        f"sender {by.why}", runtime.project.database, runtime.environment
    ):
        return []
    follows = "so nothing of its prompts is stored"
    why = f"{by.why}, {follows}"
    return [_fitting("ademem: this client is not recognised: ", why, "; `ademem add` stores")]


def describe_failure(event: str, error: Exception) -> str:
    from ademem.store.migration import TakesLonger  # which only a hook that failed needs

    if isinstance(error, TakesLonger):
        return f"ademem: {error}; {error.hint}"
    return f"ademem: its hook {event} failed ({type(error).__name__}); `ademem doctor` shows why"


def offer_init(environment: Mapping[str, str]) -> list[str]:
    """Return the offer to enrol this project, once, in an interactive session of a repository."""
    folder = environment.get("CLAUDE_PROJECT_DIR", "")
    interactive = environment.get("CLAUDE_CODE_ENTRYPOINT") == "cli"
    if not interactive or not git_root(folder):
        return []
    extend_path(environment)
    if not trust.claim_notice("init", os.path.realpath(folder), environment):
        return []
    return ["ademem: this project has no memory yet; `! ademem init` starts one (shown once)"]


def extend_path(environment: Mapping[str, str]) -> None:
    """Add `ademem` to the PATH of the session's shell if it is not on the person's."""
    where = program(environment)
    env_file = environment.get("CLAUDE_ENV_FILE")
    if env_file and os.path.isabs(where):
        with open(env_file, "a", encoding="utf-8") as file:
            file.write(f'export PATH="$PATH:{os.path.dirname(where)}"\n')


def _fitting(beginning: str, text: str, end: str) -> str:
    """Return one line of at most CHARS, in which the text is cut."""
    room = max(8, CHARS - len(beginning) - len(end))
    return f"{beginning}{opening(untrusted.visible(text), room)}{end}"


def collect(payload: Payload, runtime: Runtime) -> list[str]:
    """Return the lines of NOTICES once a session, and those of ONCE at any start."""
    of_parts = (each for part in plugins.modules("NOTICES") for each in part.NOTICES)
    lines = [line for notice in (*NOTICES, *of_parts) for line in notice(runtime)]
    if lines and not ledger.claim(runtime.store, "notices", payload.session_id, runtime.now):
        lines = []
    lines += describe_changes(payload.session_id, runtime)
    lines += [line for notice in ONCE for line in notice(runtime)]
    return [truncate(line, CHARS) for line in lines]


def database_made_elsewhere(runtime: Runtime) -> Iterator[str]:
    project, environment = runtime.project, runtime.environment
    for path in admission.list_foreign(project):
        if trust.claim_notice(f"{path} {os.lstat(path).st_ino}", project.database, environment):
            name = os.path.basename(path)
            yield f"ademem set {name} aside: it was not made here (`ademem doctor` tells more)"
    if not runtime.store.is_trusted and trust.claim_notice(
        "not registered", project.database, environment
    ):
        yield _ask_for_trust(runtime)


def _ask_for_trust(runtime: Runtime) -> str:
    from ademem.store import memory_queries

    claims = memory_queries.find_database_claims(runtime.store)
    if not claims or not claims.pins:
        return (
            "ademem: your words in ade.db count as imported; `ademem trust --database` changes it"
        )
    more = f" (and {claims.pinned - 1:,} more)" if claims.pinned > 1 else ""
    return _fitting(
        "ademem: `ademem trust --database` makes ade.db yours; pins: ", claims.pins[0], more
    )


def refused_files(runtime: Runtime) -> Iterator[str]:
    project = runtime.project
    found = confined.refusals(project.root, project.ade, ENTRIES, removes_stale=True)
    if project.home != project.ade:
        found += confined.refusals(project.home_root, project.home, ENTRIES, removes_stale=True)
    if found:
        yield describe_refused(found[0], len(found) - 1)


def settings_in_doubt(runtime: Runtime) -> Iterator[str]:
    if runtime.warnings:
        yield f"ademem: {summarize_warnings(runtime.warnings)}"


def pending_import(runtime: Runtime) -> Iterator[str]:
    if import_waits(runtime.project):
        how = "the worker imports" if runtime.settings.jobs.auto else "`ademem work` imports"
        yield f"ademem: {how} what is new in .ade/memory; `ademem status` tells how much waits"


def copied_files(runtime: Runtime) -> Iterator[str]:
    if folder := ledger.take_copy(runtime.store, runtime.project.root):
        yield f"ademem removed much from .ade/memory; the files as they were are in {folder}"


def changed_sources(runtime: Runtime) -> Iterator[str]:
    for format, path, changed in ledger.changed_sources(runtime.store):
        name = confined.printable(os.path.basename(changed[0]))
        more = f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
        place = os.path.relpath(path, runtime.project.root)
        place = path if place.startswith("..") else place
        is_plain = all(char.isalnum() or char in "/._-" for char in place)
        place = place if is_plain and len(place) <= PLACE_CHARS else "PATH"
        again = f"`ademem import {place} --format {format} --follow`"
        yield _fitting("ademem: ", name, f"{more} changed since its import; {again}")


def came_with_files(runtime: Runtime) -> Iterator[str]:
    from ademem.store import memory_queries

    count = memory_queries.count_with_files(runtime.store)
    if not count:
        return
    about = f"files {runtime.store.secret}"
    if trust.claim_notice(about, runtime.project.database, runtime.environment):
        names = ", ".join(memory_queries.authors_with_files(runtime.store)[:NAMED])
        by = f", by {preview(names, NAMES_CHARS)}" if names else ""
        what = counted(count, "memory")
        yield f"ademem: {what} came with the files{by}; `ademem review --imported`"


def unpublished_skills(runtime: Runtime) -> Iterator[str]:
    """Ask once whether skills are written to where Claude Code loads them."""
    if asks_to_publish(runtime) and trust.claim_notice(
        "skills", runtime.project.database, runtime.environment
    ):
        yield "ademem wrote a skill; `ademem config set skills.publish true` lets Claude load it"


def asks_to_publish(runtime: Runtime) -> bool:
    """Tell whether skills were exported and nobody has said where they go."""
    from ademem.core.settings import load_configuration
    from ademem.store import procedures

    if runtime.settings.skills.publish or not procedures.any_exported(runtime.store):
        return False
    found = load_configuration(runtime.project, runtime.environment)
    return "skills.publish" not in found.origins


def describe_changes(session_id: str, runtime: Runtime) -> list[str]:
    """Tell once a session what others changed of what was stated here, and again what is new."""
    if not any_kept_copy(runtime.store):
        return []
    from ademem.store import kept_copies

    told = f"{session_id}:{kept_copies.count(runtime.store)}"
    if not ledger.claim(runtime.store, "changes", told, runtime.now):
        return []
    found = kept_copies.list_changes(runtime.store)
    who, what = _sum_up([(each.author, each.kind) for each in found])
    line = f"ademem: {who} changed {what}; yours stay in force (/ademem:review changes)"
    return [truncate(line, CHARS)]


def changed_by_trusted(runtime: Runtime) -> Iterator[str]:
    if found := ledger.take_trusted(runtime.store):
        who, what = _sum_up(found)
        yield f"ademem: {who}, whom you trust, changed {what}"


def _sum_up(changes: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return who made the changes, given as authors and kinds, and how many they are."""
    names = sorted({name for author, _ in changes if (name := claimed_name(author))})
    who = preview(", ".join(names[:NAMED]), NAMES_CHARS) if names else "others"
    return who, f"{len(changes)} of your memories"


def describe_refused(first: confined.Refused, others: int = 0) -> str:
    more = f" (and {others} more)" if others else ""
    name = confined.printable(os.path.basename(first.path))
    reason = "is too large" if " bytes" in first.reason else first.reason
    return _fitting("ademem left ", name, f" alone{more}: it {reason}. See `ademem files check`")


NOTICES: tuple[Notice, ...] = (refused_files, settings_in_doubt, pending_import, changed_sources)
"""Shown once a session."""
ONCE: tuple[Notice, ...] = (
    came_with_files,
    database_made_elsewhere,
    copied_files,
    changed_by_trusted,
    unpublished_skills,
)
"""Each records that it was shown, so its lines are never dropped."""
