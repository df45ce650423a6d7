"""All modules compiled, in one file: a hook opens this one instead of sixty.

It only saves time. A module is taken from it while its source is the one that was compiled; any
other, and everything where there is no such file, is loaded as Python always does.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, ModuleType

    Source = tuple[str, int, int]
    """Path below the package, when it was written (mtime in ns) and its length."""
    Entry = tuple[str, int, int, int, int]
    """A source, and where its code is: offset and length."""

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LENGTH_BYTES = 4
"""The file: the length of the index, the index, the modules one after the other."""
UNREADABLE = (LookupError, OSError, EOFError, TypeError, ValueError)
"""What reading a file that is not there, or damaged, may raise."""
ModuleSpec: type = type(__spec__)  # from `importlib`, which would have to be loaded


class Bundle:
    """Finds and loads modules as the import system wants it done."""

    def __init__(self, package: str) -> None:
        """Raises one of UNREADABLE."""
        self.package = package
        self.path = path(package)
        self.file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        length = int.from_bytes(os.pread(self.file, LENGTH_BYTES, 0), "little")
        self.start = LENGTH_BYTES + length
        self.index: dict[str, Entry] = marshal.loads(os.pread(self.file, length, LENGTH_BYTES))

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        """None for a module that has to come from elsewhere."""
        code = self.code(name)
        if code is None:
            return None
        origin = f"{self.package}/{self.index[name][0]}"
        is_package = origin.endswith("/__init__.py")
        spec = ModuleSpec(name, self, origin=origin, is_package=is_package, loader_state=code)
        spec.has_location = True
        spec.cached = self.path  # or the name of a file that nobody reads is worked out
        if is_package:
            spec.submodule_search_locations.append(origin.removesuffix("/__init__.py"))
        return spec

    def create_module(self, _spec: object) -> None:
        """An ordinary one will do."""

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__:
            exec(module.__spec__.loader_state, module.__dict__)

    def code(self, name: str) -> CodeType | None:
        """What was compiled; None when the source is another now, or the file is damaged."""
        try:
            below, mtime_ns, size, start, length = self.index[name]
            now = os.stat(f"{self.package}/{below}")
            if (now.st_mtime_ns, now.st_size) != (mtime_ns, size):
                return None
            code: CodeType = marshal.loads(os.pread(self.file, length, self.start + start))
        except UNREADABLE:
            return None
        return code


def use(package: str = PACKAGE) -> None:
    """Take from now on what the file has; without one nothing changes."""
    try:
        bundle = Bundle(package)
    except UNREADABLE:
        return
    sys.meta_path.insert(0, bundle)  # type: ignore[arg-type]


def path(package: str) -> str:
    """Where the file is: beside what Python itself compiled, one for each release of Python."""
    return os.path.join(package, "__pycache__", f"all.{sys.implementation.cache_tag}.bin")
