"""Tables of the documentation that are generated from the code.

`python -m tests.docs_tables` writes each between its two comments, in every page that has them.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import typer.main

from ademem.core import settings
from ademem.doors.cli.commands import panels
from ademem.doors.cli.typer_app import load
from ademem.operations import configuring
from ademem.operations.signatures import Parameter

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
SCHEMA = Path(settings.__file__).parents[1] / "store/schema.sql"
COMMON = ("--help", "--project", "--json")
"""Options that the page of commands explains once for all."""

Row = tuple[str, ...]


def commands() -> Iterator[Row]:
    yield "Command", "Does", "Options"
    words = [name for _, names in panels(whole=True) for name in names]
    shown = [(name, command) for name, command in leaves() if not command.hidden]
    for name, command in sorted(shown, key=lambda leaf: words.index(leaf[0].split()[0])):
        arguments = [metavar(given) for given in parameters(command, "argument")]
        given = [code(option) for option in options(command) if option not in COMMON]
        yield code(" ".join([name, *arguments])), command.help.strip(), " ".join(given)


def hidden() -> Iterator[Row]:
    yield "Command", "Does"
    for name, command in sorted(leaves()):
        if command.hidden:
            arguments = [metavar(given) for given in parameters(command, "argument")]
            yield code(" ".join([name, *arguments])), command.help.strip()


def leaves() -> list[tuple[str, Any]]:
    """Every command by its full name, hidden ones too."""
    return list(_below(typer.main.get_command(load()), ""))


def _below(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    if hasattr(command, "commands"):
        for word, child in command.commands.items():
            yield from _below(child, f"{name} {word}".strip())
    else:
        yield name, command


def parameters(command: Any, kind: str) -> list[Any]:
    return [given for given in command.params if given.param_type_name == kind]


def options(command: Any) -> list[str]:
    """The long names of its options, those that switch off included."""
    given = parameters(command, "option")
    names = [name for option in given for name in (*option.opts, *option.secondary_opts)]
    return [name for name in names if name.startswith("--")]


def metavar(argument: Any) -> str:
    name = re.sub(r"[\[\].]", "", argument.metavar or argument.name.upper())
    more = "…" if argument.nargs < 0 else ""
    return f"{name}{more}" if argument.required else f"[{name}{more}]"


def defaults() -> Iterator[Row]:
    yield "Setting", "Default", "Owner", "Meaning"
    for full, found in configuring.describe_keys().items():
        yield code(full), code(toml(found.key.default)), found.key.owner, found.meaning


def toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case tuple():
            return f"[{', '.join(map(toml, value))}]"
        case _:
            return str(value)


def schema() -> Iterator[Row]:
    """Tables with the comment above each."""
    yield "Table", "Holds"
    lines = SCHEMA.read_text(encoding="utf-8").splitlines()
    for above, line in zip(["", *lines], lines, strict=False):
        found = re.match(r"create (?:virtual )?table (\w+)", line)
        if found:
            yield code(found[1]), above.removeprefix("-- ")


def rpc_methods() -> Iterator[Row]:
    from ademem.plugins.ade.methods import METHODS

    yield "Method", "Does", "Parameters"
    for method in METHODS:
        yield code(method.name), method.summary, names_of(method.parameters)


def tools() -> Iterator[Row]:
    from ademem.plugins.mcp.tools import CORE

    yield "Tool", "Does", "Arguments"
    for tool in CORE:
        yield code(tool.name), tool.description, names_of(tool.operation.parameters)


def names_of(parameters: Iterable[Parameter]) -> str:
    """Required ones in bold, numbers with their range."""
    return " ".join(
        f"**{code(each.name)}**" if each.is_required else code(each.name) + _range(each.schema)
        for each in parameters
    )


def _range(schema: dict[str, Any]) -> str:
    return f" ({schema['minimum']}–{schema['maximum']})" if "minimum" in schema else ""


def code(text: str) -> str:
    return f"`{text}`" if text else ""


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "commands": commands,
    "hidden": hidden,
    "settings": defaults,
    "schema": schema,
    "rpc": rpc_methods,
    "tools": tools,
}


def rendered(page: str) -> str:
    """Return the text of a page with each of its generated tables as the code has it now."""
    for name, rows in TABLES.items():
        opening, closing = f"<!-- table: {name} -->\n", "<!-- /table -->"
        before, found, rest = page.partition(opening)
        if found:
            after = rest.partition(closing)[2]
            page = before + opening + "\n" + markdown(list(rows())) + "\n" + closing + after
    return page


def markdown(rows: list[Row]) -> str:
    """The first row is the head; a bar inside a cell is escaped, as it would end the cell."""
    cells = [[" ".join(cell.split()).replace("|", r"\|") for cell in row] for row in rows]
    head, *body = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body, ""])


SUMMARIES = ROOT / "ademem/doors/cli/summaries.py"


def summaries() -> str:
    """Return the module with the first sentence on each command, for the help of all of them."""
    found = {name: command.help for name, command in leaves() if " " not in name}
    first = {name: " ".join((text or "").split("\n\n")[0].split()) for name, text in found.items()}
    short = {name: re.split(r"(?<=[.!?]) ", text)[0] for name, text in first.items()}
    quoted = {name: f"'{text}'" if '"' in text else f'"{text}"' for name, text in short.items()}
    rows = [f'    "{name}": {quoted[name]},' for name in sorted(quoted)]
    head = '"""First sentences on the commands; `python -m tests.docs_tables` writes this file."""'
    return "\n".join([head, "", "SUMMARIES = {", *rows, "}", ""])


if __name__ == "__main__":
    SUMMARIES.write_text(summaries(), encoding="utf-8")
    for path in PAGES:
        path.write_text(rendered(path.read_text(encoding="utf-8")), encoding="utf-8")
