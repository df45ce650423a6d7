"""Lines that hooks show to the person, and not to the model."""

from __future__ import annotations

import os

from ademem.core import confined, trust, untrusted
from ademem.core.clock import parse
from ademem.core.errors import suppress
from ademem.core.memory import claimed_name
from ademem.core.project import import_waits
from ademem.core.repository import git_root, under_way
from ademem.core.settings import summarize_warnings
from ademem.core.text import counted, preview, truncate
from ademem.store import admission, ledger, sessions
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

CHARS = 120
NAMED = 3
NAMES_CHARS = 44
PLACE_CHARS = 32
"""Longest path in a command; a longer one, or one that a shell reads otherwise, is `PATH`."""
MOST_WAITING = 100
MOST_STORED = 3
ENTRIES = 2000
"""Most names below `.ade/` that a hook looks at; `ademem files check` looks at all."""


def is_quiet(runtime: Runtime) -> bool:
    return runtime.settings.notice.level == "quiet"


def summarize(confirmed: int, runtime: Runtime) -> list[str]:
    """Return the line with the numbers of memories, which the status line shows, too."""
    from ademem.store import briefs, memory_queries  # few hooks count memories

    waiting = len(memory_queries.list_waiting(runtime.store, MOST_WAITING))
    least = "at least " if confirmed == briefs.COUNTED else ""
    line, ask = f"ademem: {least}{counted(confirmed, 'memory')}", ""
    if waiting:
        number = f"{waiting} or more" if waiting == MOST_WAITING else str(waiting)
        line += f", {number} {'waits' if waiting == 1 else 'wait'} for review"
        ask = " (/ademem:review)"
    elif not confirmed:
        line, ask = _explain_none(runtime)
    with suppress(OSError, confined.Refused):
        confined.write_text(
            runtime.project.root,
            f"{runtime.project.run}/status",
            line.replace("…", "...") + "\n",  # `statusline.sh` shows plain letters alone
            sync=False,
        )
    return [] if is_quiet(runtime) else [line + ask]


def _explain_none(runtime: Runtime) -> tuple[str, str]:
    """Return the line of a project without memories, and what it asks for."""
    from ademem.store import memory_queries

    if next(memory_queries.list_removed(runtime.store), None):
        return "ademem: all memories are archived", " (`ademem list --status archived`)"
    if under_way(runtime.project.root):
        return "ademem: no memories yet; files are read when git's merge or rebase is over", ""
    if import_waits(runtime.project):
        return "ademem: no memories until the files are imported", ""
    return 'ademem: no memories yet; "remember: …" in a prompt stores one', ""


def update_status_line(runtime: Runtime) -> None:
    from ademem.store import briefs

    summarize(briefs.count_confirmed(runtime.store), runtime)


def describe_stored(written: Iterable[Written], runtime: Runtime) -> list[str]:
    lines = []
    for each in written:
        memory = each.memory
        if memory is None:
            why = (each.reason or each.rule).partition(";")[0]
            lines.append(_fitting("ademem: not stored: it ", why, " (`ademem log --refused`)"))
        elif memory.quarantine_reason:
            lines.append("ademem: held back, as it reads like an order to a model: `ademem review`")
        elif not is_quiet(runtime):
            lines.append(_describe_kept(each, memory, runtime))
    more = len(lines) - MOST_STORED
    return lines[:MOST_STORED] + ([f"ademem: and {more} more"] if more > 0 else [])


def _describe_kept(written: Written, memory: Memory, runtime: Runtime) -> str:
    done = "stored" if memory.status == "promoted" else "noted for review"
    done += " in part, as it is too long" if written.is_cut else ""
    undo = f" (undo: /ademem:review drop {memory.id})"
    if not runtime.by.is_person:
        undo = f" (`ademem promote {memory.id}` in a terminal confirms it)"
    end = " (stored already)" if written.deduped else undo
    return _fitting(f"ademem: {done}: ", memory.content, end)


def describe_noted(noted: Sequence[Memory]) -> list[str]:
    """Return the line about what the model keeps for itself, in files of the client."""
    more = f" (and {len(noted) - 1} more)" if len(noted) > 1 else ""
    end = f"” for itself{more} · /ademem:keep"
    return [_fitting("ademem: Claude noted “", noted[0].content.partition("\n")[0], end)]


def describe_carried(memories: Iterable[Memory], runtime: Runtime) -> list[str]:
    texts = [memory.content for memory in memories]
    if is_quiet(runtime) or not texts:
        return []
    more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
    return [_fitting("ademem: reminded Claude first: ", texts[0], more)]


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
        sessions.note_sender(runtime.store, "" if by.is_proven else by.why, runtime.now)
    if by.is_proven or not trust.claim_notice(
        f"sender {by.why}", runtime.project.database, runtime.environment
    ):
        return []
    follows = "so prompts are answered with memories and nothing of them is stored"
    return [f"ademem: this client is not recognised ({by.why}), {follows}; `ademem add` stores"]


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
    return f"{beginning}{preview(untrusted.visible(text), room)}{end}"


def collect(payload: Payload, runtime: Runtime) -> list[str]:
    """Return the lines of NOTICES once a session, and those of ONCE at any start."""
    lines = [line for notice in NOTICES for line in notice(runtime)]
    if lines and not ledger.claim(runtime.store, "notices", payload.session_id, runtime.now):
        lines = []
    lines += [line for notice in ONCE for line in notice(runtime)]
    lines += describe_changes(payload.session_id, runtime)
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
        yield (
            "ade.db was not made here, so your own words in it count as imported"
            " until you type `ademem trust --database`"
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
        yield (
            "ademem wrote a skill to .ade/skills; for Claude Code to load it:"
            " `ademem config set skills.publish true`"
        )


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
    line = f"ademem: {who} changed {what}; yours stay in force: /ademem:review changes"
    return [truncate(line, CHARS)]


def changed_by_trusted(runtime: Runtime) -> Iterator[str]:
    if found := ledger.take_trusted(runtime.store):
        who, what = _sum_up(found)
        yield f"ademem: {who}, whom you trust, changed {what}"


def _sum_up(changes: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return who made the changes, given as authors and kinds, and how many of each kind."""
    from ademem.store.kept_copies import KINDS

    names = sorted({name for author, _ in changes if (name := claimed_name(author))})
    who = preview(", ".join(names[:NAMED]), NAMES_CHARS) if names else "others"
    kinds = [kind for _, kind in changes]
    parts = (f"{kinds.count(kind)} {kind}" for kind in KINDS if kind in kinds)
    return who, f"{len(changes)} of your memories ({', '.join(parts)})"


def describe_refused(first: confined.Refused, others: int = 0) -> str:
    more = f" (and {others} more)" if others else ""
    name = confined.printable(os.path.basename(first.path))
    return _fitting(
        "ademem left ", name, f" alone{more}: it {first.reason}. See `ademem files check`"
    )


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
