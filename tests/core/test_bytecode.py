"""The file of compiled modules: the same modules as ever, or no part in it at all."""

import marshal
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ademem.core import bytecode
from ademem.core.bytecode import Bundle, has_help
from ademem.doors.cli import commands
from ademem.operations import memory_operations

ASK = """
import sys
sys.path[:0] = sys.argv[1:3]
from ademem.core import bytecode
bytecode.use(sys.argv[2] + "/shop")
import shop, shop.till, shop.goods.fruit
for module in (shop, shop.till, shop.goods, shop.goods.fruit):
    print(module.__name__, module.WORTH, type(module.__loader__).__name__, module.__file__)
"""
SOURCES = {
    "__init__.py": "WORTH = 1",
    "till.py": "from shop.goods import fruit\nWORTH = fruit.WORTH + 1",
    "goods/__init__.py": "WORTH = 3",
    "goods/fruit.py": "WORTH = 4",
}


class Shop:
    """A small package, and what a fresh interpreter makes of it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = root / "shop"
        for name, source in SOURCES.items():
            self.write(name, source)

    def write(self, name: str, source: str) -> None:
        path = self.package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)

    @property
    def bundle(self) -> Path:
        return Path(bytecode.path(str(self.package)))

    def loaded(self) -> dict[str, tuple[int, bool]]:
        """Of each module its worth, and whether it came out of the file."""
        checkout = str(Path(__file__).parents[2])
        told = subprocess.run(
            [sys.executable, "-IS", "-c", ASK, checkout, str(self.root)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        found = [line.split(" ", 3) for line in told]
        assert [file for *_, file in found] == [
            str(self.package / name)
            for name in ("__init__.py", "till.py", "goods/__init__.py", "goods/fruit.py")
        ]
        return {name: (int(worth), loader == "Bundle") for name, worth, loader, _ in found}


@pytest.fixture
def shop(tmp_path):
    return Shop(tmp_path)


def test_every_module_comes_out_of_the_file(shop):
    bytecode.write(str(shop.package))

    assert shop.loaded() == {
        "shop": (1, True),
        "shop.till": (5, True),
        "shop.goods": (3, True),
        "shop.goods.fruit": (4, True),
    }


READ_BY_PEOPLE = """
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from shop.goods import Purse
else:
    Purse = dict

class Price:
    euros: Purse

def pay(price: Price, *, tip: int = 1) -> Purse:
    'Pay.'
    assert price is None
    return Purse(tip=tip)
"""


def test_what_only_people_and_checkers_read_is_left_out(shop):
    shop.write("till.py", READ_BY_PEOPLE)
    bytecode.write(str(shop.package))
    code = Bundle(str(shop.package)).read("shop.till")
    exec(code, found := {"__name__": "shop.till"})

    assert found["pay"](Price := found["Price"]) == {"tip": 1}
    assert (found["pay"].__doc__, found["pay"].__annotations__) == (None, {})
    assert Price.__annotations__ == {"euros": "Purse"}
    assert not any(name in marshal.dumps(code) for name in (b"shop.goods", b"__future__"))


def test_without_the_file_modules_load_as_ever(shop):
    assert set(shop.loaded().values()) == {(1, False), (5, False), (3, False), (4, False)}


def test_a_module_whose_source_changed_is_read_anew(shop):
    bytecode.write(str(shop.package))
    shop.write("goods/fruit.py", "WORTH = 40")

    assert shop.loaded()["shop.goods.fruit"] == (40, False)
    assert shop.loaded()["shop.till"] == (41, True)


def test_the_time_of_writing_tells_a_change_of_the_same_length(shop):
    bytecode.write(str(shop.package))
    shop.write("goods/fruit.py", "WORTH = 9")
    os.utime(shop.package / "goods/fruit.py", ns=(1, 1))

    assert shop.loaded()["shop.goods.fruit"] == (9, False)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda whole: b"", id="empty"),
        pytest.param(lambda whole: b"\x01", id="not even a length"),
        pytest.param(lambda whole: whole[:40], id="half an index"),
        pytest.param(lambda whole: b"\xff" * len(whole), id="something else"),
        pytest.param(lambda whole: b"\x05\x00\x00\x00i\x01\x00\x00\x00", id="no index"),
    ],
)
def test_a_damaged_file_changes_nothing(shop, damage):
    bytecode.write(str(shop.package))
    shop.bundle.write_bytes(damage(shop.bundle.read_bytes()))

    assert {worth for worth, _ in shop.loaded().values()} == {1, 5, 3, 4}
    assert not any(from_file for _, from_file in shop.loaded().values())


def test_a_module_cut_off_is_read_from_its_source(shop):
    bytecode.write(str(shop.package))
    whole = shop.bundle.read_bytes()
    shop.bundle.write_bytes(whole[:-30])

    assert shop.loaded()["shop.goods.fruit"] == (4, False)


def test_a_new_removed_or_changed_module_makes_it_out_of_date(shop):
    package = str(shop.package)
    assert not bytecode.is_current(package)
    bytecode.write(package)
    assert bytecode.is_current(package)

    shop.write("shelf.py", "")
    assert not bytecode.is_current(package)
    bytecode.write(package)
    (shop.package / "shelf.py").unlink()
    assert not bytecode.is_current(package)


FAILING = """
import sys
sys.path[:0] = sys.argv[1:3]
from ademem.core import bytecode
bytecode.use(sys.argv[2] + "/shop")
try:
    import shop.till
except ZeroDivisionError:
    print(sorted(name for name in sys.modules if name.startswith("shop")))
"""


def test_a_module_that_fails_is_not_left_half_imported(shop):
    shop.write("goods/fruit.py", "WORTH = 1 / 0")
    bytecode.write(str(shop.package))
    checkout = str(Path(__file__).parents[2])
    ran = subprocess.run(
        [sys.executable, "-IS", "-c", FAILING, checkout, str(shop.root)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout == "['shop', 'shop.goods']\n"


def test_it_has_all_of_ademem(tmp_path, monkeypatch):
    monkeypatch.setattr(bytecode, "path", lambda _, name="modules": str(tmp_path / name))
    bytecode.write(bytecode.PACKAGE)

    bundle = Bundle(bytecode.PACKAGE)

    sources = {str(path) for path in Path(bytecode.PACKAGE).rglob("*.py")}
    assert {bundle.read(name).co_filename for name in bundle.index} == sources


def test_a_checkout_is_left_without_one():
    bytecode.update()

    assert not os.path.exists(bytecode.path(bytecode.PACKAGE))


def test_help_and_descriptions_of_tools_stay_where_docstrings_are_left_out():
    commands.load()
    modules = {command.function.__module__ for command in commands.commands.values()}
    modules |= {each.run.__module__ for each in memory_operations.OPERATIONS}

    assert [name for name in modules if not has_help(name)] == []
    assert not has_help("ademem.core.bytecode")
