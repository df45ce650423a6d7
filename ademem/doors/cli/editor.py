"""A text as a person edits it, in their own editor."""

from __future__ import annotations

import os
from contextlib import contextmanager

from ademem.core import process, who
from ademem.core.errors import UsageError
from ademem.doors.cli import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def editing(text: str) -> Iterator[str]:
    """Yield the text as the person saved it in $EDITOR; the file stays where the act is refused."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not (editor or who.has_terminal()):
        raise UsageError("there is no terminal to edit the text in", "--content gives the new one")
    import shlex  # which a review without an edit need not load
    import shutil
    import tempfile
    from pathlib import Path

    editor = editor or "vi"
    path = Path(tempfile.mkdtemp(prefix="ademem-"), "memory.md")
    path.write_text(text, encoding="utf-8")
    edited = text
    try:
        try:
            code = process.run_in_terminal([*shlex.split(editor), str(path)])
            if code:
                raise OSError(f"exit status {code}")
            data = path.read_bytes()
        except (OSError, ValueError) as error:
            hint = "set $EDITOR, or pass --content"
            raise UsageError(f"{editor}: {error}", hint) from None
        edited = data.decode(errors="replace")
        if edited.encode() != data:
            raise UsageError("the text is not UTF-8", "save it so, or pass --content")
        yield edited
        edited = text
    finally:
        if edited.strip() in ("", text.strip()):
            shutil.rmtree(path.parent)
        else:
            show.echo(f"your text is in {path}", err=True)
