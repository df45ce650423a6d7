"""The topic files: every memory of a category whole, oldest first."""

from __future__ import annotations

from ademem.core.memory import TYPES, Category
from ademem.core.text import slug
from ademem.core.value import Value, replace
from ademem.files import markdown
from ademem.files.markdown import NOTHING, Loose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ademem.core.memory import Memory

SUBTOPICS = 12
"""Files that a topic is split into, besides its own: the index has a line for each."""
SUBTOPIC_CHARS = 24

KINDS = frozenset({"learned", "investigation", *Category, *TYPES})
"""Tags that name a kind of text and no subject."""


WEIGH = "Notes to weigh: the files of today win over them."


class Topic(Value):
    name: str
    category: Category
    about: str
    """A hint at when to open it."""


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

    @property
    def count(self) -> int:
        return sum(map(len, self.pages))


def files(memories: Iterable[Memory], bound: int) -> list[TopicFile]:
    """Return a file for every topic, even an empty one; split one beyond *bound* by subtopic."""
    by_category: dict[Category, list[Memory]] = {topic.category: [] for topic in TOPICS}
    for memory in memories:
        if memory.category in by_category:
            by_category[memory.category].append(memory)
    bound = max(1, bound)
    return [file for topic in TOPICS for file in _files(topic, by_category[topic.category], bound)]


def subtopic(memory: Memory) -> str:
    """Return the first tag that names a subject, else the first folder of its path, else ""."""
    tags = [tag for tag in memory.tags if tag.lower() not in KINDS]
    folder = (memory.file_scope_pattern or "").removeprefix("./").split("/")[0]
    if not any(char in folder for char in "*?[{"):
        tags.append(folder)
    slugs = (slug(tag)[:SUBTOPIC_CHARS].strip("-") for tag in tags)
    return next((found for found in slugs if found), "")


def render(file: TopicFile, loose: Mapping[str, Sequence[Loose]] = {}) -> dict[str, str]:
    """Return name and text of each page; *loose* lines of a page stay where a person put them."""
    return {
        name: _page(file, number, memories, loose.get(name, ()))
        for number, (name, memories) in enumerate(zip(file.names, file.pages, strict=True), 1)
    }


def own_lines(page: str) -> list[Loose]:
    """Return a person's lines between the items of a page."""
    parts = (part for part in markdown.parts(page) if isinstance(part, Loose))
    mine = []
    for part in parts:
        lines = part.text.split("\n")
        kept = (line for line in lines if not _is_ours(line, part, lines))
        if text := "\n".join(kept).strip("\n"):
            mine.append(replace(part, text=text))
    return mine


def heading(text: str) -> Category | None:
    """Return the category of the topic that the last heading in the text names."""
    named = [line.strip("# ").lower() for line in text.split("\n") if line.startswith("#")]
    return next((topic.category for topic in TOPICS if named[-1:] == [topic.name]), None)


def _files(topic: Topic, memories: list[Memory], bound: int) -> list[TopicFile]:
    if len(memories) <= bound:
        return [TopicFile(topic=topic, pages=(tuple(memories),))]
    groups: dict[str, list[Memory]] = {}
    for memory in memories:
        groups.setdefault(subtopic(memory), []).append(memory)
    named = sorted(filter(None, groups), key=lambda name: (-len(groups[name]), name))[:SUBTOPICS]
    rest = [memory for memory in memories if subtopic(memory) not in named]
    return [
        TopicFile(topic=topic, pages=_pages(rest, bound)),
        *(
            TopicFile(topic=topic, subtopic=name, pages=_pages(groups[name], bound))
            for name in sorted(named)
        ),
    ]


def _pages(memories: Sequence[Memory], bound: int) -> tuple[tuple[Memory, ...], ...]:
    starts = range(0, len(memories), bound) or (0,)
    return tuple(tuple(memories[start : start + bound]) for start in starts)


def page_head(part: Loose) -> list[str]:
    """Return the title and the purpose that a page begins with."""
    lines = part.text.split("\n")
    return [line for line in lines if _is_ours(line, part, lines) and line != NOTHING]


def _is_ours(line: str, part: Loose, lines: Sequence[str]) -> bool:
    title = part.after is None and line is lines[0] and line.startswith("# ")
    named = line[:1] == "#" and heading(line) is not None
    return title or named or line.endswith(WEIGH) or line == NOTHING


def _page(file: TopicFile, number: int, memories: Sequence[Memory], loose: Sequence[Loose]) -> str:
    title = file.topic.name.capitalize()
    if file.subtopic:
        title += f": {file.subtopic}"
    if number > 1:
        title += f", page {number}"
    here = {memory.id for memory in memories}
    blocks = [part.text for part in loose if part.after not in here]
    for memory in memories:
        blocks.append(markdown.render_memory(memory))
        blocks += [part.text for part in loose if part.after == memory.id]
    about = f"{file.topic.about}. {WEIGH}"
    return "\n\n".join([f"# {title}", about, *(blocks or [NOTHING])]) + "\n"


TOPICS = (
    Topic(
        name="decisions",
        category=Category.DECISION,
        about="What was decided and why: read before choosing an approach or changing architecture",
    ),
    Topic(
        name="conventions",
        category=Category.CONVENTION,
        about="How things are done here: read before writing code, names, files or commits",
    ),
    Topic(
        name="preferences",
        category=Category.PREFERENCE,
        about="What the people here like: read before answering, formatting or proposing",
    ),
    Topic(
        name="gotchas",
        category=Category.GOTCHA,
        about="Pitfalls met before: read when something fails, and before touching what they name",
    ),
    Topic(
        name="patterns",
        category=Category.PATTERN,
        about="Ways of building that work here: read before adding a component, hook or service",
    ),
    Topic(
        name="procedures",
        category=Category.PROCEDURE,
        about="Steps that were proven: read before building, testing, releasing or deploying",
    ),
    Topic(
        name="facts",
        category=Category.FACT,
        about="What is true of this system: read for background and context",
    ),
)
