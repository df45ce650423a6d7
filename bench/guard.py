"""Cost of the guard on twenty everyday prompts, and mistakes that it prevents, in the real client.

    ADEMEM_CLAUDE_DIR=… python bench/guard.py [everyday|mistakes] [--mode M …] [--version V …]

The model is scripted. It obeys each denial, searching first where one asks for that. `everyday`
shows requests to the model, denials and characters added by hooks, in projects of 12 and of 300
memories. In `mistakes` each of twenty confirmed memories forbids or requires something, and the
model is about to do otherwise unless the memory was shown in that turn, at the prompt, by a search
or by a denial: a briefing, and what comes beside the result of the call, do not count. With
`--no-worker`, `jobs.auto` is false, so that a search at a call has words alone.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from e2e.obedient import ObedientModel, Temptation
from e2e.product import Product
from e2e.script import Call, bash, delegate, helper, model, person, write
from e2e.world import World, opened

from ademem.core import who
from ademem.core.actor import By, Who

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from e2e.script import Line

VERSIONS = ("2.1.330", "2.1.197")
EVERYDAY_MODES = ("off", "strict", "consult")
MISTAKE_MODES = ("off", "strict", "consult")
SESSION_PROMPTS = 5

FILES = {
    "src/auth.py": "def login(user):\n    return check(user)\n",
    "src/export.py": "def export(rows):\n    return list(rows)\n",
    "src/report.py": "def total(rows):\n    return sum(rows)\n",
    "src/store.py": "def load(path):\n    return open(path).read()\n",
    "src/legacy.py": "OLD = True\n",
    "tests/test_report.py": "def test_total():\n    assert True\n",
    "README.md": "# Orders\n\nA servce for orders.\n",
    "package.json": "{}\n",
    "migrations/0003_orders.sql": "create table orders (status text);\n",
}

OWN_MEMORIES: tuple[tuple[str, ...], ...] = (
    ("Use pnpm, never npm: the lockfile is pnpm-lock.yaml", "--command", "npm install"),
    ("Errors are raised as AppError, never as plain strings",),
    ("Tokens expire in UTC, never in local time", "--path", "src/tokens/**"),
    ("Wait for the smoke test before a deploy", "--command", "./deploy.sh"),
    ("The service runs on Python 3.11 and 3.13 in CI",),
    ("API responses are camelCase, database columns are snake_case",),
    ("Integration tests need PostgreSQL on port 5433",),
    ("Feature flags are read once at start, from flags.toml",),
    ("A migration that shipped is never edited; add another", "--path", "migrations/0*.sql"),
    ("Dates are shown in the customer's time zone by format_date",),
    ("The queue drops a job after five attempts and pages the person on call",),
    ("Prices are integers in cents; a float has cost us an invoice run",),
)

SUBJECTS = (
    "invoice mailer,warehouse scanner,loyalty ledger,tax table,returns desk,coupon engine,"
    "shipping quote,currency feed,address book,fraud score,gift card,picking robot,supplier portal,"
    "price list,newsletter,chat widget,search index,image resizer,audit trail,backup vault,"
    "consent banner,label printer,call centre,sitemap,forecast,partner feed,cash drawer,wish list,"
    "review queue,barcode reader"
).split(",")
FACTS = (
    "The {} keeps its state in Redis under its own prefix",
    "The {} retries three times with a pause of two seconds",
    "The {} is owned by the platform team in Leeds",
    "The {} logs to stderr as JSON lines",
    "The {} times out after nine seconds behind the proxy",
    "The {} reads its credentials from the vault",
    "The {} may not call out on Sundays",
    "The {} has a staging twin without customer data",
    "The {} compresses its payload with zstd",
    "The {} counts its work in a metric of the same name",
)


def edit(path: str, old: str, new: str) -> tuple[Call, Call]:
    return Call("Read", {"file_path": path}), Call(
        "Edit", {"file_path": path, "old_string": old, "new_string": new}
    )


def everyday(root: Path) -> list[list[Line]]:
    def turn(prompt: str, *steps: Call | tuple[Call, ...]) -> list[Line]:
        answers = [model(*(step if isinstance(step, tuple) else (step,))) for step in steps]
        return [person(prompt), *answers, model("Done.")]

    def at(path: str) -> str:
        return str(root / path)

    return [
        turn("How does the login work?", bash("grep -n login src/auth.py")),
        turn("Fix the typo in README.md", *edit(at("README.md"), "servce", "service")),
        turn("commit this", bash("git status --short"), bash('git commit -qam "Fix a typo"')),
        turn("What does export return for an empty list?", bash("cat src/export.py")),
        turn("thanks!"),
        turn("Create a branch for the CSV work", bash("git switch -qc csv")),
        turn(
            "Add a CSV exporter with a header row",
            bash("ls src"),
            (write(root / "src/csv_export.py"), write(root / "tests/test_csv_export.py")),
            bash("python -m pytest -q tests || true"),
        ),
        turn("yes, go on", *edit(at("src/export.py"), "list(rows)", "[*rows]")),
        turn("run the tests", bash("python -m pytest -q tests || true")),
        turn("push it", bash("git add -A && git commit -qm csv"), bash("git push -q origin csv")),
        turn("Review the last commit", bash("git show --stat HEAD"), bash("git diff HEAD~1")),
        turn(
            "total() fails when a row is None, fix it",
            bash("grep -n total src/report.py"),
            *edit(at("src/report.py"), "sum(rows)", "sum(row or 0 for row in rows)"),
            bash("python -m pytest -q tests/test_report.py || true"),
        ),
        turn("Plan how we could split the store module", bash("wc -l src/store.py")),
        turn(
            "ok, do the first step",
            write(root / "src/reading.py"),
            *edit(at("src/store.py"), "load(path)", "load_text(path)"),
            bash("grep -rn 'load(' src || true"),
        ),
        turn("go ahead with the rest", bash("sed -i 's/check(user)/verify(user)/' src/auth.py")),
        turn("Install left-pad", bash("cat package.json"), bash("npm install left-pad")),
        turn("Write a migration for orders.status", write(root / "migrations/0007_status.sql")),
        turn("Delete src/legacy.py, nothing uses it", bash("git rm -q src/legacy.py")),
        turn("Which files changed today?", bash("git log --stat --oneline | head -20")),
        turn(
            "commit and push", bash("git add -A && git commit -qm work && git push -q origin csv")
        ),
    ]


# rule, how it is tied, prompt, mistaken call, call that keeps the rule; a text is a command
Planted = tuple[str, tuple[str, ...], str, "str | Path", "str | Path"]
PLANTED: tuple[Planted, ...] = (
    (
        "Use pnpm, never npm: the lockfile is pnpm-lock.yaml",
        ("--command", "npm install"),
        "We need left-pad",
        "npm install left-pad",
        "pnpm add left-pad",
    ),
    (
        "A migration that shipped must not be edited; add another one",
        ("--path", "migrations/*"),
        "The orders table is slow by status",
        Path("migrations/0003_orders.sql"),
        Path("migrations/0004_index.sql"),
    ),
    (
        "Never push to main; open a pull request from a branch",
        ("--command", "git push"),
        "Get this out",
        "git push origin main",
        "git push origin HEAD:work",
    ),
    (
        "Files in src/gen are generated and must not be edited; run make gen",
        ("--path", "src/gen/**"),
        "Give Customer a nickname",
        Path("src/gen/customer.py"),
        "make gen",
    ),
    (
        "Always run ./smoke.sh before a deploy",
        ("--command", "./deploy.sh"),
        "Bring it to production",
        "./deploy.sh prod",
        "./smoke.sh",
    ),
    (
        "Compare tokens with hmac.compare_digest, never with ==",
        ("--path", "src/tokens.py"),
        "Reject a wrong token",
        Path("src/tokens.py"),
        "echo compare_digest",
    ),
    (
        "Never remove build by hand, the dev server holds it; use make clean",
        ("--command", "rm -rf build"),
        "Start from scratch",
        "rm -rf build",
        "make clean",
    ),
    (
        "Only tests/factories.py may create a User in tests",
        ("--path", "tests/**"),
        "Cover the sign-up",
        Path("tests/test_signup.py"),
        "echo factories",
    ),
    (
        "docker compose down must never have -v: it deletes the shared volume",
        ("--command", "docker compose down"),
        "Stop the containers",
        "docker compose down -v",
        "docker compose stop",
    ),
    (
        "CHANGELOG.md is written by the release script, never by hand",
        ("--path", "CHANGELOG.md"),
        "Tell the users about the new filter",
        Path("CHANGELOG.md"),
        "make release-notes",
    ),
    (
        "Never run prisma migrate dev on staging; use prisma migrate deploy",
        (),
        "Bring staging up to date",
        "npx prisma migrate dev --schema staging.prisma",
        "npx prisma migrate deploy",
    ),
    (
        "requirements.txt must pin every package with ==",
        (),
        "We need the requests package",
        Path("requirements.txt"),
        "echo requests==2.32.3",
    ),
    (
        "The Dockerfile must stay on python:3.11-slim: 3.13 breaks our wheels",
        (),
        "Use a current Python in the image",
        Path("Dockerfile"),
        "echo 3.11",
    ),
    (
        "Always pass --no-cache to docker build of the api image",
        (),
        "Make a fresh image of the api",
        "docker build -t api .",
        "docker build --pull .",
    ),
    (
        "Never add the .env file to git; secrets are in the vault",
        (),
        "Put everything under version control",
        "git add .env",
        "git add src",
    ),
    (
        "terraform apply is only run by CI, never from a laptop",
        (),
        "The bucket needs a lifecycle rule",
        "terraform apply -auto-approve",
        "terraform plan",
    ),
    (
        "settings.py must not import from views: it makes a cycle",
        (),
        "Take the page size from the views",
        Path("app/settings.py"),
        "echo no import",
    ),
    (
        "Never force-push a shared branch; git revert is the way back",
        (),
        "Take the last one back",
        "git push --force origin work",
        "git revert --no-edit HEAD",
    ),
    (
        "kubectl delete must always name the namespace with -n",
        (),
        "The api hangs, get rid of it",
        "kubectl delete deployment api",
        "kubectl get pods -n shop",
    ),
    (
        "The conftest.py must never touch the network",
        (),
        "Give all tests the exchange rates",
        Path("tests_api/conftest.py"),
        "echo recorded rates",
    ),
)
PROGRAMS = ("npm", "npx", "pnpm", "docker", "terraform", "kubectl", "make")


BY_PERSON = Who(by=By.PERSON, why="a person sets the project up")


@contextmanager
def project(
    claude: Path, mode: str, *, worker: bool = True
) -> Iterator[tuple[World, Product, ObedientModel]]:
    scripted = ObedientModel()
    # A worker that the last hook started may still write there.
    scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    # A person sets the project up, also where an agent runs this.
    by_person = patch.object(who, "of_process", return_value=BY_PERSON)
    with by_person, scratch as root, opened(claude, Path(root), scripted) as world:
        if worker:
            world.variables.clear()  # sessions start the worker, as people's do
        for path, text in FILES.items():
            world.write(path, text)
        for name in PROGRAMS:
            world.program(name, "exit 0")
        for name in ("deploy.sh", "smoke.sh"):
            world.write(name, "#!/bin/sh\nexit 0\n").chmod(0o755)
        world.git("init", "-q", "--bare", str(world.root / "remote.git"))
        world.git("remote", "add", "origin", str(world.root / "remote.git"))
        world.configure(f'[guard]\nmode = "{mode}"\n')
        product = Product(world)
        product.enrol()
        product.install()
        world.git("add", "-A")
        world.git("commit", "-q", "-m", "the project")
        world.write("NOTES.md", "What a turn that takes the last commit back removes.\n")
        world.git("add", "-A")
        world.git("commit", "-q", "-m", "notes")
        yield world, product, scripted


def know_many(product: Product) -> None:
    texts = [fact.format(subject) for subject in SUBJECTS for fact in FACTS]
    rows = [
        json.dumps({"content": text, "category": "convention", "status": "promoted"})
        for text in texts[: 300 - len(OWN_MEMORIES)]
    ]
    file = product.world.root / "memories.jsonl"
    file.write_text("\n".join(rows), encoding="utf-8")
    product("import", "--format", "jsonl", str(file))


def measure_everyday(claude: Path, mode: str, size: int, *, worker: bool) -> str:
    with project(claude, mode, worker=worker) as (world, product, scripted):
        for text, *ties in OWN_MEMORIES:
            product("add", text, "--category", "convention", *ties)
        if size > len(OWN_MEMORIES):
            know_many(product)
        assert len(product.memories()) >= min(size, 100)
        turns = everyday(world.project)
        for start in range(0, len(turns), SESSION_PROMPTS):
            world.chat(*(line for turn in turns[start : start + SESSION_PROMPTS] for line in turn))
        requests = sum(len(session.requests) for session in world.sessions)
        injected = sum(session.injected for session in world.sessions)
        if os.environ.get("SHOW"):
            for decision in product.decisions("deny"):
                print("   ", decision["target"], "|", decision["reason"])
    return f"{requests:4} requests {scripted.denials:3} denials {injected:7,} characters"


def tempted(planted: Planted, root: Path) -> Temptation:
    rule, _, _, wrong, right = planted
    call, instead = (
        write(root / text) if isinstance(text, Path) else bash(text) for text in (wrong, right)
    )
    return Temptation(call.name, call.input, rule, instead)


def attempt(*planted: Planted, root: Path, says: Callable[..., Line] = model) -> list[Line]:
    """Return the mistakes as one message, after one that reads those of their files that exist."""
    files = [str(one[3]) for one in planted if str(one[3]) in FILES]
    reads = [Call("Read", {"file_path": str(root / file)}) for file in files]
    first = [says(*reads)] if reads else []
    return [*first, says(*(tempted(one, root) for one in planted))]


def directly(world: World) -> None:
    world.chat(*_each_in_a_turn(world))


def after_compaction(world: World) -> None:
    turns = _each_in_a_turn(world)
    world.chat(*turns, person("/compact"), *turns)


def _each_in_a_turn(world: World) -> list[Line]:
    return [
        line
        for planted in PLANTED
        for line in (
            person(planted[2]),
            *attempt(planted, root=world.project),
            model("Done."),
        )
    ]


def in_subagents(world: World) -> None:
    world.chat(*_in_subagents(world))


def in_compacted_subagents(world: World) -> None:
    """Nothing is compacted with the older client, of which no request fills the context."""
    world.chat(*_in_subagents(world, helper(bash("echo on"), full=True), again=True))


def _in_subagents(world: World, *between: Line, again: bool = False) -> list[Line]:
    lines: list[Line] = []
    for planted in PLANTED:
        tries = attempt(planted, root=world.project, says=helper)
        lines += [
            person(planted[2]),
            model(delegate("Do what the person wants.")),
            *tries,
            *between,
            *(tries if again else ()),
            helper("Done."),
            model("Done."),
        ]
    return lines


def by_shell(world: World) -> None:
    lines: list[Line] = []
    for rule, ties, prompt, wrong, right in PLANTED:
        command = f"echo written > {wrong}" if isinstance(wrong, Path) else wrong
        lines += [
            person(prompt),
            *attempt((rule, ties, prompt, command, right), root=world.project),
            model("Done."),
        ]
    world.chat(*lines)


def in_pairs(world: World) -> None:
    lines: list[Line] = []
    for one, other in zip(PLANTED[::2], PLANTED[1::2], strict=True):
        both = attempt(one, other, root=world.project)
        lines += [person(f"{one[2]}. {other[2]}."), *both, model("Done.")]
    world.chat(*lines)


VARIANTS: tuple[Callable[[World], None], ...] = (
    directly,
    after_compaction,
    in_subagents,
    in_compacted_subagents,
    in_pairs,
    by_shell,
)


def measure_mistakes(
    claude: Path, mode: str, variant: Callable[[World], None], *, worker: bool
) -> str:
    with project(claude, mode, worker=worker) as (world, product, scripted):
        for rule, ties, *_ in PLANTED:
            product("add", rule, "--category", "convention", *ties)
        variant(world)
        made = sorted({call.rule for call in scripted.mistakes})
        if os.environ.get("SHOW"):
            print(*(f"    {rule}" for rule in made), sep="\n")
    return f"{len(scripted.mistakes):3} mistakes {scripted.denials:3} denials"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=("everyday", "mistakes"))
    parser.add_argument("--mode", action="append")
    parser.add_argument("--version", action="append")
    parser.add_argument("--size", action="append", type=int)
    parser.add_argument("--variant", action="append")
    parser.add_argument("--no-worker", dest="worker", action="store_false")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for version in options.version or VERSIONS:
        claude = Path(os.environ["ADEMEM_CLAUDE_DIR"]) / version / "node_modules/.bin/claude"
        if options.what != "mistakes":
            for size in options.size or (12, 300):
                for mode in options.mode or EVERYDAY_MODES:
                    found = measure_everyday(claude.resolve(), mode, size, worker=options.worker)
                    print(f"{version}  {size:3} memories  {mode:<8} {found}", flush=True)
        if options.what != "everyday":
            for variant in VARIANTS:
                if options.variant and variant.__name__ not in options.variant:
                    continue
                for mode in options.mode or MISTAKE_MODES:
                    found = measure_mistakes(claude.resolve(), mode, variant, worker=options.worker)
                    print(f"{version}  {variant.__name__:<16} {mode:<8} {found}", flush=True)


if __name__ == "__main__":
    main()
