"""The page of the documentation about the hub, done as it says, and a day of two people after it.

`ADEMEM_EXAMPLES=full pytest -s` prints the day: who ran what, and what they read.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import persons, postgres
from tests.examples import FULL

PAGE = (Path(__file__).parents[4] / "docs/hub.md").read_text()
PROGRAM = f"""#!{sys.executable}
from ademem.doors.cli import program
program()
"""


def blocks(heading, language):
    """The blocks of a language below a heading."""
    part = PAGE.partition(f"\n{heading}\n")[2].partition("\n### ")[0]
    return re.findall(rf"```{language}\n(.*?)```", part, re.S)


class Machine:
    """A person's home, with a clone of the project."""

    def __init__(self, root, name, programs):
        self.name, self.clone = name, root / name / "shop"
        self.clone.mkdir(parents=True)
        kept = {key: os.environ[key] for key in ("PATH", "TMPDIR", "LANG") if key in os.environ}
        self.environment = kept | {
            "HOME": str(root / name),
            "PATH": f"{programs}:{kept['PATH']}",
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": f"{name}@x",
            "GIT_COMMITTER_NAME": name,
            "GIT_COMMITTER_EMAIL": f"{name}@x",
            "GIT_MERGE_AUTOEDIT": "no",
            "ADEMEM_JOBS_AUTO": "false",
        }

    def run(self, line, shown=True, **variables):
        if shown:
            print(f"\n{self.name}$ {line}")
        ran = persons.type_command(
            ["bash", "-ec", f"{{\n{line}\n}} 2>&1"], self.environment | variables, self.clone
        )
        printed = ran.stdout.decode()
        if shown:
            print(printed.rstrip())
        assert ran.returncode == 0, printed
        return printed

    def told(self):
        """Content, category and status of each memory, by id."""
        rows = json.loads(self.run("ademem list --limit 100 --json", shown=False))["memories"]
        return {row["id"]: (row["content"], row["category"], row["status"]) for row in rows}

    def id_of(self, words):
        (id,) = (id for id, (content, *_) in self.told().items() if words in content)
        return id

    def files(self):
        return self.run("cat .ade/memory/*", shown=False)


@pytest.fixture
def served(tmp_path):
    """The hub, set up as the page says with packages; yields its address and the invitations."""
    (superuser,) = blocks("### With packages", "sql")
    owner, server = blocks("### With packages", "sh")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "ademem").write_text(PROGRAM)
    (programs / "ademem").chmod(0o755)
    operator = Machine(tmp_path, "operator", programs)
    with postgres.bare() as cluster:
        operator.environment["PATH"] += f":{cluster.programs}"
        here = f"@/hub?host={cluster.folder}"
        run = operator.run
        run(
            f"psql -v ON_ERROR_STOP=1 -U postgres -h {cluster.folder} <<< {superuser!r}".replace(
                "\\n", " "
            )
        )
        codes = re.findall(r"adi_\w+", run(owner.replace("@localhost/hub", here)))
        *before, serving = server.replace("@localhost/hub", here).strip().splitlines()
        assert "may be served" in run("\n".join(before))
        dsn = before[0].partition("=")[2]
        options = serving.replace("0.0.0.0:7440", "127.0.0.1:0").partition(" --tls")[0].split()
        process = subprocess.Popen(
            [programs / "ademem", *options[1:]],
            env=operator.environment | {"ADEMEM_HUB_DSN": dsn},
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield re.findall(r"http://[\d.:]+", process.stderr.readline())[0], codes, programs
        finally:
            process.terminate()
            process.communicate(timeout=20)


def test_two_machines_work_a_day_through_git_and_the_hub(tmp_path, served):
    url, codes, programs = served
    ann, bob = (Machine(tmp_path, name, programs) for name in ("ann", "bob"))
    repository = tmp_path / "shop.git"
    share = "ademem files refresh && git add -A .ade && git commit -qm memory && git push -q"
    hear = "git pull -q --no-rebase && ademem files refresh"

    ann.run(f"git init -q --bare -b main {repository} && git init -q -b main")
    ann.run(f"git remote add origin {repository} && ademem init")
    ann.run("ademem add 'Deploys run at noon on fridays, after the tests' --category decision")
    ann.run(share.replace("git push -q", "git push -q -u origin main"))
    bob.run(f"git clone -q {repository} . && ademem init && ademem files refresh")
    for person, code in zip((ann, bob), codes, strict=True):
        person.run(f"ademem hub join {url} {code}")
    ann.run("ademem sync --dry-run")
    ann.run("ademem sync")
    bob.run("ademem sync")

    ann.run("ademem add 'The staging server restarts at six in the morning' --category fact")
    ann.run("ademem sync")
    bob.run("ademem sync")
    assert bob.id_of("staging") == ann.id_of("staging")  # before any commit
    if not FULL:
        return

    deploys = ann.id_of("Deploys")
    bob.run(f"ademem edit {deploys} --content 'Deploys run at one on mondays, after the tests'")
    bob.run("ademem sync")
    ann.run(f"ademem edit {deploys} --category gotcha")
    ann.run("ademem add 'Invoices are rounded to cents by the bank, never by us'")
    ann.run(share)
    ann.run("ademem sync")
    bob.run(hear)  # by git what the hub told ann, too
    bob.run("ademem sync")
    assert bob.told()[deploys][:2] == (
        "Deploys run at one on mondays, after the tests",
        "gotcha",
    )

    ann.run("ademem core set summary 'Sells shoes to small shops'")
    ann.run("ademem sync")
    bob.run("ademem sync")
    assert "small shops" in bob.run("ademem core show")

    bob.run("git checkout -q -b search")
    bob.run("ademem add 'Search is rebuilt on sundays by the worker'")
    bob.run("ademem sync")
    ann.run("ademem sync")
    assert "Search is rebuilt" in ann.run("ademem list --branch search")
    assert "Search is rebuilt" not in ann.files()
    bob.run(share.replace("git push -q", "git push -q -u origin search"))
    bob.run("git checkout -q main && git merge -q search && git push -q && ademem files refresh")
    ann.run(f"ademem delete {ann.id_of('staging')} --hard")
    ann.run("ademem sync")
    ann.run(hear)
    bob.run("ademem sync")
    assert not any("staging" in content for content, *_ in bob.told().values())
    for person in (ann, bob, ann):
        person.run("ademem sync")
        person.run(f"{hear} && (git diff --quiet .ade || ({share}))")
    bob.run(hear)

    assert ann.told() == bob.told()
    assert len(ann.told()) == 3
    assert ann.files() == bob.files()
    exports = [person.run("ademem export -", shown=False) for person in (ann, bob)]
    assert "staging" not in exports[0]
    for person in (ann, bob):
        status = json.loads(person.run("ademem sync --status --json", shown=False))["hub"]
        assert (status["lifecycle"], status["waiting"]) == ("healthy", 0)
