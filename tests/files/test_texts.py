"""Texts that are too large to be held whole are read in parts, and known by the same digest."""

import pytest

from ademem.core.text import sha256_hex
from ademem.files.snapshot import KnownLines, snapshot, unchanged_pages
from ademem.files.texts import (
    FilesChanged,
    Texts,
    clean_line,
    clean_lines,
    split_lines,
)


class Files:
    """Texts in parts, and the parts that were handed out the last time."""

    def __init__(self, **texts):
        self.texts = texts
        self.handed = []

    def stream(self, path):
        self.handed = []
        for part in self.texts[path]:
            self.handed.append(part)
            yield part

    def read(self):
        texts = Texts(self.stream)
        for path in self.texts:
            texts.add_streamed(path)
        return texts


def test_a_text_in_parts_has_the_digest_of_the_whole():
    texts = Files(a=["one\n", "twö\n", "\U0001f600"], b=["short"]).read()

    assert texts.digests == {"a": sha256_hex("one\ntwö\n\U0001f600"), "b": sha256_hex("short")}


@pytest.fixture
def nothing_fits(monkeypatch):
    monkeypatch.setattr("ademem.files.texts.CACHED_CHARS", 0)


@pytest.mark.usefixtures("nothing_fits")
def test_a_text_without_room_is_never_loaded_whole_to_go_over_its_lines():
    files = Files(a=["one\ntw", "o\r\nthr", "ee  "])
    lines = files.read().lines("a")

    assert next(lines) == "one"
    assert files.handed == ["one\ntw"]
    assert list(lines) == ["two", "three"]


def test_a_text_with_room_is_read_once():
    files = Files(a=["one\n", "two\n"])
    texts = files.read()
    files.texts["a"] = ["changed since"]

    assert [*texts.lines("a")] == ["one", "two", ""]
    assert texts.holds("a", ("e\nt",))


def test_of_two_sides_what_is_the_same_is_read_once():
    now, before = Files(a=["same\n"], b=["new\n"]), Files(a=["same\n"], b=["old\n"])
    digests = {path: sha256_hex("".join(parts)) for path, parts in before.texts.items()}
    base = Texts(before.stream, digests)
    base.share(now.read())

    assert [base["a"], before.handed] == ["same\n", []]
    assert [base["b"], before.handed] == ["old\n", ["old\n"]]


@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize(("parts", "holds"), [(["a<", "<<b"], True), (["a<", "b<<"], False)])
def test_a_mark_is_found_across_parts(parts, holds):
    assert Files(a=parts).read().holds("a", ("<<<", "===")) is holds


@pytest.mark.usefixtures("nothing_fits")
def test_another_text_than_the_one_that_was_read_is_refused_before_its_first_part():
    files = Files(a=["one\n", "two\n"])
    texts = files.read()
    files.texts["a"] = ["one\n", "three\n"]

    with pytest.raises(FilesChanged):
        next(texts.parts("a"))


def test_a_file_that_is_not_there_has_no_lines():
    assert list(Texts().parts("a")) == []
    assert not Texts().has_oversize("a")


@pytest.mark.parametrize(
    "text", ["", "\n", "\ufeffa\n\ufeffb", "a\r\nb \t\n\nc", " \ta\t \nb\x0b\n", "a\n" * 9]
)
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_lines_are_the_same_in_parts_of_any_size(text, size, monkeypatch):
    parts = [text[at : at + size] for at in range(0, len(text), size)]

    lines = list(map(clean_line, split_lines(parts)))
    assert lines == clean_lines(text)
    assert len(lines) == text.count("\n") + 1
    monkeypatch.setattr("ademem.files.texts.SPLIT_CHARS", -1)
    assert list(Texts.of({"a": text}).lines("a")) == lines


def test_lines_that_one_side_has_read_are_not_read_again_by_the_other():
    now, before = Texts.of({"a": "same\n"}), Texts.of({"a": "same\n"})
    read = before.lines("a")
    before.share(now)

    assert now.lines("a") is read


def page(*names):
    return "".join(f"- It is {name} <!-- {name} -->\n" for name in names)


def test_items_that_did_not_stay_in_memory_are_parsed_again_when_they_are_asked_for(monkeypatch):
    monkeypatch.setattr("ademem.files.snapshot.MOST_PAGES", 1)
    folder = ".ade/memory/"
    texts = Texts.of({f"{folder}facts.md": page("a", "b"), f"{folder}gotchas.md": page("c", "a")})
    found = snapshot(texts).placed

    assert list(found) == ["a", "b", "c"]
    assert [item.item.content for id in found for item in found[id]] == [
        "It is a",
        "It is a",
        "It is b",
        "It is c",
    ]


def test_two_snapshots_share_what_is_the_same_in_both():
    path, line = ".ade/memory/knowledge.jsonl", '{"content":"x","id":"%s","sync_id":"s"}\n'
    known = KnownLines()
    before = snapshot(Texts.of({path: line % "a"}), known=known)
    now = snapshot(Texts.of({path: line % "a" + line % "b"}), known=known)

    assert now.lines["a"].lines == before.lines["a"].lines
    assert list(now.lines) == ["a", "b"]


def test_of_an_unchanged_page_the_ids_alone_are_read():
    path = ".ade/memory/facts.md"
    texts = Texts.of({path: page("a", "b")})
    found = snapshot(texts, {path})

    assert list(found.placed) == []
    assert found.has_item("b")
    assert not found.has_item("c")
    assert path in found.read


def test_a_page_is_unchanged_if_no_changed_one_has_a_memory_of_it():
    names = [f".ade/memory/{name}.md" for name in ("facts", "gotchas", "patterns")]
    before = dict(zip(names, (page("a"), page("b"), page("c")), strict=True))
    now = before | {names[2]: page("c", "b")}

    assert unchanged_pages(Texts.of(now), Texts.of(before)) == {names[0]}
    assert unchanged_pages(Texts.of(before), Texts.of(before)) == set(names)
