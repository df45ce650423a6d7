"""Which files a script writes or removes, as far as its words tell."""

import pytest

from ademem.guard import shell
from ademem.guard.writers import find_edits

DIFF = "--- a/src/app.py\n+++ b/src/app.py\n@@ -1 +1 @@\n-a\n+b"

WRITTEN = [
    ("sed -i 's/1.2/1.3/' VERSION", ["VERSION"]),
    ("sed -i.bak -e 's/a/b/' -e 's/c/d/' a.txt b.txt", ["a.txt", "b.txt"]),
    ("sed -i '' 's/a/b/' a.txt", ["a.txt"]),
    ("sed --in-place=.bak 's/a/b/' a.txt", ["a.txt"]),
    ("sed -Ei 's/a+/b/' a.txt", ["a.txt"]),
    ("perl -pi -e 's/a/b/' a.txt", ["a.txt"]),
    ("perl -i -pe 's/a/b/' a.txt", ["a.txt"]),
    ("echo 1.3.0 > VERSION", ["VERSION"]),
    ("echo x >> notes.md", ["notes.md"]),
    ("printf '%s\\n' x >| notes.md", ["notes.md"]),
    ("cat > deploy.yaml <<'EOF'\nkind: Job\nEOF", ["deploy.yaml"]),
    ("cat <<'EOF' > deploy.yaml\nkind: Job\nEOF\ngit add deploy.yaml", ["deploy.yaml"]),
    ("echo x | tee a.txt b.txt", ["a.txt", "b.txt"]),
    ("echo x | sudo tee -a /p/a.txt > /dev/null", ["/p/a.txt"]),
    ("tee a.txt <<< x", ["a.txt"]),
    (f"patch -p1 <<'EOF'\n{DIFF}\nEOF", ["src/app.py"]),
    (f"git apply <<'EOF'\n{DIFF}\nEOF", ["src/app.py"]),
    ("patch src/app.py fix.diff", ["src/app.py"]),
    ("mv docs/draft.md docs/final.md", ["docs/draft.md", "docs/final.md"]),
    ("git mv a.py b.py src/", ["a.py", "b.py", "src/a.py", "src/b.py"]),
    ("rm -f build.lock && git rm -q src/old.py", ["build.lock", "src/old.py"]),
    ("cp a.txt b.txt", ["b.txt"]),
    ("cd app && sed -i 's/a/b/' a.txt", ["app/a.txt"]),
    ("npm run codegen > src/types.ts", ["src/types.ts"]),
    ("bash -c 'echo x > a.txt'", ["a.txt"]),
    ("sed -i 's/a/b/' a.txt && npm test && git commit -am x", ["a.txt"]),
]

READ = [
    "sed -n 1,5p a.txt",
    "sed 's/a/b/' a.txt",
    "cat a.txt 2>&1",
    "make > /dev/null 2>&1",
    "echo x",
    "git diff > $OUT",
    "sed -i 's/a/b/' src/*.py",
    "tee",
    "mv a",
    "python fix.py",
    "patch -p1 < fix.diff",
    "grep -rn 'sed -i' docs",
    "perl -ne 'print' a.txt",
    "echo 'echo x > a.txt'",
]


@pytest.mark.parametrize(("command", "paths"), WRITTEN, ids=[row[0][:40] for row in WRITTEN])
def test_files_that_a_script_names_and_changes_are_found(command, paths):
    assert [edit.path for edit in find_edits(shell.parse(command))] == paths


@pytest.mark.parametrize("command", READ)
def test_other_commands_name_no_file_that_they_change(command):
    assert find_edits(shell.parse(command)) == []


@pytest.mark.parametrize(
    ("command", "is_whole"),
    [("sed -i s/a/b/ x", True), ("echo a > x", True), ("make > x", False), ("cp a x", False)],
)
def test_a_command_that_does_more_than_edit_is_distinguished_from_an_edit(command, is_whole):
    (edit,) = find_edits(shell.parse(command))

    assert edit.is_whole is is_whole
