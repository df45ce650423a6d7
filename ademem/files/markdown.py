"""The Markdown pages of memories, and back.

They are MEMORY.md with the best memories, a page or more per topic, and the brief's page. A memory
is an item of a list:

    - **Title** <!-- id -->
      Text, every line indented, so that no fence or heading of it reaches the page.
      - tags: wal database
      - path: src/**/*.py

A line of the text that looks like markup of a page gets one more backslash.
"""

from __future__ import annotations

from ademem.core import regex
from ademem.core.caching import lru_cache
from ademem.core.memory import STOP, TYPES, Category, Importance, Memory, Tier
from ademem.core.text import clean, preview, slug
from ademem.core.value import Value, replace
from ademem.files import project_brief
from ademem.files.texts import clean_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence

    from ademem.core.settings import MirrorSettings
    from ademem.files.project_brief import CoreMemory


NOTHING = "Nothing here yet."

_COMMENT = regex.compile(r"(?<!\\)(\\*)<!--")
_ESCAPED_COMMENT = regex.compile(r"(?<!\\)\\(\\*)<!--")
_OURS = r"(?=\\*(?:#{1,6}(?:\s|$)|\*\*.*\*\*$|- (?:tags|path): ))"
_MARKUP = regex.compile(_OURS)
_ESCAPED_MARKUP = regex.compile(r"\\" + _OURS)
_ID = regex.compile(r"(?:^| )<!-- (\S+) -->$")
_TITLE = regex.compile(r"\*\*(.*)\*\*")
_BULLET = regex.compile(r"[-*+] +(?=\S)")
_STRUCTURE = regex.compile(
    rf"#{{1,6}}(?:\s|$)|```|~~~|<!--|[<>=]{{7}}|\||\s|{NOTHING.replace('.', '[.]')}$"
)
"""The beginning of a line that does not continue the line before it."""
_DETAIL = regex.compile(r"- (tags|path): (.*)")
_BOX = regex.compile(r"\[([ xX])\] +(?=\S)")
_CANDIDATE_DETAIL = regex.compile(r"- (tags|path|category|from): (.*)")


class ListItem(Value):
    """The last three fields are of the review sheet alone."""

    line: int
    """Counted from 1; 0 if unknown."""
    id: str | None = None
    """None: a person added it."""
    title: str | None = None
    content: str = ""
    tags: tuple[str, ...] = ()
    path: str | None = None
    ticked: bool = False
    category: str = ""
    """As it was typed; empty without its line."""
    origin_text: str = ""
    """The kind of source and the time, after a level of trust that is lower than usual."""


class FreeText(Value):
    """A person's lines: everything on the page that is not an item."""

    text: str
    after: str | None = None
    """The id of the item before it."""


def item_of(memory: Memory) -> ListItem:
    fields = {name: getattr(memory, name) for name in ("id", "title", "content", "tags")}
    return ListItem(line=0, path=memory.file_scope_pattern, **fields)


def render_item(item: ListItem) -> str:
    content = [_escape_line(line) for line in clean(item.content).split("\n")]
    title = " ".join(clean(item.title or "").split())
    first = f"**{_escape_comments(title)}**" if title else content.pop(0)
    path = " ".join(clean(item.path or "").split())
    named = (("tags", " ".join(item.tags)), ("path", path))
    details = [f"- {name}: {_escape_comments(value)}" for name, value in named if value]
    first_with_id = f"{first} <!-- {item.id} -->" if item.id else first
    lines = [first_with_id.lstrip(), *content, *details]
    return "- " + "\n".join(f"  {line}".rstrip() for line in lines).lstrip()


def follow_with(
    free_texts: Iterable[FreeText], items: Iterable[tuple[str | None, str]]
) -> Iterator[str]:
    """Yield each text with a person's lines behind it; lines that follow none come first."""
    items = list(items)
    behind: dict[str | None, list[str]] = {}
    ids = {id for id, _ in items if id}
    for part in free_texts:
        behind.setdefault(part.after if part.after in ids else None, []).append(part.text)
    yield from behind.pop(None, ())
    for id, text in items:
        yield text
        yield from behind.get(id, ())


def headline(memory: Memory, chars: int) -> str:
    title = f"{memory.title}: " if memory.title else ""
    return one_line(title + memory.content, chars)


def one_line(text: str, chars: int) -> str:
    """Return the beginning of a text, escaped so that the page does not read it as markup."""
    return _escape_line(preview(clean(text), chars))


def parse_items(text: str) -> Iterator[ListItem]:
    return (part for part in parse_page(clean_lines(text)) if isinstance(part, ListItem))


def parse_page(
    lines: Iterable[str],
    *,
    is_sheet: bool = False,
    is_left_out: Callable[[list[str]], bool] = lambda _block: False,
) -> Iterator[ListItem | FreeText]:
    """Any bullet at the margin begins an item, which indented and wrapped lines continue."""
    return parse_blocks(split_blocks(lines), is_sheet=is_sheet, is_left_out=is_left_out)


def parse_blocks(
    blocks: Iterable[tuple[int, list[str]]],
    *,
    is_sheet: bool = False,
    is_left_out: Callable[[list[str]], bool] = lambda _block: False,
) -> Iterator[ListItem | FreeText]:
    after = None
    for start, block in blocks:
        if is_left_out(block):
            continue
        if bullet := _BULLET.match(block[0]):
            indented = (line.removeprefix("  ") for line in block[1:])
            item = _parse_item([block[0][bullet.end() :], *indented], start, is_sheet)
            after = item.id
            yield item
        elif any(block):
            yield FreeText(text="\n".join(block).strip("\n"), after=after)


def split_blocks(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield items, and runs of lines outside of items, each with the number of its first line."""
    block: list[str] = []
    start, is_item = 1, False
    for number, line in enumerate(lines, 1):
        is_bullet = _BULLET.match(line) is not None
        if block and not is_bullet:
            in_item = is_item and line and not line.startswith("  ")
            if not in_item or (block[-1] and not _STRUCTURE.match(line)):
                block.append(line)
                continue
        if block:
            yield start, block
        block, start, is_item = [line], number, is_bullet
    if block:
        yield start, block


def _parse_item(lines: list[str], start: int, is_sheet: bool) -> ListItem:
    while lines and not lines[-1]:
        lines.pop()
    is_ticked = is_sheet and _take_box(lines)
    details = _take_details(lines, is_sheet)
    id = next(filter(None, map(_ID.search, lines)), None)
    lines = [_ID.sub("", line) for line in lines]
    first = lines.pop(0) if lines else ""
    title = _TITLE.fullmatch(first)
    content = lines if title else [first, *lines]
    return ListItem(
        line=start,
        id=id[1] if id else None,
        title=_unescape_comments(title[1]) if title else None,
        content="\n".join(map(_unescape_line, content)),
        tags=tuple(details.get("tags", "").split()),
        path=details.get("path"),
        ticked=is_ticked,
        category=details.get("category", ""),
        origin_text=details.get("from", ""),
    )


def _take_box(lines: list[str]) -> bool:
    """Take the box off the first line; return True for a ticked one."""
    box = _BOX.match(lines[0])
    if box:
        lines[0] = lines[0][box.end() :]
    return box is not None and box[1] != " "


def _take_details(lines: list[str], is_sheet: bool) -> dict[str, str]:
    """Take the lines with details off the end of an item's."""
    details: dict[str, str] = {}
    detail_line = _CANDIDATE_DETAIL if is_sheet else _DETAIL
    while len(lines) > 1 and (detail := detail_line.fullmatch(lines[-1])):
        if is_sheet and detail[1] in details:  # a line of the text
            break
        details[detail[1]] = _unescape_comments(detail[2])
        lines.pop()
    return details


def _escape_line(line: str) -> str:
    return ("\\" if _MARKUP.match(line) else "") + _escape_comments(line)


def _unescape_line(line: str) -> str:
    return _unescape_comments(line[1:] if _ESCAPED_MARKUP.match(line) else line)


def _escape_comments(line: str) -> str:
    return _COMMENT.sub(r"\\\g<0>", line) if "<!--" in line else line


def _unescape_comments(line: str) -> str:
    return _ESCAPED_COMMENT.sub(r"\1<!--", line) if "<!--" in line else line


SUBTOPICS = 12
"""Files that a topic is split into, besides its main one: the index has a line for each."""
SUBTOPIC_CHARS = 24

KINDS = frozenset({"learned", "investigation", *Category, *TYPES})
"""Tags that name a kind of text and no subject."""

WEIGH = "Notes to weigh: the files of today win over them."


def rank_memories(given: Iterable[Memory]) -> list[Memory]:
    """Sort the best first, in the same order on every machine."""
    newest_first = sorted(given, key=lambda memory: (memory.created_at, memory.id), reverse=True)
    return sorted(newest_first, key=lambda m: (m.tier, -m.importance.weight, -m.confidence))


class Topic(Value):
    category: Category
    about: str

    @property
    def name(self) -> str:
        return f"{self.category}s"


_ABOUT = {
    "decision": (
        "What was decided and why: read before choosing an approach or changing architecture"
    ),
    "convention": "How things are done here: read before writing code, names, files or commits",
    "preference": "What the people here like: read before answering, formatting or proposing",
    "gotcha": "Pitfalls met before: read when something fails, and before touching what they name",
    "pattern": "Ways of building that work here: read before adding a component, hook or service",
    "procedure": "Steps that were proven: read before building, testing, releasing or deploying",
    "fact": "What is true of this system: read for background and context",
}
TOPICS = tuple(Topic(category=Category(name), about=about) for name, about in _ABOUT.items())


class TopicFile(Value):
    topic: Topic
    subtopic: str = ""
    pages: tuple[tuple[Memory, ...], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """`gotchas-api.md`; a subtopic beyond its bound goes on in `gotchas-api.2.md`."""
        stem = f"{self.topic.name}-{self.subtopic}" if self.subtopic else self.topic.name
        more = (f"{stem}.{number}.md" for number in range(2, len(self.pages) + 1))
        return (f"{stem}.md", *more)


def split_topics(
    memories: Iterable[Memory], bound: int, others: Container[str] = ()
) -> list[TopicFile]:
    """Return the files of topics with memories, or in *others*; split those beyond *bound*."""
    by_category: dict[Category, list[Memory]] = {topic.category: [] for topic in TOPICS}
    for memory in memories:
        if memory.category in by_category:
            by_category[memory.category].append(memory)
    bound = max(1, bound)
    files = []
    for topic in TOPICS:
        found = by_category[topic.category]
        if not found and topic.name not in others:
            continue
        if len(found) <= bound:
            files.append(TopicFile(topic=topic, pages=(tuple(found),)))
        else:
            files += _split_topic(topic, found, bound)
    return files


def _split_topic(topic: Topic, found: Sequence[Memory], bound: int) -> Iterator[TopicFile]:
    """Yield the main file, then those of the largest subtopics, in pages."""
    subtopics = list(map(subtopic, found))
    groups: dict[str, list[Memory]] = {}
    for name, memory in zip(subtopics, found, strict=True):
        groups.setdefault(name, []).append(memory)
    largest = sorted(filter(None, groups), key=lambda name: (-len(groups[name]), name))
    names = sorted(largest[:SUBTOPICS])
    rest = [memory for name, memory in zip(subtopics, found, strict=True) if name not in names]
    for name, members in (("", rest), *((name, groups[name]) for name in names)):
        starts = range(0, len(members), bound) or (0,)
        pages = tuple(tuple(members[start : start + bound]) for start in starts)
        yield TopicFile(topic=topic, subtopic=name, pages=pages)


def subtopic(memory: Memory) -> str:
    """Return the first tag that names a subject, else the first folder of its path, else ""."""
    path = memory.file_scope_pattern or ""
    return _subtopic_of(memory.tags, path.removeprefix("./").split("/")[0])


@lru_cache(maxsize=1024)
def _subtopic_of(tags: tuple[str, ...], folder: str) -> str:
    named = [tag for tag in tags if tag.lower() not in KINDS and tag != STOP]
    if not any(char in folder for char in "*?[{"):
        named.append(folder)
    slugs = (slug(tag)[:SUBTOPIC_CHARS].strip("-") for tag in named)
    return next((found for found in slugs if found), "")


class Page(Value):
    name: str
    title: str
    about: str
    memories: tuple[Memory, ...]


def pages_of(file: TopicFile) -> Iterator[Page]:
    title = file.topic.name.capitalize() + (f": {file.subtopic}" if file.subtopic else "")
    about = f"{file.topic.about}. {WEIGH}"
    for number, (name, memories) in enumerate(zip(file.names, file.pages, strict=True), 1):
        numbered = f"{title}, page {number}" if number > 1 else title
        yield Page(name=name, title=numbered, about=about, memories=memories)


def render_page(page: Page, free_texts: Iterable[FreeText] = ()) -> str:
    items = ((memory.id, render_item(item_of(memory))) for memory in page.memories)
    blocks = list(follow_with(free_texts, items))
    return "\n\n".join([f"# {page.title}", page.about, *(blocks or [NOTHING])]) + "\n"


def free_texts_of(page: str) -> list[FreeText]:
    found = []
    for part in parse_page(clean_lines(page)):
        if isinstance(part, FreeText):
            lines = part.text.split("\n")
            own = (line for line in lines if not _is_rendered(line, part, lines))
            if text := "\n".join(own).strip("\n"):
                found.append(replace(part, text=text))
    return found


def page_head(page: str) -> list[str] | None:
    """Return the title and the purpose that a page begins with; None if it begins with an item."""
    part = next(parse_page(clean_lines(page)), None)
    if not isinstance(part, FreeText):
        return None
    lines = part.text.split("\n")
    return [line for line in lines if _is_rendered(line, part, lines) and line != NOTHING]


def category_of_heading(text: str) -> Category | None:
    headings = [line.strip("# ").lower() for line in text.split("\n") if line.startswith("#")]
    return next((topic.category for topic in TOPICS if headings[-1:] == [topic.name]), None)


def _is_rendered(line: str, part: FreeText, lines: Sequence[str]) -> bool:
    is_title = part.after is None and line is lines[0] and line.startswith("# ")
    is_heading = line[:1] == "#" and category_of_heading(line) is not None
    return is_title or is_heading or line.endswith(WEIGH) or line == NOTHING


OPEN = "<!-- ademem:keep -->"
CLOSE = "<!-- /ademem:keep -->"


class Region(Value):
    """Lines of MEMORY.md that a person wrote."""

    lines: tuple[str, ...]
    """With the comments around them."""
    heading: str = ""
    """The heading above it; a rendering puts it at the end of that section."""


def split_regions(page: str) -> tuple[tuple[Region, ...], list[str]]:
    """Return the regions in order, and the lines outside; one not closed reaches to the end."""
    found: list[Region] = []
    outside: list[str] = []
    inside: list[str] = []
    heading = ""
    for line in page.split("\n"):
        if inside or line.strip() == OPEN:
            inside.append(line)
            if line.strip() == CLOSE:
                found.append(Region(lines=tuple(inside), heading=heading))
                inside = []
            continue
        outside.append(line.rstrip())
        if line.startswith("## "):
            heading = line.rstrip()
    if inside:
        found.append(Region(lines=(*inside, CLOSE), heading=heading))
    return tuple(found), outside


def replace_regions(page: str, remove: Collection[Region], add: Iterable[Region]) -> str:
    for region in remove:
        page = page.replace("\n".join(region.lines) + "\n", "", 1)
    for region in add:
        lines = page.rstrip("\n").split("\n")
        at = lines.index(region.heading) + 1 if region.heading in lines else len(lines)
        page = "\n".join([*lines[:at], "", *region.lines, *lines[at:]]) + "\n"
    return page


BEST = 8
"""Memories of one topic on the page at most; pinned ones come on top of them."""
HEADLINE_CHARS = 180
FIELD_CHARS = 400

TITLE = "# Project memory"
HOW_TO = (
    "Notes this project learned. Weigh them: the files of today win.",
    'Look things up with `ademem recall "words"`; `ademem get ID` shows one memory whole.',
    "Lines between `ademem:keep` comments are yours; `ademem` writes the others.",
)
BRIEF = "## Project brief"
PINNED = "## Pinned"
FILES = "## Files"
LEFT_OUT = "## Left out"
HEADINGS = (BRIEF, PINNED, *(f"## {topic.name.capitalize()}" for topic in TOPICS))


def render_index(
    memories: Sequence[Memory],
    document: CoreMemory | None,
    files: Sequence[TopicFile],
    regions: Sequence[Region],
    settings: MirrorSettings,
) -> str:
    """Render within the bounds, unless the hand-written regions alone exceed them.

    There are no numbers of memories: they would differ, and conflict, on any two branches.
    """
    file_lines = list(map(_describe_file, files))
    none = ["None yet: a topic has a file once it has an entry."]
    closing = {FILES: file_lines or none, LEFT_OUT: _describe_omitted(memories, settings)}
    least = _render_sections(closing, regions)
    left_lines = settings.max_lines - least.count("\n")
    left_bytes = settings.max_bytes - len(least.encode())
    sections: dict[str, list[str]] = {}
    shown = set()
    for heading, text, id in _ranked_lines(memories, document):
        added = [text] if heading in sections else ["", heading, "", text]
        left_lines -= len(added)
        left_bytes -= sum(len(line.encode()) + 1 for line in added)
        if left_lines < 0 or left_bytes < 0:
            break
        sections.setdefault(heading, []).append(text)
        shown.add(id)
    hidden = [memory for memory in memories if memory.id not in shown]
    ordered = {heading: sections[heading] for heading in HEADINGS if heading in sections}
    closing[LEFT_OUT] = _describe_omitted(hidden, settings)
    return _render_sections(ordered | closing, regions)


def _describe_file(file: TopicFile) -> str:
    first, *more = file.names
    names = f"`{first}` to `{more[-1]}`" if more else f"`{first}`"
    about = "" if file.subtopic else f" — {file.topic.about}"
    return f"- {names}{about}"


def _ranked_lines(
    memories: Sequence[Memory], document: CoreMemory | None
) -> Iterator[tuple[str, str, str]]:
    """Yield heading, line and id: the brief, pinned memories, the best of each topic, …"""
    for text in _brief_fields(document, FIELD_CHARS):
        yield BRIEF, text, ""
    for memory in rank_memories(memory for memory in memories if memory.pinned):
        text = f"- {memory.category}: {headline(memory, HEADLINE_CHARS)} (`{memory.id}`)"
        yield PINNED, text, memory.id
    yield from _best_lines([memory for memory in memories if not memory.pinned])


def _best_lines(memories: Sequence[Memory]) -> Iterator[tuple[str, str, str]]:
    """Yield the best memory of each topic, then the second of each, …"""
    best = {
        topic: rank_memories(memory for memory in memories if memory.category is topic.category)
        for topic in TOPICS
    }
    for rank in range(BEST):
        for topic, ranked in best.items():
            for memory in ranked[rank : rank + 1]:
                text = f"- {headline(memory, HEADLINE_CHARS)} (`{memory.id}`)"
                yield f"## {topic.name.capitalize()}", text, memory.id


def _describe_omitted(hidden: Sequence[Memory], settings: MirrorSettings) -> list[str]:
    if not hidden:
        return ["Nothing: every memory is on this page."]
    categories = {memory.category for memory in hidden}
    listed = ", ".join(topic.name for topic in TOPICS if topic.category in categories)
    lines = [
        f"This page has what is pinned and {BEST} of each topic, within {settings.max_lines} lines"
        f" and {settings.max_bytes} bytes."
    ]
    if listed:
        lines.append(f"The files above have more: {listed}.")
    if categories - {topic.category for topic in TOPICS}:
        lines.append("`ademem list` has what is in no file.")
    return lines


def _render_sections(sections: dict[str, list[str]], regions: Sequence[Region]) -> str:
    def own(heading: str) -> list[str]:
        found = (region for region in regions if region.heading == heading)
        return [line for region in found for line in ("", *region.lines)]

    lines = [TITLE, "", *HOW_TO, *own("")]
    for heading, body in sections.items():
        lines += ["", heading, "", *body, *own(heading)]
    for region in regions:
        if region.heading and region.heading not in sections:
            lines += ["", *region.lines]
    return "\n".join(lines) + "\n"


BRIEF_FIELD_CHARS = 2000
HIGHLIGHTS = 12
HIGHLIGHT_CHARS = 260

ORDER = tuple(map(Category, "decision convention pattern gotcha preference fact".split()))


def render_brief(document: CoreMemory | None, memories: Sequence[Memory]) -> str:
    brief = _brief_fields(document, BRIEF_FIELD_CHARS) or [
        'Nothing here yet: `ademem core set summary "…"`.'
    ]
    listed = [memory for memory in memories if memory.category in ORDER]
    marked = list(filter(_is_highlight, listed))
    by_category = sorted(rank_memories(marked or listed), key=lambda m: ORDER.index(m.category))
    durable = []
    for memory in by_category[:HIGHLIGHTS]:
        pinned = " (pinned)" if memory.pinned else ""
        durable.append(f"- {memory.category}: {headline(memory, HIGHLIGHT_CHARS)}{pinned}")
    durable = durable or ["None yet."]
    return "\n".join(["# Project brief", "", *brief, "", "## Durable highlights", "", *durable, ""])


def _is_highlight(memory: Memory) -> bool:
    return memory.pinned or memory.tier is Tier.PINNED or memory.importance is Importance.HIGH


def _brief_fields(document: CoreMemory | None, chars: int) -> list[str]:
    return [f"- {label}: {one_line(text, chars)}" for label, text in project_brief.lines(document)]
