"""A settings file of Claude Code on disk, and what it was before we wrote to it."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from ademem.core import confined
from ademem.core.atomic_files import read_text, remove, write_atomic
from ademem.core.errors import AdememError
from ademem.core.value import Value, as_dict


class BadSettingsFile(AdememError):
    hint = "repair it by hand, then run this again"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path} was left as it is: {why}")


class Original(Value):
    """Kept from install to uninstall, so that the file can be given back byte for byte."""

    before: str | None
    """None: there was no file."""
    after: str
    """What we wrote; a file that says anything else was edited since."""
    made_folder: bool


def read(path: str) -> str | None:
    """The text with its own line ends; None when there is no file."""
    try:
        return read_text(path)
    except UnicodeDecodeError as error:
        raise BadSettingsFile(path, "it is not UTF-8") from error
    except OSError as error:
        raise BadSettingsFile(path, str(error.strerror)) from error


def write(path: str, text: str, *, mode: int = 0o666) -> None:
    """Replace the file a link leads to; raises BadSettingsFile where that cannot be done."""
    try:
        write_atomic(path, text, mode=mode)
    except OSError as error:
        raise BadSettingsFile(path, str(error.strerror)) from error


def delete(path: str, *, with_folder: bool) -> None:
    """Remove the file a link leads to, and on request the folder that this leaves empty."""
    target = os.path.realpath(path)
    remove(target)
    if with_folder:
        with suppress(OSError):
            os.rmdir(os.path.dirname(target))


def recall(record: str, root: str = "") -> Original | None:
    """The original noted there; None when nothing (readable) is. From *root* on no link counts."""
    try:
        text = confined.read_text(root, record) if root else read_text(record)
        return Original(**json.loads(text or ""))
    except (ValueError, TypeError, confined.Refused):
        return None


def note(record: str, original: Original, root: str = "") -> None:
    text = json.dumps(as_dict(original))
    if root:  # settings may hold tokens: readable for the owner alone
        confined.write_text(root, record, text, mode=0o600)
    else:
        write(record, text, mode=0o600)


def forget(record: str, root: str = "") -> None:
    if root:
        confined.remove(root, record)
    else:
        remove(record)
