"""Globs of instruction files, as an editor reads them and as Claude Code reads its own."""

import pytest

from ademem.core.globs import expand_braces, keys_of, read_scope, split_patterns
from ademem.search.meeting import path_keys


@pytest.mark.parametrize(
    ("patterns", "path", "is_in"),
    [
        pytest.param(["*.py"], "src/deep/a.py", True, id="no slash is any depth"),
        pytest.param(["*.py"], "a.py", True, id="also the root"),
        pytest.param(["src"], "src/deep/a.py", True, id="a folder is its subtree"),
        pytest.param(["src"], "lib/src/a.py", True, id="a folder without a slash at any depth"),
        pytest.param(["src/"], "src/a.py", True, id="a folder with a slash behind"),
        pytest.param(["src/api"], "src/api/v1/a.py", True, id="a folder below another"),
        pytest.param(["src/api"], "lib/src/api/a.py", False, id="a slash is relative to the root"),
        pytest.param(["./src/*.ts"], "src/a.ts", True, id="a dot before"),
        pytest.param(["/src/*.ts"], "src/a.ts", True, id="a slash before"),
        pytest.param(["src/*.ts"], "src/deep/a.ts", False, id="a star ends at a slash"),
        pytest.param(["src/**/*.ts"], "src/a.ts", True, id="two stars are no folder, too"),
        pytest.param(["src/**/*.ts"], "src/a/b/c.ts", True, id="two stars are many folders"),
        pytest.param(["**/*.ts"], "a.ts", True, id="two stars before"),
        pytest.param(["src/**"], "src/a/b.ts", True, id="two stars behind"),
        pytest.param(["src/{a,b}/*.ts"], "src/b/x.ts", True, id="braces"),
        pytest.param(["*.{ts,tsx}"], "src/x.tsx", True, id="braces of endings"),
        pytest.param(["*.{ts,tsx}"], "src/x.js", False, id="none of the endings"),
        pytest.param(["src/**", "!src/gen/**"], "src/gen/a.ts", False, id="excluded"),
        pytest.param(["!src/gen/**", "src/**"], "src/gen/a.ts", False, id="excluded in any order"),
        pytest.param(["!docs/**"], "src/a.ts", True, id="all but one folder"),
        pytest.param(["a?.py"], "ab.py", True, id="one sign"),
        pytest.param(["[ab].py"], "b.py", True, id="a class"),
        pytest.param(["[!ab].py"], "b.py", False, id="not of a class"),
        pytest.param(["pages/[id].tsx"], "pages/i.tsx", True, id="a class in a path"),
        pytest.param(["src/a.py"], "src/a.py", True, id="one file"),
        pytest.param(["[z-a].py"], "x.py", False, id="a class that is none"),
    ],
)
def test_an_editor_reads_globs(patterns, path, is_in):
    assert read_scope(patterns).holds(path) is is_in


@pytest.mark.parametrize("all_of_it", ["**", "*", "**/*", "/**"])
def test_some_globs_are_everything(all_of_it):
    assert read_scope([all_of_it]).is_everything
    assert read_scope([all_of_it, "src/*.py"]).is_everything


@pytest.mark.parametrize(
    ("patterns", "path", "is_in"),
    [
        pytest.param(["*.py"], "src/deep/a.py", True, id="any depth"),
        pytest.param(["src"], "src/a.py", True, id="a folder"),
        pytest.param(["src/"], "src/a.py", True, id="with a slash behind"),
        pytest.param(["/src/**"], "src/a/b.py", True, id="with a slash before"),
        pytest.param(["/src/**"], "lib/src/a.py", False, id="a slash before is the root"),
        pytest.param(["src/**"], "lib/src/a.py", True, id="stars at the end are left out"),
        pytest.param(["./src/**"], "src/a.py", False, id="a dot never matches"),
        pytest.param(["src/*.ts", "!src/a.ts"], "src/a.ts", False, id="a later negation"),
        pytest.param(["!src/a.ts", "src/*.ts"], "src/a.ts", True, id="a later pattern wins"),
        pytest.param(["src", "!src/a.ts"], "src/a.ts", True, id="a folder holds what is in it"),
        pytest.param(["src/{a,b}.ts"], "src/b.ts", True, id="braces"),
        pytest.param(["build/"], "build", False, id="a slash behind is a folder alone"),
    ],
)
def test_claude_code_reads_paths_like_gitignore(patterns, path, is_in):
    assert read_scope(patterns, like_gitignore=True).holds(path) is is_in


def test_paths_of_everything_are_no_paths():
    assert read_scope(["**"], like_gitignore=True).is_everything
    assert read_scope(["**", "/**"], like_gitignore=True).is_everything


def test_a_comma_in_braces_separates_no_patterns():
    assert split_patterns("src/{a,b}/*.ts, '*.md' ,") == ["src/{a,b}/*.ts", "*.md"]


def test_braces_stand_for_each_alternative_and_are_bounded():
    assert expand_braces("{a,b}/{c,d}") == ["a/c", "a/d", "b/c", "b/d"]
    assert expand_braces("{a}.py") == ["{a}.py"]
    assert len(expand_braces("{a,b}" * 20)) <= 64


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        pytest.param("src/**/*.ts", "src/a/b.ts", id="a folder"),
        pytest.param("*.test.ts", "a/b.test.ts", id="an ending"),
        pytest.param("*_test.go", "a/b_test.go", id="a part of a name"),
        pytest.param("*.test.*", "a/b.test.ts", id="no plain end"),
        pytest.param("src", "lib/src/a.ts", id="a folder at any depth"),
        pytest.param("a/**/b/*.c", "a/x/b/d.c", id="two folders"),
    ],
)
def test_a_path_in_scope_has_the_key_of_the_glob(pattern, path):
    scope = read_scope([pattern])
    ((kind, key, _),) = keys_of(scope)

    assert scope.holds(path)
    assert (kind, key) in set(path_keys(path))
