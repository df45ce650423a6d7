"""Which command lines teach something, and what exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.capture.learned import (
    CATEGORY,
    key_of,
    marked_lessons,
    may_have_lessons,
    source_of,
    tags_of,
)


def learned(command, files=None):
    found = marked_lessons(command, read_file=(files or {}).get)
    return [(entry.bead, entry.prefix, entry.content) for entry in found]


ONE = [("BD-1", "LEARNED", "x is y")]

CAPTURED = [
    pytest.param('bd comment BD-1 "LEARNED: x is y"', ONE, id="double quotes"),
    pytest.param("bd comment BD-1 'LEARNED: x is y'", ONE, id="single quotes"),
    pytest.param('bd comments add BD-1 "LEARNED: x is y"', ONE, id="comments add"),
    pytest.param('bd comment BD-1 "learned: x is y"', ONE, id="lower case"),
    pytest.param(
        'bd comment BD-1 "LEARNED: x is y" && git push', ONE, id="followed by another command"
    ),
    pytest.param(
        'bd comment BD-1 "LEARNED: x is y" 2>&1 | tail -1', ONE, id="redirected and piped"
    ),
    pytest.param(
        'bd comment BD-1 "LEARNED: x is y"; bd comment BD-2 "LEARNED: z"',
        [*ONE, ("BD-2", "LEARNED", "z")],
        id="two on one line",
    ),
    pytest.param(
        'bd comment BD-1 "LEARNED: x is y"\nbd comment BD-2 "LEARNED: z"',
        [*ONE, ("BD-2", "LEARNED", "z")],
        id="two on two lines",
    ),
    pytest.param(
        'bd comment BD-1 "LEARNED: x\nis y"',
        [("BD-1", "LEARNED", "x\nis y")],
        id="over several lines",
    ),
    pytest.param(
        "bd comment BD-1 \"$(cat <<'EOF'\nLEARNED: x is y\nEOF\n)\"",
        ONE,
        id="heredoc in a substitution",
    ),
    pytest.param('bd comment --json BD-1 "LEARNED: x is y"', ONE, id="flag before the id"),
    pytest.param(
        "bd comment BD-1 --stdin <<'EOF'\nLEARNED: x is y\nEOF", ONE, id="stdin from a heredoc"
    ),
    pytest.param('echo "LEARNED: x is y" | bd comment BD-1 --stdin', ONE, id="stdin from an echo"),
    pytest.param('bd comment "BD-1" "LEARNED: x is y"', ONE, id="quoted id"),
    pytest.param('bd -q comment BD-1 "LEARNED: x is y"', ONE, id="flag before the verb"),
    pytest.param('bd comment -- BD-1 "LEARNED: x is y"', ONE, id="end of flags before the id"),
    pytest.param('bd comment BD-1 -- "LEARNED: x is y"', ONE, id="end of flags before the text"),
    pytest.param("bd comment BD-1 LEARNED: x is y", ONE, id="unquoted words"),
    pytest.param(
        'bd comment BD-1 "LEARNED: say \\"hi\\""',
        [("BD-1", "LEARNED", 'say "hi"')],
        id="escaped inner quotes",
    ),
    pytest.param(
        'bd comment BD-1 "LEARNED: x is y LEARNED: and z"',
        [*ONE, ("BD-1", "LEARNED", "and z")],
        id="two in one body",
    ),
    pytest.param('A=1 bd comment BD-1 "LEARNED: x is y"', ONE, id="environment prefix"),
    pytest.param('cd sub && bd comment BD-1 "LEARNED: x is y"', ONE, id="after cd"),
    pytest.param('time bd comment BD-1 "LEARNED: x is y"', ONE, id="timed"),
    pytest.param('/usr/local/bin/bd comment BD-1 "LEARNED: x is y"', ONE, id="absolute path"),
    pytest.param(
        'bd comment BD-1 "LEARNED: it\'s x"',
        [("BD-1", "LEARNED", "it's x")],
        id="apostrophe in double quotes",
    ),
    pytest.param(
        'bd comment BD-1 "GOTCHA: x is y"', [("BD-1", "GOTCHA", "x is y")], id="another prefix"
    ),
    *(
        pytest.param(f"bd comment BD-1 '{text}'", ONE, id=text)
        for text in (
            *("**LEARNED:** x is y", "**LEARNED**: x is y", "**LEARNED: x is y**"),
            *(
                "- LEARNED: x is y",
                "* **Learned:** x is y",
                "1. LEARNED: x is y",
                "> LEARNED: x is y",
            ),
            *("`LEARNED:` x is y", "`LEARNED`: x is y", "_LEARNED:_ x is y", "### Learned: x is y"),
            *("### Learned:\n\nx is y", "- [x] LEARNED: x is y", "__LEARNED:__ x is y"),
        )
    ),
    pytest.param(
        "bd comment BD-1 'LEARNED: **x** is `y`'",
        [("BD-1", "LEARNED", "**x** is `y`")],
        id="Markdown inside of the text stays",
    ),
    pytest.param(
        "bd comment BD-1 '> LEARNED: x\n> is y'",
        [("BD-1", "LEARNED", "x\nis y")],
        id="quoted over two lines",
    ),
    pytest.param(
        "bd comment BD-1 '- LEARNED: x is y\n- **GOTCHA:** z'",
        [*ONE, ("BD-1", "GOTCHA", "z")],
        id="a list of two",
    ),
    pytest.param(
        "git commit -m 'Fix\n\n- **LEARNED:** x is y'",
        [(None, "LEARNED", "x is y")],
        id="a list in a commit message",
    ),
    pytest.param(
        "bd comment BD-1 'LEARNED: use $HOME, not ~'",
        [("BD-1", "LEARNED", "use $HOME, not ~")],
        id="a variable in single quotes",
    ),
    pytest.param(
        "bd comment BD-1 'LEARNED: TODO comments fail the build'",
        [("BD-1", "LEARNED", "TODO comments fail the build")],
        id="about placeholders",
    ),
    pytest.param(
        "bd comment BD-1 LEARNED: x is y?", [("BD-1", "LEARNED", "x is y?")], id="a pattern"
    ),
    pytest.param(
        'git commit -m "Fix the cache" -m "LEARNED: x is y"',
        [(None, "LEARNED", "x is y")],
        id="commit trailer",
    ),
    pytest.param(
        "git commit -m \"$(cat <<'EOF'\nFix\n\nDECISION: x is y\nGOTCHA: z\nEOF\n)\"",
        [(None, "DECISION", "x is y"), (None, "GOTCHA", "z")],
        id="commit message by heredoc",
    ),
]

IGNORED = [
    pytest.param('abd comment BD-1 "LEARNED: x is y"', id="a program whose name ends in bd"),
    pytest.param("echo 'bd comment BD-1 \"LEARNED: x is y\"'", id="echoed"),
    pytest.param('grep "bd comment BD-1 LEARNED: x" notes', id="searched for"),
    pytest.param('# bd comment BD-1 "LEARNED: x is y"', id="in a shell comment"),
    pytest.param("cat <<'EOF'\nbd comment BD-1 \"LEARNED: x is y\"\nEOF", id="heredoc as data"),
    pytest.param('f() { bd comment BD-1 "LEARNED: x is y"; }', id="in a function body"),
    pytest.param('if false; then bd comment BD-1 "LEARNED: x is y"; fi', id="in a dead branch"),
    pytest.param('bd comment BD-1 "TIL: x is y"', id="an unknown prefix"),
    pytest.param('bd comment BD-1 "nothing to see"', id="no prefix"),
    pytest.param('bd comment BD-1 "LEARNED:   "', id="an empty lesson"),
    pytest.param('bd show BD-1 "LEARNED: x"', id="another verb"),
    pytest.param(
        "cat log | bd comment BD-1 --stdin", id="stdin from something that cannot be read"
    ),
    pytest.param("bd comment BD-1 --file /etc/passwd", id="a file that may not be read"),
    pytest.param(
        'git commit -m "Note that LEARNED: is a prefix"', id="commit message, in mid-line"
    ),
    pytest.param('bd comment BD-1 "LEARNED: x', id="an unfinished command"),
    *(
        pytest.param(f"bd comment BD-1 'LEARNED: {text}'", id=text)
        for text in (
            *("n/a", "TODO", "tbd.", "...", "…", "-", "none", "<describe the lesson>", "<…>"),
            *("$LESSON", "${LESSON}", "$(cat lesson.txt)", "[your lesson here]", "**TODO**"),
            *("<topic>: <lesson>", "{{ lesson }}", "nothing new", "TODO: describe it later"),
            *("Describe what you learned here", "what we learned", "lorem ipsum dolor"),
        )
    ),
    pytest.param('bd comment BD-1 "LEARNED: $LESSON"', id="a variable that the shell expands"),
    pytest.param('bd comment BD-1 "LEARNED: it takes $N s"', id="a variable inside of the text"),
    pytest.param('bd comment BD-1 "LEARNED: $(cat notes)"', id="the output of a command"),
    pytest.param('bd comment BD-1 "LEARNED: on `hostname`"', id="the output of backquotes"),
    pytest.param('git commit -m "LEARNED: $LESSON"', id="a variable in a commit message"),
    pytest.param(
        "bd comment BD-1 --stdin <<EOF\nLEARNED: $X is y\nEOF", id="a variable in a heredoc"
    ),
    pytest.param("git commit --dry-run -m 'LEARNED: x is y'", id="a dry run of a commit"),
    pytest.param("bd --dry-run comment BD-1 'LEARNED: x is y'", id="a dry run of a comment"),
    pytest.param("bd comment BD-1 --help 'LEARNED: x is y'", id="asking for help"),
]


HEREDOC = "<<'EOF'\nFix\n\nLEARNED: x is y\nEOF"

MESSAGES = [
    "git commit -m 'LEARNED: x is y'",
    "git commit -m'LEARNED: x is y'",
    "git commit -am 'LEARNED: x is y'",
    "git commit -qm 'LEARNED: x is y'",
    "git commit -qam 'LEARNED: x is y'",
    "git commit -sm 'LEARNED: x is y'",
    "git commit -qsm'LEARNED: x is y'",
    "git commit -a -q -m 'LEARNED: x is y' -- src",
    "git commit --message='LEARNED: x is y'",
    "git commit --message 'LEARNED: x is y'",
    "git commit -m 'Fix' -m 'LEARNED: x is y'",
    "git commit -m 'Fix' -m 'Because of it' -m 'LEARNED: x is y'",
    "git commit -m 'Fix' --trailer 'LEARNED: x is y'",
    "git commit --trailer='Learned: x is y' -m 'Fix'",
    "git commit -F notes/message",
    "git commit -Fnotes/message",
    "git commit -qaF notes/message",
    "git commit --file=notes/message",
    "git commit --file notes/message",
    f"git commit -F - {HEREDOC}",
    f"git commit --file=- {HEREDOC}",
    f"git commit -F /dev/stdin {HEREDOC}",
    "printf 'Fix\\n\\nLEARNED: x is y\\n' | git commit -F -",
    f"cat > /tmp/message {HEREDOC}\ngit commit -F /tmp/message",
    "echo 'LEARNED: x is y' > .message && git commit -F .message && rm .message",
    f'git commit -m "$(cat {HEREDOC}\n)"',
    f'git commit -q -m "$(cat {HEREDOC}\n)" && git push',
    "git commit --amend -m 'LEARNED: x is y'",
    "git commit --amend --no-edit --trailer 'LEARNED: x is y'",
    "git commit --fixup=HEAD~1 -m 'LEARNED: x is y'",
    "git -C app commit -m 'LEARNED: x is y'",
    "git -c user.name=Ada commit -m 'LEARNED: x is y'",
    "git --git-dir=.git commit -m 'LEARNED: x is y'",
    "GIT_EDITOR=true git commit -m 'LEARNED: x is y'",
    "cd app && git add -A && git commit -m 'LEARNED: x is y'",
    "git merge -m 'LEARNED: x is y' feature",
    "git merge --no-ff feature -m 'LEARNED: x is y'",
    "git merge -F notes/message feature",
    "git notes add -m 'LEARNED: x is y' HEAD",
    "git notes --ref review append -m 'LEARNED: x is y'",
    "git notes add -F notes/message HEAD~1",
    "jj describe -m 'LEARNED: x is y'",
    "jj commit -m 'LEARNED: x is y'",
    "jj ci --message='LEARNED: x is y'",
    "jj -R app desc -r @- -m 'LEARNED: x is y'",
    f"jj describe --stdin {HEREDOC}",
    "gh pr create --title 'Fix' --body 'LEARNED: x is y'",
    "gh pr create -t Fix -b 'LEARNED: x is y' -B main",
    "gh pr create --fill --body-file notes/message",
    f"gh pr create -t Fix -F - {HEREDOC}",
    f'gh pr create --title Fix --body "$(cat {HEREDOC}\n)"',
    "gh -R o/r pr comment 7 --body 'LEARNED: x is y'",
    "gh pr comment 7 -b 'LEARNED: x is y'",
    "gh pr review 7 -r -b 'LEARNED: x is y'",
    "gh pr merge 7 -d -s -b 'LEARNED: x is y'",
]
"""Forms in which a command is given a message; each has one lesson."""

NO_MESSAGES = [
    "git commit -S 'LEARNED: x is y'",
    "git commit -um 'LEARNED: x is y'",
    "git commit --author 'LEARNED: x is y' -m Fix",
    "git commit -m Fix -- 'LEARNED: x is y'",
    "git commit --dry-run -qm 'LEARNED: x is y'",
    "git commit -F other",
    "git commit -F - < notes/message",
    "git commit -m 'Explain LEARNED: x is y'",
    "git commit -C 'LEARNED: x is y'",
    "git revert -m 1 HEAD && git log --grep 'LEARNED: x is y'",
    "git tag -a v1 -m 'LEARNED: x is y'",
    "git stash push -m 'LEARNED: x is y'",
    "git notes show 'LEARNED: x is y'",
    "jj log -T 'LEARNED: x is y'",
    "gh pr create --web --body 'LEARNED: x is y'",
    "gh pr create --title 'LEARNED: x is y' --body ''",
    "gh issue create --body 'LEARNED: x is y'",
    "gh pr list --search 'LEARNED: x is y'",
    "false && git commit -qm 'LEARNED: x is y'",
    "git diff --quiet || git commit -qm 'LEARNED: x is y'",
]


@pytest.mark.parametrize("command", MESSAGES)
def test_a_message_is_read_in_every_form(command):
    files = {"notes/message": "Fix\n\nLEARNED: x is y\n"}

    assert may_have_lessons(command)
    assert learned(command, files) == [(None, "LEARNED", "x is y")]


@pytest.mark.parametrize("command", NO_MESSAGES)
def test_other_texts_of_such_commands_teach_nothing(command):
    assert learned(command, {"notes/message": "LEARNED: x is y"}) == []


def test_a_commit_of_words_alone_costs_no_parsing():
    assert not may_have_lessons("git commit -qam 'Fix the Footer' && git push -f")


@pytest.mark.parametrize(("command", "expected"), CAPTURED)
def test_a_real_comment_teaches(command, expected):
    assert learned(command) == expected


@pytest.mark.parametrize("command", IGNORED)
def test_what_is_not_a_real_comment_teaches_nothing(command):
    assert learned(command) == []


def test_a_bead_in_a_variable_is_kept_as_written():
    (entry,) = marked_lessons('bd comment $BEAD_ID "LEARNED: x is y"', read_file={}.get)

    assert entry.bead == "$BEAD_ID"


@pytest.mark.parametrize("flag", ["-f notes.md", "--file=notes.md", "--file notes.md"])
def test_a_file_is_followed_where_it_may_be_read(flag):
    assert learned(f"bd comment BD-1 {flag}", {"notes.md": "LEARNED: x is y\n"}) == ONE


def test_at_most_twenty_lessons_come_of_one_command():
    command = "; ".join(f'bd comment BD-1 "LEARNED: fact number {n}"' for n in range(30))

    assert len(learned(command)) == 20


def test_a_long_lesson_is_cut_on_a_code_point():
    ((_, _, content),) = learned(f'bd comment BD-1 "LEARNED: {"漢" * 3000}"')

    assert len(content.encode()) <= 2048
    assert set(content) == {"漢"}


@pytest.mark.parametrize("prefix", CATEGORY)
def test_every_prefix_is_noticed(prefix):
    assert may_have_lessons(f'bd comment BD-1 "{prefix}: x"')


def test_the_key_is_a_slug_of_the_first_sixty_characters():
    assert key_of(
        "LEARNED", "TaskGroup requires @Sendable closures in strict concurrency mode."
    ) == ("learned-taskgroup-requires-sendable-closures-in-strict-concurrency")


@pytest.mark.parametrize("text", ["缓存必须先清空", "🔥🔥", "…"])
def test_keys_of_other_scripts_are_there_and_distinct(text):
    assert key_of("LEARNED", text) != key_of("LEARNED", text + "吗")
    assert len(key_of("LEARNED", text)) > len("learned-")


@pytest.mark.parametrize(
    ("content", "tags"),
    [
        pytest.param("this requires care", ("learned",), id="not a part of a word"),
        pytest.param("UI tests", ("learned", "test", "ui"), id="in the vocabulary's order"),
        pytest.param("two APIs", ("learned", "api"), id="plural"),
        pytest.param("async/await", ("learned", "async"), id="between other signs"),
        pytest.param(
            "TaskGroup requires @Sendable closures in strict concurrency mode.",
            ("learned", "concurrency"),
            id="the sentence of the Beads documentation",
        ),
    ],
)
def test_tags_are_words_of_the_text(content, tags):
    assert tags_of(content, "LEARNED") == tags


def test_a_worktree_is_a_supervisor(tmp_path):
    linked, plain = tmp_path / "linked", tmp_path / "plain"
    for folder in (linked, plain):
        (folder / "src").mkdir(parents=True)
    (linked / ".git").write_text("gitdir: /repo/.git/worktrees/linked\n")
    (plain / ".git").mkdir()

    assert source_of("/repo/.worktrees/a/src") == "supervisor"
    assert source_of(str(linked / "src")) == "supervisor"
    assert source_of(str(plain / "src")) == "orchestrator"


@given(st.text(max_size=200))
def test_any_text_is_read_without_harm(text):
    for command in (text, f"bd comment {text} LEARNED: x", f'git commit -m "{text}"'):
        assert isinstance(marked_lessons(command, read_file={}.get), list)


def test_a_lone_surrogate_is_no_reason_to_lose_a_lesson():
    ((_, _, content),) = learned("bd comment BD-1 'LEARNED: x \ud800 is y'")

    assert content.startswith("x ")
