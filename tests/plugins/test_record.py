"""The record of the parts that hooks load."""

import ademem.plugins.hub
from ademem.core import plugins
from ademem.worker import running


def test_it_has_every_part_with_a_module_at_one_of_its_seams():
    recorded = {(seam, name) for seam, names in ademem.plugins.MODULES.items() for name in names}
    adding = {
        (seam, part.__name__.rpartition(".")[2])
        for seam in ademem.plugins.MODULES
        for part in plugins.built_in()
        if hasattr(part, seam)
    }

    assert adding == recorded


def test_a_stale_one_loses_a_part_and_no_other(monkeypatch):
    stale = {"JOBS": ("gone", "hub"), "EXCHANGE": ("hub",)}
    monkeypatch.setattr(ademem.plugins, "MODULES", stale)
    monkeypatch.setattr(ademem.plugins.hub, "EXCHANGE", "ademem.plugins.hub.gone")
    monkeypatch.setattr(plugins, "faults", {})

    assert [each.__name__ for each in plugins.modules("JOBS")] == ["ademem.plugins.hub.jobs"]
    assert list(plugins.modules("EXCHANGE")) == []
    assert list(plugins.faults) == ["hub"]


def test_the_jobs_of_parts_run_before_the_kinds_that_they_name():
    names = [kind.name for kind in running.kinds()]

    assert names.index("current") < names.index("anchors") < names.index("digest")
    assert names[-1] == "hub"


def test_there_is_none_without_parts(monkeypatch, tmp_path):
    monkeypatch.setattr(plugins, "FOLDER", str(tmp_path / "none"))

    assert list(plugins.modules("JOBS")) == []
