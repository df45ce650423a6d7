"""A retrieval set about programming, made from the documentation of Django.

    python bench/coding_set.py FOLDER [--sdist django-5.2.19.tar.gz]
    ademem eval run FOLDER/coding.jsonl

The source distribution comes from the package index by name, with its version and hash pinned, or
from a file. A memory is a paragraph or a list item of the FAQ, the how-to guides and the topic
guides, in plain text and without its headings. A query is the heading of a section, relevant are
the section's own paragraphs. Nothing is drawn by chance: the same archive makes the same bytes.

Its biases are told in bench/README.md. The set is for measuring: it is written where you say, and
is no part of this repository.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME, VERSION = "Django", "5.2.19"
SHA256 = "ad03d8abc51dbff95ebf34b27123cf0c26a3b62db7ba0cd520783686362533d1"
FOLDERS = ("faq", "howto", "topics")

HEADING_WORDS = 3
"""Shorter headings ask nothing: "Overview", "An example"."""
SHORTEST, LONGEST = 40, 2000
"""Characters of a paragraph that can be a memory of its own."""
MOST_RELEVANT = 6
"""Paragraphs of a section that is about one thing."""

_UNDERLINE = re.compile(r"([=\-~^\"'#*+`])\1{2,}")
_ROLE = re.compile(r":[\w:+-]+:`([^`]+)`")
_LINK = re.compile(r"`([^`<]+?)\s*<[^>]+>`_{0,2}")


class Section(NamedTuple):
    file: str
    heading: str
    paragraphs: list[tuple[int, str]]
    """Number of the first line, and plain text."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sdist", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        archive = given.sdist or download(Path(scratch))
        store = build(checked(archive))
    target = given.folder / "coding.jsonl"
    target.write_text(json.dumps(store, ensure_ascii=False) + "\n", encoding="utf-8")
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    categories = dict(Counter(query["category"] for query in store["queries"]))
    print(f"{target}: {len(store['memories'])} memories, {categories} queries, sha256 {digest}")


def download(folder: Path) -> Path:
    pinned = folder / "pinned.txt"
    pinned.write_text(f"{NAME}=={VERSION} --hash=sha256:{SHA256}\n")
    command = [
        sys.executable,
        "-I",
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--require-hashes",
    ]
    command += ["--no-binary", ":all:", "--dest", str(folder), "--requirement", str(pinned)]
    subprocess.run(command, check=True)
    return next(folder.glob("*.tar.gz"))


def checked(archive: Path) -> Path:
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != SHA256:
        sys.exit(f"{archive} has the SHA-256 {found}, not that of {NAME} {VERSION}")
    return archive


def build(archive: Path) -> dict[str, Any]:
    sections = [section for file, text in pages(archive) for section in parse(file, text)]
    headings = Counter(section.heading.lower() for section in sections)
    memories = [
        {"id": f"{one.file}:{line}", "text": text, "session": one.file, "speaker": "", "date": ""}
        for one in sections
        for line, text in one.paragraphs
    ]
    queries = [
        {
            "query": one.heading,
            "relevant": [f"{one.file}:{line}" for line, _ in one.paragraphs],
            "category": one.file.partition("/")[0],
        }
        for one in sections
        if asks(one) and headings[one.heading.lower()] == 1
    ]
    return {"store": f"{NAME} {VERSION}", "memories": memories, "queries": queries}


def asks(section: Section) -> bool:
    is_long_enough = len(section.heading.split()) >= HEADING_WORDS
    return is_long_enough and 1 <= len(section.paragraphs) <= MOST_RELEVANT


def pages(archive: Path) -> Iterator[tuple[str, str]]:
    """Path below the documentation's root and text of each page, in order."""
    with tarfile.open(archive) as tar:
        for member in sorted(tar.getmembers(), key=lambda one: one.name):
            file = member.name.partition("/docs/")[2]
            opened = tar.extractfile(member) if file.startswith(FOLDERS) else None
            if opened and file.endswith(".txt"):
                yield file, opened.read().decode()


def parse(file: str, text: str) -> Iterator[Section]:
    """Sections of a page; what is indented (code, notes, directives) is passed over."""
    section = Section(file, "", [])
    for line, block in blocks(text):
        heading = heading_of(block)
        if heading is not None:
            yield section
            section = Section(file, heading, [])
        elif prose := paragraph(block):
            section.paragraphs.append((line, prose))
    yield section


def blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """Runs of lines between blank ones, with the number of their first line."""
    run: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.strip():
            run.append(line)
        elif run:
            yield number - len(run), run
            run = []


def heading_of(block: list[str]) -> str | None:
    lines = block[1:] if len(block) == 3 and _UNDERLINE.fullmatch(block[0]) else block
    if len(lines) == 2 and _UNDERLINE.fullmatch(lines[1]) and not lines[0].startswith(" "):
        return plain(lines[0])
    return None


def paragraph(block: list[str]) -> str | None:
    """The text of a paragraph or list item; None for anything else, and for what is too short."""
    first = block[0]
    item = re.match(r"(?:[*-]|#\.|\d+\.) +", first)
    is_apart = first.startswith((" ", "..", "|", "+--", "===")) and not item
    if is_apart or any(line.lstrip().startswith(".. ") for line in block):
        return None
    text = plain(" ".join(line.strip() for line in block)[len(item[0]) if item else 0 :])
    text = text.removesuffix("::") + ":" if text.endswith("::") else text
    return text if SHORTEST <= len(text) <= LONGEST else None


def plain(text: str) -> str:
    """Without markup: a role shows its title, or the last name of its target."""
    text = _ROLE.sub(lambda role: shown(role[1]), text)
    text = _LINK.sub(r"\1", text)
    return " ".join(re.sub(r"[`*]{1,2}|(?<=[\w`])_{1,2}(?=\W|$)", "", text).split())


def shown(target: str) -> str:
    title = re.fullmatch(r"(.+?)\s*<[^>]+>", target, re.DOTALL)
    if title:
        return title[1]
    return target.rpartition(".")[2] if target.startswith("~") else target.lstrip("!")


if __name__ == "__main__":
    main()
