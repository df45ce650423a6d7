"""Set up git for a project: hooks that import changes of its files, and files that are ignored."""

from __future__ import annotations

import os
import re
from shlex import quote

from ademem.core import git, shared_files
from ademem.core.errors import AdememError
from ademem.core.repository import common_dir, git_root

NAMES = ("post-checkout", "post-merge", "post-rewrite")

SCRIPT = """\
#!/bin/sh
# ademem takes over what git brought into its files; `ademem uninstall` removes this hook.
{guard}[ -z "$ADEMEM_DISABLE" ] || exit 0
unset $(git rev-parse --local-env-vars)
{program} files import --only --project {project} 2>/dev/null |
  sed '/^the files say nothing new$/d; s/^/ademem: /' >&2
exit 0
"""

GUARDS = {
    "post-checkout": (
        '[ "$3" = 1 ] || exit 0\n'
        'if [ -d "$(git rev-parse --git-path rebase-merge)" ]; then exit 0; fi\n'
    )
}
"""Skip checkouts of single files, and those within a rebase, which has a hook at its end."""

HIDDEN = (".claude/settings.local.json", ".claude/commands/ademem/")


class NoGitHooks(AdememError):
    """Git's hooks cannot be written; nothing was changed."""


def add_hooks(root: str, program: str, *, dry_run: bool = False) -> list[str]:
    """Write each missing hook, and return a line for each; other hooks are kept."""
    folder, prefix = _places(root)
    done = []
    for name in NAMES:
        path, guard = os.path.join(folder, name), GUARDS.get(name, "")
        text = SCRIPT.format(guard=guard, program=quote(program), project=quote(prefix))
        there = shared_files.read_text(path)
        if there is not None and not _is_ours(name, there):
            done.append(f"kept {path}: it is not ours; call `ademem files import --only` in it")
        elif there != text:
            done.append(f"{'would write' if dry_run else 'wrote'} {path}")
            if not dry_run:
                shared_files.write_atomic(path, text, mode=0o777)
    return done


def remove_hooks(root: str, *, dry_run: bool = False) -> list[str]:
    try:
        folder, _ = _places(root)
    except NoGitHooks:
        return []
    done = []
    for name in NAMES:
        path = os.path.join(folder, name)
        if _is_ours(name, shared_files.read_text(path) or ""):
            done.append(f"{'would remove' if dry_run else 'removed'} {path}")
            if not dry_run:
                shared_files.remove(path)
    return done


def _places(root: str) -> tuple[str, str]:
    """Return git's folder of hooks, and the project relative to the repository."""
    asked = ["--show-prefix", "--git-common-dir", "--git-path", "hooks"]
    found = git.text(root, "rev-parse", *asked)
    if not found:
        raise NoGitHooks(f"{root} is in no git repository", "`git init` makes one")
    prefix, common, hooks = found.split("\n")[:3]
    folder, home = (os.path.realpath(os.path.join(root, path)) for path in (hooks, common))
    if os.path.commonpath((folder, home)) != home:
        why = f"git takes its hooks from {folder}, which is not this repository's own"
        raise NoGitHooks(why, "call `ademem files import --only` in the hooks there")
    return folder, prefix or "."


def _is_ours(name: str, text: str) -> bool:
    """Tell whether this version wrote the hook, for any project."""
    pattern = re.escape(SCRIPT.format(guard=GUARDS.get(name, ""), program="\0", project="\0"))
    return re.fullmatch(pattern.replace(re.escape("\0"), ".+"), text) is not None


def hide(project: str) -> bool:
    """Have git ignore the files of one person, without an edit of a tracked file."""
    path, block = _exclusion(project)
    text = shared_files.read_text(path) or "" if path else block
    return block not in text and shared_files.write_atomic(path, block + text)


def unhide(project: str) -> None:
    path, block = _exclusion(project)
    text = shared_files.read_text(path) if path else None
    if text and block in text:
        rest = text.replace(block, "", 1)
        shared_files.write_atomic(path, rest) if rest else shared_files.remove(path)


def _exclusion(project: str) -> tuple[str, str]:
    """Return git's own list of ignored files, empty without git, and our lines in it."""
    top = git_root(project)
    shared = common_dir(top) if top else None
    if top is None or shared is None:
        return "", ""
    inside = os.path.relpath(os.path.realpath(project), os.path.realpath(top))
    escaped = re.sub(r"([\\*?\[])", r"\\\1", inside)
    prefix = "" if inside == os.curdir else f"{escaped}/"
    lines = "".join(f"/{prefix}{name}\n" for name in HIDDEN)
    return os.path.join(shared, "info", "exclude"), f"# files of ademem for one person\n{lines}"
