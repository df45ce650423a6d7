"""Writing the file that has all modules compiled."""

from __future__ import annotations

import ast
import marshal
import os
import sysconfig
from contextlib import suppress

from ademem.core import atomic_files
from ademem.core.bytecode import LENGTH_BYTES, PACKAGE, UNREADABLE, Bundle, path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.core.bytecode import Entry, Source


def keep() -> None:
    """Bring the file up to date where hooks use one, which is beside the interpreter, if we may.

    A checkout has none: its sources change too often for it.
    """
    if os.path.dirname(PACKAGE) == sysconfig.get_path("purelib") and not is_current(PACKAGE):
        with suppress(OSError):
            write(PACKAGE)


def is_current(package: str) -> bool:
    """Whether it has every module as the source is now."""
    try:
        bundle = Bundle(package)
    except UNREADABLE:
        return False
    os.close(bundle.file)
    return {name: entry[:3] for name, entry in bundle.index.items()} == dict(_sources(package))


def write(package: str) -> None:
    """Compile all modules of the package. Raises OSError where its folder may not be changed."""
    index: dict[str, Entry] = {}
    compiled: list[bytes] = []
    end = 0
    for name, source in _sources(package):
        code = _compiled(package, source[0])
        index[name] = (*source, end, len(code))
        compiled.append(code)
        end += len(code)
    head = marshal.dumps(index)
    length = len(head).to_bytes(LENGTH_BYTES, "little")
    atomic_files.write_bytes(path(package), b"".join((length, head, *compiled)))


def _compiled(package: str, below: str) -> bytes:
    """Compile without docstrings, assertions and annotations of functions: no hook reads them.

    Commands are made of those of their functions, and keep them.
    """
    source = os.path.join(package, below)
    with open(source, "rb") as file:
        tree = ast.parse(file.read())
    if below.startswith(f"doors{os.sep}"):
        return marshal.dumps(compile(tree, source, "exec", dont_inherit=True))
    tree = _WithoutAnnotations().visit(tree)
    return marshal.dumps(compile(tree, source, "exec", dont_inherit=True, optimize=2))


class _WithoutAnnotations(ast.NodeTransformer):
    """Fields of classes keep theirs, which `Value` reads."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node


def _sources(package: str) -> Iterator[tuple[str, Source]]:
    """Every module by its dotted name."""
    for folder, folders, names in os.walk(package):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                source = os.path.join(folder, name)
                found = os.stat(source)
                below = os.path.relpath(source, package)
                yield _dotted(package, below), (below, found.st_mtime_ns, found.st_size)


def _dotted(package: str, below: str) -> str:
    parts = (os.path.basename(package), *below.removesuffix(".py").split(os.sep))
    return ".".join(parts).removesuffix(".__init__")
