"""Failures that nobody foresaw, as a door tells them: logged, with the place of the log."""

from __future__ import annotations

import os
import traceback

from ademem.core import failure_log
from ademem.core.errors import BUG, AdememError
from ademem.core.redaction import redact
from ademem.core.text import preview

CRASH_CHARS = 20_000


class Bug(AdememError):
    exit_code = BUG


def log_crash(error: Exception) -> Bug:
    trace = "".join(traceback.format_exception(error))
    if len(trace) > CRASH_CHARS:  # cut between words: redaction does not see half a secret
        trace = trace[-CRASH_CHARS:].split(None, 1)[-1]
    try:
        where = f"see {failure_log.log_crash(redact(trace).text, os.environ)}"
    except OSError as reason:
        where = f"which could not be logged: {reason}"
    summary = preview(failure_log.describe(error), failure_log.ERROR_CHARS)
    return Bug(f"unexpected {summary}", where)
