"""Bringing the files up to date without overwriting what somebody else wrote."""

from __future__ import annotations

import os
from contextlib import suppress

from ademem import agents, confined, core, worktree
from ademem.core import BadCore
from ademem.locks import locked
from ademem.mirror import base, taking, written
from ademem.mirror.lineage import Lineage, committed, lineage
from ademem.mirror.reading import LINES, conflicts, is_taken
from ademem.mirror.staging import Place, settle
from ademem.mirror.survey import NOT_TEXT, File, present, refused_lines, survey
from ademem.mirror.taken import Taken
from ademem.repository import branch, commit
from ademem.store import made_at
from ademem.value import Value, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from ademem.project import Project
    from ademem.settings import Settings
    from ademem.store import Store


class Refreshed(Value):
    """Paths in the project, and how many bytes were written."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    """Changed by somebody else in a way that could not be taken over, so left alone."""
    bytes: int
    taken: Taken = Taken()
    """What the files told the store before they were written."""


def refresh(
    project: Project,
    store: Store,
    settings: Settings,
    now: datetime,
    *,
    force: bool = False,
    dry_run: bool = False,
) -> Refreshed:
    """Take over what was edited in the files, then write what differs from the store.

    With *force* edits are not taken over but overwritten.
    """
    with locked(os.path.join(project.run, "mirror.lock"), root=project.root):
        taken, texts = Taken(), dict[str, str]()
        place = Place(project, settings.mirror)
        if not dry_run:
            agents.refresh(store, project)
            taken, texts = _catch_up(project, store, settings, place, now, force=force)
        found = survey(project, store, settings.mirror, texts, place, taken.refused)
        due = [file for file in found if not file.settled and _may_change(file, force)]
        if not dry_run:
            _carry_out(project, found, due)
            _agree(project, store, found, due, refused_lines(texts, taken.refused))
            worktree.note(project, place.watched(store))
    return Refreshed(
        written=tuple(file.path for file in due if file.wanted is not None),
        removed=tuple(file.path for file in due if file.wanted is None),
        kept=tuple(file.path for file in found if not file.settled and file not in due),
        bytes=sum(len((file.wanted or "").encode()) for file in due),
        taken=taken,
    )


def take_over(project: Project, store: Store, settings: Settings, now: datetime) -> Taken:
    """What `refresh` takes over; the files themselves stay as git left them."""
    with locked(os.path.join(project.run, "mirror.lock"), root=project.root):
        place = Place(project, settings.mirror)
        agents.refresh(store, project)
        taken, texts = _catch_up(project, store, settings, place, now)
        agreed = base.load(project, made_at(store))
        read = {path: text for path, text in texts.items() if is_taken(path)}
        refused = refused_lines(texts, taken.refused)
        _save(project, replace(agreed, texts=dict(agreed.texts) | read), refused)
        worktree.note(project, place.watched(store))
    return taken


class Preview(Value):
    """What `refresh` would do."""

    taken: Taken
    files: tuple[File, ...]
    """Those that would not stay as they are, and those that it would leave alone."""


def preview(
    project: Project, store: Store, settings: Settings, now: datetime, *, force: bool = False
) -> Preview:
    """Do what `refresh` does to the store, look at the files it leads to, and take all back."""
    place = Place(project, settings.mirror)
    with suppress(_TakenBack), store.transaction():
        taken, texts = _catch_up(project, store, settings, place, now, force=force)
        found = survey(project, store, settings.mirror, texts, place, taken.refused)
        raise _TakenBack
    return Preview(taken=taken, files=tuple(file for file in found if not file.settled))


def preview_aside(project: Project, store: Store, settings: Settings) -> Preview:
    """What rendering would change of the files that the store was made of."""
    there = {path: text for path, text in present(project).items() if text != NOT_TEXT}
    found = survey(project, store, settings.mirror, there)
    return Preview(taken=Taken(), files=tuple(file for file in found if not file.settled))


def read_aside(project: Project, store: Store, settings: Settings, now: datetime) -> Taken:
    """Bring an empty store to what the files say, and write nothing into the project."""
    with suppress(BadCore):
        core.reconcile(store, project)
    texts = {path: text for path, text in present(project).items() if is_taken(path)}
    texts = {path: text for path, text in texts.items() if text != NOT_TEXT}
    elsewhere = Lineage(root=project.root, by_hand=False)  # whoever wrote them, it was not here
    return taking.take(base.Base(), texts, elsewhere, store, settings.gate, now)


class _TakenBack(Exception):
    """Ends a transaction without its effect."""


def _catch_up(
    project: Project,
    store: Store,
    settings: Settings,
    place: Place,
    now: datetime,
    *,
    force: bool = False,
) -> tuple[Taken, dict[str, str]]:
    """Bring the store to what files and branches say now; with *force* edits of memories are lost.

    Returns what `_take` does.
    """
    with suppress(BadCore):
        core.reconcile(store, project)
    found = (Taken(), dict[str, str]()) if force else _take(project, store, settings, place, now)
    settle(place, store, now)
    return found


def _take(
    project: Project, store: Store, settings: Settings, place: Place, now: datetime
) -> tuple[Taken, dict[str, str]]:
    """What the files told, and the texts that were read to the end."""
    there = {path: text for path, text in present(project).items() if text != NOT_TEXT}
    texts = {path: text for path, text in there.items() if is_taken(path)}
    agreed = base.load(project, made_at(store))
    if commit(project.root) != agreed.commit:  # what a teammate's ademem wrote is ours, too
        texts |= {path: there[path] for path in committed(project, there)}
    read = {path: text for path, text in texts.items() if is_taken(path)}
    if agreed.texts == read:
        return Taken(), texts
    line = lineage(project, agreed)
    taken = taking.take(agreed, read, line, store, settings.gate, now, place)
    refused = {problem.path for problem in taken.refused} - set(LINES)  # lines are kept one by one
    whole = {path: text for path, text in texts.items() if not any(conflicts(text))}
    return taken, {path: text for path, text in whole.items() if path not in refused}


def _agree(
    project: Project,
    store: Store,
    found: Iterable[File],
    due: Sequence[File],
    refused: Collection[str],
) -> None:
    """Remember what the files say now; of one left alone, what was agreed before."""
    agreed = base.load(project, made_at(store))
    texts = {}
    for file in found:
        text = file.wanted if file.settled or file in due else agreed.texts.get(file.path)
        if text is not None and is_taken(file.path):
            texts[file.path] = text
    _save(project, replace(agreed, texts=texts), refused)


def _save(project: Project, agreed: base.Base, refused: Collection[str]) -> None:
    """As agreed upon what is checked out now."""
    here = {"commit": commit(project.root), "branch": branch(project.root) or ""}
    there = set(agreed.texts.get(LINES[-1], "").split("\n"))
    kept = tuple(there & {*agreed.refused, *refused})
    base.save(project, replace(agreed, refused=kept, **here))


def _may_change(file: File, force: bool) -> bool:
    return file.ours or (force and file.present != NOT_TEXT)


def _carry_out(project: Project, found: Iterable[File], due: Sequence[File]) -> None:
    before = written.load(project)
    after = dict(before)
    for file in (*(file for file in found if file.settled), *due):
        if file.wanted is None:
            after.pop(file.path, None)
        else:
            after[file.path] = [written.fingerprint(file.path, file.wanted)]
    if due:
        both = {path: before.get(path, []) + after.get(path, []) for path in before | after}
        written.save(project, both)
    for file in due:
        if file.wanted is None:
            confined.remove(project.root, file.path)
        else:
            confined.write_text(project.root, file.path, file.wanted)
    written.save(project, after)
