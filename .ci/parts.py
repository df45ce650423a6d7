"""Each part beside the core alone: `python .ci/parts.py SOURCE`, in a copy of SOURCE without parts.

A part is loaded with those that it imports, and no other: each module that the packages here allow,
its commands with their help, its settings. Then its own tests run: those of parts in `.ci/alone`,
or with ADEMEM_EXAMPLES=full of each that the default dependencies are enough for.
"""

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, ".")

from tests.environments import OF_EXTRAS
from tests.test_architecture import BETWEEN_PARTS

PARTS = Path("ademem/plugins")
OF_AN_EXTRA = {path for paths in OF_EXTRAS.values() for path in paths}


def needs(part: str) -> set[str]:
    """Return the part, and all that it imports."""
    return {part}.union(*map(needs, BETWEEN_PARTS.get(part, ())))


def load(part: str) -> None:
    from ademem.core import plugins, settings
    from ademem.doors.cli import commands, typer_app

    lacking: set[str] = set()
    names = [".".join(path.with_suffix("").parts) for path in sorted((PARTS / part).rglob("*.py"))]
    for name in names:
        try:
            import_module(name.removesuffix(".__init__"))
        except ModuleNotFoundError as error:  # of an extra
            lacking.add((error.name or "").partition(".")[0])
    assert "ademem" not in lacking, f"{part} imports a part that it does not name"
    typer_app.load()
    assert all(settings.find_key(name) for name, _ in settings.all_keys())
    assert not plugins.faults, plugins.faults
    own = [
        name for name, each in commands.commands.items() if f".{part}." in each.function.__module__
    ]
    print(
        f"{part}: {len(names)} modules, {len(own)} commands; {', '.join(lacking) or 'no'} package"
    )


def check(part: str, source: Path, *, with_tests: bool) -> bool:
    kept = ["__init__.py", *needs(part)]
    PARTS.mkdir()
    for name in kept:
        copy = shutil.copytree if (source / PARTS / name).is_dir() else shutil.copy
        copy(source / PARTS / name, PARTS / name)
    python = [sys.executable, "-I"]
    runs = [[*python, __file__, "--load", part]]
    tests = Path("tests/plugins", part)
    if with_tests:
        for name in needs(part):  # whose tests have what those of the part use
            shutil.copytree(source / tests.parent / name, tests.parent / name, dirs_exist_ok=True)
        runs.append([*python, "-m", "pytest", "--quiet", "--extra", "default", str(tests)])
    codes = [subprocess.run(each, check=False).returncode for each in runs]
    shutil.rmtree(PARTS)
    shutil.rmtree("tests/plugins", ignore_errors=True)
    return not any(codes)


if sys.argv[1] == "--load":
    load(sys.argv[2])
else:
    source = Path(sys.argv[1])
    everything = os.environ.get("ADEMEM_EXAMPLES") == "full"
    found = sorted(each.parent.name for each in (source / PARTS).glob("*/__init__.py"))
    tested = [each for each in found if f"tests/plugins/{each}" not in OF_AN_EXTRA]
    quick = Path(".ci/alone").read_text().split()
    chosen = tested if everything else [each for each in tested if f"tests/plugins/{each}" in quick]
    failed = [each for each in found if not check(each, source, with_tests=each in chosen)]
    sys.exit(f"not with the core alone: {', '.join(failed)}" if failed else 0)
