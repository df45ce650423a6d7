"""Take the pictures of the page for its guide: hooks and commands fill a throw-away project.

    PYTHONPATH=. python bench/pictures.py [FOLDER]

The page is the real `ademem web` in Debian's Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from page import serving
from playwright.sync_api import ViewportSize, sync_playwright
from recording import Recording

SIZE: ViewportSize = {"width": 1280, "height": 760}
PICTURES = {"page-today.png": "/", "page-review.png": "/review"}
KNOWN = {
    "Never edit src/schema.py by hand: change db/schema.sql": "convention",
    "Invoices round half to even, as the tax office asks": "decision",
    "The payment gateway answers 202 for a payment that is still open": "gotcha",
    "Session cookies last 30 minutes": "decision",
    "Prices are stored in cents as integers": "decision",
    "Stock is reserved when the basket is paid": "decision",
    "The staging server is called pontoon": "fact",
}
LEARNED = (
    "Session cookies last 60 minutes",
    "Offsets need an aware datetime",
    "The gateway needs an idempotency key for each attempt",
    "Refund mails arrive twice when the worker restarts before the commit",
    "The CSV of the warehouse is in Latin-1",
    "Stock reservations expire after 20 minutes",
)
PROMPTS = ("How are invoices rounded?", "Why do refund mails arrive twice?")


def fill(session: Recording) -> None:
    for text, category in KNOWN.items():
        session.run(f'ademem add "{text}" --category {category}')
    session.fire("SessionStart", source="startup")
    for prompt in PROMPTS:
        session.prompt(prompt)
    lessons = "".join(f' -m "LEARNED: {each}"' for each in LEARNED)
    session.bash(f"git commit -q --allow-empty -m Fix{lessons}")
    session.edit("src/schema.py")
    session.fire("SessionEnd", reason="other")
    session.run("ademem sweep; ademem sweep --merge")


def take(session: Recording, target: Path) -> None:
    with serving(str(session.root), **session.environment) as server, sync_playwright() as started:
        chromium = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = chromium.new_page(viewport=SIZE, color_scheme="light")
        page.goto(server.new_address())
        for picture, path in PICTURES.items():
            page.goto(f"http://127.0.0.1:{server.port}{path}")
            page.get_by_text("● live").wait_for()
            page.screenshot(path=target / picture)
        chromium.close()


def main() -> None:
    here = Path(__file__).parents[1] / "docs/guide"
    target = Path(sys.argv[1]) if sys.argv[1:] else here
    with tempfile.TemporaryDirectory() as folder:
        session = Recording(Path(folder))
        fill(session)
        take(session, target)


if __name__ == "__main__":
    main()
