"""Settings of a part are declared by it, and checked, listed and explained as those of the core."""

import pytest

from ademem.core import plugins, settings
from ademem.core.settings import OF_PARTS, Settings, load_configuration, sections, value_of
from ademem.operations.configuring import describe_keys
from ademem.plugins.hub.settings import HubSettings
from tests.core.test_configuration import Person, person  # noqa: F401


def test_the_sections_of_parts_are_those_that_the_core_knows_by_name():
    assert sections().keys() - Settings._names == set(OF_PARTS)
    assert all(described.meaning for described in describe_keys().values())


@pytest.mark.parametrize(
    ("text", "minutes", "warned"),
    [
        pytest.param("5", 5, [], id="a value"),
        pytest.param("0", 15, ["hub.pull_minutes is '0'; it may be 1 to 100,000"], id="too small"),
    ],
)
def test_a_part_reads_its_section_by_its_class(tmp_path, text, minutes, warned):
    environment = {"HOME": str(tmp_path), "ADEMEM_HUB_PULL_MINUTES": text}
    found = load_configuration(None, environment)

    assert found.settings.of(HubSettings).pull_minutes == minutes
    assert value_of(found.settings, "hub.pull_minutes") == minutes
    assert [each.reason for each in found.warnings] == warned


def test_a_tracked_file_makes_them_stricter_alone(person):  # noqa: F811
    person.file("tracked", "mcp.read_only = true\nhub.uses = true\n")

    assert person.value("mcp.read_only") is True
    assert person.value("hub.uses") is False
    assert person.warnings() == [
        ".ade/config.toml: sets hub.uses, which counts only after `ademem trust`"
    ]


def test_one_of_a_part_that_is_not_there_is_told_as_such(person, monkeypatch, tmp_path):  # noqa: F811
    monkeypatch.setattr(plugins, "FOLDER", str(tmp_path / "none"))
    sections.cache_clear()
    person.file("own", "[hub]\nuses = true\n")
    try:
        assert person.warnings() == [
            "ademem/config.toml: hub.uses is a setting of the part hub, which is not there"
        ]
        with pytest.raises(settings.BadSetting, match="of the part mcp, which is not there"):
            settings.as_value("mcp.tools", "core")
    finally:
        sections.cache_clear()
