"""Our entries in the settings of Claude Code: put in, taken out, and nothing else touched."""

from __future__ import annotations

import os
import sys
import sysconfig
from enum import StrEnum
from shlex import quote

from ademem.core import bytecode
from ademem.core.errors import AdememError, NotEnrolled
from ademem.core.value import Value
from ademem.session.install import json_text, registration, settings_file
from ademem.session.install.settings_file import BadSettingsFile, Original

PREFIX = "${ADEMEM_PREFIX:-$HOME/.local/share/ademem}"
"""Where install.sh puts ademem, in the words of a shell on anybody's machine."""


class Where(StrEnum):
    """Which settings file: mine in this project, the team's, or mine in every project."""

    LOCAL = "local"
    SHARED = "shared"
    USER = "user"


class Change(Value):
    """What happened to a settings file, or would have; None stands for no file."""

    path: str
    before: str | None
    after: str | None

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """The difference as people read it; empty when there is none."""
        from difflib import unified_diff

        before, after = ((text or "").splitlines() for text in (self.before, self.after))
        return "\n".join(unified_diff(before, after, self.path, self.path, lineterm="", n=1))


def install(
    project: str, where: Where, *, python: str, hooks: str, dry_run: bool = False
) -> Change:
    """Register every hook and permission; a file that has them already stays as it is.

    *python* and *hooks* are absolute paths; a shared file names neither, for they are this
    machine's. Raises BadSettingsFile for a file we cannot safely edit, which is then untouched.
    """
    if where is not Where.USER and not os.path.isdir(os.path.join(project, ".ade")):
        raise NotEnrolled(project)
    if not dry_run:
        bytecode.update()
    path = settings_path(project, where)
    if where is Where.SHARED:
        wanted = registration.groups(python="", hooks=f'"{PREFIX}/share/ademem/hooks"')
    else:
        wanted = registration.groups(python=quote(python), hooks=quote(hooks))
    text = settings_file.read(path)
    if text is not None and registration.current(_settings(path, text), wanted):
        return Change(path=path, before=text, after=text)
    record = _record(project, where)
    original = settings_file.recall(*record)
    before = _restored(text, original)
    after = _with_entries(path, "{}\n" if before is None else before, wanted)
    if not dry_run:
        folder = os.path.dirname(os.path.realpath(path))
        made = original.made_folder if original else not os.path.isdir(folder)
        noted = Original(before=before, after=after, made_folder=made)
        settings_file.note(record[0], noted, record[1])
        settings_file.write(path, after)
    return Change(path=path, before=text, after=after)


def uninstall(project: str, where: Where, *, dry_run: bool = False) -> Change:
    """Give the file back as it was; what was edited since stays, without our entries."""
    path, record = settings_path(project, where), _record(project, where)
    text, original = settings_file.read(path), settings_file.recall(*record)
    if text is not None:
        _settings(path, text)
    after = _restored(text, original)
    if not dry_run:
        if text is not None and after is None:
            settings_file.delete(path, with_folder=bool(original and original.made_folder))
        elif after is not None and after != text:
            settings_file.write(path, after)
        settings_file.forget(*record)
    return Change(path=path, before=text, after=after)


def installed(project: str, where: Where) -> dict[str, str]:
    """The command line of each event that is registered there now."""
    path = settings_path(project, where)
    text = settings_file.read(path)
    return registration.commands(_settings(path, text)) if text is not None else {}


def was_installed(project: str, where: Where) -> bool:
    """Whether they were put in there and not taken out by `uninstall`."""
    return settings_file.recall(*_record(project, where)) is not None


def own_commands() -> dict[str, str]:
    """The command line of each event as this very installation would register it."""
    groups = registration.groups(python=quote(sys.executable), hooks=quote(hooks_folder()))
    return registration.commands({"hooks": {event: [group] for event, group in groups.items()}})


def settings_path(project: str, where: Where) -> str:
    """The file that Claude Code reads for it."""
    if where is Where.USER:
        home = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
        return os.path.join(home, "settings.json")
    name = "settings.json" if where is Where.SHARED else "settings.local.json"
    return os.path.join(project, ".claude", name)


def hooks_folder() -> str:
    """The scripts of this very installation: the checkout's own, or those a wheel brought."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    checkout = os.path.join(os.path.dirname(package), "hooks")
    shipped = os.path.join(sysconfig.get_path("data"), "share", "ademem", "hooks")
    for folder in (checkout, shipped):
        if os.path.isfile(os.path.join(folder, "start.sh")):
            return folder
    raise AdememError(f"the hooks are missing at {shipped}", "install ademem again")


def _record(project: str, where: Where) -> tuple[str, str]:
    """Where the original is noted, and the folder below which no link leads there; empty: any."""
    if where is Where.USER:
        state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
        return os.path.join(state, "ademem", "original-settings.json"), ""
    return os.path.join(project, ".ade", "run", f"original-{where}-settings.json"), project


def _settings(path: str, text: str) -> registration.Settings:
    try:
        settings = json_text.parsed(text)
    except ValueError as error:
        raise BadSettingsFile(path, f"it is not valid JSON ({error})") from error
    why = registration.misfit(settings)
    if why:
        raise BadSettingsFile(path, why)
    parsed: registration.Settings = settings
    return parsed


def _restored(text: str | None, original: Original | None) -> str | None:
    """The text before we came: the one we kept, or after an edit the text without our entries."""
    if text is None or original is None:
        return text if text is None else registration.removed(text, None)
    if text == original.after:
        return original.before
    rest = registration.removed(text, original.before or "{}")
    return None if original.before is None and json_text.parsed(rest) == {} else rest


def _with_entries(path: str, before: str, wanted: dict[str, registration.Settings]) -> str:
    after = registration.added(before, wanted)
    settings = _settings(path, after)
    without = registration.removed(after, before)
    if not registration.current(settings, wanted) or _settings(path, without) != _settings(
        path, before
    ):
        raise BadSettingsFile(path, "our entries could not be added without changing others")
    return after
