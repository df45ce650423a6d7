"""Each statement of the hub is about one project, by which its tables can be spread."""

import ast
import re
from pathlib import Path

import pytest

from ademem.plugins.hub import store

FOLDER = Path(store.__file__).parent
_TABLES = r"\bhub\.(?:projects|members|mutations|rows|cursors|usage|audit|push|note)\b"
ALL_PROJECTS = {
    "list_projects": "the owner of the database asks for all of them",
    "project_id": "finds one by its name",
    "add_project": "makes one",
    "_make_empty_project": "makes one in another hub",
}


def statements():
    """Texts with SQL on tables of projects, and the function that runs each."""
    for path in sorted(FOLDER.glob("*.py")):
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for node in ast.walk(function):
                    text = ast.unparse(node) if isinstance(node, ast.Constant) else ""
                    if re.search(_TABLES, text):
                        yield pytest.param(function.name, text, id=f"{function.name} {node.lineno}")


@pytest.mark.parametrize(("function", "text"), [*statements()])
def test_a_statement_names_its_project(function, text):
    names_one = re.search(r"\bproject\b|\bwhich => |projects.* where (?:p\.)?id = %s", text)

    assert names_one or function in ALL_PROJECTS


def test_a_function_of_the_database_names_its_project():
    schema = "\n".join(path.read_text() for path in sorted(FOLDER.glob("migrations/*.sql")))
    functions = re.findall(r"create function (hub\.\w+).*?as \$\$(.*?)\$\$", schema, re.S)
    touching = [
        statement
        for name, body in functions
        if name not in ("hub.mine", "hub.figures", "hub.analyze_grown")  # of a person, and of all
        for statement in body.split(";")
        if re.search(_TABLES, statement)
    ]

    assert len(touching) > 10
    for statement in touching:
        assert re.search(r"\bproject = |\bp?\.?id = |which|invite\.project", statement), statement
