"""Run every command of an installed ademem as a person meets it; its path is the argument.

Each help is printed in this process, which is one of the installation; what else people type is a
process of its own. Nothing of an extra may be imported.
"""

import contextlib
import io
import os
import subprocess
import sys
import time
from pathlib import Path

import typer

from ademem.doors import cli
from ademem.doors.cli import typer_app

PROGRAM = sys.argv[1]
sys.path.append(str(Path(__file__).parents[1]))

from tests import extras, persons  # noqa: E402 - which need no package


class Refused:
    """A finder that ends the run where a module of an extra is asked for, installed or not."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in extras.PACKAGES:
            sys.exit(f"{sys.argv[1:]} imports {name}")


def print_help(*path):
    sys.argv = ["ademem", *path, "--help"]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            cli.main()
        except SystemExit as end:
            code = end.code
    if code or not printed.getvalue().strip():
        sys.exit(f"ademem {' '.join(path)} --help: exit {code}")


def print_all_helps(command, *path):
    """Print the help of a command and of all below it; return how many these are."""
    print_help(*path)
    below = getattr(command, "commands", {})
    return 1 + sum(print_all_helps(below[name], *path, name) for name in below)


def run(*arguments, code=0, **variables):
    ran = subprocess.run(
        [PROGRAM, *arguments],
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    printed = ran.stdout + ran.stderr
    if ran.returncode != code or "needs the package" in printed or "unexpected" in printed:
        sys.exit(f"ademem {' '.join(arguments)}: exit {ran.returncode}\n{printed}")
    return printed


started = time.monotonic()
sys.meta_path.insert(0, Refused())
count = print_all_helps(typer.main.get_command(typer_app.load()))
assert count > 60, count


def join_as_person(*arguments):
    """Do what only a person may: in a terminal below a process that stands for a login's."""
    ran = persons.type_command([PROGRAM, *arguments], os.environ, os.getcwd())
    if ran.returncode:
        sys.exit(f"ademem {' '.join(arguments)}: exit {ran.returncode}\n{ran.stderr.decode()}")


for path in ((), ("recall",), ("sync",), ("hub", "serve"), ("mcp",)):
    run(*path, "--help")
assert "─ Every day ─" in run("--help")
assert "ademem init" in run()
run("--version")
assert "Did you mean 'list'" in run("lst", code=2)
for words, last in (("ademem sy", "1"), ("ademem hub mem", "2"), ("ademem list --sta", "2")):
    asked = {"COMP_WORDS": words, "COMP_CWORD": last, "_ADEMEM_COMPLETE": "complete_bash"}
    assert run(**asked).strip(), words
run("init")
run("add", "Deploys go through the staging branch")
assert "staging" in run("recall", "deploys")
run("sync", "--dry-run", "--dir", "../exchange")
join_as_person("sync", "--dir", "../exchange")
run("sync", "--status")
run("sync")
print(f"{count} helps and the rest in {time.monotonic() - started:.0f} s")
