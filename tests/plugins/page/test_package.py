"""What the page adds to the package: its files, their licences, and nothing to a hook."""

import tomllib
from pathlib import Path

import pytest

from ademem.core.text import bytes_hex
from ademem.plugins.page.rendering import HERE, static_files

VENDOR = Path(HERE, "static", "vendor")
VENDORED = tomllib.loads((VENDOR / "VENDOR.toml").read_text())


def test_every_vendored_file_is_listed():
    listed = {*VENDORED, "VENDOR.toml"} | {each["licence_file"] for each in VENDORED.values()}

    assert {path.name for path in VENDOR.iterdir()} == listed


@pytest.mark.parametrize("name", VENDORED)
def test_a_vendored_file_is_as_its_package_has_it(name):
    entry = VENDORED[name]

    assert bytes_hex((VENDOR / name).read_bytes()) == entry["sha256"]
    assert entry["licence"] in ("0BSD", "MIT", "ISC")
    assert (VENDOR / entry["licence_file"]).read_text().strip()


def test_the_package_lists_every_licence():
    root = Path(HERE).parents[2]
    patterns = tomllib.loads((root / "pyproject.toml").read_text())["project"]["license-files"]
    listed = {path for pattern in patterns for path in root.glob(pattern)}

    assert {VENDOR / each["licence_file"] for each in VENDORED.values()} <= listed


def test_static_files_are_small():
    import gzip

    assert sum(len(gzip.compress(content)) for content in static_files().values()) <= 80 * 1024
    assert len(static_files()["page.js"]) <= 8 * 1024


def test_the_base_wheel_grows_little():
    import zlib

    files = [
        path for path in Path(HERE).rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]

    assert sum(len(zlib.compress(path.read_bytes())) for path in files) <= 300_000
