"""Find the memories that a change of the repository makes false, by the values of their anchors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from ademem.core import anchor, git, process
from ademem.core.anchor import Place
from ademem.core.errors import AdememError
from ademem.core.value import Value
from ademem.plugins.verify.anchor_verification import (
    GONE,
    Checked,
    Location,
    code_at,
    find_in_lines,
    find_missing_path,
    state_of,
    stored_values,
)
from ademem.plugins.verify.anchored_values import (
    CodeValue,
    Earlier,
    Finding,
    Lines,
    contains,
    defines,
    find_missing,
    find_values,
    headers_above,
)
from ademem.store import Store, memory_queries
from ademem.synthesis.anchoring import SEARCH_BYTES, split_lines

_HUNK = re.compile(rb"(?m)^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_COMMIT = re.compile(r"[0-9a-f]{40,64}")
_FILE_MODES = ("100644", "100755")
MOST_FILES = 1000


class CannotCompare(AdememError):
    hint = "`ademem verify --diff origin/main..HEAD` compares two commits that git has"


class Hunk(Value):
    """Lines of a file, and the lines that replace them; 0 lines stand after *first*."""

    first: int
    count: int
    new_first: int
    new_count: int

    @property
    def last(self) -> int:
        """The last line that is replaced, or the one after which lines are inserted."""
        return self.first + max(self.count, 1) - 1


class FileChange(Value):
    old: str
    new: str
    old_blob: str = ""
    new_blob: str = ""
    hunks: tuple[Hunk, ...] = ()
    is_binary: bool = False


def verify_change(root: str, store: Store, range: str) -> list[Checked]:
    change = read_change(root, range)
    found = [
        (memory, text, place)
        for memory in memory_queries.with_anchors(store)
        for text in memory.anchors
        if (place := anchor.place(text)) and place.path in change.by_path
    ]
    change.load(change.by_path[place.path] for _, _, place in found)
    return [
        Checked(memory=memory, anchor=text, location=location)
        for memory, text, place in found
        if (location := locate_in_change(memory.whole_text, place, change))
    ]


class Change:
    """The files that differ between two commits; contents are read where they are needed."""

    def __init__(self, root: str, files: Iterable[FileChange]) -> None:
        self.root = root
        self.files = tuple(files)
        self.by_path = {file.old: file for file in self.files if file.old_blob}
        self._lines: dict[str, list[bytes] | None] = {"": None}

    def load(self, files: Iterable[FileChange]) -> None:
        """Read both versions of these files by one process."""
        self._read([blob for file in files for blob in (file.old_blob, file.new_blob)])

    def lines(self, blob: str) -> list[bytes] | None:
        """Return the lines of a blob; None for none, and for a binary or very large one."""
        if blob not in self._lines:
            self._read([blob])
        return self._lines[blob]

    def code(self, blob: str) -> str:
        return b"".join(self.lines(blob) or ()).decode("utf-8", "replace")

    def text_files(self, most: int | None = None) -> Iterator[FileChange]:
        """Yield the files of text that are there after the change, of the first *most* files."""
        return (file for file in self.files[:most] if file.new_blob and not file.is_binary)

    def removed(self, file: FileChange) -> str:
        lines = self.lines(file.old_blob) or []
        spans = (lines[hunk.first - 1 : hunk.first - 1 + hunk.count] for hunk in file.hunks)
        return b"".join(line for span in spans for line in span).decode("utf-8", "replace")

    def _read(self, blobs: Iterable[str]) -> None:
        wanted = [blob for blob in dict.fromkeys(blobs) if blob not in self._lines]
        if wanted:
            self._lines |= dict.fromkeys(wanted)
            names = "".join(f"{blob}\n" for blob in wanted).encode()
            found = git.parse_objects(_git(self.root, "cat-file", "--batch", stdin=names))
            for blob, data in zip(wanted, found, strict=True):
                if data is not None and b"\0" not in data[:8000] and len(data) <= SEARCH_BYTES:
                    self._lines[blob] = split_lines(data)


class _Expected(Value):
    """What a place has before a change, and where it is looked for after it."""

    base: Place | None
    values: Sequence[CodeValue]
    region: Lines | None = None
    earlier: Earlier | None = None


def locate_in_change(text: str, place: Place, change: Change) -> Location | None:
    """Return the place that a change puts in doubt; None where the text is as true as before."""
    file = change.by_path[place.path]
    lines = change.lines(file.old_blob)
    if lines is None:
        return None
    stored, base = stored_values(place, text), find_in_lines(lines, place)
    if file.old == file.new and _is_kept(stored, base, lines, change, file):
        return None
    if base is None:
        expected = _expect_stored(stored, change.code(file.old_blob))
    else:
        expected = _expect_at(base, text, lines, change, file)
    code = change.code(file.new_blob)
    missing = find_missing(expected.values, code, region=expected.region, earlier=expected.earlier)
    path = file.new
    if missing and (receiver := _receiver(expected.values, file, change, missing)):
        path, missing = receiver.new, []
    missing += find_missing_path(text, file.old, path)
    if missing:
        return Location(noted=place, state=state_of(missing), missing=tuple(missing))
    return Location(noted=place, state=GONE) if _is_removed(expected, change, file) else None


def _expect_stored(stored: Iterable[CodeValue], code: str) -> _Expected:
    """Return the values that the code had, as what was missing is not the fault of the change."""
    was_missing = {each.value for each in find_missing(stored, code)}
    values = [value for value in stored if value not in was_missing]
    return _Expected(base=None, values=values)


def _expect_at(
    base: Place, text: str, lines: Sequence[bytes], change: Change, file: FileChange
) -> _Expected:
    span, headers = code_at(base, lines)
    return _Expected(
        base=base,
        values=list(find_values(text, span, headers)),
        region=map_lines((base.first, base.last), file.hunks) if base.first else None,
        earlier=Earlier(code=change.code(file.old_blob), span=headers + span),
    )


def _is_removed(expected: _Expected, change: Change, file: FileChange) -> bool:
    """Tell whether lines without a value are in no file any more."""
    base, region = expected.base, expected.region
    if base is None or expected.values:
        return False
    is_cut = region is not None and region[1] < region[0]
    return (is_cut or not file.new_blob) and not _is_anywhere(base, change)


def _is_kept(
    stored: Sequence[CodeValue],
    base: Place | None,
    lines: Sequence[bytes],
    change: Change,
    file: FileChange,
) -> bool:
    """Tell whether a change takes away no value that is stored, or leaves the place alone."""
    removed = change.removed(file) if stored else ""
    if stored and not any(contains(removed, value.token or value.name) for value in stored):
        return True
    return base is not None and _is_untouched(base, lines, change, file)


def _is_anywhere(place: Place, change: Change) -> bool:
    blobs = (file.new_blob for file in change.text_files())
    return any(find_in_lines(change.lines(blob) or [], place) for blob in blobs)


def _is_untouched(place: Place, lines: Sequence[bytes], change: Change, file: FileChange) -> bool:
    if not place.first:
        return False
    for hunk in file.hunks:
        begins = hunk.first <= place.last if hunk.count else hunk.first < place.last
        if begins and hunk.last >= place.first:
            return False
    new = change.lines(file.new_blob) or []
    first, _ = map_lines((place.first, place.last), file.hunks)
    return headers_above(lines, place.first) == headers_above(new, first)


def read_change(root: str, range: str) -> Change:
    """Compare HEAD of `BASE..HEAD` with their last common commit; raises CannotCompare."""
    dots = "..." if "..." in range else ".."
    names = [name.strip() or "HEAD" for name in range.partition(dots)[::2]]
    base, head = _find_commits(root, names)
    diff = _git(
        root, "diff", "--relative", "--raw", "-p", "-U0", "-M", "-z", "--no-abbrev", "--no-color",
        "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules", base, head, "--",
    )  # fmt: skip
    return Change(root, parse_diff(diff))


def _find_commits(root: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the last common commit of two, and the second of them."""
    commits = (f"{name}^{{commit}}" for name in names)
    found = _run(root, "rev-parse", "--is-shallow-repository", *commits).text.split()
    if not found:
        raise CannotCompare(f"{root} is in no git repository", "run it where the code is")
    is_shallow = found[0] == "true"
    deeper = "the clone is shallow: `git fetch --unshallow`, or check out with its whole history"
    fetch = f"`git fetch origin` may bring it; {CannotCompare.hint}"
    for name, id in zip_longest(names, found[1:], fillvalue=""):
        if name.startswith("-") or not _COMMIT.fullmatch(id):  # git repeats what it does not know
            raise CannotCompare(f"git knows no commit {name!r}", deeper if is_shallow else fetch)
    _, base, head = found
    common = _run(root, "merge-base", base, head)
    if common.code:
        raise CannotCompare(
            f"{names[0]} and {names[1]} have no common commit", deeper if is_shallow else ""
        )
    return common.text.split()[0], head


def parse_diff(data: bytes) -> list[FileChange]:
    """Parse what `git diff --raw -p -U0 -z` prints: entries, and then a patch of each."""
    raw, _, patch = data.partition(b"\0\0")
    words = iter(raw.decode("utf-8", "surrogateescape").split("\0"))
    sections = iter(_sections(patch))
    found = []
    for word in words:
        if not word.startswith(":"):
            continue
        old_mode, new_mode, old_blob, new_blob, status = word[1:].split()
        old = new = next(words)
        if status[0] in "RC":
            new = next(words)
        hunks, is_binary = next(sections, ((), False))
        if status[0] == "T":  # a file became a link, or the reverse: a removal and an addition
            next(sections, None)
        found.append(
            FileChange(
                old=old if status[0] not in "AC" else "",
                new=new if status[0] != "D" else "",
                old_blob=old_blob if old_mode in _FILE_MODES and status[0] != "C" else "",
                new_blob=new_blob if new_mode in _FILE_MODES else "",
                hunks=hunks,
                is_binary=is_binary,
            )
        )
    return found


def map_lines(lines: Lines, hunks: Iterable[Hunk]) -> Lines:
    """Return where lines are after the hunks; removed lines end before they begin."""
    first, last = start, end = lines
    for hunk in hunks:
        grows = hunk.new_count - hunk.count
        if hunk.last < first:
            start += grows
        elif hunk.count and hunk.first <= first:
            start = hunk.new_first if hunk.new_count else hunk.new_first + 1
            first = 0  # later hunks leave the start alone
        if hunk.last < last:
            end += grows
        elif hunk.count and hunk.first <= last:
            end, last = hunk.new_first + max(hunk.new_count, 1) - 1, 0
    return start, end


def _receiver(
    values: Sequence[CodeValue], file: FileChange, change: Change, missing: Sequence[Finding]
) -> FileChange | None:
    """Return another changed file that got the definitions and values that this one lost."""
    lost = [each.value for each in missing]
    if not any(value.name for value in lost):
        return None
    others = [other for other in change.text_files(MOST_FILES) if other is not file]
    change.load(others)
    for other in others:
        old, new = change.code(other.old_blob), change.code(other.new_blob)
        if _has_all(new, values, lost) and not _has_all(old, values, lost):
            return other
    return None


def _has_all(code: str, values: Sequence[CodeValue], lost: Sequence[CodeValue]) -> bool:
    """Tell whether code has all values, and defines the names that were *lost*."""
    if not all(value.name in code for value in values):
        return False
    names = (value.name for value in lost if not value.token)
    return not find_missing(values, code) and all(defines(name, code) for name in names)


def _sections(patch: bytes) -> Iterator[tuple[tuple[Hunk, ...], bool]]:
    """Yield the hunks of each file, and whether it is binary."""
    for section in (b"\n" + patch).split(b"\ndiff --git ")[1:]:
        hunks = []
        for found in _HUNK.finditer(section):
            numbers = (1 if number is None else int(number) for number in found.groups())
            hunks.append(Hunk(**dict(zip(Hunk._fields, numbers, strict=True))))
        yield tuple(hunks), b"\nBinary files " in section


def _git(root: str, command: str, *arguments: str, stdin: bytes = b"") -> bytes:
    ran = _run(root, command, *arguments, stdin=stdin)
    if ran.code:
        raise CannotCompare(ran.last_error or f"git {command} failed")
    return ran.output


def _run(root: str, command: str, *arguments: str, stdin: bytes = b"") -> process.Finished:
    try:
        return git.run(
            root, command, *arguments, stdin=stdin, environment=git.OFFLINE, timeout_s=git.LONG_S
        )
    except TimeoutError as error:
        raise CannotCompare(f"git {command} took longer than {git.LONG_S:.0f} s") from error
    except OSError as error:
        raise CannotCompare(f"git cannot be started: {error}") from error
