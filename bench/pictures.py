"""Take the pictures of the documentation: hooks and commands fill a throw-away project.

    PYTHONPATH=. python bench/pictures.py [FOLDER]

The page is the real `ademem web` in Debian's Chromium; the head of the documentation is
`bench/hero.html`. Run it in a terminal, as a page that an agent starts is read-only. Where there is
`pngquant`, it makes the files small.
"""

from __future__ import annotations

import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import islice, product
from pathlib import Path
from typing import Literal

from page import Server, serving
from playwright.sync_api import Page, ViewportSize, sync_playwright
from recording import Recording

from tests.plugins.replay import transcript_writer as past

SIZE: ViewportSize = {"width": 1280, "height": 760}
HEAD: ViewportSize = {"width": 1280, "height": 640}
COLOURS = "64"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PLACES = {"today": "/", "memories": "/memories", "review": "/review", "sessions": "/sessions"}
SIZES, WIDTHS = (0, 5, 300), (1280, 390)
SHEET: ViewportSize = {"width": 1560, "height": 850}
GRID = """body{margin:0;padding:8px;display:grid;grid-template-columns:repeat(3,1fr);gap:8px}
html{background:#8a9296}img{width:100%}img:nth-child(n+4){width:53%;margin:auto}"""
KNOWN = {
    "Never edit src/schema.py by hand: change db/schema.sql": "convention",
    "Never run npm install, use pnpm": "convention",
    "Invoices round half to even with round_money, as the tax office asks": "decision",
    "The payment gateway answers 202 for a payment that is still open": "gotcha",
    "Session cookies last 30 minutes": "decision",
    "Prices are stored in cents as integers": "decision",
    "Stock is reserved when the basket is paid": "decision",
    "The staging server is called pontoon": "fact",
}
LEARNED = (
    "Session cookies last 60 minutes",
    "The gateway needs an idempotency key for each attempt",
    "The CSV of the warehouse is in Latin-1",
)
SAID = "tests always live next to the code they test, never in a folder of their own"
RULE = "remember: never run npm install, use pnpm"


def fill(project: Recording) -> None:
    for text, category in KNOWN.items():
        project.run(f'ademem add "{text}" --category {category}')
    with (
        closing(sqlite3.connect(project.root / ".ade/ade.db")) as db,
        db,
    ):  # so that a past has them
        db.execute("update unified_memories set created_at = '2026-01-01T00:00:00.000000Z'")
    ask_about_rounding(project)
    work(project)
    project.run("ademem work; ademem sweep; ademem sweep --merge")
    remember_the_past(project)


def work(project: Recording) -> None:
    """Meet two rules in a session, follow them, and learn from it."""
    project.session_id = "time-zones"
    project.fire("SessionStart", source="startup")
    project.prompt("Add a column for the time zone")
    project.edit("src/schema.py")
    project.edit("db/schema.sql")
    project.stop("Added to db/schema.sql.")
    lessons = "".join(f' -m "LEARNED: {each}"' for each in LEARNED)
    project.prompt("Add the package dayjs and commit")
    call(project, "npm install dayjs")
    call(project, "pnpm add dayjs")
    project.bash(f"git commit -q --allow-empty -m Fix{lessons}")
    project.stop("Added with pnpm and committed.")
    project.fire("SessionEnd", reason="other")


def ask_about_rounding(project: Recording) -> None:
    project.session_id = "rounding"
    project.fire("SessionStart", source="startup")
    question, answer = "How are invoices rounded?", "Half to even: round_money does it."
    project.prompt(question)
    project.stop(answer)
    steps = [past.prompt(question), past.claude(answer)]
    begin = datetime.now(UTC)
    path = past.write(client_folder(project), project.root, "rounding", steps, begin=begin)
    project.fire("SessionEnd", reason="other", transcript_path=str(path))


def call(project: Recording, line: str) -> None:
    project.tool(f"Bash({line})", {"tool_name": "Bash", "tool_input": {"command": line}})


def client_folder(project: Recording) -> Path:
    return Path(project.environment["HOME"]) / ".claude"


def remember_the_past(project: Recording) -> None:
    """Write transcripts of a month ago, and replay them."""
    begin = datetime.now(UTC) - timedelta(days=40)
    sessions = (
        [past.prompt(RULE), past.prompt(f"Add dayjs. {SAID}")],
        [past.prompt("Add a date picker"), *past.refused("c1", "Bash", command="npm install flat")],
        [past.prompt(SAID), *past.ran("c2", "Bash", command="pnpm add flat")],
        [past.prompt("Add zod"), *past.refused("c3", "Bash", command="npm install zod")],
    )
    for number, steps in enumerate(sessions):
        at = begin + timedelta(days=7 * number)
        past.write(client_folder(project), project.root, f"past-{number}", steps, begin=at)
    project.run("ademem replay --all")


def take(project: Recording, target: Path) -> None:
    with serving(str(project.root), **project.environment) as server, sync_playwright() as started:
        chromium = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        rule = find_rule(project)
        for scheme in SCHEMES:
            page = chromium.new_page(viewport=SIZE, color_scheme=scheme)
            page.goto(server.new_address())
            take_places(page, server, target, scheme, rule)
            page.set_viewport_size(HEAD)
            page.goto((Path(__file__).parent / "hero.html").as_uri())
            page.screenshot(path=target / f"hero-{scheme}.png")
        chromium.close()


def take_sizes(target: Path) -> None:
    """Take the four places with 0, 5 and 300 memories, wide and narrow, a sheet for each."""
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            project = Recording(Path(folder, str(size)))
            fill_with(project, size)
            take_widths(project, Path(folder), size)
        with sync_playwright() as started:
            chromium = started.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            for place, scheme in product(PLACES, SCHEMES):
                page = chromium.new_page(viewport=SHEET, color_scheme=scheme)
                shown = [f"{place}-{width}-{size}-{scheme}" for width in WIDTHS for size in SIZES]
                pictures = "".join(f'<img src="{name}.png">' for name in shown)
                sheet = Path(folder, f"{place}-{scheme}.html")
                sheet.write_text(f"<style>{GRID}</style>{pictures}")
                page.goto(sheet.as_uri())
                page.screenshot(path=target / f"pictures/sizes-{place}-{scheme}.png")
            chromium.close()


def fill_with(project: Recording, size: int) -> None:
    """Confirm that many memories, the rules and sentences of the corpus, and work with them."""
    files = sorted((Path(__file__).parent / "judge/corpus/states").glob("*.tsv"))
    rows = [line.split("\t") for file in files for line in file.read_text("utf-8").splitlines()]
    stated = [text for is_state, _, language, text in rows if is_state == "1" and language == "en"]
    texts = iter([*KNOWN, *stated])
    while missing := size - count_confirmed(project):
        run = islice(texts, min(missing, 40))
        project.run("; ".join(f"ademem add {shlex.quote(text)} --category fact" for text in run))
    if size:
        work(project)


def count_confirmed(project: Recording) -> int:
    with closing(sqlite3.connect(project.root / ".ade/ade.db")) as db:
        count = "select count(*) from unified_memories where status = 'promoted'"
        (found,) = db.execute(count).fetchone()
    return int(found)


def take_widths(project: Recording, folder: Path, size: int) -> None:
    with serving(str(project.root), **project.environment) as server, sync_playwright() as started:
        chromium = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for scheme, width in product(SCHEMES, WIDTHS):
            page = chromium.new_page(viewport={"width": width, "height": 760}, color_scheme=scheme)
            page.goto(server.new_address())
            for name, path in PLACES.items():
                page.goto(f"http://127.0.0.1:{server.port}{path}")
                page.wait_for_load_state("networkidle")
                page.screenshot(path=folder / f"{name}-{width}-{size}-{scheme}.png")
        chromium.close()


def find_rule(project: Recording) -> str:
    """Return the id of the rule that a call of the session met."""
    with closing(sqlite3.connect(project.root / ".ade/ade.db")) as db:
        met = "select id from unified_memories where content like 'Never run npm install%'"
        (id,) = db.execute(met).fetchone()
    return str(id)


def take_places(page: Page, server: Server, target: Path, scheme: str, rule: str) -> None:
    addresses = {
        "today": "/",
        "memories": "/memories",
        "memory": f"/memory/{rule}",
        "review": "/review",
        "session": "/session/time-zones",
        "replay": "/replay",
    }
    for name, path in addresses.items():
        page.goto(f"http://127.0.0.1:{server.port}{path}")
        page.wait_for_load_state("networkidle")
        page.screenshot(path=target / f"pictures/{name}-{scheme}.png")


def shrink(target: Path) -> None:
    if pngquant := shutil.which("pngquant"):
        pictures = [*target.glob("hero-*.png"), *target.glob("pictures/*.png")]
        command = [pngquant, "--force", "--ext", ".png", COLOURS, *map(str, pictures)]
        subprocess.run(command, check=True)


def main() -> None:
    target = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parents[1] / "docs"
    (target / "pictures").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        project = Recording(Path(folder))
        fill(project)
        take(project, target)
    take_sizes(target)
    shrink(target)


if __name__ == "__main__":
    main()
