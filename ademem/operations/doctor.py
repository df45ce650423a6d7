"""Check installation, settings, database, files, hooks and model, and repair them."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from ademem import worker
from ademem.core import (
    confined,
    credential_judge,
    errors,
    failure_log,
    judge,
    plugins,
    process,
    registers,
    shared_files,
)
from ademem.core.clock import stamp
from ademem.core.errors import AdememError, suppress
from ademem.core.project import Project
from ademem.core.redaction import redact
from ademem.core.settings import AISettings, BadSetting, list_warnings, load_configuration
from ademem.core.text import counted
from ademem.core.value import Value
from ademem.files import enrolment
from ademem.operations import init, install, open_memories, recovery, reports, searching
from ademem.operations.install import client_settings, registration
from ademem.search.embedding import published, question_map, second_settings
from ademem.search.embedding.cache import State
from ademem.store import (
    admission,
    backup_files,
    counts,
    database,
    full_text,
    jobs,
    journal,
    memory_queries,
    repair,
    sessions,
    stamps,
    statistics,
    transitions,
)
from ademem.store.runtime import open_runtime, program
from ademem.sync import checks
from ademem.synthesis import ai, reader

REINSTALL = "run `install.sh` again"
TIMEOUT_S = 30
NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs"}
)


class Finding(Value):
    check: str
    ok: bool
    message: str
    hint: str = ""


class Patient(Value):
    project: Project
    environment: Mapping[str, str]
    now: datetime


def sqlite_is_able(_patient: Patient) -> Finding:
    try:
        full_text.check_fts5()
    except sqlite3.Error as error:
        hint = "use a Python with SQLite 3.35 or newer"
        return _bad("sqlite", f"SQLite {sqlite3.sqlite_version}: {error}", hint)
    python = sys.version.split()[0]
    return _good("sqlite", f"SQLite {sqlite3.sqlite_version} with FTS5, Python {python}")


def settings_are_readable(patient: Patient) -> Finding:
    found = load_configuration(patient.project, patient.environment)
    if found.warnings:
        wrong = [each for each in found.warnings if not (each.waits or each.is_outdated)]
        waits = any(each.waits for each in found.warnings)
        hint = "`ademem trust` shows what it is" if waits and not wrong else BadSetting.hint
        message = "; ".join(list_warnings(found.warnings))
        return Finding(check="settings", ok=not wrong, message=message, hint=hint)
    return _good("settings", "readable" if found.origins else "the defaults")


def nothing_is_refused(patient: Patient) -> Finding:
    project = patient.project
    found = confined.refusals(project.root, project.ade)
    if project.home != project.ade:
        found += confined.refusals(project.home_root, project.home)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        return _bad("refused", f"{found[0]}{more}", found[0].hint)
    return _good("refused", "every file below `.ade/` can be used")


def database_is_sound(patient: Patient) -> Finding:
    try:
        runtime = open_runtime(patient.project, patient.environment, patient.now)
    except (sqlite3.Error, OSError, AdememError) as error:
        hint = _next_step(error)
        hint = _rebuild_hint(patient) if hint == errors.REBUILD else hint
        return _bad("database", f"{patient.project.database}: {error}", hint)
    with runtime:
        damage = repair.find_damage(patient.project.database)
        bad = [row.named for row in repair.find_bad_rows(runtime.store.db)]
        lost = full_text.find_broken(runtime.store) + counts.find_wrong(runtime.store)
        parked = jobs.list_parked(runtime.store)
        ahead = stamps.far_ahead(runtime.store, patient.now)
    if damage:
        return _bad("database", damage, _rebuild_hint(patient))
    if bad:
        message = f"{counted(len(bad), 'row')} with values that cannot be: {'; '.join(bad[:5])}"
        return _bad("database", message, "`ademem doctor --fix` repairs and keeps them")
    if lost:
        message = f"does not agree with its {', '.join(lost)}"
        return _bad("database", message, "`ademem doctor --fix` rebuilds it")
    if parked:
        named = "; ".join(worker.describe_failure(*job) for job in parked)
        return _bad("database", f"work that gave up: {named}", "`ademem work --retry` tries again")
    if ahead:
        named = "; ".join(
            f"replica {name} wrote at {registers.time_of(at)}" for name, at in ahead.items()
        )
        hint = "set the clock of that machine; its memories are used, and this clock is left alone"
        return _bad("database", f"a clock is more than a day ahead: {named}", hint)
    return _good("database", f"sound ({os.path.getsize(patient.project.database):,} bytes)")


def sessions_are_whole(patient: Patient) -> Finding:
    with open_runtime(patient.project, patient.environment, patient.now) as runtime:
        before = stamp(patient.now - timedelta(days=sessions.LEFT_DAYS))
        found = statistics.count_misplaced_sessions(runtime.store, before)
    left = f"{counted(found['orphaned'], 'session')} never ended"
    if found["elsewhere"]:
        message = f"{counted(found['elsewhere'], 'session')} of another project; {left}"
        return _bad("sessions", message, "`ademem session list` shows them")
    return _good("sessions", left)


def client_is_recognised(patient: Patient) -> Finding:
    """Tell whether prompts count as typed: a client may change how it starts hooks."""
    with open_runtime(patient.project, patient.environment, patient.now) as runtime:
        seen = sessions.last_sender(runtime.store)
    if not seen:
        return _good("sender", "every client that started a session here was recognised")
    at, why, *again = seen
    last = f"last not recognised at {at} ({why})"
    if again:
        return _good("sender", f"recognised since {again[0]}; {last}")
    message = f"{last}: prompts are answered with memories and nothing of them is stored"
    return _bad("sender", message, "`ademem add` in your own terminal stores; update ademem")


def journal_is_sound(patient: Patient) -> Finding:
    with open_runtime(patient.project, patient.environment, patient.now) as runtime:
        targets = stamps.targets(runtime.store.db)
        deferred = journal.find_deferred(runtime.store)
        others = plugins.modules("EXCHANGE", by_others=True)
        refused = [*filter(None, (each.describe_refused(runtime.store) for each in others))]
    state = f"on for {', '.join(targets)}" if targets else "off"
    if deferred.dead:
        named = "; ".join(deferred.dead[:5])
        hint = "`ademem relations deferred --replay` tries again, `--drop ID` forgets one"
        message = f"{state}; {counted(len(deferred.dead), 'record')} given up: {named}"
        return _bad("journal", message, hint)
    hint = "`ademem relations deferred` shows them" if deferred.count else ""
    message = f"{state}; {counted(deferred.count, 'record')} deferred"
    if refused:
        message = "; ".join([message, *refused])
        hint = hint or "`ademem edit` changes one, and `ademem sync` tries it again"
    return _good("journal", message, hint)


def _rebuild_hint(patient: Patient) -> str:
    saved = backup_files.list_all(patient.project, patient.environment)
    instead = "; `ademem restore --backup latest` takes the last backup back" if saved else ""
    return errors.REBUILD + instead


def database_was_made_here(patient: Patient) -> Finding:
    project = patient.project
    if tracked := admission.list_tracked(project):
        hint = "`ademem files check` tells how to take it out of git"
        return _bad("foreign", f"{tracked[0]} is tracked by git", hint)
    if foreign := admission.list_foreign(project):
        hint = "`ademem doctor --import-foreign` imports its memories; else delete it"
        return _good("foreign", f"{', '.join(foreign)} was not made here and is not used", hint)
    try:
        runtime = open_runtime(project, patient.environment, patient.now)
    except (sqlite3.Error, OSError, AdememError):
        return _bad("foreign", "not checked: the database cannot be opened", "see above")
    runtime.close()
    if runtime.store.is_trusted:
        return _good("foreign", "the database was made here")
    message = "the database was not made here; what it marks as yours counts as imported"
    return _good("foreign", message, "`ademem trust --database` if it is yours")


def backup_was_made(patient: Patient) -> Finding:
    found = backup_files.list_all(patient.project, patient.environment)
    if found:
        newest = f"{counted(len(found), 'backup')}, the newest of {found[0].at} ({found[0].kind})"
        return _good("backup", newest)
    return _good("backup", "none yet", "`ademem backup` makes one; the worker makes one a week")


def disk_is_local(patient: Patient) -> Finding:
    best, kind = "", ""
    for line in (shared_files.read_text("/proc/mounts") or "").splitlines():
        _device, mount, found, *_ = line.split()
        inside = mount.replace("\\040", " ").rstrip("/") + "/"
        # Of equal places the last one is in use: one that is mounted on demand has two lines.
        if f"{patient.project.home}/".startswith(inside) and len(inside) >= len(best):
            best, kind = inside, found
    if kind in NETWORK_FILE_SYSTEMS:
        hint = "SQLite's locks do not hold there; use a local disk"
        return _bad("disk", f"the database is on {kind}", hint)
    return _good("disk", kind or "local")


def command_is_found(patient: Patient) -> Finding:
    name = program(patient.environment)
    if not os.path.isabs(name):
        return _good("command", "`ademem` is on PATH")
    message = "not on your PATH; sessions find it, as their first hook puts it on theirs"
    link = os.path.join(patient.environment.get("HOME", ""), ".local/bin/ademem")
    shown = link if os.path.realpath(link) == os.path.realpath(name) else name
    return _good("command", message, f"add {os.path.dirname(shown)} to PATH")


def commands_run(patient: Patient) -> Finding:
    """Run what people run, as the process that they start."""
    return try_command(patient, "commands", "--help")


def try_command(patient: Patient, check: str, *arguments: str) -> Finding:
    """Run `ademem` with *arguments*, of which a failure names two."""
    named = " ".join(("ademem", *arguments[:2]))
    try:
        ran = _run([program(patient.environment), *arguments], patient.environment)
    except TimeoutError:
        return _bad(check, f"`{named}` took longer than {TIMEOUT_S} s", REINSTALL)
    if ran.code:
        why = ran.last_error or f"it ended with {ran.code}"
        return _bad(check, f"`{named}` fails: {why}", REINSTALL)
    return _good(check, f"`{named}` works")


def parts_load(_patient: Patient) -> Finding:
    parts = (*plugins.built_in(), *plugins.of_others())
    if plugins.faults:
        broken = "; ".join(f"{name}: {why}" for name, why in plugins.faults.items())
        return _bad("parts", f"without {broken}", REINSTALL)
    names = ", ".join(part.__name__.rpartition(".")[2] for part in parts)
    return _good("parts", names or "the core alone")


def servers_answer(patient: Patient) -> Finding:
    servers = install.list_servers(patient.project.root, patient.environment)
    for path, command in servers.items():
        if fault := _ask_server(command, patient):
            hint = "`sh install.sh --mcp --project DIR` installs what it needs"
            return _bad("server", f"the MCP server in {path} {fault}", hint)
    if not servers:
        return _good("server", "the MCP server is registered with no client")
    return _good("server", f"the MCP server in {', '.join(servers)} answers")


INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "ademem-doctor", "version": "1"},
    },
}


def _ask_server(command: list[str], patient: Patient) -> str:
    """Start the server as a client does; return what is wrong with its first answer."""
    world = dict(patient.environment) | {"CLAUDE_PROJECT_DIR": patient.project.root}
    asked = f"{json.dumps(INITIALIZE)}\n".encode()
    try:
        ran = _run(command, world, asked)
    except TimeoutError:
        return f"took longer than {TIMEOUT_S} s"
    for line in ran.text.splitlines():
        with suppress(ValueError, TypeError, KeyError):
            if json.loads(line)["result"]["serverInfo"]:
                return ""
    return f"does not answer: {ran.last_error or f'it ended with {ran.code}'}"


def _run(
    command: Sequence[str], environment: Mapping[str, str], stdin: bytes = b""
) -> process.Finished:
    """Run it as found on the PATH of *environment*; raises TimeoutError."""
    start = ["sh", "-c", 'exec "$0" "$@"', *command]
    return process.run(start, stdin=stdin, environment=environment, timeout_s=TIMEOUT_S)


def client_runs_hooks(patient: Patient) -> Finding:
    """Ask the settings of the client: the rehearsal below starts the hooks itself."""
    sources = client_settings.read_sources(patient.project.root, patient.environment)
    for source in sources:
        if source.fault:
            message = f"Claude Code ignores {source.path}: {source.fault}"
            return _bad("client", message, "repair it by hand")
    in_settings = any(_find_installed(patient, where) for where in install.Where)
    plugin = client_settings.find_plugin(sources)
    why = client_settings.find_switch(sources, plugin=plugin, in_settings=in_settings)
    if not why:
        return _good("client", "no setting of Claude Code turns hooks off")
    managed = [source.path for source in sources if source.is_managed]
    hint = "take it out of the file"
    if why.startswith(tuple(managed)):
        hint = "it is your organization's: ask who manages it to allow these hooks"
    return _bad("client", f"Claude Code runs none of the hooks: {why}", hint)


def status_line_is_free(patient: Patient) -> Finding:
    """Tell whether the client's status line shows memory; one of the person's is left alone."""
    name, script = "statusline", os.path.join(install.hooks_folder(), install.STATUS_LINE)
    sources = client_settings.read_sources(patient.project.root, patient.environment)
    source = next((each for each in sources if "statusLine" in each.values), None)
    if source is None:
        return _good(name, "none is set", "`ademem install` prints the line that shows memory")
    if install.STATUS_LINE in json.dumps(source.values["statusLine"]):
        return _good(name, f"shows memory, by {source.path}")
    message = f"another one is set in {source.path}, which is left alone"
    return _good(name, message, f"`{script}` prints the line for it")


def hooks_are_installed(patient: Patient) -> Finding:
    places = [where for where in install.Where if _find_installed(patient, where)]
    paths = [install.settings_path(patient.project.root, where) for where in places]
    sources = client_settings.read_sources(patient.project.root, patient.environment)
    plugin = client_settings.find_plugin(sources)
    if plugin and plugin.is_enabled:
        paths.append(f"the plugin {plugin.name}")
    if not paths:
        hint = "`ademem install` registers them (or enable the plugin)"
        if _has_open_session(patient):
            message = "in no settings file; a plugin of an open session runs them"
            return _good("hooks", message, hint)
        return _bad("hooks", "not in any settings file", hint)
    where = f"registered in {', '.join(paths)}"
    lacks = [why for each in places if (why := _find_lack(patient, each))]
    if lacks:
        return _bad("hooks", f"{where}; {lacks[0]}", "`ademem install` registers them again")
    return _good("hooks", where)


def _has_open_session(patient: Patient) -> bool:
    with (
        suppress(sqlite3.Error, OSError, AdememError),
        open_runtime(patient.project, patient.environment, patient.now) as runtime,
    ):
        return sessions.is_active(runtime.store, patient.now, sessions.OPEN_MINUTES, by_hooks=True)
    return False


def _find_lack(patient: Patient, where: install.Where) -> str:
    """Return what the client on PATH knows and the settings file does not use."""
    if where is install.Where.SHARED:  # which clients of any version read
        return ""
    version, root = install.client_version(), patient.project.root
    known = {event.name for event in registration.events_of(version)}
    missing = sorted(known - _find_installed(patient, where).keys())
    if version and missing:
        return f"this Claude Code also knows {', '.join(missing)}"
    is_closed = install.fails_closed(root, where)
    if version >= registration.BLOCKING and is_closed != install.blocks_on_failure(root, where):
        fails = "blocks" if is_closed else "passes"
        return f"by guard.fail, a call whose hook cannot answer {fails}, but not as registered"
    return ""


def hooks_fire(patient: Patient) -> Finding:
    installed = filter(None, (_find_installed(patient, where) for where in install.Where))
    return rehearse(next(installed, {}) or install.own_commands(), patient.environment)


def hooks_do_not_fail(patient: Patient) -> Finding:
    recent = failure_log.recent(patient.project, patient.environment)
    if not recent:
        return _good("failures", "no hook failed")
    last = recent[-1]
    unguarded = any(failure["event"] == "pre_tool_use" for failure in recent)
    meanwhile = " (the guard let calls pass meanwhile)" if unguarded else ""
    return _bad(
        "failures",
        f"{counted(len(recent), 'hook failure')}{meanwhile};"
        f" last: {last['at']} {last['event']}: {last['error']}",
        f"see {patient.project.log}; `ademem doctor --fix` clears the list",
    )


def files_are_current(patient: Patient) -> Finding:
    try:
        runtime = open_runtime(patient.project, patient.environment, patient.now)
    except (sqlite3.Error, OSError, AdememError):
        return _bad("files", "not checked: the database cannot be opened", "see above")
    with runtime:
        if waiting := reports.imports(patient.project):
            return _good("files", "; ".join(waiting), "`ademem work` imports it now")
        problems = checks.check(runtime.project, runtime.store, runtime.settings.mirror)
    for problem in problems:
        if not problem.passes:
            message = f"{problem.path}: {problem.message}"
            return _bad("files", message, "`ademem files check` names all")
    if problems:
        message = f"{counted(len(problems), 'file')} will say what is new when the worker next runs"
        return _good("files", message, "`ademem files refresh`")
    return _good("files", "`.ade/memory` says what the database says")


def merges_are_ours(patient: Patient) -> Finding:
    if not enrolment.lacks_driver(patient.project):
        return _good("merges", "nothing stops a merge of the files of memory")
    message = "in this clone git merges the files of memory as text, and stops at conflicts"
    return _bad("merges", message, "`ademem init` lets it call `ademem merge-file`")


def model_is_sound(patient: Patient) -> Finding:
    chosen = load_configuration(patient.project, patient.environment).settings.embed
    found = published.status(chosen, patient.environment)
    match found.state:
        case State.INSTALLED:
            return _good("model", f"{found.model} ({found.bytes // 1_000_000} MB)")
        case State.MISSING:
            hint = "`ademem model install` adds recall by meaning"
            return _good("model", "none, so words alone decide", hint)
        case State.PARTIAL if found.activity == "installing":
            return _good("model", f"being installed ({found.progress} %)")
    if found.source:
        return _bad("model", f"incomplete in {found.path}", "`ademem model install` repairs it")
    message = f"a download that broke off at {found.progress} %, so words alone decide"
    return _good("model", message, "`ademem model install` resumes it")


def second_model_is_sound(patient: Patient) -> Finding:
    chosen = load_configuration(patient.project, patient.environment).settings.embed
    found = published.status(second_settings(chosen), patient.environment)
    repairs = "`ademem model install multilingual` gets it"
    if chosen.multilingual == "off":
        return _good("languages", "embed.multilingual is off, so recall by meaning is for English")
    if found.state is State.INSTALLED or found.activity == "installing":
        return _good("languages", f"{found.model} ({found.bytes // 1_000_000} MB)")
    if found.state is State.PARTIAL:
        return _bad("languages", f"incomplete in {found.path}", repairs)
    if chosen.multilingual == "all":
        return _bad("languages", "embed.multilingual is all, but the model is missing", repairs)
    return _good("languages", "no second model, so recall by meaning is for English", repairs)


def trained_files_are_whole(_patient: Patient) -> Finding:
    """Load what was trained and is shipped with ademem; all of it is read when it is first used."""
    lost = []
    for load, effect in TRAINED:
        try:
            load()
        except AdememError as error:
            lost.append(f"{error}; {effect}")
    if lost:
        return _bad("judge", ". ".join(lost), REINSTALL)
    return _good("judge", "of orders to an assistant, of what a prompt states, and of secrets")


def ai_can_be_asked(patient: Patient) -> Finding:
    configured = load_configuration(patient.project, patient.environment)
    chosen = configured.settings.ai
    if wrong := ai.problem(chosen, patient.environment):
        places = sorted({at for key, at in configured.origins.items() if key.startswith("ai.")})
        return _bad("ai", wrong, f"see {', '.join(places)}; without it, rules decide")
    if chosen.provider == "none":
        return _good("ai", "no provider is set, so rules decide")
    there = redact(f"{chosen.model} at {chosen.url}").text
    whom = {"claude": "`claude -p`", "openai": there}[chosen.provider]
    most = counted(chosen.daily_calls, "time")
    return _good("ai", f"{whom}, at most {most} a day (`ademem status cost`)")


def reader_can_ask(patient: Patient) -> Finding:
    settings = load_configuration(patient.project, patient.environment).settings
    if settings.learn.reader != "on":
        return _good("reader", "learn.reader is off, so no session is read at its end")
    chosen = AISettings(provider="claude", daily_calls=settings.ai.daily_calls)
    if wrong := ai.problem(chosen, patient.environment):
        return _bad("reader", wrong, "without it, no session is read at its end")
    most = counted(reader.DAILY, "session")
    return _good("reader", f"`claude -p`, at most {most} a day (`ademem status cost`)")


TRAINED: tuple[tuple[Callable[[], object], str], ...] = (
    (partial(judge.load, "orders"), "texts from elsewhere wait for review"),
    (partial(judge.load, "states"), "prompts are asked about nothing that they state"),
    (credential_judge.load_weights, "nothing that may hold a secret is stored"),
    (question_map.load, "questions are compared by the first model alone"),
    *(
        (partial(published.reference_sentences, path), "no model can be checked")
        for path in (published.REFERENCES, published.MULTILINGUAL_REFERENCES)
    ),
)
"""What loads each trained file, and what follows where it cannot."""

CHECKS: tuple[Callable[[Patient], Finding], ...] = (
    sqlite_is_able,
    settings_are_readable,
    nothing_is_refused,
    disk_is_local,
    model_is_sound,
    second_model_is_sound,
    trained_files_are_whole,
    ai_can_be_asked,
    reader_can_ask,
    database_is_sound,
    journal_is_sound,
    sessions_are_whole,
    client_is_recognised,
    database_was_made_here,
    backup_was_made,
    files_are_current,
    merges_are_ours,
    command_is_found,
    commands_run,
    parts_load,
    servers_answer,
    hooks_are_installed,
    client_runs_hooks,
    status_line_is_free,
    hooks_fire,
    hooks_do_not_fail,
)


def examine(patient: Patient) -> list[Finding]:
    return [run_check(check, patient) for check in list_checks()]


def list_checks() -> list[Callable[[Patient], Finding]]:
    """Return the checks of the core, and behind them those of the parts."""
    modules = plugins.modules("CHECKS", by_others=True)
    return [*CHECKS, *(check for module in modules for check in module.CHECKS)]


def run_check(check: Callable[[Patient], Finding], patient: Patient) -> Finding:
    try:
        return check(patient)
    except (sqlite3.Error, OSError, AdememError, *database.MISREAD) as error:
        name = check.__name__.partition("_")[0]
        is_expected = isinstance(error, sqlite3.Error | AdememError)
        why = str(error) if is_expected else failure_log.describe(error)
        return _bad(name, why, _next_step(error))


def plan_fix(patient: Patient, findings: Sequence[Finding]) -> list[str]:
    planned = []
    if any(not found.ok for found in findings if found.check == "database"):
        planned.append("repair the database; a damaged file is kept beside the new one")
    planned += [
        f"register the hooks again ({where.value})" for where in _find_unregistered(patient)
    ]
    planned += [f"put the failures seen into {path}.1" for _, path in _failure_logs(patient)]
    return planned


def fix(patient: Patient) -> list[str]:
    done = []
    try:
        done += recovery.recover(patient.project, patient.environment, patient.now)
    except (sqlite3.Error, OSError, AdememError) as error:
        done.append(f"nothing in the database: {error} ({_next_step(error)})")
    for where in _find_unregistered(patient):
        try:
            change = install.install(
                patient.project.root, where, python=sys.executable, hooks=install.hooks_folder()
            )
        except (AdememError, OSError) as error:
            done.append(f"no hooks: {error}")
        else:
            done.append(f"registered the hooks in {change.path}")
    for root, path in _failure_logs(patient):
        confined.rename(root, path, "hooks.log.1")
        done.append(f"put the failures seen into {path}.1")
    return done


def _failure_logs(patient: Patient) -> Iterator[tuple[str, str]]:
    for root, logs in failure_log.folders(patient.project, patient.environment):
        path = os.path.join(logs, "hooks.log")
        if confined.is_file(root, path):
            yield root, path


def _find_unregistered(patient: Patient) -> Iterator[install.Where]:
    """Yield also where all are missing and `uninstall` did not remove them."""
    everything = install.own_commands()
    for where in install.Where:
        found = _find_installed(patient, where)
        partly = bool(found) and not everything.keys() <= found.keys()
        if partly or (not found and install.has_record(patient.project.root, where)):
            yield where


def _find_installed(patient: Patient, where: install.Where) -> dict[str, str]:
    try:
        return install.find_commands(patient.project.root, where)
    except AdememError:
        return {}


def _next_step(error: Exception) -> str:
    explained = error if isinstance(error, AdememError) else errors.explain_machine_error(error)
    return explained.hint if explained and explained.hint else errors.REBUILD


def _good(check: str, message: str, hint: str = "") -> Finding:
    return Finding(check=check, ok=True, message=message, hint=hint)


def _bad(check: str, message: str, hint: str) -> Finding:
    return Finding(check=check, ok=False, message=message, hint=hint)


LESSON = "rehearsals use a throw-away project"
_TURN = {"prompt_id": "p1"}
_BASH = _TURN | {
    "tool_name": "Bash",
    "tool_input": {"command": f'bd comment T-1 "LEARNED: {LESSON}"'},
    "tool_use_id": "toolu_1",
}
_OUTPUT = {"stdout": "", "stderr": "", "interrupted": False}
_FAILS = {"tool_input": {"command": "false"}, "tool_use_id": "toolu_2", "error": "Exit code 1"}
_AGENT = _TURN | {"agent_id": "a1", "agent_type": "Explore"}

SCENE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("UserPromptSubmit", _TURN | {"prompt": "please tidy the parser"}),
    ("PreToolUse", _BASH),
    ("PostToolUse", _BASH | {"tool_response": _OUTPUT}),
    ("PostToolUseFailure", _BASH | _FAILS),
    ("SubagentStart", _AGENT),
    ("SubagentStop", _AGENT | {"last_assistant_message": "done"}),
    ("PreCompact", {"trigger": "manual", "custom_instructions": ""}),
    ("Stop", _TURN | {"stop_hook_active": False, "last_assistant_message": "done"}),
    ("SessionEnd", {"reason": "other"}),
    ("SessionStart", {"source": "startup"}),
)
"""Payloads of a session; the last one starts another session, which must show the lesson.

A person's word on it is between the two: what was only captured is in no briefing.
"""


def rehearse(commands: Mapping[str, str], environment: Mapping[str, str]) -> Finding:
    """Fire each hook in a throw-away project, which has to learn the lesson and show it."""
    faults: list[str] = []
    spent: list[tuple[float, str]] = []
    with tempfile.TemporaryDirectory(prefix="ademem-rehearsal-") as root:
        world = dict(environment) | {"ADEMEM_DATA_DIR": os.path.join(root, "data")}
        init(root, environment=world)
        world |= {"CLAUDE_PROJECT_DIR": root, "ADEMEM_JOBS_AUTO": "false"}
        for name in ("ADEMEM_PROJECT", "ADEMEM_DISABLE", "CLAUDE_ENV_FILE"):
            world.pop(name, None)
        output = ""
        for event, keys in SCENE:
            if event not in commands:
                faults.append(f"{event} is not registered")
                continue
            if event == "SessionStart":
                _confirm_lesson(root, world)
            started = time.monotonic()
            output, fault = _fire(commands[event], event, keys, root, world)
            spent.append((time.monotonic() - started, event))
            if fault:
                faults.append(fault)
        if LESSON not in output:
            faults.append("a new session was not shown the lesson")
        with open_memories(root, environment=world) as runtime:
            hits = searching.search(runtime, "throw-away").hits
        if not hits:
            faults.append("the lesson could not be recalled")
    if faults:
        return _bad("rehearsal", "; ".join(faults), "`install.sh` puts the hooks in again")
    slowest_s, slowest = max(spent)
    return _good(
        "rehearsal",
        f"{counted(len(spent), 'hook')} fired, the slowest {slowest} in {slowest_s * 1000:.0f} ms;"
        f" learned, briefed and recalled: {hits[0].memory.content!r}",
    )


def _confirm_lesson(root: str, world: dict[str, str]) -> None:
    with open_memories(root, environment=world) as runtime:
        store = runtime.store
        for memory in memory_queries.project_candidates(store):
            transitions.promote(memory.id, transitions.Act(store=store, now=runtime.now))


def _fire(
    command: str, event: str, keys: dict[str, Any], root: str, world: dict[str, str]
) -> tuple[str, str]:
    payload = {
        "session_id": "afterwards" if event == "SessionStart" else "rehearsal",
        "transcript_path": "",
        "cwd": root,
        "hook_event_name": event,
    } | keys
    try:
        ran = process.run(
            ["sh", "-c", 'cd "$1" && eval "$2"', "sh", root, command],
            stdin=json.dumps(payload).encode(),
            environment=world,
            timeout_s=TIMEOUT_S,
        )
    except TimeoutError:
        return "", f"{event} took longer than {TIMEOUT_S} s"
    log = os.path.join(root, ".ade", "log", "hooks.log")
    if os.path.exists(log):
        with open(log, encoding="utf-8") as file:
            fault = json.loads(file.readlines()[-1])["error"]
        os.unlink(log)
        return "", f"{event}: {fault}"
    if ran.code:
        return "", f"{event} ended with {ran.code}: {ran.errors.decode().strip()[:200]}"
    if event == "PreCompact" or not ran.output:
        return ran.text, ""
    try:
        return str(json.loads(ran.output)["hookSpecificOutput"]["additionalContext"]), ""
    except (ValueError, KeyError, TypeError):
        return "", f"{event} printed what the client cannot read"
