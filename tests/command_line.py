"""The command line in this process, with an environment and a working folder of the caller's."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from ademem.doors import cli


class Failed(AssertionError):
    """The command ended with another exit code than 0."""


def ademem(*arguments: str, environment: Mapping[str, str], folder: Path) -> str:
    """Return what `ademem` prints."""
    with (
        patch.dict(os.environ, environment, clear=True),
        patch.object(sys, "argv", ["ademem", *arguments]),
        chdir(folder),
        redirect_stdout(StringIO()) as printed,
        redirect_stderr(StringIO()) as complaint,
    ):
        try:
            cli.main()
        except SystemExit as end:
            if end.code:
                said = f"{' '.join(arguments)}: exit {end.code}\n{complaint.getvalue()}"
                raise Failed(said) from None
    return printed.getvalue().strip()
