"""Every folder of `ademem/plugins` is a part."""

from pathlib import Path

from ademem.core import plugins
from ademem.doors.cli.commands import OF_PARTS

ROOT = Path(__file__).parents[2]


def test_every_folder_is_a_part_that_loads_and_says_what_it_is():
    parts = plugins.built_in()

    assert [part.__name__.rpartition(".")[2] for part in parts] == sorted(
        path.parent.name for path in (ROOT / "ademem/plugins").glob("*/__init__.py")
    )
    assert all(part.__doc__ for part in parts)
    assert [part for part in parts if not any(map(str.isupper, vars(part)))] == []
    assert plugins.faults == {}


def test_the_help_knows_which_commands_it_lists_of_each_part():
    listed = {
        part.__name__.rpartition(".")[2]: " ".join(given.values())
        for part, given in plugins.added("PANELS")
    }

    assert listed == {name: OF_PARTS[name] for name in listed}
