"""Render a procedure as text and a skill file, and read both back."""

from __future__ import annotations

import json
import re
import unicodedata

from ademem.core.text import preview, unique, whole_words
from ademem.core.value import Value
from ademem.synthesis.procedures.steps import (
    EDIT,
    MASK_WORDS,
    RUN,
    Step,
    command_steps,
    edit_step,
    mask,
)
from ademem.synthesis.skills.reading import digest_of, split_front_matter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ademem.synthesis.procedures.steps import Work

TITLE_CHARS = 60
TASK_CHARS = 100
TASKS = 3
"""Tasks that a trigger quotes."""
PITFALLS = 8
PITFALL_CHARS = 200
SKILL_NAME_CHARS = 64
DESCRIPTION_CHARS = 1024
"""Limits of Claude Code for the name and the description of a skill."""

_STEP = re.compile(r"^\s*\d+[.)]\s+(.*)$", re.MULTILINE)
_QUOTED = re.compile(r"`([^`\n]+)`")
_FENCED = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)
_FILE = re.compile(r"[\w*./-]*\.\w+")
_CONTENT = re.compile(r"\AUse when (.*?)\.?\n\n(.*)\Z", re.DOTALL)
_BLANKS = re.compile(r"\s+")
_PLAIN_WORD = re.compile(r"[\w@%+=:,./*{}-]+")
_EDITING = frozenset("edit change write update create add adapt".split())
_MARK = re.compile(r"<!-- ademem:procedure ([0-9a-f]{32}) ([0-9a-f]{16})\b[^\n]*-->[ \t]*\n*")
_NOTE = "written from memory; what you change here is taken over"
_HEADING = re.compile(r"\A#[ \t]+([^\n]*)\n*")
_NO_SLUG = re.compile(r"[^a-z0-9]+")


class Wording(Value):
    title: str
    trigger: str
    """The rest of a sentence that begins with "Use when"."""
    markdown: str
    """Numbered steps, then pitfalls."""

    @property
    def content(self) -> str:
        """The text of its memory."""
        return f"Use when {self.trigger}.\n\n{self.markdown}"


def parse_content(title: str, content: str, trigger: str) -> Wording:
    """Read the wording of a memory; *trigger* stands in for a text that has none."""
    found = _CONTENT.match(content)
    if found is None:
        return Wording(title=title, trigger=trigger, markdown=content.strip())
    return Wording(title=title, trigger=found[1].strip(), markdown=found[2].strip())


def steps_of(markdown: str) -> tuple[Step, ...]:
    """Return the files to edit and the commands in backticks on its numbered lines."""
    found: list[Step] = []
    for line in _STEP.findall(markdown):
        quoted = _QUOTED.findall(line)
        if line.partition(" ")[0].lower() in _EDITING:
            found += map(edit_step, quoted)
        else:
            found += (step for command in quoted for step in command_steps(command))
    return tuple(found)


def steps_in_page(text: str) -> tuple[Step, ...]:
    """Return the commands in backticks and fences, and the files in backticks, of any page."""
    listed = "\n".join(_FENCED.findall(text)).split("\n")
    fenced = [line.removeprefix("$ ") for line in listed]
    quoted = _QUOTED.findall(_FENCED.sub("", text))
    commands = (step for line in (*fenced, *quoted) for step in command_steps(line))
    return (*commands, *(edit_step(name) for name in quoted if _FILE.fullmatch(name)))


def word_sessions(cluster: Sequence[Work], middle: Work, steps: Iterable[Step]) -> Wording:
    """Word the procedure by rules: tasks as they were asked, steps as they were taken."""
    tasks = unique(filter(None, map(_first_line, (middle, *reversed(cluster)))))[:TASKS]
    quoted = " or ".join(f"“{task}”" for task in tasks)
    pitfalls = unique(preview(text, PITFALL_CHARS) for work in cluster for text in work.pitfalls)
    return Wording(
        title=_title(middle.task),
        trigger=f"the task is like {quoted}" if quoted else "this work comes up again",
        markdown=render_markdown(map(_step_line, steps), pitfalls[:PITFALLS]),
    )


def word_reviews(cluster: Sequence[Work], middle: Work) -> Wording:
    """Word repeated remarks of reviewers as a checklist."""
    asked = unique(preview(work.task, PITFALL_CHARS) for work in reversed(cluster))
    where = unique(f"`{work.files}`" for work in cluster if work.files)[:TASKS]
    changed = " or ".join(where) if where else "code"
    return Wording(
        title=_title(f"Before review: {middle.task}"),
        trigger=f"a change of {changed} is about to go to review: reviewers asked for it before",
        markdown=render_markdown(asked[:PITFALLS], ()),
    )


def render_markdown(lines: Iterable[str], pitfalls: Sequence[str]) -> str:
    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
    if not pitfalls:
        return numbered
    listed = "\n".join(f"- {text}" for text in pitfalls)
    return f"{numbered}\n\n## Watch out\n\n{listed}"


def _step_line(step: Step) -> str:
    if step.kind == EDIT:
        return f"Edit `{step.words[0]}`."
    words = (word if _PLAIN_WORD.fullmatch(word) else _quote(word) for word in step.words)
    verb = "Run" if step.kind == RUN else "Call"
    return f"{verb} `{' '.join(words).replace('`', '')}`."


def _quote(word: str) -> str:
    line = _BLANKS.sub(" ", word).replace('"', '\\"')
    return f'"{line}"'


def _first_line(work: Work) -> str:
    return preview(mask(work.task.strip().partition("\n")[0]), TASK_CHARS).rstrip(".")


def _title(task: str) -> str:
    words = mask(task.strip().partition("\n")[0]).split()
    kept = " ".join(word for word in words if word.strip(".,;:!?") not in MASK_WORDS)
    short = whole_words(kept, TITLE_CHARS).strip(" .,;:!?")
    return short[:1].upper() + short[1:] if short else "Repeated workflow"


class SkillFile(Value):
    """The content of a skill file, and the procedure it was written from."""

    digest: str
    wording: Wording
    sync_id: str | None
    """Sync id of the procedure it was written from; None for a file that people wrote."""
    edited: bool
    """It differs from the text that was written."""


def skill_name(title: str, sync_id: str) -> str:
    """Return lower-case letters, digits and hyphens; for a title in another script, from the id."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = _NO_SLUG.sub("-", plain).strip("-")[: SKILL_NAME_CHARS - len("-99")].strip("-")
    return slug if len(slug) >= 3 else f"procedure-{sync_id[:6]}"


def render_skill_file(wording: Wording, name: str, sync_id: str) -> str:
    """Render equal bytes for equal procedures: nothing in the file changes with its use."""
    page = (
        f"---\nname: {name}\n"
        f"description: {json.dumps(_description(wording), ensure_ascii=False)}\n"
        f"---\n\n# {wording.title}\n\n{wording.markdown}\n"
    )
    return f"{page}\n<!-- ademem:procedure {sync_id} {digest_of(page)[:16]}: {_NOTE} -->\n"


def parse_skill_file(text: str) -> SkillFile:
    found = _MARK.search(text)
    unmarked = _MARK.sub("", text)
    head, body, _ = split_front_matter(unmarked.replace("\r\n", "\n"))
    heading = _HEADING.match(body.lstrip("\n"))
    title = heading[1].strip() if heading else head.get("name", "")
    markdown = _HEADING.sub("", body.lstrip("\n"), count=1).strip()
    description = " ".join(head.get("description", "").split())
    return SkillFile(
        digest=digest_of(text),
        wording=Wording(title=title, trigger=_trigger(description, title), markdown=markdown),
        sync_id=found[1] if found else None,
        edited=found is not None and digest_of(unmarked)[:16] != found[2],
    )


def matches(file: SkillFile, wording: Wording) -> bool:
    """Tell whether the file says what the procedure says, in whatever layout."""
    same = (file.wording.title, file.wording.markdown) == (wording.title, wording.markdown)
    return same and file.wording.trigger == _trigger(_description(wording), wording.title)


def _description(wording: Wording) -> str:
    """The client would take angle brackets for its own tags."""
    text = f"{wording.title}. Use when {wording.trigger}."
    return preview(text.replace("<", "").replace(">", ""), DESCRIPTION_CHARS)


def _trigger(description: str, title: str) -> str:
    return description.removeprefix(f"{title}. ").removeprefix("Use when ").removesuffix(".")
