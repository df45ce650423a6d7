"""`ademem at`: where and when a memory applies, and what memories lack of it."""

from __future__ import annotations

from typing import Annotated

from ademem.core import anchor
from ademem.core.errors import UsageError
from ademem.core.text import preview
from ademem.doors.cli import show
from ademem.doors.cli.commands import on_project
from ademem.doors.cli.options import argument, flag, option
from ademem.doors.cli.parameters import Limit, text_or_stdin
from ademem.operations import placing, rows
from ademem.operations.placing import Choice, Placed
from ademem.store.runtime import Runtime

TEXT_CHARS = 100

Keys = Annotated[
    list[str] | None,
    option("--at KEY", "A place: src/**, `npm install`, act:deploy …"),
]
Dropped = Annotated[list[str] | None, option("--drop KEY", "No place, or no occasion.")]
Occasions = Annotated[
    list[str] | None,
    option("--when WORDS", "What somebody does, asks or sees when it is wanted."),
]


@on_project()
def at(
    memories: Runtime,
    id: Annotated[str, argument("ID", "The memory.")] = "",
    keys: Keys = None,
    drop: Dropped = None,
    when: Occasions = None,
    none: bool = flag("--none", "It applies nowhere by itself."),
    pending: bool = flag("--pending", "Memories that lack an occasion, or a chosen place."),
    limit: Limit = 20,
    from_: str = option("--from", "Choices as JSON lines; - reads standard input.", ""),
) -> None:
    """Choose where and when it applies. Without a choice, show that."""
    choice = Choice(
        id=id,
        at=tuple(keys or ()),
        drop=tuple(drop or ()),
        nowhere=none,
        when=tuple(when or ()),
    )
    is_of_several = bool(pending or from_)
    _check_choice(choice, is_of_several)
    if is_of_several:
        return _list_unplaced(memories, limit) if pending else _place_from(memories, from_)
    one = placing.place(memories, choice) if choice.decides else placing.show_places(memories, id)
    return show.report(to_json(one), list(lines_of(one)))


def _check_choice(choice: Choice, is_of_several: bool) -> None:
    if is_of_several:
        if choice.id or choice.decides:
            raise UsageError("--pending and --from take no memory", "ademem at --pending --json")
    elif not choice.id:
        raise UsageError("the places of which memory?", "ademem at ID, or ademem at --pending")
    elif choice.nowhere and (choice.at or choice.drop):
        raise UsageError("--none excludes --at and --drop", "choose places, or none")


def _list_unplaced(memories: Runtime, limit: int) -> None:
    found, total = placing.list_unplaced(memories, limit)
    why = "every memory has a chosen place, or needs none, and an occasion"
    show.listing("memories", found, lines_of, why, to_json, total=total)
    if total > len(found) and not show.as_json:
        show.echo(f"{len(found)} of {total:,}; more: `ademem at --pending --limit 1000`")


def _place_from(memories: Runtime, path: str) -> None:
    text = text_or_stdin("-") if path == "-" else _read(path)
    placed = placing.place_all(memories, placing.read_choices(text))
    show.listing("memories", placed, lines_of, "no choice was given", to_json)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "name a file of JSON lines") from None


def to_json(placed: Placed) -> dict[str, object]:
    return {
        "id": placed.memory.id,
        "text": placed.memory.content,
        "category": placed.memory.category,
        **rows.place_rows(placed),
        "when": list(anchor.occasions(placed.memory.anchors)),
        "notes": list(placed.notes),
    }


def lines_of(placed: Placed) -> list[str]:
    first = placed.memory.content.splitlines()[0]
    return [
        f"{placed.memory.id}  {preview(first, TEXT_CHARS)}",
        f"  {show.at_line(placed)}",
        *(f"  {line}" for line in anchor.describe_occasions(placed.memory.anchors)),
        *(f"  {line}" for line in placed.advice),
        *(f"  note: {note}" for note in placed.notes),
    ]
