"""What a tool call touches: the files it writes, the commands and scripts it runs, acts, text."""

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.core.settings import GuardSettings
from ademem.guard.touch import Touch, touch
from ademem.guard.touched_by_commands import MOST_BYTES, MOST_COMMANDS
from tests.guard.commands import READS, WRITES
from tests.guard.shell.scripts import scripts

MAKEFILE = """
DEST = legacy
deps:
\t@npm install
tidy: deps
\trm -rf $(DEST)/old
db:
\tdropdb app && \\
\t  createdb app
copies: src/app.py src/tool.py
\tcp $< $@
\tsed -i s/a/b/ src/tool.py
"""
PACKAGE = '{"scripts": {"setup": "npm install", "wipe": "rimraf legacy", "test": "vitest run"}}'
DIFF = "--- a/legacy/app.py\n+++ b/legacy/app.py\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    for folder in ("legacy/old", "src", ".git"):
        (root / folder).mkdir(parents=True)
    for name in ("legacy/app.py", "legacy/b.txt", "src/app.py", "src/tool.py"):
        (root / name).write_text("a\n")
    (root / "Makefile").write_text(MAKEFILE)
    (root / "package.json").write_text(PACKAGE)
    (root / "legacy/Makefile").write_text("all:\n\ttouch made\n")
    (root / "web").mkdir()
    (root / "web/package.json").write_text('{"scripts": {"gen": "echo x > gen.txt"}}')
    (root / "fix.patch").write_text(DIFF)
    return root


@pytest.fixture
def bash(tree):
    return lambda command, tool="Bash": touch(
        tool, {"command": command}, str(tree), GuardSettings()
    )


def inside(touched, folder):
    """Paths that lie in a folder of the tree, or have it in them, relative to the tree."""
    return [
        path
        for path in touched.writes
        if f"{path}/".startswith(f"{folder}/") or f"{folder}/".startswith(f"{path.rstrip('/')}/")
    ]


LEGACY_WRITES = [
    "echo x > legacy/app.py",
    "printf '%s' x >> legacy/new.py",
    "date &> legacy/log.txt",
    ": >| legacy/app.py",
    "cat > legacy/app.py <<'EOF'\nprint(1)\nEOF",
    "echo x | tee -a legacy/app.py",
    "sort src/app.py | sponge legacy/app.py",
    "cp src/app.py legacy/",
    "cp -t legacy src/app.py",
    "mv legacy/app.py src/",
    "ln -sf ../src/app.py legacy/app.py",
    "install -m 644 src/app.py legacy/app.py",
    "rm -rf legacy",
    "unlink legacy/app.py",
    "dd if=/dev/zero of=legacy/app.py bs=1 count=1",
    "truncate -s 0 legacy/app.py",
    "touch legacy/new.py",
    "mkdir -p legacy/deep/er",
    "rsync -a --delete src/ legacy/",
    "tar -xzf code.tgz -C legacy",
    "unzip -o code.zip -d legacy",
    "patch -p1 < fix.patch",
    "git apply fix.patch",
    "ed -s legacy/app.py <<< $'1d\\nw'",
    "sed -i 's/a/b/' legacy/app.py",
    "perl -pi -e 's/a/b/' legacy/*.py",
    "awk -i inplace '{print}' legacy/app.py",
    "npx prettier --write 'legacy/**/*.ts'",
    "black legacy",
    "uv run ruff format .",
    "gofmt -w legacy/app.go",
    "npx eslint legacy --fix",
    "git checkout -- legacy/app.py",
    "git restore legacy",
    "git mv legacy/app.py src/app2.py",
    "git rm -r legacy/old",
    "find legacy -name '*.py' -exec sed -i s/a/b/ {} +",
    "find legacy -type f -delete",
    "grep -rl a legacy | xargs sed -i s/a/b/",
    "bash -c 'cd legacy && rm app.py'",
    'F=legacy/app.py; echo x > "$F"',
    'for f in legacy/*.py; do sed -i s/a/b/ "$f"; done',
    "make tidy",
    "npm run wipe",
]


@pytest.mark.parametrize("command", LEGACY_WRITES, ids=lambda text: text[:50])
def test_a_command_that_writes_in_a_folder_names_it(bash, tree, command):
    touched = bash(command)

    assert inside(touched, tree / "legacy")
    assert touched.changes


INSTALLS = [
    "npm install",
    "npm i lodash",
    "npm --silent install",
    "/usr/bin/npm install",
    "sudo npm install -g x",
    "env CI=1 npm install",
    "CI=1 npm install",
    "sh -c 'npm install'",
    'bash -lc "cd src && npm install"',
    "cd src && npm install",
    "(npm install)",
    "npm install & wait",
    "test -d node_modules || npm install",
    "time npm install",
    "timeout 60 npm install",
    "nohup npm install > log.txt 2>&1 &",
    "eval 'npm install'",
    "npx -y npm@10 install",
    "pnpm exec npm install",
    "corepack npm install",
    "docker run --rm -v $PWD:/app -w /app node:20 npm install",
    "docker compose exec web npm install",
    "tmux new-session -d -s build 'npm install'",
    "tmux send-keys -t build 'npm install' Enter",
    "script -qec 'npm install' /dev/null",
    "make deps",
    "npm run setup",
    "alias ni='npm install'; ni",
    'f() { npm install "$@"; }; f lodash',
    "tool=npm; $tool install",
    "echo lodash | xargs npm install",
    "if [ -f package.json ]; then npm install; fi",
    "npm install 'unclosed",
]


@pytest.mark.parametrize("command", INSTALLS, ids=lambda text: text[:50])
def test_a_command_is_found_behind_what_runs_it(bash, command):
    touched = bash(command)

    assert any(argv[:1] == ("npm",) and "install" in argv for argv in touched.argvs)
    assert "install" in touched.acts


HARMLESS = [
    "cat legacy/app.py",
    "grep -rn 'npm install' README.md",
    "echo 'npm install'",
    "echo 'rm -rf legacy'",
    "git log -- legacy",
    "git diff HEAD legacy/app.py",
    "ls legacy > /dev/null 2>&1",
    "sed -n 1,5p legacy/app.py",
    "find legacy -name '*.py'",
    "diff legacy/app.py src/app.py",
    "cp legacy/app.py src/copy.py",
    "rsync -an src/ legacy/",
    "black --check legacy",
    "npx prettier --check legacy",
    "tar -tzf legacy/code.tgz",
    "git commit -m 'explain npm install and rm -rf legacy'",
    "python src/tool.py --input legacy/app.py",
    "npm test -- legacy",
]


@pytest.mark.parametrize("command", HARMLESS, ids=lambda text: text[:50])
def test_a_command_that_reads_a_folder_or_names_another_command_touches_neither(
    bash, tree, command
):
    touched = bash(command)

    assert inside(touched, tree / "legacy") == []
    assert not any(argv[:2] == ("npm", "install") for argv in touched.argvs)
    assert "install" not in touched.acts


ROWS = Path(__file__).parent / "touched"
"""Commands, one a line; `\\n` behind `<<` is a line break, behind `⇒` stands what is written."""


def rows(name):
    lines = (ROWS / f"{name}.txt").read_text().splitlines()
    return [line.replace("\\n", "\n") if "<<" in line else line for line in lines]


def test_every_other_form_of_a_write_names_the_folder(bash, tree):
    assert [row for row in rows("writes") if not inside(bash(row), tree / "legacy")] == []


def test_every_other_wrapper_is_removed(bash):
    def is_found(touched):
        return any(argv[:1] == ("npm",) and "install" in argv for argv in touched.argvs)

    assert [row for row in rows("installs") if not is_found(bash(row))] == []


def test_every_other_harmless_command_touches_neither(bash, tree):
    def is_touched(touched):
        return inside(touched, tree / "legacy") or "install" in touched.acts

    assert [row for row in rows("harmless") if is_touched(bash(row))] == []


def differing(name, root):
    """Rows whose command writes other paths than a reader says: those too many, those missed."""
    wrong = {}
    for row in rows(name):
        command, expected = row.split(" ⇒ ")
        names = [name.strip() for name in expected.split(",") if name != "-"]
        paths = {os.path.normpath(root / os.path.expanduser(name)) for name in names}
        touched = touch("Bash", {"command": command}, str(root), GuardSettings())
        if (found := {*touched.writes}) != paths:
            wrong[command] = (found - paths, paths - found)
    return wrong


def test_everyday_commands_write_what_a_reader_says(tree):
    assert differing("exact", tree) == {}


SCRIPTS = {
    "prebuild": "rm -rf legacy/out",
    "build": "tsc -p . && cp src/app.py legacy/copy.py",
    "fmt": "prettier --write legacy",
    "ci": "npm run fmt",
}
TARGETS = """
all: fmt
fmt:
\tprettier --write legacy
DIR ?= legacy
clean:
\trm -rf $(DIR)/out ${DIR}/tmp
.PHONY: clean
gen: src/x.ts
\t@echo x > legacy/gen.py; \\
\techo y >> legacy/gen2.py
sub:
\t$(MAKE) -C legacy
%.o: %.c
\tcc $<
"""


def test_scripts_targets_and_rarer_programs_write_what_a_reader_says(tmp_path):
    for name in ("legacy/app.py", "legacy/b.txt", "src/app.py", "src/x.ts", ".git/HEAD"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a\n")
    (tmp_path / "package.json").write_text(json.dumps({"scripts": SCRIPTS}))
    (tmp_path / "Makefile").write_text(TARGETS)
    (tmp_path / "other.mk").write_text("go:\n\trm legacy/x\n")
    (tmp_path / "fix.patch").write_text(DIFF)

    assert differing("exact_scripts", tmp_path) == {}


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        pytest.param("cp src/app.py legacy", ["legacy/app.py"], id="a file of a folder"),
        pytest.param("mkdir -p src", [], id="a folder that is there"),
        pytest.param("rm src/*.py", ["src/app.py", "src/tool.py"], id="a pattern that meets files"),
        pytest.param("rm src/*.js", ["src/*.js"], id="a pattern that meets none"),
        pytest.param("touch {a,b}.txt", ["a.txt", "b.txt"], id="braces"),
        pytest.param("git checkout src/app.py", ["src/app.py"], id="a file"),
        pytest.param("git checkout main", [], id="a branch"),
        pytest.param("git checkout HEAD~1 gone.py", ["gone.py"], id="a file of a commit"),
        pytest.param("git restore --staged src", [], id="the index alone"),
        pytest.param('rm -rf "$TMPDIR/legacy"', [], id="a temporary folder"),
        pytest.param('rm -rf "$ROOT/src/app.py"', ["src/app.py"], id="an unknown folder"),
        pytest.param("rm src/$name.py", ["src"], id="an unknown file"),
        pytest.param("rm $(find src -name '*.py')", ["src"], id="what a search finds"),
        pytest.param("cd src; cd -; rm a", ["a"], id="back"),
        pytest.param("(cd src && rm a) && rm b", ["src/a", "b"], id="in a subshell and behind it"),
        pytest.param("(cd src && (cd x; ls); rm a)", ["src/a"], id="behind a subshell in another"),
        pytest.param("sh -c '(cd src; ls); rm a'", ["a"], id="behind a subshell in a text"),
        pytest.param("(cd x; ls); env -C src rm a; rm b", ["src/a", "b"], id="an env behind one"),
        pytest.param("env -C src sh -c '(cd x; ls)'; rm a", ["a"], id="behind one inside an env"),
        pytest.param("cd src && npm start & rm a", ["a"], id="behind what runs beside it"),
        pytest.param("{ cd src; ls; } | sort; rm a", ["a"], id="behind a pipeline"),
        pytest.param("x=$(cd src && pwd); rm a", ["a"], id="behind a substitution"),
        pytest.param("git -C src rm app.py", ["src/app.py"], id="a folder by option"),
        pytest.param("sqlite3 app.db 'delete from x'", ["app.db"], id="rows"),
        pytest.param("sqlite3 app.db 'select 1'", [], id="a query"),
        pytest.param("curl -so out.json https://x.test/a", ["out.json"], id="a download"),
        pytest.param(
            "python - <<'E'\nopen('src/app.py', 'w').write('x')\nE", ["src/app.py"], id="code"
        ),
        pytest.param("python -c \"print(open('src/app.py').read())\"", [], id="code that reads"),
        pytest.param(
            "python3 -c \"import subprocess; f = 'src/app.py'; subprocess.run(['cat', f])\"",
            [],
            id="code that starts what reads",
        ),
        pytest.param(
            "python3 -c \"import subprocess; f = 'src/app.py'; subprocess.run(['rm', f])\"",
            ["src/app.py"],
            id="code that starts what deletes",
        ),
        pytest.param("ruby -e '`rm src/app.py`'", ["src/app.py"], id="a line in backticks"),
        pytest.param("awk '{print > \"out.txt\"}' src/app.py", ["out.txt"], id="a script's output"),
        pytest.param(
            "cp --parents src/app.py legacy", ["legacy/src/app.py"], id="whole paths in a folder"
        ),
        pytest.param("seq 2 | xargs -I% touch src/%", ["src"], id="found names in a folder"),
        pytest.param("seq 2 | xargs -I% touch src/a%.py", ["src/app.py"], id="a part of a name"),
        pytest.param("make -j 4 copies", ["copies", "src/tool.py"], id="names of a rule"),
        *(
            pytest.param(f"make {option} copies", [], id=f"a target that is not made: {option}")
            for option in ("-n", "-kn", "-q", "--question", "--version", "-h")
        ),
        *(
            pytest.param(f"make {option}legacy", ["legacy/made"], id=f"in another folder: {option}")
            for option in ("-C ", "-C", "--directory=")
        ),
        pytest.param("npm --prefix web run gen", ["web/gen.txt"], id="a script of another folder"),
    ],
)
def test_paths_are_absolute_and_as_precise_as_the_tree_allows(bash, tree, command, paths):
    assert sorted(bash(command).writes) == sorted(str(tree / path) for path in paths)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("Set-Content -Path legacy\\app.py -Value 'x'", "legacy/app.py"),
        ("Remove-Item -Recurse -Force legacy", "legacy"),
        ("'x' | Out-File legacy\\app.py -Append", "legacy/app.py"),
        ("Move-Item legacy\\app.py src\\", "legacy/app.py"),
        ("[IO.File]::WriteAllText('legacy\\app.py', 'x')", "legacy/app.py"),
    ],
)
def test_powershell_names_files_by_parameters_and_places(bash, tree, command, path):
    assert str(tree / path) in bash(command, tool="PowerShell").writes


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        pytest.param("./check.sh --all", ["check.sh"], id="a script"),
        pytest.param("python tools/x.py", ["tools/x.py"], id="an interpreter"),
        pytest.param("uv run python -W error tools/x.py", ["tools/x.py"], id="behind a wrapper"),
        pytest.param("source env/setup.sh", ["env/setup.sh"], id="a sourced file"),
        pytest.param("python -m src.tool", ["src/tool.py"], id="a module"),
        pytest.param("python -m build", [], id="a module of a package"),
        pytest.param("bin/dev test", ["bin/dev"], id="a program of the tree"),
        pytest.param("/usr/bin/env x; /usr/bin/git status", [], id="programs of the machine"),
        pytest.param("node -e 'x()'", [], id="code"),
        pytest.param("cat x.sh | sh", ["x.sh"], id="a file in a pipe"),
        pytest.param("bash < x.sh", ["x.sh"], id="a file as input"),
        pytest.param("python x.py < a.txt", ["x.py"], id="a file as input of a script"),
    ],
)
def test_scripts_are_named_by_their_path(bash, tree, command, runs):
    assert [*bash(command).runs] == [str(tree / path) for path in runs]


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c \"import os; os.system('cd src && npm install x')\"",
        "python3 - <<'E'\nfrom subprocess import run\nrun(['npm', 'install', 'x'], check=True)\nE",
        "node -e \"require('child_process').spawnSync('npm', ['install', 'x'])\"",
        "ruby -e 'system \"npm install x\"'",
        "ruby -e 'puts %x(npm install x)'",
    ],
)
def test_code_runs_what_it_starts(bash, command):
    assert ("npm", "install", "x") in bash(command).argvs


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c \"print('npm install x'); db.execute('rm x'); call('delete it')\"",
        "python3 -c \"from app import run; run('rm old entries')\"",
        "python3 -c \"from unittest.mock import call; print(call('rm', 'src/app.py'))\"",
        "python3 - <<'E'\nimport os\n# os.system('rm src/app.py')\nE",
        "python3 - <<'E'\nimport subprocess\ntext = \"\"\"\nsubprocess.run(['rm', 'x'])\"\"\"\nE",
        "node -e \"console.log(/rm (.*)/.exec('rm src/app.py'))\"",
        "node -e \"require('child_process'); /rm (.*)/.exec('rm src/app.py')\"",
    ],
)
def test_code_runs_nothing_that_it_prints_matches_or_gives_to_other_calls(bash, command):
    assert bash(command).acts == set()


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c \"import subprocess; subprocess.getoutput('rm -rf src')\"",
        "python3 -c \"import os; os.posix_spawnp('rm', ['rm', '-rf', 'src'], os.environ)\"",
        "python3 -c \"import asyncio as a; a.run(a.create_subprocess_exec('rm', '-rf', 'src'))\"",
        "python3 -c \"import subprocess as sp; sp.run(check=1, args=['rm', '-rf', 'src'])\"",
        "python3 -c \"import subprocess as sp; sp.run('''cd .\nrm -rf src''', shell=True)\"",
        r'''python3 -c "import os; os.system(u'rm -rf \'src\'')"''',
        r'''python3 -c "import os; eval('os.system(\"rm -rf src\")')"''',
        'bun -e \'Bun.spawnSync({cmd: ["rm", "-rf", "src"]})\'',
        "ruby -e 'Open3.capture2(\"rm -rf src\")'",
        "ruby -e '%x|rm -rf src|'",
        "perl -e 'qx/rm -rf src/'",
        "php -r 'shell_exec(\"rm -rf src\");'",
        "python3 -c \"import os; os.system('cat a > src')\"",
    ],
)
def test_code_hides_no_start_in_another_call_of_its_library(bash, tree, command):
    assert str(tree / "src") in bash(command).writes


def test_a_target_and_a_script_are_named_and_read_one_level_deep(bash):
    assert bash("make db").runs == ("make:db",)
    assert bash("make db").acts == {"database"}
    assert bash("make").runs == ("make:deps",)
    assert bash("npm test").runs == ("script:test",)
    assert ("vitest", "run") in bash("npm test").argvs
    assert not bash("npm test").changes


def test_a_long_makefile_is_read_in_part_and_a_device_is_not_read(tmp_path):
    lines = "#" * MOST_BYTES + "\nlate:\n\tnpm install\n"
    (tmp_path / "Makefile").write_text(f"early:\n\tnpm ci\n{lines}")
    (tmp_path / "package.json").symlink_to("/dev/zero")

    def run(command):
        return touch("Bash", {"command": command}, str(tmp_path), GuardSettings())

    assert ("npm", "ci") in run("make early").argvs
    assert ("npm", "install") not in run("make late").argvs
    assert run("npm run build").runs == ("script:build",)


def test_working_folders_are_those_of_the_commands(bash, tree):
    assert bash("ls && cd src && ls").works == (str(tree), str(tree / "src"))
    assert bash("make -C src").works == (str(tree / "src"),)


def test_files_put_into_a_folder_stand_in_the_order_of_the_words(bash, tree):
    names = [f"{letter}.txt" for letter in "fbdaec"]

    assert bash(f"cp {' '.join(names)} legacy/").writes == tuple(
        str(tree / "legacy" / name) for name in names
    )


def test_documents_and_texts_that_go_into_files_are_new_text(bash):
    assert bash("cat > a.js <<'E'\nconsole.log(1)\nE").text == "console.log(1)"
    assert "console.log" in bash("sed -i 's/x/console.log/' a.js").text
    assert bash("cat <<'E'\nconsole.log(1)\nE").text == ""


def test_a_command_of_another_machine_touches_no_file_here(bash, tree):
    touched = bash("ssh -p 22 host 'cd /srv && rm -rf legacy && git push'; rm x")

    assert touched.writes == (str(tree / "x"),)
    assert touched.acts == {"delete", "push"}


def test_a_command_that_cannot_be_taken_back_is_told(bash):
    assert bash("rm -rf src").irreversible
    assert bash("x=rm; $x -rf src").irreversible
    assert not bash("make tidy").irreversible
    assert not bash("cp a b").irreversible


def test_what_is_written_is_new_if_none_of_it_is_there(bash):
    assert bash("touch a b").creates
    assert not bash("touch a src/app.py").creates
    assert not bash("ls").creates


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        pytest.param(
            "Write",
            {"file_path": "/p/a.py", "content": "new"},
            Touch(writes=("/p/a.py",), text="new", changes=True, creates=True),
            id="Write",
        ),
        pytest.param(
            "Edit",
            {"file_path": "a.py", "old_string": "old", "new_string": "new"},
            Touch(writes=("/p/a.py",), text="new", removed="old", changes=True, creates=True),
            id="Edit",
        ),
        pytest.param(
            "MultiEdit",
            {"file_path": "/p/a.py", "edits": [{"old_string": "o", "new_string": "n"}] * 2},
            Touch(writes=("/p/a.py",), text="n\nn", removed="o\no", changes=True, creates=True),
            id="MultiEdit",
        ),
        pytest.param(
            "NotebookEdit",
            {"notebook_path": "/p/a.ipynb", "new_source": "new"},
            Touch(writes=("/p/a.ipynb",), text="new", changes=True, creates=True),
            id="NotebookEdit",
        ),
        pytest.param("Read", {"file_path": "/p/a.py"}, Touch(), id="Read"),
        pytest.param("mcp__ademem__memory_save", {"content": "git push"}, Touch(), id="our own"),
        pytest.param("mcp__fs__read_file", {"path": "/p/a.py"}, Touch(), id="a file is read"),
        pytest.param(
            "mcp__fs__write_file",
            {"path": "/p/a.py", "content": "new"},
            Touch(writes=("/p/a.py",), text="new", changes=True, creates=True),
            id="write_file",
        ),
        pytest.param(
            "mcp__fs__edit_file",
            {"path": "/p/a.py", "edits": [{"oldText": "o", "newText": "n"}]},
            Touch(writes=("/p/a.py",), text="n", removed="o", changes=True, creates=True),
            id="edit_file",
        ),
        pytest.param(
            "mcp__fs__move_file",
            {"source": "/p/a.py", "destination": "/p/b.py"},
            Touch(writes=("/p/a.py", "/p/b.py"), changes=True, creates=True),
            id="move_file",
        ),
        pytest.param(
            "mcp__fs__copy_file",
            {"source": "/p/a.py", "destination": "/p/b.py"},
            Touch(writes=("/p/b.py",), changes=True, creates=True),
            id="copy_file",
        ),
        pytest.param(
            "mcp__fs__create_directory",
            {"path": "/p/new"},
            Touch(writes=("/p/new",), changes=True, creates=True),
            id="create_directory",
        ),
        pytest.param(
            "mcp__x__apply_patch",
            {"patch": "*** Update File: src/a.py\n+x"},
            Touch(
                writes=("/p/src/a.py",),
                text="*** Update File: src/a.py\n+x",
                changes=True,
                creates=True,
            ),
            id="apply_patch",
        ),
        pytest.param(
            "mcp__git__git_commit",
            {"repo_path": "/p/inner", "message": "x"},
            Touch(works=("/p/inner",), acts=frozenset({"commit"}), changes=True),
            id="git_commit",
        ),
        pytest.param(
            "mcp__github__create_pull_request",
            {"title": "x"},
            Touch(acts=frozenset({"pull request"}), changes=True),
            id="create_pull_request",
        ),
    ],
)
def test_tools_are_read_by_the_names_of_their_arguments(tool, given, expected):
    assert touch(tool, given, "/p", GuardSettings()) == expected


def test_a_shell_of_another_server_is_read_like_ours():
    given = {"command": "rm", "args": ["-rf", "legacy dir"], "cwd": "/p"}
    touched = touch("mcp__shell__execute", given, "/", GuardSettings())

    assert touched.writes == ("/p/legacy dir",)
    assert touched.irreversible
    assert not touch("mcp__shell__execute", {"command": "ls"}, "/", GuardSettings()).changes


WORDS = st.sampled_from(
    [
        *("rm", "npm", "install", "sed", "-i", "git", "checkout", "--", "$f", "${f:-x}", "$(ls)"),
        *("for", "f", "in", "a;", "do", "done", "<<", "EOF", ">", "*/[a", "{a,b}", "tar", "-C"),
        *("docker", "run", "npx", "xargs", "cp", "a/", "'", '"', "`", "(", ")", "make", "&&", "\n"),
        *(
            "tmux",
            "send",
            "python",
            "-c",
            "open('a/b','w')",
            "function",
            "f()",
            "{",
            "}",
            "\0",
            "~",
        ),
    ]
)


@settings(deadline=None)
@given(
    st.one_of(
        st.text(), st.text(st.characters()), st.lists(WORDS, max_size=14).map(" ".join), scripts(2)
    )
)
def test_no_command_raises(command):
    for tool in ("Bash", "PowerShell"):
        touched = touch(tool, {"command": command}, "/nowhere", GuardSettings())

        assert all(path.startswith("/") for path in (*touched.writes, *touched.works))
        assert len(touched.argvs) <= 2 * MOST_COMMANDS


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("rm " + "{a,b}" * 3000, id="braces"),
        pytest.param("rm " + "*a" * 9000 + "b", id="stars"),
        pytest.param("(" + "a" * 39_000, id="a word"),
        pytest.param("(" * 39_000, id="parentheses"),
        pytest.param("python -c '" + "open(" * 7000 + "'", id="code"),
        pytest.param("awk '" + "print " * 6000 + "'", id="a script"),
        pytest.param("a=1;" * 40 + "b=$a$a;" * 40 + 'sh -c "$a$b$b" ;' * 40, id="values"),
        pytest.param("sudo " * 7000 + "rm a", id="wrappers"),
        pytest.param("npm x; " * 5000, id="commands"),
        pytest.param("sqlite3 a.db '" + "a " * 15_000 + "'", id="words"),
        pytest.param("'; rm a " * 20_000, id="what cannot be parsed"),
        pytest.param("a" * 300_000, id="a long text"),
    ],
)
def test_a_long_command_is_read_in_seconds(tree, command):
    start = time.process_time()
    touch("Bash", {"command": command}, str(tree), GuardSettings())

    assert time.process_time() - start < 5


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda each: (
        st.lists(each, max_size=3)
        | st.dictionaries(
            st.sampled_from(["path", "edits", "command", "args", "source", "patch", "cwd", "x"]),
            each,
        )
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(
        ["Write", "MultiEdit", "Bash", "mcp__fs__write_file", "mcp__x__run", "mcp__", ""]
    ),
    JSON,
)
def test_no_argument_raises(tool, tool_input):
    assert isinstance(touch(tool, tool_input, "/nowhere", GuardSettings()), Touch)


def test_most_calls_take_at_most_a_millisecond(tree):
    commands = [
        command
        for groups in (READS, WRITES)
        for commands in groups.values()
        for command in commands
    ]
    taken = []
    for command in commands:
        best = SimpleNamespace(seconds=1.0)
        for _ in range(3):
            start = time.perf_counter()
            touch("Bash", {"command": command}, str(tree), GuardSettings())
            best.seconds = min(best.seconds, time.perf_counter() - start)
        taken.append(best.seconds)
    taken.sort()

    assert taken[len(taken) * 8 // 10] < 0.001
