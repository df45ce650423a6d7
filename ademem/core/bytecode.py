"""All modules of the package compiled into one file, which a hook opens instead of sixty.

A module is loaded from the file while its source is unchanged; any other module, and all of them
without the file, load as usual.
"""

from __future__ import annotations

import marshal
import os
import sys

from ademem.core.caching import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, ModuleType

    Source = tuple[str, int, int]
    """Path below the package, mtime in ns and length."""
    Entry = tuple[str, int, int, int, int]
    """A source, and offset and length of its code."""

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LENGTH_BYTES = 4
"""The file has the length of the index, the index, and the modules."""
UNREADABLE = (LookupError, OSError, EOFError, TypeError, ValueError)
ModuleSpec: type = type(__spec__)  # from `importlib`, which would have to be loaded
in_use: str | None = None
"""The package whose file is open."""


class Bundle:
    def __init__(self, package: str) -> None:
        """Raises one of UNREADABLE."""
        self.package = package
        self.path = path(package)
        self.file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        length = int.from_bytes(os.pread(self.file, LENGTH_BYTES, 0), "little")
        self.start = LENGTH_BYTES + length
        self.index: dict[str, Entry] = marshal.loads(os.pread(self.file, length, LENGTH_BYTES))

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        code = self.read(name)
        if code is None:
            return None
        origin = f"{self.package}/{self.index[name][0]}"
        is_package = origin.endswith("/__init__.py")
        spec = ModuleSpec(name, self, origin=origin, is_package=is_package, loader_state=code)
        spec.has_location = True
        spec.cached = self.path  # else the import system computes the name of an unused file
        if is_package:
            spec.submodule_search_locations.append(origin.removesuffix("/__init__.py"))
        return spec

    def create_module(self, _spec: object) -> None:
        """Return None for an ordinary module."""

    def exec_module(self, module: ModuleType) -> None:
        exec(module.__spec__.loader_state, module.__dict__)  # type: ignore[union-attr]

    def read(self, name: str) -> CodeType | None:
        """Return None for a module that changed since, or is damaged."""
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
    global in_use
    try:
        bundle = Bundle(package)
    except UNREADABLE:
        return
    in_use = package
    sys.meta_path.insert(0, bundle)  # type: ignore[arg-type]


def path(package: str, name: str = "modules") -> str:
    return os.path.join(package, "__pycache__", f"{name}.{sys.implementation.cache_tag}.bin")


def update() -> None:
    """Write the file of an installed package if a source has changed; a checkout has none."""
    import sysconfig

    from ademem.core.errors import suppress

    if os.path.dirname(PACKAGE) == sysconfig.get_path("purelib") and not is_current(PACKAGE):
        with suppress(OSError):
            write(PACKAGE)


def is_current(package: str) -> bool:
    try:
        bundle = Bundle(package)
    except UNREADABLE:
        return False
    os.close(bundle.file)
    return {name: entry[:3] for name, entry in bundle.index.items()} == dict(_sources(package))


def has_help(module: str) -> bool:
    """Tell whether its docstrings are the help of commands, or the descriptions of tools."""
    return module.split(".")[1:2] in (["doors"], ["operations"], ["plugins"])


def write(package: str) -> None:
    """Compile what a hook needs, and modules with help whole."""
    from ademem.core import shared_files
    from ademem.core.errors import suppress

    with suppress(OSError):
        os.remove(path(package, "patterns"))  # which `regex` kept of earlier sources

    index: dict[str, Entry] = {}
    compiled: list[bytes] = []
    end = 0
    for name, source in _sources(package):
        origin = os.path.join(package, source[0])
        with open(origin, "rb") as file:
            code = marshal.dumps(_compile(file.read(), origin, with_help=has_help(name)))
        index[name] = (*source, end, len(code))
        compiled.append(code)
        end += len(code)
    head = marshal.dumps(index)
    length = len(head).to_bytes(LENGTH_BYTES, "little")
    shared_files.write_bytes(path(package), b"".join((length, head, *compiled)))


def _compile(text: bytes, origin: str, *, with_help: bool) -> CodeType:
    """Compile a module; without help, leave out what only people and checkers read.

    That are docstrings, assertions, annotations of functions and blocks under TYPE_CHECKING, which
    would take a sixth of the time for reading the code. Annotations of classes name the fields.
    """
    if with_help:
        whole: CodeType = compile(text, origin, "exec", dont_inherit=True, optimize=0)
        return whole
    import __future__

    import ast

    tree = ast.parse(text, origin)
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                node.returns = None
            case ast.arg():
                node.annotation = None
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                node.body = [ast.Pass(lineno=node.lineno, col_offset=node.col_offset)]
    # The flag says what this import says, which would load a module.
    tree.body = [each for each in tree.body if getattr(each, "module", "") != "__future__"]
    lazily = __future__.annotations.compiler_flag
    made: CodeType = compile(tree, origin, "exec", lazily, dont_inherit=True, optimize=2)
    return made


@cache
def rooms_state(*rooms: str) -> str:
    """Return what an update of the package changes of some rooms, for less than `source_state`."""
    found = []
    for folder, _, names in (each for room in rooms for each in os.walk(f"{PACKAGE}/{room}")):
        sources = (os.stat(f"{folder}/{name}") for name in names if name.endswith(".py"))
        found += [f"{source.st_mtime_ns} {source.st_size}" for source in sources]
    return " ".join(sorted(found))


@cache
def source_state() -> tuple[Source, ...]:
    """Return what an update of the package changes, as it was when this process first asked."""
    return tuple(source for _, source in _sources(PACKAGE))


def _sources(package: str) -> Iterator[tuple[str, Source]]:
    start = len(os.path.dirname(package)) + 1
    for folder, folders, names in os.walk(package):
        folders.sort()
        dotted = folder[start:].replace(os.sep, ".")
        for name in sorted(names):
            if name.endswith(".py"):
                source = f"{folder}/{name}"
                found = os.stat(source)
                module = f"{dotted}.{name[:-3]}".removesuffix(".__init__")
                yield module, (source[len(package) + 1 :], found.st_mtime_ns, found.st_size)
