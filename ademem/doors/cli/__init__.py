"""The command line: parse, call an operation, show."""

from __future__ import annotations

import gc
import os
import sys

from ademem import __version__
from ademem.core import bytecode, clone_variables, regex
from ademem.core.errors import (
    KINDS,
    AdememError,
    UsageError,
    explain_machine_error,
    suppress,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ademem.doors.cli.typer_app import app as app


BARE: tuple[list[str], ...] = ([], ["--json"])
"""Arguments of the overview."""


def __getattr__(name: str) -> Any:
    """Return the app with all commands; loading them takes longer than a search."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ademem.doors.cli.typer_app import load

    return load()


def program() -> NoReturn:
    """Run `main` as a process; without threads, skip the interpreter's teardown, which is slow."""
    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, int) and "threading" not in sys.modules:
            sys.stdout.flush()
            sys.stderr.flush()
            regex.keep()
            os._exit(end.code)
        raise


def main() -> NoReturn:
    gc.disable()  # a collection would traverse the modules that are loaded, and free nothing
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads cost more than they bring
    bytecode.use()
    clone_variables.withdraw(os.environ)
    _open_streams()
    try:
        _run(sys.argv[1:])
        sys.exit(0)
    except AdememError as error:
        _fail(error)
    except ModuleNotFoundError as error:
        _fail(_explain_missing(error))
    except BrokenPipeError:  # of a print that no `show` made
        from ademem.doors.cli import show

        show.end(1)
    except Exception as error:
        if isinstance(error, UnicodeEncodeError) and not "".join(sys.argv).isprintable():
            _fail(UsageError("an argument is not UTF-8 text", "check the terminal's encoding"))
        from ademem.doors.crashes import log_crash

        _fail(explain_machine_error(error) or log_crash(error))


def _open_streams() -> None:
    """Open streams that were closed at the start, so that no other file gets their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    encoding = sys.stdout.encoding or "utf-8"  # a StringIO has none
    if encoding.lower() != "utf-8":  # a terminal that has no ◆ shows ? for it
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]


def _run(arguments: list[str]) -> None:
    """Run a command line; each form loads what it needs, and typer comes last."""
    completes = "_ADEMEM_COMPLETE" in os.environ
    if arguments == ["--version"]:
        return print(f"ademem {__version__}")
    if arguments in BARE and not completes:
        from ademem.doors.cli import overview

        return overview.run(arguments)
    if arguments[:1] in (["--help"], ["-h"]) and not completes:
        from ademem.doors.cli import help

        return help.show()
    if arguments == ["init"]:
        _enrol_without_packages()
    from ademem.doors.cli import commands

    arguments = commands.complete_form(arguments)
    if not commands.run(arguments):
        from ademem.doors.cli import typer_app

        typer_app.run(arguments)
    return None


def _explain_missing(error: ModuleNotFoundError) -> AdememError:
    if "ademem" in str(error.name):
        from ademem.doors.crashes import log_crash

        return log_crash(error)
    from ademem.doors.cli import extras

    why = f"this command needs the package {error.name}, which is not installed"
    return AdememError(why, extras.describe_install())


def _fail(error: AdememError) -> NoReturn:
    from ademem.doors.cli import show

    if show.wants_json(sys.argv[1:]):
        import json

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


def _enrol_without_packages() -> None:
    """Run `ademem init` of a plugin, which brings no package: no `ademem` outlives the session."""
    from importlib.machinery import PathFinder

    if PathFinder.find_spec("typer"):
        return
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
