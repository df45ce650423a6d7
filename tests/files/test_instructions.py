"""Instruction files: which are taken, what their items are, and where these hold."""

import os
import time

import pytest

from ademem.files.instructions import reading
from ademem.files.instructions.formats import VENDORED
from ademem.files.instructions.front_matter import read_front_matter
from ademem.files.instructions.items import COMMENT, LINKS, parse


class Tree:
    def __init__(self, root):
        self.root, self.paths = root, []

    def add(self, path, text="- Keep it short\n"):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            target.write_bytes(text)
        else:
            target.write_text(text, encoding="utf-8")
        self.paths.append(path)

    def link(self, path, to):
        (self.root / path).symlink_to(to)
        self.paths.append(path)

    def read(self, patterns=("auto",), merged=None):
        return reading.read(str(self.root), self.paths, patterns, merged)


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def texts(lines):
    return [each.text for each in parse(lines.splitlines()).items]


def whys(read):
    return {(each.path, each.line): each.why for each in read.left_out}


@pytest.mark.parametrize(
    ("path", "folder", "load"),
    [
        pytest.param("CLAUDE.md", "", "client", id="the root"),
        pytest.param("pkg/CLAUDE.md", "pkg/", "client", id="a folder"),
        pytest.param("CLAUDE.local.md", "", "client", id="the person's own"),
        pytest.param("pkg/.claude/CLAUDE.md", "pkg/", "client", id="in the client's folder"),
        pytest.param("pkg/AGENTS.md", "pkg/", "alone", id="agents without a CLAUDE.md"),
        pytest.param(".claude/rules/deep/a.md", "", "client", id="a rule without paths"),
        pytest.param("GEMINI.md", "", "none", id="gemini"),
        pytest.param(".github/copilot-instructions.md", "", "none", id="copilot"),
        pytest.param(".cursorrules", "", "none", id="old rules of cursor"),
        pytest.param("pkg/.windsurfrules", "pkg/", "none", id="old rules of windsurf"),
        pytest.param(".clinerules", "", "none", id="a file of cline"),
        pytest.param(".rules", "", "none", id="a file of rules"),
        pytest.param(".clinerules/a.md", "", "none", id="a folder of cline"),
        pytest.param("pkg/.rules/a.md", "pkg/", "none", id="a folder of rules"),
        pytest.param("pkg/.cursor/rules/deep/a.mdc", "pkg/", "none", id="rules of cursor"),
        pytest.param(".windsurf/rules/a.md", "", "none", id="rules of windsurf"),
        pytest.param(".github/instructions/a.instructions.md", "", "none", id="of copilot"),
        pytest.param("memory-bank/techContext.md", "", "none", id="a memory bank"),
        pytest.param("docs/adr/0001-use-sqlite.md", "", "none", id="a decision"),
    ],
)
def test_a_file_of_the_table_is_taken_with_its_scope(tree, path, folder, load):
    tree.add(path)
    read = tree.read()

    assert [(each.path, each.folder, each.load) for each in read.items] == [(path, folder, load)]


@pytest.mark.parametrize(
    "path",
    ["README.md", "docs/adr/index.md", "CLAUDE.txt", ".cursor/rules/a.json", "docs/AGENTS.rst"],
)
def test_no_other_file_is_taken(tree, path):
    tree.add(path)

    assert tree.read() == reading.Reading()


@pytest.mark.parametrize(
    ("path", "front", "globs", "load"),
    [
        pytest.param(
            ".cursor/rules/a.mdc", "globs: *.ts, *.tsx", ("*.ts", "*.tsx"), "none", id="comma"
        ),
        pytest.param(
            ".cursor/rules/a.mdc",
            'globs:\n  - src/**\n  - "lib/**"',
            ("src/**", "lib/**"),
            "none",
            id="a list",
        ),
        pytest.param(
            ".cursor/rules/a.mdc", "globs: ['*.{js,jsx}']", ("*.js", "*.jsx"), "none", id="braces"
        ),
        pytest.param(
            ".cursor/rules/a.mdc", "globs: *.ts\nalwaysApply: true", (), "none", id="always"
        ),
        pytest.param(".cursor/rules/a.mdc", "globs:\nalwaysApply: false", (), "none", id="no glob"),
        pytest.param(
            ".windsurf/rules/a.md",
            "trigger: glob\nglobs: src/**",
            ("src/**",),
            "none",
            id="windsurf",
        ),
        pytest.param(
            ".windsurf/rules/a.md", "trigger: always_on\nglobs: a", (), "none", id="always on"
        ),
        pytest.param(
            ".github/instructions/a.instructions.md",
            'applyTo: "**/*.py,docs/**"',
            ("**/*.py", "docs/**"),
            "none",
            id="copilot",
        ),
        pytest.param(".clinerules/a.md", "paths:\n  - src/**", ("src/**",), "none", id="cline"),
        pytest.param(
            ".claude/rules/a.md", "paths: src/**/*.py", ("src/**/*.py",), "matching", id="claude"
        ),
        pytest.param(
            ".claude/rules/a.md", "globs: src/**", (), "client", id="globs are unknown to claude"
        ),
        pytest.param(".claude/rules/a.md", 'paths: "**"', (), "client", id="all paths"),
    ],
)
def test_front_matter_gives_the_globs(tree, path, front, globs, load):
    tree.add(path, f"---\n{front}\n---\n- Keep it short\n")
    (item,) = tree.read().items

    assert (item.scope.globs, item.load, item.first) == (globs, load, front.count("\n") + 4)


def test_agents_are_loaded_only_where_no_other_file_stands(tree):
    tree.add("AGENTS.md", "- One\n")
    tree.add("pkg/AGENTS.md", "- Two\n")
    assert {each.load for each in tree.read().items} == {"alone"}
    tree.add("pkg/CLAUDE.md", "- Three\n")
    assert {each.path: each.load for each in tree.read().items} == {
        "AGENTS.md": "alone",
        "pkg/AGENTS.md": "none",
        "pkg/CLAUDE.md": "client",
    }
    tree.add("CLAUDE.md", "- Four\n")
    assert {each.path for each in tree.read().items if each.load == "none"} == {
        "AGENTS.md",
        "pkg/AGENTS.md",
    }


def test_what_claude_md_imports_is_loaded_and_of_its_folder(tree):
    tree.add(
        "pkg/CLAUDE.md", "# Here\n@../docs/style.md and @AGENTS.md\n`@no.md`\n```\n@no.md\n```\n"
    )
    tree.add("docs/style.md", "- Style\n@deeper.md\n")
    tree.add("docs/deeper.md", "- Deeper\n")
    tree.add("pkg/AGENTS.md", "- Agents\n")
    found = {each.path: (each.folder, each.load) for each in tree.read().items}

    assert found.pop("pkg/CLAUDE.md", None)  # the line with its two imports
    assert found == dict.fromkeys(
        ("docs/style.md", "docs/deeper.md", "pkg/AGENTS.md"), ("pkg/", "client")
    )


def test_imports_end_at_five_levels_at_circles_and_at_the_project(tree):
    tree.add("CLAUDE.md", "- Zero\n@0.md\n@../out.md\n@~/own.md\n@gone.md\n@CLAUDE.md\n")
    for level in range(7):
        tree.add(f"{level}.md", f"- Level {level}\n@{level + 1}.md\n@CLAUDE.md\n")
    read = tree.read()

    assert [each.text for each in read.items if each.text.startswith("Level")] == [
        f"Level {level}" for level in (4, 3, 2, 1, 0)
    ]
    assert whys(read)["CLAUDE.md", 3] == reading.OUTSIDE
    assert whys(read)["CLAUDE.md", 4] == reading.OUTSIDE
    assert whys(read)["CLAUDE.md", 5] == reading.MISSING
    assert whys(read)["4.md", 2] == reading.TOO_DEEP


def test_the_report_has_one_reason_for_each_thing(tree, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "x.md"
    outside.write_text("- Elsewhere\n")
    tree.add("CLAUDE.md", "- Same\n<!-- hidden -->\n\n- [Guide](docs/guide.md)\n")
    tree.link("AGENTS.md", "CLAUDE.md")
    tree.link("GEMINI.md", outside)
    tree.add("vendor/lib/AGENTS.md")
    tree.add(".cursorrules", b"\xff\xfe")
    tree.add(".windsurfrules", b"a\0b")
    tree.add(".clinerules", "x" * (reading.MOST_BYTES + 1))
    tree.add(".github/copilot-instructions.md", "- Same\n")
    read = tree.read()

    assert whys(read) == {
        ("CLAUDE.md", 2): COMMENT,
        ("CLAUDE.md", 4): LINKS,
        ("AGENTS.md", 0): "same as CLAUDE.md",
        ("GEMINI.md", 0): reading.OUTSIDE,
        ("vendor/lib/AGENTS.md", 0): VENDORED,
        (".cursorrules", 0): reading.NOT_TEXT,
        (".windsurfrules", 0): reading.NOT_TEXT,
        (".clinerules", 0): reading.TOO_LARGE,
        (".github/copilot-instructions.md", 1): "same as CLAUDE.md:1",
    }
    (item,) = read.items
    assert item.sources == (".github/copilot-instructions.md:1",)


def test_the_same_text_for_other_files_is_another_item(tree):
    tree.add("a/.cursorrules", "- Same\n")
    tree.add("b/.cursorrules", "- Same\n")

    assert [each.folder for each in tree.read().items] == ["a/", "b/"]


@pytest.mark.parametrize(
    "folder", ["node_modules", "fixtures", "build", "templates", "third_party"]
)
def test_files_of_others_are_left_out(tree, folder):
    tree.add(f"x/{folder}/y/CLAUDE.md")

    assert [each.why for each in tree.read().left_out] == [VENDORED]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "One line\ngoes on\n\nAnother", ["One line goes on", "Another"], id="paragraphs"
        ),
        pytest.param(
            "- a\n  - b\n  - c\n- d", ["a\n  - b\n  - c", "d"], id="an entry has its children"
        ),
        pytest.param(
            "- a\n  goes on\nlazily\n- b", ["a\ngoes on\nlazily", "b"], id="lines of an entry"
        ),
        pytest.param("* a\n\n* b\n\nc", ["a", "b", "c"], id="blank lines in a list"),
        pytest.param("1. a\n2. b", ["1. a\n2. b"], id="steps are one"),
        pytest.param("1. a", ["a"], id="one step is none"),
        pytest.param(
            "Run it:\n\n```sh\nmake x\n```", ["Run it:\nmake x"], id="code with its sentence"
        ),
        pytest.param(
            "Run it.\n\n```\nmake x\n```", ["Run it.\nmake x"], id="code behind a sentence"
        ),
        pytest.param("- a\n  ```\n  make x\n  ```\n- b", ["a\nmake x", "b"], id="code in an entry"),
        pytest.param("- a:\n```\nmake x\n```\n- b", ["a:\nmake x", "b"], id="code below an entry"),
        pytest.param(
            "Look first:\n\n    make x\n\n      y\n\nb",
            ["Look first:\nmake x\n\n  y", "b"],
            id="indented code",
        ),
        pytest.param("a\n    goes on", ["a goes on"], id="an indented line of a paragraph"),
        pytest.param(
            "| Name | Use |\n|---|---|\n| x | run |\n| y | |",
            ["Name: x · Use: run", "Name: y"],
            id="a table",
        ),
        pytest.param("> quoted", ["quoted"], id="a quotation"),
        pytest.param("a\n\n***\n\n---\n", ["a"], id="lines between"),
        pytest.param("```\nopen\n- a", ["open", "a"], id="an open fence"),
        pytest.param("Never a. Rather:\n\n- b", ["Never a.", "b"], id="a sentence before a lead"),
        pytest.param("<!-- open\n- a", ["<!-- open", "a"], id="an open comment"),
        pytest.param("- [ ] a\n- [x] b", ["a", "b"], id="tasks"),
    ],
)
def test_text_becomes_items(text, expected):
    assert texts(text) == expected


def test_headings_and_a_colon_are_context():
    found = parse("# A\n## B\nNever do:\n\n- x\n- y\n\nTitle\n=====\nz".splitlines()).items

    assert [(each.heads, each.lead, each.text) for each in found] == [
        (("A", "B"), "Never do:", "x"),
        (("A", "B"), "Never do:", "y"),
        (("Title",), "", "z"),
    ]


def test_a_paragraph_has_the_sentence_before_it_as_context():
    (found,) = parse("**Only** here (always):\n\nuse x.\n".splitlines()).items

    assert (found.lead, found.text) == ("Only here (always):", "use x.")


def test_a_long_entry_is_taken_apart():
    below = "\n".join(f"  - {'word ' * 20}{at}" for at in range(10))
    found = parse(f"- About that:\n{below}".splitlines()).items

    assert len(found) == 10
    assert {each.lead for each in found} == {"About that:"}


@pytest.mark.parametrize(
    ("status", "live"),
    [
        pytest.param("## Status\n\nAccepted\n", True, id="accepted"),
        pytest.param("## Status\n\nSuperseded by 12\n", False, id="superseded"),
        pytest.param("* Status: deprecated\n", False, id="deprecated"),
        pytest.param("---\nstatus: proposed\n---\n", False, id="proposed"),
        pytest.param("Status: Rejected\n", False, id="rejected"),
        pytest.param("", True, id="none"),
    ],
)
def test_a_decision_that_does_not_hold_is_not_live(tree, status, live):
    tree.add("packages/api/package.json", "{}")
    tree.add("packages/api/docs/decisions/0001-x.md", f"{status}# X\n\nWe use SQLite.\n")
    found = [each for each in tree.read().items if "SQLite" in each.text]

    assert [(each.live, each.kind, each.folder) for each in found] == [
        (live, "decision", "packages/api/")
    ]


def test_the_passing_pages_of_a_memory_bank_are_a_status(tree):
    for name in ("activeContext", "progress", "techContext"):
        tree.add(f"memory-bank/{name}.md", f"Working on {name} in `src/a.py`\n")
    tree.add("src/a.py", "")
    found = {each.path[12:-3]: (each.kind, bool(each.places)) for each in tree.read().items}

    assert found == {
        "activeContext": ("status", False),
        "progress": ("status", False),
        "techContext": ("fact", True),
    }


@pytest.mark.parametrize(
    ("text", "places"),
    [
        pytest.param("Edit `src/a.py` with care", ["path src/a.py"], id="a file"),
        pytest.param("Edit src/a.py with care", [], id="without backticks"),
        pytest.param("Mind `src/gone.py`", [], id="not in the tree"),
        pytest.param("All of `src/`", ["dir src"], id="a folder"),
        pytest.param("Never edit `dist/` by hand", ["dir dist"], id="a folder that git ignores"),
        pytest.param("Never edit `made/` or `dist`", [], id="a folder that nothing names"),
        pytest.param("All of `src/*.py`", ["glob src"], id="a glob"),
        pytest.param("All `*.py`", ["suffix .py"], id="a suffix"),
        pytest.param("Before `git push`", ["program git"], id="a command"),
        pytest.param("Mind `git`", [], id="a program of many verbs"),
        pytest.param("Call `foo bar`", [], id="no known program"),
        pytest.param("Run `make db`", ["runs make:db"], id="a target"),
        pytest.param("Run `make gone`", [], id="no target"),
        pytest.param("Run `npm run lint`", ["runs script:lint"], id="a script"),
        pytest.param("Out of `../x.py` and `/etc/passwd`", [], id="outside"),
        pytest.param("Type `string` and `null`", [], id="words"),
        pytest.param("Use pnpm, never npm", ["family js packages"], id="a choice"),
        pytest.param("Never leave docker running", [], id="a program without a choice"),
        pytest.param("Never edit src/a.py by hand", ["path src/a.py"], id="a forbidden file"),
        pytest.param("Never edit src/gone.py by hand", [], id="a forbidden file that is not there"),
        pytest.param("Never edit src/ by hand", ["dir src"], id="a forbidden folder"),
        pytest.param("Never edit dist/ by hand", ["dir dist"], id="a forbidden ignored folder"),
        pytest.param("Never edit gone/ by hand", [], id="a forbidden folder that is not there"),
        pytest.param("Never run npm publish", ["program npm"], id="a forbidden command"),
        pytest.param("Never run npm; see src/a.py", [], id="a file beside what is forbidden"),
        pytest.param("Never run `x`, only src/a.py", [], id="what is wanted"),
        pytest.param("Always update src/a.py first", [], id="what is required"),
    ],
)
def test_places_are_what_stands_in_backticks_or_is_forbidden_and_is_there(tree, text, places):
    tree.add("src/a.py", "")
    tree.add(".gitignore", "/dist/\n*.log\n")
    tree.add("Makefile", "db:\n\ttrue\n")
    tree.add("package.json", '{"scripts": {"lint": "x"}}')
    tree.add("AGENTS.md", f"- {text}\n")
    (item,) = tree.read().items

    assert [f"{each.kind} {each.key}" for each in item.places] == places


def test_a_path_is_read_in_the_folder_of_its_file_first(tree):
    tree.add("pkg/src/a.py", "")
    tree.add("src/a.py", "")
    tree.add("pkg/AGENTS.md", "- Mind `src/a.py`\n")
    (item,) = tree.read().items

    assert [each.key for each in item.places] == ["pkg/src/a.py"]


def test_a_folder_that_git_ignores_anywhere_is_that_of_the_text(tree):
    tree.add(".gitignore", "dist/\n\n/site\n")
    tree.add("pkg/AGENTS.md", "- Never edit `dist/` or `site/` behind `/`\n")
    (item,) = tree.read().items

    assert [each.key for each in item.places] == ["pkg/dist", "site"]


def test_what_a_text_names_and_the_project_lacks_is_told(tree):
    tree.add("src/a.py", "")
    tree.add("Makefile", "db:\n\ttrue\n")
    tree.add("AGENTS.md", "- See `src/gone.py`, `other/x.py`, `make old` and `make db`\n")
    (item,) = tree.read().items

    assert item.missing == ("src/gone.py", "make old")


def test_what_a_package_below_has_is_not_missing(tree):
    tree.add("package.json", '{"scripts": {"build": "x"}}')
    tree.add("src/a.py", "")
    tree.add("apps/one/package.json", '{"scripts": {"start": "x"}}')
    tree.add("apps/one/src/main.py", "")
    tree.add("AGENTS.md", "- Each app has `src/main.py` and `npm run start`, not `npm run go`\n")
    (item,) = tree.read().items

    assert item.missing == ("npm run go",)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param("Never edit this", "rule", id="forbids"),
        pytest.param("Tests must pass", "rule", id="requires"),
        pytest.param("Use pnpm", "rule", id="orders"),
        pytest.param("Prefer pnpm", "rule", id="recommends"),
        pytest.param("After a change of flags, run `make docs`", "rule", id="behind a clause"),
        pytest.param("Run all tests:\n\n  ```\n  make x\n  ```", "fact", id="names code"),
        pytest.param("A suite (slow, run by hand)", "fact", id="in brackets"),
        pytest.param("**Never** do that", "rule", id="in bold"),
        pytest.param("**Purpose**: clean up", "fact", id="behind a label"),
        pytest.param("`check` — the state of the queue", "fact", id="a name"),
        pytest.param("The server is in Go", "fact", id="says"),
    ],
)
def test_the_kind_of_a_line(tree, text, kind):
    tree.add("AGENTS.md", f"- {text}\n")

    assert [each.kind for each in tree.read().items] == [kind]


def test_fifty_versions_give_no_id_twice_and_a_moved_line_is_no_change(tree):
    lines = [f"- Rule number {at} holds" for at in range(30)]
    known = set()
    for version in range(50):
        lines.insert(version % len(lines), f"- Added in {version}")
        lines.append(lines.pop(0))
        if version % 5 == 0:
            lines.pop(3)
        tree.add("AGENTS.md", "# Rules\n" + "\n".join(lines) + "\n- Twice\n- Twice\n")
        tree.paths = ["AGENTS.md"]
        items = tree.read().items
        ids = [each.id for each in items]
        assert len(set(ids)) == len(ids) == len(lines) + 1
        kept = {each.text: each.id for each in items}
        assert all(kept[text] == id for text, id in known if text in kept)
        known |= set(kept.items())


@pytest.mark.parametrize(
    "front",
    [
        pytest.param("---\nglobs: [a\n---\n", id="an open list"),
        pytest.param("---\n: :\n- x\n\t*&\n---\n", id="no keys"),
        pytest.param("---\nglobs: &a *b\n---\n", id="anchors of YAML"),
        pytest.param("---\nglobs: *.ts\n", id="it is open"),
        pytest.param("---\n" + "x: y\n" * 5000, id="it never ends"),
        pytest.param("---\nglobs: " + "{a,b}" * 200 + "\n---\n", id="many braces"),
        pytest.param("---\nglobs: " + "*" * 300 + "\n---\n", id="many stars"),
    ],
)
def test_bad_front_matter_gives_items(tree, front):
    tree.add(".cursor/rules/a.mdc", f"{front}\n- Keep it short\n")
    read = tree.read()

    assert "Keep it short" in [each.text for each in read.items]
    assert all(isinstance(each.scope.holds("src/a.ts"), bool) for each in read.items)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["~~~a"] * 50_000, id="fences"),
        pytest.param(["<!-- x"] * 30_000 + ["--> y"], id="comments"),
        pytest.param(["- a", *[""] * 200_000, "x"], id="blank lines"),
        pytest.param([" " * at + "- a" for at in range(700)], id="a deep list"),
        pytest.param(["# " * 100_000], id="a line of headings"),
        pytest.param(["[" * 200_000], id="brackets"),
        pytest.param(["|" * 100_000, "|" + "-|" * 50_000], id="a table"),
        pytest.param(["`" * at + "x" for at in range(1, 600)], id="backticks"),
        pytest.param(["@" + "a/" * 50_000], id="an import"),
    ],
)
def test_hostile_text_takes_little_time(lines):
    began = time.process_time()
    parse(lines)
    read_front_matter(["---", *lines])

    assert time.process_time() - began < 5


def test_the_bounds_of_a_project(tree, monkeypatch):
    monkeypatch.setattr(reading, "MOST_FILES", 3)
    monkeypatch.setattr(reading, "MOST_ITEMS", 5)
    for at in range(5):
        tree.add(f"{at}/AGENTS.md", "".join(f"- Number {at} {n}\n" for n in range(2)))
    read = tree.read()

    assert (len(read.files), len(read.items)) == (3, 5)
    assert {each.why for each in read.left_out} == {reading.FULL, reading.TOO_MANY}


def test_globs_of_the_setting_choose_the_files(tree):
    tree.add("AGENTS.md")
    tree.add("GEMINI.md", "- Two\n")

    assert [each.path for each in tree.read(("AGENTS.md",)).files] == ["AGENTS.md"]


def test_a_pipe_and_a_circle_of_links_hold_up_nothing(tree):
    os.mkfifo(tree.root / "AGENTS.md")
    tree.paths.append("AGENTS.md")
    tree.link("GEMINI.md", ".rules")
    tree.link(".rules", "GEMINI.md")

    assert {each.path for each in tree.read().left_out} == {"AGENTS.md", "GEMINI.md", ".rules"}


def test_secrets_are_hidden(tree):
    secret = "ghp_" + "Ab3dEfGh1jKlMn0pQrStUvWxYz012345" + "6789"
    tree.add("AGENTS.md", f"- Log in with {secret} first\n- Other\n")
    items = tree.read().items

    assert len(items) == 2
    assert not any(secret in each.text for each in items)


def test_three_thousand_items_take_about_a_hundred_times_a_bare_hash_of_them(tree):
    """300 ms on the reference machine, where hashing 3,000 texts takes 3 ms; in yardsticks here."""
    text = "".join(
        f"## Part {part}\n\n"
        + "".join(
            f"- Always check number {part} {at} in `src/a.py` before the next step is done\n"
            for at in range(30)
        )
        for part in range(100)
    )
    tree.add("src/a.py", "")
    for name in range(4):
        tree.add(f"{name}/AGENTS.md", text[: reading.MOST_BYTES // 4])
    began = time.process_time()
    items = tree.read().items
    took = time.process_time() - began
    began = time.process_time()
    for _ in range(len(items)):
        sorted(os.environ)
    yardstick = time.process_time() - began

    assert len(items) > 2900
    assert took < max(1.0, 200 * yardstick)


BESIDE = ("Never push", "Always sign", "Break long steps up", "Employ the present tense")


@pytest.mark.parametrize(
    ("lines", "kinds"),
    [
        pytest.param(BESIDE, ["rule"] * 4, id="half are rules"),
        pytest.param(
            (*BESIDE, "The grid is blue", "It is big"), ["rule"] * 2 + ["fact"] * 4, id="few"
        ),
        pytest.param((*BESIDE[:2], "`tidy` - tidies up"), ["rule", "rule", "fact"], id="a name"),
        pytest.param(("Never push", "It is big"), ["rule", "fact"], id="too few"),
    ],
)
def test_where_most_lines_below_a_heading_are_rules_the_others_are(tree, lines, kinds):
    listed = "\n".join(f"- {line}" for line in lines)
    tree.add("AGENTS.md", f"# One\n\n- The grid is red\n\n# Two\n\n{listed}\n")
    found = [each.kind for each in tree.read().items]

    assert found == ["fact", *kinds]


def test_code_alone_is_no_rule_beside_rules(tree):
    tree.add("AGENTS.md", "- Never a\n- Never b\n- Never c\n\n---\n\n```\nmake must\n```\n")

    assert [each.kind for each in tree.read().items] == ["rule"] * 3 + ["fact"]
