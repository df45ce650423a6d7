"""Find the project of a folder, its files and its database."""

from __future__ import annotations

import os

from ademem.core import confined, repository
from ademem.core.errors import NO_PROJECT, AdememError, NotEnrolled, suppress
from ademem.core.text import sha256_hex
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_REF = "\t"
"""Beginning of a line about a ref, which no file name has."""
_HEAD = f"{_REF}HEAD"
_AGREEMENT = 2 * _REF
"""Beginning of the last line of a recorded state: see `ademem.store.agreements`."""


class Ambiguous(AdememError):
    exit_code = NO_PROJECT
    hint = "name one with --project, or `cd` into it"

    def __init__(self, where: str, candidates: tuple[str, ...]) -> None:
        super().__init__(f"{where} holds several projects: {', '.join(candidates)}")
        self.candidates = candidates


class _Path:
    """A path of a project: a name in the folder that another attribute has."""

    def __init__(self, folder: str, name: str) -> None:
        self.folder, self.name = folder, name

    def __get__(self, project: Project, _: type) -> str:
        return os.path.join(getattr(project, self.folder), self.name)


class Project(Value):
    root: str
    home: str
    """Folder of `ade.db`, which all worktrees of a repository share."""

    ade = _Path("root", ".ade")
    config = _Path("ade", "config.toml")
    local_config = _Path("home", "config.local.toml")
    database = _Path("home", "ade.db")
    memory = _Path("ade", "memory")
    log = _Path("ade", "log")
    run = _Path("ade", "run")
    readings = _Path("run", "files.seen")

    @property
    def has_home(self) -> bool:
        return os.path.isdir(self.home)

    @property
    def home_root(self) -> str:
        """Root below which files in `home` are opened without following links."""
        return os.path.dirname(self.home)

    @property
    def main(self) -> str:
        """Main worktree, which names the project in agreements; git's folder without one."""
        folder, kind = os.path.split(self.home)
        return folder if kind == ".ade" else self.home

    @property
    def name(self) -> str:
        main, kind = os.path.split(self.home)
        folder = os.path.basename(main if kind in (".ade", "ademem") else self.root)
        words = folder.removesuffix(".git").strip(".").lower().replace("_", "-").split()
        return "-".join(words) or "project"


def find(start: str | None, environment: Mapping[str, str], cwd: str) -> Project:
    """Find it by folder, ADEMEM_PROJECT, CLAUDE_PROJECT_DIR, else the nearest `.ade/` upward.

    The search does not leave the git repository. Raises NotEnrolled, or Ambiguous when the only
    enrolled folders are several children of *cwd*.
    """
    named = start or environment.get("ADEMEM_PROJECT") or environment.get("CLAUDE_PROJECT_DIR")
    where = os.path.abspath(os.path.join(cwd, named or "."))
    root = _find_enrolled_above(where) or _worktree_of_enrolled(where)
    if root is None and not named:
        root = _find_only_child(where)
    if root is None:
        raise NotEnrolled(where)
    return at(root)


def _find_only_child(where: str) -> str | None:
    """Return the enrolled folder in this one; raises Ambiguous where there are several."""
    try:
        paths = [os.path.join(where, name) for name in os.listdir(where)]
    except OSError:
        return None
    children = {os.path.realpath(path) for path in paths if os.path.isdir(f"{path}/.ade")}
    if len(children) > 1:
        raise Ambiguous(where, tuple(sorted(children)))
    return next(iter(children), None)


def at(root: str) -> Project:
    root = os.path.realpath(root)
    return Project(root=root, home=_home(root))


def of_file(path: str) -> Project | None:
    """Find the enrolled project whose file this is, wherever a session started."""
    folder = os.path.dirname(os.path.realpath(path))
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)  # of a file in folders that are made with it
    root = _find_enrolled_above(folder) or _worktree_of_enrolled(folder)
    return at(root) if root else None


def enclosing(where: str) -> str:
    return _find_enrolled_above(where) or repository.git_root(where) or os.path.realpath(where)


def worktrees(project: Project) -> list[Project]:
    top = repository.git_root(project.root)
    shared = repository.common_dir(top) if top else None
    if top is None or shared is None:
        return []
    inside = os.path.relpath(project.root, top)
    main = os.path.dirname(shared) if os.path.basename(shared) == ".git" else ""
    tops = filter(None, (main, *repository.list_worktrees(shared)))
    roots = {os.path.realpath(os.path.join(each, inside)) for each in tops}
    found = (at(root) for root in sorted(roots - {project.root}) if os.path.isdir(root))
    return [other for other in found if other.home == project.home]


def _home(root: str) -> str:
    """Return `.ade` of the main worktree, or `ademem/` in git's folder without one.

    A `.git` file of an unpacked archive may name a foreign repository. It counts if that repository
    names this worktree; otherwise the project keeps its database itself.
    """
    own = os.path.join(root, ".ade")
    top = repository.git_root(root)
    common = repository.common_dir(top) if top else None
    if top is None or common is None or os.path.isdir(os.path.join(top, ".git")):
        return own
    shared = _find_shared(top, common)
    if shared is None:
        return own
    home = os.path.normpath(os.path.join(*shared[:1], os.path.relpath(root, top), *shared[1:]))
    return home if os.path.realpath(os.path.dirname(home)) == os.path.dirname(home) else own


def _find_shared(top: str, common: str) -> tuple[str, ...] | None:
    """Return the main worktree and `.ade`, or a folder in git's; None if it does not know *top*."""
    folder, configured = repository.git_dir(top), repository.config_value(common, "worktree")
    # `core.worktree` names the work tree of a submodule.
    main = os.path.realpath(os.path.join(common, configured)) if configured else None
    in_git = (os.path.join(common, "ademem"),)
    if folder == common:  # a submodule, or a repository whose git folder is elsewhere
        if main is None:
            return in_git if _has_worktree_elsewhere(common) else None
        return (main, ".ade") if main == top else None
    if not _is_worktree(top, folder, common):
        return None
    if os.path.basename(common) == ".git":
        return os.path.dirname(common), ".ade"
    if main is None:
        return in_git
    return (main, ".ade") if os.path.realpath(repository.git_dir(main)) == common else None


def _has_worktree_elsewhere(common: str) -> bool:
    is_bare = repository.config_value(common, "bare") == "true"
    return not is_bare and os.path.basename(common) != ".git"


def _is_worktree(top: str, folder: str, common: str) -> bool:
    """Tell whether git's *folder* is of a worktree of this repository, and names *top* as its."""
    back = os.path.join(folder, repository.first_line(os.path.join(folder, "gitdir")))
    is_listed = os.path.dirname(folder) == os.path.join(common, "worktrees")
    return is_listed and os.path.realpath(back) == os.path.join(top, ".git")


def _find_enrolled_above(where: str) -> str | None:
    """Return the nearest folder with `.ade/` in the repository; the home folder only for itself."""
    found = repository.above(where, ".ade", os.path.isdir)
    if found is None:
        return None
    top = repository.git_root(where)
    if top and os.path.commonpath((found, top)) != top:
        return None
    at_home = found == os.path.realpath(os.path.expanduser("~"))
    return None if at_home and found != os.path.realpath(where) else found


def _worktree_of_enrolled(where: str) -> str | None:
    top = repository.git_root(where)
    common = repository.common_dir(top) if top else None
    if top is None or common is None or os.path.basename(common) != ".git":
        return None
    there = os.path.isdir(os.path.join(os.path.dirname(common), ".ade"))
    return top if there and _home(top) != os.path.join(top, ".ade") else None


def files_changed(project: Project) -> bool:
    """Return True if files, branch or merges changed since; none have yet during a rebase."""
    if repository.under_way(project.root):
        return False
    noted = recorded_state(project)
    return _listing(project, watched_refs(noted)) != noted


def files_edited(project: Project) -> bool:
    noted = [line for line in recorded_state(project).splitlines() if not line.startswith(_REF)]
    return list_files(project) != noted and not repository.under_way(project.root)


def recorded_state(project: Project) -> str:
    return _read_record(project).partition(_AGREEMENT)[0]


def recorded_agreement(project: Project) -> str:
    """Return the agreement of files and database at which their state was recorded."""
    return _read_record(project).partition(_AGREEMENT)[2].strip()


def _read_record(project: Project) -> str:
    try:
        return confined.read_text(project.root, project.readings) or ""
    except (UnicodeDecodeError, confined.Refused):
        return ""


def watched_refs(recorded: str) -> list[str]:
    """Return the refs of a recorded state, which memories wait for."""
    refs = [line.split(" ")[0] for line in recorded.splitlines() if line.startswith(_REF)]
    return [ref.removeprefix(_REF) for ref in refs if ref != _HEAD]


def record_state(project: Project, refs: Iterable[str], agreement: str) -> None:
    text = f"{_listing(project, refs)}{_AGREEMENT}{agreement}\n"
    confined.write_text(project.root, project.readings, text)


def import_path(project: Project) -> str:
    return os.path.join(project.run, "import")


def import_waits(project: Project) -> bool:
    return confined.is_file(project.root, import_path(project))


def was_read(project: Project) -> bool:
    return confined.exists(project.root, project.readings)


def _listing(project: Project, refs: Iterable[str]) -> str:
    lines = list_files(project)
    if lines:
        name = repository.branch(project.root)  # its digest, as a name may have a secret
        head = sha256_hex(name) if name else repository.commit(project.root)
        lines.append(f"{_HEAD} {head}")
    top = repository.git_root(project.root)
    shared = repository.common_dir(top) if top else None
    lines += [f"{_REF}{ref} {shared and repository.tip(shared, ref)}" for ref in refs]
    return "".join(f"{line}\n" for line in lines)


def list_files(project: Project) -> list[str]:
    """Return name, time of writing in ns and length of the files that are imported."""
    found: list[tuple[str, os.stat_result]] = []
    with suppress(confined.Refused):
        found += confined.entries(project.root, project.memory)
    with suppress(confined.Refused):
        brief = confined.status(project.root, os.path.join(project.ade, "cto/core-memory.json"))
        found += [("../cto/core-memory.json", brief)] if brief else []
    return [f"{name} {there.st_mtime_ns} {there.st_size}" for name, there in found]
