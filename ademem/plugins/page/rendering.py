"""Templates and static files of the page, and the form of texts, times and numbers in them."""

from __future__ import annotations

import os.path
import re
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.filters import do_urlencode
from markupsafe import Markup, escape
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ademem.core.clock import parse
from ademem.core.text import bytes_hex, counted, preview, unique
from ademem.core.untrusted import UNSEEN
from ademem.doors.views import to_row
from ademem.doors.views.session import estimate_tokens, figure, list_counts
from ademem.plugins.page.forms import limits, options
from ademem.search.binding import tell_place
from ademem.store.transitions import waits_for

HERE = Path(__file__).absolute().parent
STATIC = HERE / "static"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
SHORT_ID = 12


def mark_hidden(text: str) -> str:
    """Show characters without a glyph, and those that turn the direction of writing, by number."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(UNSEEN, lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def _finalize(value: Any) -> Any:
    if isinstance(value, Markup):
        return value
    return mark_hidden(value) if isinstance(value, str) else "" if value is None else value


def local_time(moment: datetime | str | None, *, seconds: bool = False) -> Markup:
    """Return the local time with UTC as its title; empty without a moment."""
    if not moment:
        return Markup("")
    at = parse(moment) if isinstance(moment, str) else moment
    here = at.astimezone()
    form = "%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M"
    stamp = at.isoformat(timespec="seconds").replace("+00:00", "Z")
    title, shown = stamp[:19].replace("T", " "), here.strftime(form)
    return Markup(f'<time datetime="{stamp}" title="{title} UTC">{shown}</time>')


def clock_time(moment: str) -> str:
    return f"{parse(moment).astimezone():%H:%M}"


def query_of(values: dict[str, str], **changes: str) -> str:
    return do_urlencode({name: value for name, value in (values | changes).items() if value})


def short_id(id: str) -> Markup:
    """Return the first characters of an id; the others are not seen, but are copied with them."""
    rest = id[SHORT_ID:]
    return escape(id[:SHORT_ID]) + (Markup('<span class="rest">%s</span>') % rest if rest else "")


@cache
def static_files() -> dict[str, bytes]:
    """Return the only files that a request can reach, by name."""
    return {
        path.relative_to(STATIC).as_posix(): path.read_bytes()
        for path in STATIC.rglob("*")
        if path.suffix in TYPES
    }


@cache
def static_url(name: str) -> str:
    """Return the address of a static file, which changes with its content."""
    return f"/static/{bytes_hex(static_files()[name])[:16]}/{name}"


def mark_words(text: str, words: frozenset[str]) -> Markup:
    shown, done = mark_hidden(text), 0
    found: list[str] = []
    for word in re.finditer(r"\w+", shown):
        if word[0].casefold() in words:
            found += escape(shown[done : word.start()]), f"<mark>{word[0]}</mark>"
            done = word.end()
    return Markup("".join((*found, escape(shown[done:]))))


def as_sentence(text: str) -> str:
    """Begin with a capital letter, unless the first word is an id or a key."""
    return text[:1].upper() + text[1:] if text.partition(" ")[0].isalpha() else text


def name_ordinal(number: int) -> str:
    """Return “the first”, “the 2nd”, “the 11th”."""
    if number == 1:
        return "the first"
    teens = 10 < number % 100 < 14
    return f"the {number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def find_links(text: str) -> tuple[str, ...]:
    """Return the addresses in a text, without a sign that ends a sentence or a bracket."""
    return unique(re.findall(r"https?://[^\s<>\"'`()\[\]]*[^\s<>\"'`()\[\].,;:!?]", text))


def mark_code(text: str) -> Markup:
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(mark_hidden(text)))))


@cache
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "local": local_time,
        "clock": clock_time,
        "address": query_of,
        "short": short_id,
        "preview": preview,
        "counted": counted,
        "marked": mark_words,
        "code": mark_code,
        "links": find_links,
        "sentence": as_sentence,
        "row": to_row,
        "waits": waits_for,
        "figure": figure,
        "joined": list_counts,
        "tokens": estimate_tokens,
        "nth": name_ordinal,
        "at": tell_place,
    }
    made.globals |= {"static": static_url, "limits": limits, "options": options}
    return made


def render(template: str, values: dict[str, Any]) -> str:
    return environment().get_template(template).render(values)


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


async def answer_file(request: Request) -> Response:
    name = request.path_params["name"]
    content = static_files().get(name)
    if content is None:
        raise HTTPException(404)
    headers = {}
    if static_url(name) == request.url.path:  # which changes with the content
        headers["cache-control"] = "private, max-age=31536000, immutable"
    kind = TYPES[os.path.splitext(name)[1]]
    return Response(content, media_type=kind, headers=headers)
