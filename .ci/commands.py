"""Run every command of an installed ademem as a person meets it; its path is the argument."""

import os
import re
import subprocess
import sys
import time

PROGRAM = sys.argv[1]
LISTED = re.compile(r"^  ([a-z][a-z-]*)(?:  |$)", re.MULTILINE)


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


def help_below(*path):
    """Show the help of a command and of all below it; return how many these are."""
    shown = run(*path, "--help")
    _, _, commands = shown.partition("Commands:\n")
    below = LISTED.findall(commands if path else shown)
    return 1 + sum(help_below(*path, name) for name in below if name != "ademem")


started = time.monotonic()
count = help_below()
assert count > 60, count
for hidden in ("learn", "topic-key", "timeline", "context", "work", "merge-file", "serve", "rpc"):
    run(hidden, "--help")
assert "Every day:" in run(code=2)
run("--version")
assert "Did you mean 'list'" in run("lst", code=2)
for words, last in (("ademem sy", "1"), ("ademem hub mem", "2"), ("ademem list --sta", "2")):
    asked = {"COMP_WORDS": words, "COMP_CWORD": last, "_ADEMEM_COMPLETE": "complete_bash"}
    assert run(**asked).strip(), words
run("init")
run("add", "Deploys go through the staging branch")
run("sync", "--dry-run", "--dir", "../exchange")
run("sync", "--dir", "../exchange")
run("sync", "--status")
run("sync")
print(f"{count} helps and the rest in {time.monotonic() - started:.0f} s")
