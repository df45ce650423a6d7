"""How an installation gets the packages of an extra, by what it was installed from."""

import json
import sys
from importlib import metadata
from types import SimpleNamespace

import pytest

from ademem.doors.cli import extras

PIP = f"{sys.executable} -I -m pip install"


@pytest.mark.parametrize(
    ("origin", "advice"),
    [
        pytest.param(None, f"{PIP} 'ademem[web]'", id="an index"),
        pytest.param({"dir_info": {}}, f"{PIP} '{{source}}[web]'", id="a checkout"),
        pytest.param(
            {"dir_info": {"editable": True}},
            f"{PIP} --editable '{{source}}[web]'",
            id="a checkout that is worked on",
        ),
        pytest.param(
            {"dir_info": {}, "url": "file:///nowhere"},
            f"{PIP} 'ademem[web] @ git+https://github.com/ademem/ademem'",
            id="a checkout that is gone",
        ),
        pytest.param(
            {"vcs_info": {"vcs": "git"}, "url": "https://git.example.org/fork"},
            f"{PIP} 'ademem[web] @ git+https://git.example.org/fork'",
            id="a repository",
        ),
        pytest.param(
            {"archive_info": {}, "url": "https://example.org/ademem-0.1.0-py3-none-any.whl"},
            f"{PIP} 'ademem[web] @ https://example.org/ademem-0.1.0-py3-none-any.whl'",
            id="an archive",
        ),
    ],
)
def test_an_extra_is_installed_from_where_the_package_came_from(
    origin, advice, tmp_path, monkeypatch
):
    source = tmp_path / "my checkout"
    source.mkdir()
    text = json.dumps({"url": source.as_uri()} | origin) if origin is not None else None
    installed = SimpleNamespace(read_text=lambda _name: text)
    monkeypatch.setattr(metadata, "distribution", lambda _name: installed)

    assert extras.describe_install("web") == advice.format(source=source)


def test_an_environment_without_pip_is_filled_by_uv(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)

    assert extras.describe_install("web").startswith(f"uv pip install --python {sys.executable} ")


@pytest.mark.parametrize(
    ("extra", "advice"),
    [
        pytest.param("", "sh {root}/install.sh --project .", id="the commands"),
        pytest.param("tui", "sh {root}/install.sh --project . --page", id="an option of it"),
        pytest.param(
            "mcp,http",
            "sh {root}/install.sh --project . --mcp"
            " && ~/.local/share/ademem/bin/python -I -m pip install '{root}[mcp,http]'",
            id="an option and a package",
        ),
    ],
)
@pytest.mark.parametrize("complete", [True, False], ids=["with its installer", "without"])
def test_a_plugin_names_the_installer(extra, advice, complete, tmp_path, monkeypatch):
    def is_absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", is_absent)
    monkeypatch.setattr(extras, "ROOT", str(tmp_path))
    monkeypatch.delenv("ADEMEM_PREFIX", raising=False)
    if complete:
        (tmp_path / "install.sh").touch()
    root = tmp_path if complete else "./ademem"
    clone = "" if complete else "git clone https://github.com/ademem/ademem && "

    assert extras.describe_install(extra) == clone + advice.format(root=root)
