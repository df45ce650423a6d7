"""A procedure as a skill file of Claude Code, and such a file read back."""

from __future__ import annotations

import json
import re
import unicodedata

from ademem.core.text import preview
from ademem.core.value import Value
from ademem.synthesis.procedures.wording import Wording
from ademem.synthesis.skills.reading import digest_of, opened

NAME_CHARS = 64
DESCRIPTION_CHARS = 1024
"""What Claude Code takes for the name and the description of a skill."""

_MARK = re.compile(r"<!-- ademem:procedure ([0-9a-f]{32}) ([0-9a-f]{16})\b[^\n]*-->[ \t]*\n*")
_NOTE = "written from memory; what you change here is taken over"
_HEADING = re.compile(r"\A#[ \t]+([^\n]*)\n*")
_NO_SLUG = re.compile(r"[^a-z0-9]+")


class Page(Value):
    """What a skill file says, and whose it is."""

    text: str
    digest: str
    wording: Wording
    sync_id: str | None
    """Of the procedure it was written from; None: people wrote it."""
    edited: bool
    """It is not as we wrote it."""


def name_of(title: str, sync_id: str) -> str:
    """Lower-case letters, digits and hyphens; out of the id for a title in another script."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = _NO_SLUG.sub("-", plain).strip("-")[: NAME_CHARS - len("-99")].strip("-")
    return slug if len(slug) >= 3 else f"procedure-{sync_id[:6]}"


def text_of(said: Wording, name: str, sync_id: str) -> str:
    """The same procedure makes the same bytes; nothing in it changes with its use."""
    page = (
        f"---\nname: {name}\ndescription: {json.dumps(_description(said), ensure_ascii=False)}\n"
        f"---\n\n# {said.title}\n\n{said.markdown}\n"
    )
    return f"{page}\n<!-- ademem:procedure {sync_id} {digest_of(page)[:16]}: {_NOTE} -->\n"


def read(text: str) -> Page:
    """Any page at all."""
    mark = _MARK.search(text)
    own = _MARK.sub("", text)
    head, body, _ = opened(own.replace("\r\n", "\n"))
    heading = _HEADING.match(body.lstrip("\n"))
    title = heading[1].strip() if heading else head.get("name", "")
    markdown = _HEADING.sub("", body.lstrip("\n"), count=1).strip()
    description = " ".join(head.get("description", "").split())
    return Page(
        text=text,
        digest=digest_of(text),
        wording=Wording(title=title, trigger=_trigger(description, title), markdown=markdown),
        sync_id=mark[1] if mark else None,
        edited=mark is not None and digest_of(own)[:16] != mark[2],
    )


def says(page: Page, said: Wording) -> bool:
    """Whether the file says what the procedure does, in whatever form."""
    same = (page.wording.title, page.wording.markdown) == (said.title, said.markdown)
    return same and page.wording.trigger == _trigger(_description(said), said.title)


def _description(said: Wording) -> str:
    """Tags would be taken for those of the client."""
    text = f"{said.title}. Use when {said.trigger}."
    return preview(text.replace("<", "").replace(">", ""), DESCRIPTION_CHARS)


def _trigger(description: str, title: str) -> str:
    return description.removeprefix(f"{title}. ").removeprefix("Use when ").removesuffix(".")
