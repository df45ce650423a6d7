"""Commands that enrol a project, register the hooks, and set and trust settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Annotated, Any, NamedTuple

from ademem import operations
from ademem.core import plugins, who
from ademem.core import project as project_
from ademem.core.errors import AdememError, UsageError, suppress
from ademem.core.settings import (
    key_of,
)
from ademem.core.text import counted, opening
from ademem.core.untrusted import visible
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import command, open_project
from ademem.doors.cli.extras import describe_install
from ademem.doors.cli.options import argument, flag, option
from ademem.doors.cli.parameters import DryRun, Project, confirm
from ademem.files import enrolment
from ademem.operations import adopting, configuring, overview
from ademem.operations import install as install_
from ademem.operations.configuring import UntrustedParts, format_value
from ademem.operations.curation import Accepted
from ademem.operations.install import MCP_CLIENTS, Where, git_setup
from ademem.store.runtime import program
from ademem.sync.trusted_commits import Remote

Shared = Annotated[bool, option("--shared", "The team's files of the project.")]
User = Annotated[bool, option("--user", "Your own settings, for every project.")]
McpClients = Annotated[
    list[str] | None,
    option("--mcp CLIENT", f"Instead the server: {', '.join(MCP_CLIENTS)}."),
]
PIN_CHARS = 88
REGISTERED = "registered in", "was registered already in"
REMOVED = "removed from", "was not in"
AGENTS = ", ".join(plugins.modules_by_word("AGENTS", by_others=False)) or "an agent of a part"
OtherAgents = Annotated[
    list[str] | None,
    option("--agent NAME", f"Instead with {AGENTS}."),
]


@command()
def init(project: Project = None) -> None:
    """Begin the memory of a project. Creates `.ade/` in it, or in its repository."""
    here = os.getcwd()
    root = _folder(project) if project else enrolment.choose_root(here)
    if not project:
        try:
            enrolment.check_home(root)
        except enrolment.HomeFolder as error:
            if show.as_json or not who.of_process().is_person:
                raise
            if not confirm(f"{error}. Enrol it all the same?"):
                raise AdememError("no answer was given") from error
    done = operations.init(root, by=who.of_process())
    lines = [*done, f"{root} is enrolled{_advise_hooks(root)}"]
    lines += _offer_adoption(root)
    lines += _offer_replay(root)
    if not project and root != os.path.realpath(here):
        lines.append("`ademem init --project .` makes a project of this folder alone")
    show.report({"root": root, "done": list(done)}, lines)


def _advise_hooks(root: str) -> str:
    """Return the next step after `init`, unless it was taken or `install.sh` takes it."""
    if os.environ.get("ADEMEM_INSTALLING"):
        return ""
    with suppress(AdememError):  # settings that cannot be read, which `install` reports
        if any(install_.find_commands(root, where) for where in Where):
            return ""
    return "; `ademem install` registers the hooks"


def _offer_adoption(root: str) -> Iterator[str]:
    """Yield a line that offers to adopt the instruction files, with their number."""
    with open_project(root) as memories:
        adoption = adopting.preview_adoption(memories)
        if adoption.outcome.reading.files and not adoption.is_taken:
            yield f"{adopting.summarize(adoption)} for agents: `ademem adopt` reads them in place"


def _offer_replay(root: str) -> Iterator[str]:
    """Yield a line that offers to look back, where the client keeps transcripts of the folder."""
    count = overview.count_transcripts(root, os.environ)
    if count and plugins.named(overview.REPLAY):
        sessions = counted(count, "past session")
        yield f"`ademem replay` tells what you said again in {sessions}, and what memory would meet"


@command()
def install(
    project: Project = None,
    shared: Shared = False,
    user: User = False,
    with_git: bool = flag("--git-hooks", "Also import after each pull, checkout and rebase."),
    mcp: McpClients = None,
    agent: OtherAgents = None,
    client: bool = flag("--client", "Instead the module inside Claude Code, a second lock."),
    dry_run: DryRun = False,
) -> None:
    """Register hooks in Claude Code. Slash commands are registered, too."""
    if client:
        done = _load_module().install(os.environ, dry_run=dry_run)
        return show.report({"done": done}, done)
    root = _root(project)
    if agent or mcp:
        return _install_elsewhere(root, agent or (), mcp or (), shared=shared, dry_run=dry_run)
    where, hooks = _where(shared, user), install_.hooks_folder()
    change = install_.install(root, where, python=sys.executable, hooks=hooks, dry_run=dry_run)
    done = _write_commands(os.path.dirname(change.path), hooks, dry_run)
    if not dry_run:
        done += _prepare_project(root, where)
    if with_git:
        absolute = os.path.join(os.path.dirname(sys.executable), "ademem")  # git's PATH may differ
        done += git_setup.add_hooks(root, absolute, dry_run=dry_run)
    if not dry_run and where is not Where.SHARED:
        done += configuring.offer_reader(project_.at(root), os.environ)
        done += install_.offer_status_line(root, hooks, os.environ)
    _show_change(change, done, dry_run, *REGISTERED)


def _prepare_project(root: str, where: Where) -> Iterator[str]:
    """Hide settings of one person from git, set its merge driver, and trust the database."""
    if where is Where.LOCAL and git_setup.hide(root):
        yield "git ignores these files, as they are yours alone (.git/info/exclude)"
    found = project_.at(root)
    if os.path.isdir(found.ade):
        yield from enrolment.set_driver(found, program(os.environ))
    if os.path.exists(found.database):
        with open_project(found.root) as memories:
            enrolment.register_typed(memories)


def _write_commands(claude: str, hooks: str, dry_run: bool) -> list[str]:
    """Write the slash commands into a folder of the client; say which changed."""
    written = install_.add_commands(claude, hooks, dry_run=dry_run)
    verb = "would write" if dry_run else "wrote"
    return [f"{verb} {', '.join(written)}"] if written else []


def _install_elsewhere(
    root: str, agents: Sequence[str], clients: Sequence[str], *, shared: bool, dry_run: bool
) -> None:
    """Register hooks with other agents, and the server with clients of MCP."""
    python, hooks = sys.executable, install_.hooks_folder()
    changes = [
        each.add(python=python, hooks=hooks, dry_run=dry_run) for each in map(_load_agent, agents)
    ]
    changes += [
        install_.add_server(name, root, os.environ, shared=shared, dry_run=dry_run)
        for name in clients
    ]
    _show_files(changes, dry_run, *REGISTERED)
    if clients and find_spec("mcp") is None:
        show.say(f"the server needs a package: {describe_install('mcp')}", err=True)


@command()
def uninstall(
    project: Project = None,
    shared: Shared = False,
    user: User = False,
    mcp: McpClients = None,
    agent: OtherAgents = None,
    client: bool = flag("--client", "Instead the module inside Claude Code."),
    dry_run: DryRun = False,
) -> None:
    """Remove the hooks from settings. `.ade/` stays."""
    if not dry_run:
        who.require_person(who.of_process(), "`ademem uninstall`")
    if client:
        done = _load_module().uninstall(os.environ, dry_run=dry_run)
        return show.report({"done": done}, done)
    root = _root(project)
    if agent or mcp:
        return _uninstall_elsewhere(root, agent or (), mcp or (), shared=shared, dry_run=dry_run)
    where = _where(shared, user)
    claude = os.path.dirname(install_.settings_path(root, where))
    removed = _remove_commands(claude, dry_run)
    change = install_.uninstall(root, where, dry_run=dry_run)
    if install_.has_server_record("claude", root, os.environ):  # which is of this project alone
        install_.remove_server("claude", root, os.environ, shared=False, dry_run=dry_run)
    left = "" if dry_run else _leave(root, where)
    done = [*removed, *git_setup.remove_hooks(root, dry_run=dry_run), *filter(None, [left])]
    return _show_change(change, done, dry_run, *REMOVED)


def _remove_commands(claude: str, dry_run: bool) -> list[str]:
    removed = install_.remove_commands(claude, dry_run=dry_run)
    verb = "would remove" if dry_run else "removed"
    return [f"{verb} {', '.join(removed)}"] if removed else []


def _uninstall_elsewhere(
    root: str, agents: Sequence[str], clients: Sequence[str], *, shared: bool, dry_run: bool
) -> None:
    """Remove hooks from other agents, and the server from clients of MCP."""
    changes = [each.remove(dry_run=dry_run) for each in map(_load_agent, agents)]
    changes += [
        install_.remove_server(name, root, os.environ, shared=shared, dry_run=dry_run)
        for name in clients
    ]
    _show_files(changes, dry_run, *REMOVED)


def _leave(root: str, where: Where) -> str:
    """Take a project off the lists of this machine; return what is left of its adoption."""
    left, found = "", project_.at(root)
    if os.path.exists(found.database):
        with open_project(found.root) as memories:
            left = adopting.forget_adoption(memories)
    if where is Where.LOCAL:
        git_setup.unhide(root)
    enrolment.leave(project_.at(root))
    enrolment.forget(project_.at(root), os.environ)
    return left


def _load_agent(name: str) -> install_.Agent:
    for each in plugins.modules_by_word("AGENTS").get(name, ()):
        if module := plugins.load(each):
            agents: tuple[install_.Agent, ...] = module.AGENTS
            return next(agent for agent in agents if agent.name == name)
    raise UsageError(f"no agent {name!r}", ", ".join(plugins.modules_by_word("AGENTS")))


def _load_module() -> Any:
    """Return the part that installs the module in the client."""
    for module in plugins.modules("CLIENT"):
        return module
    raise UsageError("this installation has no module for the client", "install ademem again")


def _show_files(changes: list[install_.Change], dry_run: bool, did: str, had: str) -> None:
    lines = [_describe(change, dry_run, did, had) for change in changes]
    files = [{"path": change.path, "diff": change.diff()} for change in changes]
    show.report({"files": files}, lines)


def _root(project: str | None) -> str:
    """Return the root of the project, which need not be enrolled for the user's own settings."""
    return _folder(project) if project else project_.enclosing(os.getcwd())


def _folder(path: str) -> str:
    if not os.path.isdir(path):
        raise UsageError(f"there is no folder {path}", "name the project with --project DIR")
    return os.path.abspath(path)


def _where(shared: bool, user: bool) -> Where:
    if shared and user:
        raise UsageError("--shared and --user exclude each other", "give one of them")
    return Where.SHARED if shared else Where.USER if user else Where.LOCAL


def _describe(change: install_.Change, dry_run: bool, did: str, had: str) -> str:
    if dry_run:
        return change.diff() or f"nothing to change in {change.path}"
    return f"{did if change.changes else had} {change.path}"


def _show_change(
    change: install_.Change, done: list[str], dry_run: bool, did: str, had: str
) -> None:
    diff = change.diff()
    show.report(
        {"path": change.path, "changes": change.changes, "diff": diff, "done": done},
        [_describe(change, dry_run, did, had), *done],
    )


AUTHORS = 5


@command("config list")
def list_(
    key: str | None = argument("KEY", "Show the value of this one.", None), project: Project = None
) -> None:
    """List settings with source and owner."""
    settings, warnings = configuring.list_settings(project)
    if key is not None:
        show.warn(warnings)
        key_of(key)
        (setting,) = (each for each in settings if each.key == key)
        value = setting.value
        return show.report(setting, [value if isinstance(value, str) else format_value(value)])
    return show.report(
        {"settings": settings, "warnings": [str(each) for each in warnings]},
        (f"{it.key} = {format_value(it.value)}  ({it.source}; {it.owner})" for it in settings),
        (f"warning: {warning}" for warning in warnings),
    )


@command("config set")
def set_(
    key: str = argument("KEY", "Such as guard.mode."),
    value: str = argument("VALUE", "Words of a list: with commas."),
    local: bool = flag("--local", "For you, in this project (the default)."),
    shared: bool = flag("--shared", "For the team, in git."),
    user: bool = flag("--user", "For you, in every project."),
    project: Project = None,
) -> None:
    """Write one setting into a file."""
    if local + shared + user > 1:
        raise UsageError("--local, --shared and --user exclude each other", "give one of them")
    where = "shared" if shared else "user" if user else "local"
    key_of(key)
    done = configuring.set_value(key, value, where, root=project, by=who.of_process())
    lines = [f"{key} is set in {done.path}"]
    if done.others_are_asked:
        lines.append("it counts for others only after their own `ademem trust`")
    notes = () if done.in_force else (f"but the value in force is that of {done.source}",)
    return show.report({"key": key} | as_dict(done), lines, notes)


@command()
def trust(
    settings: bool = flag("--settings", "Only the settings."),
    files: bool = flag("--files", "Only memories of the files."),
    database: bool = flag("--database", "Only a database that was not made here."),
    author: list[str] | None = option(
        "--author MAIL", "With --files: trust only this author of commits; several are fine."
    ),
    show_: bool = flag("--show", "Ask nothing; exit code 1 if a part is untrusted."),
    revoke: bool = flag("--revoke", "Revoke trust; with --database also in the database."),
    project: Project = None,
) -> None:
    """Trust what came with a project. It is reviewed part by part."""
    if revoke:
        who.refuse_agent(who.of_process(), "`ademem trust --revoke`")
        configuring.revoke(project, database=database)
        show.report({"revoked": True}, ["trust in this project is revoked"])
        return
    asks = not (show_ or show.as_json)
    if asks:
        who.require_person(who.of_process(), "trust in a project")
    authors = author or []
    if authors and not files:
        raise UsageError("--author names whose memories of the files are trusted", "add --files")
    with open_project(project) as memories:
        show.unread_edits(memories)  # which are not counted below
    arrived = configuring.find_untrusted(project)
    named = {"settings": settings, "files": files, "database": database}
    waiting = _list_waiting(arrived, named, authors)
    exit_code = 1 if waiting else 0
    if show.as_json:
        _show_untrusted(arrived)
        raise SystemExit(exit_code)
    for part in waiting:
        _show_part(part, arrived, authors)
        if asks and confirm(part.question):
            by = who.of_process()
            done = configuring.agree(arrived, part.name, root=project, authors=authors, by=by)
            _show_accepted(done)
    if not waiting:
        show.echo("nothing waits for your trust")
    if not asks:
        raise SystemExit(exit_code)


def _list_waiting(
    arrived: UntrustedParts, named: Mapping[str, bool], authors: Sequence[str]
) -> list[Part]:
    """Return the parts that wait; those that were *named* by their options, or all."""
    asked = [part for part in PARTS if named[part.option] or not any(named.values())]
    waiting = [part for part in asked if part.waits(arrived)]
    if named["files"] and (authors or not arrived.trusts_files) and FILES not in waiting:
        waiting.append(FILES)  # for what comes later
    return waiting


def _show_untrusted(arrived: UntrustedParts) -> None:
    names = ("settings", "local", "database", "memories", "authors", "briefs")
    values = {name: getattr(arrived, name) for name in names}
    values["local"] = arrived.local and arrived.local.values
    values["database"] = arrived.database and as_dict(arrived.database)
    show.json({"waits": any(part.waits(arrived) for part in PARTS)} | values)


def _show_part(part: Part, arrived: UntrustedParts, authors: Sequence[str]) -> None:
    for text in part.lines(arrived):
        show.say(text)
    if part is FILES:
        show.say(_scope_line(arrived.remote, authors))


class Part(NamedTuple):
    name: str
    option: str
    waits: Callable[[UntrustedParts], object]
    lines: Callable[[UntrustedParts], Iterable[str]]
    question: str


def _value_lines(values: Mapping[str, Any]) -> list[str]:
    return [f"  {key} = {format_value(value)}" for key, value in values.items()]


def _setting_lines(arrived: UntrustedParts) -> Iterator[str]:
    yield "config.toml of this project sets personal settings:"
    yield from _value_lines(arrived.settings)


def _local_lines(arrived: UntrustedParts) -> Iterator[str]:
    yield f"config.local.toml {configuring.NOT_NOTED}. It sets:"
    if arrived.local:
        yield from _value_lines(arrived.local.values)
        yield from (f"  ignored: {warning}" for warning in arrived.local.warnings)


def _memory_lines(arrived: UntrustedParts) -> Iterator[str]:
    by = f", by {', '.join(arrived.authors[:AUTHORS])} according to them" if arrived.authors else ""
    what = counted(arrived.memories, "memory")
    yield f"{what} came with the files{by} (`ademem review --imported` shows them)"
    if arrived.briefs:
        yield "briefs have texts that were not accepted here:"
        yield from (f"  {text}" for text in arrived.briefs)


def _scope_line(remote: Remote, authors: Sequence[str]) -> str:
    by = " and ".join(authors) or "everybody"
    if not remote.address:
        return f"trusted is what is in this repository, which has no remote, by {by}"
    if not remote.default:
        return (
            f"the default branch of {remote.address} is not known here, so that nothing of it is"
            " trusted yet: `git remote set-head origin --auto`"
        )
    where = f"the branch {remote.branch} of {remote.address}"
    return f"trusted is what is in {where}, by {by}; git does not verify names of authors"


def _show_accepted(done: Accepted | None) -> None:
    if done is None:
        return
    left = f", {counted(done.left, 'memory')} as labelled as before" if done.left else ""
    show.say(f"accepted: {counted(done.accepted, 'memory')} of the files{left}")


def _database_lines(arrived: UntrustedParts) -> Iterator[str]:
    if claims := arrived.database:
        yield (
            "the database was not made here. It attributes"
            f" {counted(claims.user, 'memory')} to a person and has"
            f" {counted(claims.pinned, 'memory')} pinned."
        )
        yield from (f"  pinned: {opening(visible(text), PIN_CHARS)}" for text in claims.pins)
        if (more := claims.pinned - len(claims.pins)) > 0:
            yield f"  and {more:,} more"


FILES = Part(
    *("files", "files", lambda arrived: arrived.memories or arrived.briefs, _memory_lines),
    "Trust them like your own, now and after later pulls?",
)
PARTS = (
    Part(
        *("settings", "settings", lambda arrived: arrived.settings, _setting_lines),
        "Use these settings until one of them changes?",
    ),
    Part("local", "settings", lambda arrived: arrived.local, _local_lines, "Is this file yours?"),
    Part(
        *("database", "database", lambda arrived: arrived.database, _database_lines),
        "Is this database yours?",
    ),
    FILES,
)
