"""What `ademem` alone tells: what memory did, what it holds, what runs, and the next command.

It is read at each start of a shell's work, so it imports what hooks do and no more.
"""

from __future__ import annotations

import os
from collections import Counter

from ademem import worker
from ademem.core import plugins
from ademem.core.client import config_dir
from ademem.core.errors import suppress
from ademem.core.json_text import loads
from ademem.core.memory import Status
from ademem.core.project import files_edited, import_waits
from ademem.core.repository import branch
from ademem.core.text import unique
from ademem.core.value import Value
from ademem.store import effects, ledger, review_queue, statistics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ademem.store.runtime import Runtime

_OUR_HOOK = "$hooks/start.sh"
"""Part of each hook's command in a settings file."""
_PLUGIN = "ademem@"
"""Beginning of the plugin's name there."""
REPLAY = "replay"
"""Command that looks back at sessions; its result in the run folder has the name, too."""
REPLAY_SESSIONS = 3
"""Sessions from which it is offered, once."""
OFFERED = "offered"
"""Type of entries of the ledger for what is offered once."""
DECISION_S = 8
"""Time that a person takes for one decision of a review."""


class Pending(Value):
    what: str
    command: str
    """Takes it in."""


class Overview(Value):
    project: str
    branch: str
    effects: dict[str, int]
    """Of so many `days`."""
    memories: int
    """As `ademem list` shows them, with the person's own, and without archived ones."""
    confirmed: int
    waiting: int
    """What waits in a review."""
    pending: list[Pending]
    """What stands in files and is not taken in."""
    has_hooks: bool
    guard: str
    """on | off | strict."""
    by_meaning: bool
    """The embedding model is installed."""
    backup: str
    """When the last one was made; empty before."""
    next: str
    """The command that helps most; empty where none is due."""


def get_overview(runtime: Runtime) -> Overview:
    from ademem.search.embedding import cache

    listed = _count_listed(runtime)
    waiting = sum(review_queue.count_by_reason(runtime).values())
    has_hooks = _has_hooks(runtime)
    pending = list(_list_pending(runtime))
    return Overview(
        project=runtime.settings.project.name or runtime.project.name,
        branch=branch(runtime.project.root) or "",
        effects=effects.count_days(runtime),
        memories=listed.total(),
        confirmed=listed[Status.PROMOTED],
        waiting=waiting,
        pending=pending,
        has_hooks=has_hooks,
        guard=runtime.settings.guard.mode,
        by_meaning=cache.installed_for(runtime) is not None,
        backup=_last_backup(runtime),
        next=_next(runtime, has_hooks=has_hooks, waiting=waiting, pending=pending),
    )


def _count_listed(runtime: Runtime) -> Counter[str]:
    """Count by status what `ademem list` shows without options."""
    counts: Counter[str] = Counter()
    for each in runtime.with_own():
        counts.update(statistics.listed(each.store, None))
    del counts[Status.ARCHIVED]
    return counts


def estimate(waiting: int) -> str:
    """Return how long so many decisions take, in words.

    >>> estimate(3), estimate(30)
    ('about a minute', 'about 4 minutes')
    """
    minutes = max(1, round(waiting * DECISION_S / 60))
    return "about a minute" if minutes == 1 else f"about {minutes:,} minutes"


def _list_pending(runtime: Runtime) -> Iterator[Pending]:
    from ademem.sync import instruction_state

    project = runtime.project
    if import_waits(project):
        yield Pending(what="an import of files goes on", command="work")
    # A worker that writes the files may have ended since they were first looked at.
    elif files_edited(project) and not worker.is_running(project) and files_edited(project):
        yield Pending(what="files changed since they were read", command="files import")
    elif unread := _describe_unread(runtime):
        yield Pending(what=unread, command="files check")
    if undecided := instruction_state.describe_undecided(runtime):
        yield Pending(what=undecided, command="adopt")


def _describe_unread(runtime: Runtime) -> str:
    """Return where files have what the last import could not read; empty where nothing."""
    from ademem.sync.tracked_files import load_base

    project = runtime.project
    if not load_base(project, runtime.store).has_fault:
        return ""
    from ademem.sync.importer import find_unread  # sound files are not read

    found = find_unread(project)
    places = unique(f"{os.path.basename(each.path)}:{each.line or 1}" for each in found)
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{places[0]}{more} cannot be read" if places else ""


def _next(runtime: Runtime, *, has_hooks: bool, waiting: int, pending: Sequence[Pending]) -> str:
    if not has_hooks:
        return "install"
    if _has_failed(runtime):
        return "doctor"
    if pending:
        return pending[0].command
    if waiting:
        return "review"
    if _offers_replay(runtime):
        return REPLAY
    page = plugins.named("page")
    return "web" if page and not any(map(_is_missing, page.PACKAGES)) else ""


def _offers_replay(runtime: Runtime) -> bool:
    """Tell whether there are sessions to look back at, and that was not offered before."""
    from ademem.store import sessions

    if plugins.named(REPLAY) is None or sessions.count_attended(runtime.store) < REPLAY_SESSIONS:
        return False
    has_run = os.path.exists(os.path.join(runtime.project.run, f"{REPLAY}.json"))
    return not has_run and not ledger.is_claimed(runtime.store, OFFERED, REPLAY)


def note_offer(runtime: Runtime, command: str) -> None:
    """Keep in mind that a command was offered which is offered once."""
    if command == REPLAY and not runtime.is_read_only:
        with suppress(runtime.store.db.OperationalError), runtime.store.transaction():
            ledger.claim(runtime.store, OFFERED, command, runtime.clock())


def count_transcripts(root: str, environment: Mapping[str, str]) -> int:
    """Count the transcripts that the client keeps of a folder, in which somebody worked before."""
    from ademem.core.client_memory import slug

    place = os.path.join(config_dir(environment), "projects", slug(os.path.realpath(root)))
    try:
        return sum(name.endswith(".jsonl") for name in os.listdir(place))
    except OSError:
        return 0


def _is_missing(package: str) -> bool:
    from importlib.machinery import PathFinder

    return PathFinder.find_spec(package) is None


def _has_failed(runtime: Runtime) -> bool:
    log = os.path.join(runtime.project.log, "hooks.log")
    if not os.path.exists(log):
        return False
    from ademem.core import failure_log

    return bool(failure_log.recent(runtime.project, runtime.environment))


def _has_hooks(runtime: Runtime) -> bool:
    """Tell whether the client runs our hooks.

    A settings file has them, or the plugin that brings them. It may be loaded without one
    (`claude --plugin-dir`); then an open session shows that they run.
    """
    from ademem.store import sessions

    claude = os.path.join(runtime.project.root, ".claude")
    paths = [os.path.join(config_dir(runtime.environment), "settings.json")]
    paths += (os.path.join(claude, name) for name in ("settings.json", "settings.local.json"))
    texts = [_read(path) for path in paths]
    enabled: dict[str, Any] = {}
    for text in texts:  # the last has the last word
        enabled |= _plugins(text)
    if any(_OUR_HOOK in text for text in texts) or any(
        name.startswith(_PLUGIN) and is_enabled is not False for name, is_enabled in enabled.items()
    ):
        return True
    return sessions.is_active(runtime.store, runtime.now, sessions.OPEN_MINUTES, by_hooks=True)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def _plugins(text: str) -> dict[str, Any]:
    values: Any = None
    with suppress(ValueError, RecursionError):
        values = loads(text)
    plugins = values.get("enabledPlugins") if isinstance(values, dict) else None
    return plugins if isinstance(plugins, dict) else {}


def _last_backup(runtime: Runtime) -> str:
    from ademem.store import backup_files

    saved = backup_files.list_all(runtime.project, runtime.environment)
    return saved[0].at if saved else ""
