"""The door for people: parse, call one function of `api`, show."""

from __future__ import annotations

import os
import sys

from ademem.core import bytecode
from ademem.core.errors import AdememError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ademem.doors.cli.commands import app as app


CRASH_CHARS = 20_000
"""How much of the end of a traceback is logged."""


def __getattr__(name: str) -> Any:
    """Return the app with all commands; loading them takes longer than a search."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ademem.doors.cli.commands import load

    return load()


def program() -> NoReturn:
    """`main` as a process of its own.

    What agents type all day leaves at once: to take apart all that was loaded takes as long as to
    search.
    """
    try:
        main()
    except SystemExit as end:
        from ademem.doors.cli import quick

        if quick.read(sys.argv[1:]) and isinstance(end.code, int):
            sys.stdout.flush()
            os._exit(end.code)
        raise


def main() -> NoReturn:
    """Exit codes: 0 done, 1 refused or nothing found, 2 usage, 3 a bug of ours, with a log file."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads cost more than they bring
    bytecode.use()
    try:
        sys.exit(_run())
    except UsageError as error:
        _fail(error, 2)
    except AdememError as error:
        _fail(error, 1)
    except Exception as error:
        from ademem.core import machine_errors

        if isinstance(error, UnicodeEncodeError) and not "".join(sys.argv).isprintable():
            _fail(UsageError("an argument is no UTF-8 text", "check the terminal's encoding"), 2)

        if told := machine_errors.told(error):
            _fail(told, 1)
        sys.exit(_report(error))


def _run() -> int:
    """What agents type all day is answered before anything is loaded that parses options."""
    from ademem.doors.cli import quick

    if asked := quick.read(sys.argv[1:]):
        return quick.answer(asked)
    from ademem.doors.cli.commands import run

    run()
    return 0


def _fail(error: AdememError, code: int) -> NoReturn:
    hint = f" ({error.hint})" if error.hint else ""
    print(f"ademem: {error}{hint}", file=sys.stderr)
    sys.exit(code)


def _report(error: Exception) -> int:
    """Our bug: the traceback goes to a file, and the user is told where it is."""
    import traceback

    from ademem.core import failure_log
    from ademem.core.redaction import redact
    from ademem.core.text import preview

    trace = "".join(traceback.format_exception(error))
    if len(trace) > CRASH_CHARS:  # from between two words: half a secret is not known as one
        trace = trace[-CRASH_CHARS:].split(None, 1)[-1]
    try:
        where = f"see {failure_log.log_crash(redact(trace).text, os.environ)}"
    except OSError as reason:
        where = f"which could not be logged: {reason}"
    said = preview(failure_log.in_words(error), failure_log.ERROR_CHARS)
    print(f"ademem: unexpected {said} ({where})", file=sys.stderr)
    return 3
