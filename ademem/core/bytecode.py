"""All modules of the package compiled into one file, which a hook opens instead of sixty.

A module is loaded from the file while its source is unchanged; any other module, and all of them
without the file, load as usual.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from types import CodeType, ModuleType
    from typing import Any

    Source = tuple[str, int, int]
    """Path below the package, mtime in ns and length."""
    Entry = tuple[str, int, int, int, int]
    """A source, and offset and length of its code."""

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LENGTH_BYTES = 4
"""The file has the length of the index, the index, and the modules."""
UNREADABLE = (LookupError, OSError, EOFError, TypeError, ValueError)
ModuleSpec: type = type(__spec__)  # from `importlib`, which would have to be loaded


class Bundle:
    def __init__(self, package: str, *, threads: bool = True) -> None:
        """Raises one of UNREADABLE; *threads*: more than one may import."""
        self.package = package
        self.threads = threads
        self.path = path(package)
        self.file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        length = int.from_bytes(os.pread(self.file, LENGTH_BYTES, 0), "little")
        self.start = LENGTH_BYTES + length
        self.index: dict[str, Entry] = marshal.loads(os.pread(self.file, length, LENGTH_BYTES))

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        state = self.read(name)
        if state is None:
            return None
        origin = f"{self.package}/{self.index[name][0]}"
        is_package = origin.endswith("/__init__.py")
        spec = ModuleSpec(name, self, origin=origin, is_package=is_package, loader_state=state)
        spec.has_location = True
        spec.cached = self.path  # else the import system computes the name of an unused file
        if is_package:
            spec.submodule_search_locations.append(origin.removesuffix("/__init__.py"))
        return spec

    def create_module(self, _spec: object) -> None:
        """Return None for an ordinary module."""

    def exec_module(self, module: ModuleType) -> None:
        imports, code = module.__spec__.loader_state  # type: ignore[union-attr]
        if not self.threads:
            for name in imports:
                self.load(name)
        exec(code, module.__dict__)

    def load(self, name: str) -> None:
        """Import a module in a fourth of the time that the import system takes, without locks."""
        if name in sys.modules:
            return
        parent, _, child = name.rpartition(".")
        self.load(parent)
        spec: Any = self.find_spec(name) if name not in sys.modules else None
        if spec is None:
            return
        module = sys.modules[name] = type(sys)(name)
        module.__dict__.update(
            __spec__=spec, __loader__=self, __package__=spec.parent, __file__=spec.origin
        )
        if spec.submodule_search_locations is not None:
            module.__path__ = spec.submodule_search_locations
        try:
            self.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        setattr(sys.modules[parent], child, module)

    def read(self, name: str) -> tuple[tuple[str, ...], CodeType] | None:
        """Return what a module imports, and its code; None if changed since, or damaged."""
        try:
            below, mtime_ns, size, start, length = self.index[name]
            now = os.stat(f"{self.package}/{below}")
            if (now.st_mtime_ns, now.st_size) != (mtime_ns, size):
                return None
            imports, code = marshal.loads(os.pread(self.file, length, self.start + start))
        except UNREADABLE:
            return None
        return imports, code


def use(package: str = PACKAGE, *, threads: bool = True) -> None:
    try:
        bundle = Bundle(package, threads=threads)
    except UNREADABLE:
        return
    sys.meta_path.insert(0, bundle)  # type: ignore[arg-type]


def path(package: str) -> str:
    return os.path.join(package, "__pycache__", f"all.{sys.implementation.cache_tag}.bin")


def update() -> None:
    """Write the file of an installed package if a source has changed; a checkout has none."""
    import sysconfig

    if os.path.dirname(PACKAGE) == sysconfig.get_path("purelib") and not is_current(PACKAGE):
        try:
            write(PACKAGE)
        except OSError:
            return


def is_current(package: str) -> bool:
    try:
        bundle = Bundle(package)
    except UNREADABLE:
        return False
    os.close(bundle.file)
    return {name: entry[:3] for name, entry in bundle.index.items()} == dict(_sources(package))


def write(package: str) -> None:
    from ademem.core import shared_files

    index: dict[str, Entry] = {}
    compiled: list[bytes] = []
    end = 0
    sources = dict(_sources(package))
    for name, source in sources.items():
        code = _compile(package, source[0], sources)
        index[name] = (*source, end, len(code))
        compiled.append(code)
        end += len(code)
    head = marshal.dumps(index)
    length = len(head).to_bytes(LENGTH_BYTES, "little")
    shared_files.write_bytes(path(package), b"".join((length, head, *compiled)))


def _compile(package: str, below: str, modules: Collection[str]) -> bytes:
    """Compile without docstrings and assertions, save commands, whose help is made of them."""
    import ast

    source = os.path.join(package, below)
    with open(source, "rb") as file:
        tree = ast.parse(file.read())
    named: list[str] = []  # at the top level; the names out of a module may be modules, too
    for node in tree.body:
        if isinstance(node, ast.Import):
            named += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            named += [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    imports = tuple([name for name in named if name in modules])
    level = 0 if below.startswith(f"doors{os.sep}") else 2
    code = compile(tree, source, "exec", dont_inherit=True, optimize=level)
    return marshal.dumps((imports, code))


_state: list[Source] = []


def source_state() -> list[Source]:
    if not _state:
        _state.extend(source for _, source in _sources(PACKAGE))
    return _state


def _sources(package: str) -> Iterator[tuple[str, Source]]:
    for folder, folders, names in os.walk(package):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                source = os.path.join(folder, name)
                found = os.stat(source)
                below = os.path.relpath(source, package)
                parts = (os.path.basename(package), *below.removesuffix(".py").split(os.sep))
                dotted = ".".join(parts).removesuffix(".__init__")
                yield dotted, (below, found.st_mtime_ns, found.st_size)
