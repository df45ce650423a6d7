"""A procedure in words, and the words read back."""

from __future__ import annotations

import re

from ademem.core.text import preview, unique, whole_words
from ademem.core.value import Value
from ademem.synthesis.procedures.context import EDIT, RUN, Step, command_steps, edit_step
from ademem.synthesis.procedures.mask import WORDS, masked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ademem.synthesis.procedures.context import Context

TITLE_CHARS = 60
TASK_CHARS = 100
TASKS = 3
"""Wordings of the task that a trigger quotes."""
PITFALLS = 8
PITFALL_CHARS = 200

_STEP = re.compile(r"^\s*\d+[.)]\s+(.*)$", re.MULTILINE)
_QUOTED = re.compile(r"`([^`\n]+)`")
_FENCED = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)
_FILE = re.compile(r"[\w*./-]*\.\w+")
_CONTENT = re.compile(r"\AUse when (.*?)\.?\n\n(.*)\Z", re.DOTALL)
_BLANKS = re.compile(r"\s+")
_PLAIN_WORD = re.compile(r"[\w@%+=:,./*{}-]+")
_EDITING = frozenset("edit change write update create add adapt".split())


class Wording(Value):
    title: str
    trigger: str
    """When to do it, as the rest of a sentence that begins with "Use when"."""
    markdown: str
    """Numbered steps, then what to watch out for."""

    @property
    def content(self) -> str:
        """The text of its memory."""
        return f"Use when {self.trigger}.\n\n{self.markdown}"


def read(title: str, content: str, trigger: str) -> Wording:
    """The wording of a memory; *trigger* is what it was, for a text that names none."""
    found = _CONTENT.match(content)
    if found is None:
        return Wording(title=title, trigger=trigger, markdown=content.strip())
    return Wording(title=title, trigger=found[1].strip(), markdown=found[2].strip())


def steps_of(markdown: str) -> tuple[Step, ...]:
    """What its numbered lines say in backticks: files to edit, and commands."""
    found: list[Step] = []
    for line in _STEP.findall(markdown):
        quoted = _QUOTED.findall(line)
        if line.partition(" ")[0].lower() in _EDITING:
            found += map(edit_step, quoted)
        else:
            found += (step for command in quoted for step in command_steps(command))
    return tuple(found)


def steps_in(text: str) -> tuple[Step, ...]:
    """What any page names: commands in backticks and in fences, and files in backticks."""
    listed = "\n".join(_FENCED.findall(text)).split("\n")
    fenced = [line.removeprefix("$ ") for line in listed]
    quoted = _QUOTED.findall(_FENCED.sub("", text))
    commands = (step for line in (*fenced, *quoted) for step in command_steps(line))
    return (*commands, *(edit_step(name) for name in quoted if _FILE.fullmatch(name)))


def of_sessions(cluster: Sequence[Context], middle: Context, steps: Iterable[Step]) -> Wording:
    """By rules: the task as it was asked, the steps as they were taken."""
    tasks = unique(filter(None, map(_task, (middle, *reversed(cluster)))))[:TASKS]
    quoted = " or ".join(f"“{task}”" for task in tasks)
    pitfalls = unique(
        preview(text, PITFALL_CHARS) for context in cluster for text in context.pitfalls
    )
    return Wording(
        title=_title(middle.task),
        trigger=f"the task is like {quoted}" if quoted else "this work comes up again",
        markdown=markdown(map(_line, steps), pitfalls[:PITFALLS]),
    )


def of_reviews(cluster: Sequence[Context], middle: Context) -> Wording:
    """What reviewers ask for again and again, as a list to go through before they do."""
    asked = unique(preview(context.task, PITFALL_CHARS) for context in reversed(cluster))
    where = unique(f"`{context.files}`" for context in cluster if context.files)[:TASKS]
    changed = " or ".join(where) if where else "code"
    return Wording(
        title=_title(f"Before review: {middle.task}"),
        trigger=f"a change of {changed} is about to go to review: reviewers asked for it before",
        markdown=markdown(asked[:PITFALLS], ()),
    )


def markdown(lines: Iterable[str], pitfalls: Sequence[str]) -> str:
    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
    if not pitfalls:
        return numbered
    listed = "\n".join(f"- {text}" for text in pitfalls)
    return f"{numbered}\n\n## Watch out\n\n{listed}"


def _line(step: Step) -> str:
    if step.kind == EDIT:
        return f"Edit `{step.words[0]}`."
    said = " ".join(word if _PLAIN_WORD.fullmatch(word) else _shell(word) for word in step.words)
    verb = "Run" if step.kind == RUN else "Call"
    return f"{verb} `{said.replace('`', '')}`."


def _shell(word: str) -> str:
    line = _BLANKS.sub(" ", word).replace('"', '\\"')
    return f'"{line}"'


def _task(context: Context) -> str:
    """Its first line without what differs each time."""
    return preview(masked(context.task.strip().partition("\n")[0]), TASK_CHARS).rstrip(".")


def _title(task: str) -> str:
    words = masked(task.strip().partition("\n")[0]).split()
    kept = " ".join(word for word in words if word.strip(".,;:!?") not in WORDS)
    short = whole_words(kept, TITLE_CHARS).strip(" .,;:!?")
    return short[:1].upper() + short[1:] if short else "Repeated workflow"
