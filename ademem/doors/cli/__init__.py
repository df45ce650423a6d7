"""The command line: parse, call an operation, show.

Recall as agents type it (words, `--limit`, `--project`, `--json`) is answered here: loading the
parser of options would take longer than the search.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

from ademem import __version__
from ademem.core import bytecode, clone_variables, plugins
from ademem.core.errors import (
    KINDS,
    AdememError,
    UsageError,
    explain_machine_error,
    suppress,
)
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from ademem.doors.cli.commands import app as app


LARGEST_LIMIT = 1000


def __getattr__(name: str) -> Any:
    """Return the app with all commands; loading them takes longer than a search."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ademem.doors.cli.commands import load

    return load()


def program() -> NoReturn:
    """Run `main` as a process; after a recall skip the interpreter's teardown, which is slow."""
    try:
        main()
    except SystemExit as end:
        if parse_recall(sys.argv[1:]) and isinstance(end.code, int):
            sys.stdout.flush()
            os._exit(end.code)
        raise


def main() -> NoReturn:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads cost more than they bring
    bytecode.use()
    clone_variables.withdraw(os.environ)
    # Streams that were closed at the start get no number that another file would get.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    try:
        if sys.argv[1:] == ["--version"]:
            print(f"ademem {__version__}")
            sys.exit(0)
        if question := parse_recall(sys.argv[1:]):
            sys.exit(answer(question))
        if sys.argv[1:]:
            _run_part(sys.argv[1], sys.argv[2:])
        from ademem.doors.cli import commands

        commands.run()
    except AdememError as error:
        _fail(error)
    except ModuleNotFoundError as error:
        if sys.argv[1:] == ["init"]:
            _enrol_here()
        if error.name == "typer":
            _run_plainly()
        if "ademem" in str(error.name):
            from ademem.doors.crashes import log_crash

            _fail(log_crash(error))
        from ademem.doors.cli import extras

        why = f"this command needs the package {error.name}, which is not installed"
        _fail(AdememError(why, extras.describe_install()))
    except Exception as error:
        if isinstance(error, UnicodeEncodeError) and not "".join(sys.argv).isprintable():
            _fail(UsageError("an argument is not UTF-8 text", "check the terminal's encoding"))
        from ademem.doors.crashes import log_crash

        _fail(explain_machine_error(error) or log_crash(error))


def _fail(error: AdememError) -> NoReturn:
    if wants_json(sys.argv[1:]):
        import json

        from ademem.doors.cli import show

        fields = {"exit_code": error.exit_code, "kind": KINDS[error.exit_code]}
        fields |= {"message": str(error), "hint": error.hint}
        with suppress(OSError):  # a full disk takes no error either
            if not show.output_is_lost:
                show.echo(show.safe(json.dumps({"error": fields}, indent=2)))
                sys.exit(error.exit_code)
    from ademem.core.untrusted import visible

    hint = f" ({error.hint})" if error.hint else ""
    print(visible(f"ademem: {error}{hint}"), file=sys.stderr)
    sys.exit(error.exit_code)


def wants_json(arguments: Sequence[str]) -> bool:
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def _run_plainly() -> None:
    from ademem.doors.cli import plain

    try:
        if plain.run(sys.argv[1:]):
            sys.exit(0)
    except AdememError as error:
        _fail(error)


def _enrol_here() -> NoReturn:
    """Run `ademem init` without the parser of options, which a plugin does not bring."""
    from ademem import operations
    from ademem.core import who
    from ademem.files import enrolment

    try:
        root = enrolment.choose_root(os.getcwd())
        enrolment.check_home(root)
        print(
            *operations.init(root, merges=False, by=who.of_process()),
            f"memory of {root} begins with the next session",
            sep="\n",
        )
    except AdememError as error:
        _fail(error)
    sys.exit(0)


class Question(Value):
    counts: bool
    """An access of each hit is counted."""
    query: str
    limit: int
    project: str | None
    as_json: bool


def parse_recall(arguments: Sequence[str]) -> Question | None:
    """Parse the forms of recall that agents type; return None for any other command line."""
    command, *rest = arguments or ("",)
    if command != "recall":
        return None
    words: list[str] = []
    options = {"--limit": "10", "--project": ""}
    unread = iter(rest)
    for word in unread:
        name, equals, value = word.partition("=")
        name = "--limit" if name == "-n" else name
        if name in options:
            options[name] = value if equals else next(unread, "-")
        elif word.startswith("-"):
            if word not in ("--json", "--no-count"):
                return None
        else:
            words.append(word)
    query, limit = " ".join(words), options["--limit"]
    if not query.strip() or not limit.isdecimal() or len(limit) > len(str(LARGEST_LIMIT)):
        return None
    if not 1 <= int(limit) <= LARGEST_LIMIT:
        return None
    if options["--project"].startswith("-"):
        return None
    return Question(
        counts="--no-count" not in rest,
        query=query,
        limit=int(limit),
        project=options["--project"] or None,
        as_json="--json" in rest,
    )


def _run_part(command: str, arguments: Sequence[str]) -> None:
    """Run a command of the part with its name, where its common forms need no parser."""
    if quick := getattr(plugins.named(command), "QUICK", None):
        import_module(quick).run(arguments)


def answer(question: Question) -> int:
    import gc
    import json

    from ademem import operations
    from ademem.operations import searching

    gc.disable()  # a collection would traverse all modules and free nothing
    from ademem.doors.cli import show

    with operations.open_memories(question.project, on_import=show.import_progress()) as memories:
        memories.before_close = None  # an answer changes no hint
        show.notices(memories)
        show.unread_edits(memories)
        search = searching.recall if question.counts else searching.search
        found = search(memories, question.query, None, question.limit)
        drifted = searching.find_drifted(memories, [hit.memory for hit in found.hits])
    show.as_json = question.as_json
    if question.as_json:
        hits = show.results_json(found, drifted=drifted)
        show.echo(show.safe(json.dumps(hits, ensure_ascii=False, indent=2)))
    else:
        show.results(found, explain=False, drifted=drifted)
    return show.exit_code(found.answers)
