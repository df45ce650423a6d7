"""Patterns that one process compiled, and the next takes as they are."""

import json
import marshal
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ademem.core import bytecode

ASK = r"""
import sys
sys.path.append(sys.argv[1])
from ademem.core import bytecode
bytecode.use(sys.argv[2])
from ademem.core import regex
text = "Pay 12 apples, 7 PEARS"
found = regex.search(r"(?P<number>\d+)(?: )(\w+)", text)
told = [
    [found.groupdict(), found.groups(), found.span(2)],
    regex.findall(r"[a-z]+", text, regex.IGNORECASE | regex.ASCII),
    [each.start() for each in regex.finditer(r"\d(?=\s)", text)],
    regex.split(r"(,)\s*", text),
    regex.sub(r"\b(\w)(\w*)", lambda word: word[2] + word[1], text, 3),
    bool(regex.match("pay", text)),
    bool(regex.fullmatch(r"(?s)pay.*", text, regex.IGNORECASE)),
]
loaded = "re" in sys.modules
regex.keep()
import json
print(json.dumps([told, loaded]))
"""
TOLD = [
    [{"number": "12"}, ["12", "apples"], [7, 13]],
    ["Pay", "apples", "PEARS"],
    [5, 15],
    ["Pay 12 apples", ",", "7 PEARS"],
    "ayP 21 pplesa, 7 PEARS",
    False,
    True,
]


class Shop:
    """A package with compiled modules, and what patterns find in a fresh interpreter beside it."""

    def __init__(self, root: Path) -> None:
        self.package = str(root / "shop")
        (root / "shop").mkdir()
        (root / "shop/__init__.py").write_text("")
        bytecode.write(self.package)
        self.kept = Path(bytecode.path(self.package, "patterns"))

    def ask(self) -> bool:
        """Tell whether the answers, which are right, took the module `re`."""
        command = [sys.executable, "-IS", "-c", ASK, str(Path(__file__).parents[2]), self.package]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        told, loaded = json.loads(ran.stdout)
        assert told == TOLD
        return loaded


@pytest.fixture
def shop(tmp_path):
    return Shop(tmp_path)


def test_what_one_process_compiled_the_next_needs_no_compiler_for(shop):
    assert [shop.ask(), shop.ask(), shop.ask()] == [True, False, False]


def test_new_sources_begin_with_no_patterns(shop):
    shop.ask()
    bytecode.write(shop.package)

    assert not shop.kept.exists()
    assert shop.ask()


def with_code(kept: bytes, change) -> bytes:
    magic, table = marshal.loads(kept)
    damaged = {}
    for key, made in table.items():
        flags, code, *rest = marshal.loads(made)
        damaged[key] = marshal.dumps((flags, change(code), *rest))
    return marshal.dumps((magic, damaged))


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda kept: b"", id="empty"),
        pytest.param(lambda kept: kept[:40], id="cut off"),
        pytest.param(lambda kept: marshal.dumps(7), id="something else"),
        pytest.param(
            lambda kept: marshal.dumps(((1, 4), marshal.loads(kept)[1])), id="of another compiler"
        ),
        pytest.param(lambda kept: with_code(kept, lambda code: code[:-3]), id="half a pattern"),
        pytest.param(lambda kept: with_code(kept, lambda code: [9999] * 5), id="no pattern"),
        pytest.param(lambda kept: with_code(kept, lambda code: [-1, *code[1:]]), id="below zero"),
    ],
)
def test_what_is_damaged_is_compiled_again(shop, damage):
    shop.ask()
    shop.kept.write_bytes(damage(shop.kept.read_bytes()))

    assert shop.ask()
    assert not shop.ask()


def test_without_compiled_modules_nothing_is_kept(shop):
    Path(bytecode.path(shop.package)).unlink()

    assert [shop.ask(), shop.ask()] == [True, True]
    assert not shop.kept.exists()


def test_the_next_write_removes_what_a_killed_one_left(shop):
    left, being_written = (Path(f"{shop.kept}.{pid}-c0ffee.tmp") for pid in (7, 8))
    for path in (left, being_written):
        path.touch()
    os.utime(left, (time.time() - 61,) * 2)

    shop.ask()

    assert [left.exists(), being_written.exists(), shop.kept.exists()] == [False, True, True]
