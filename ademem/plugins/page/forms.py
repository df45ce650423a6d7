"""Forms of acts, whose fields, limits and choices are those of operations' signatures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from markupsafe import Markup

from ademem.doors.person_call import PersonCall
from ademem.operations import memory_operations
from ademem.operations.arguments import check_arguments, parse_typed
from ademem.operations.signatures import Parameter, bind, operation_of, schema_of
from ademem.store.runtime import Runtime

DIGITS = 15
"""Of the longest number that is read."""


def read_form(parameters: Iterable[Parameter], form: Mapping[str, str]) -> dict[str, Any]:
    """Return what a form gives of parameters, by variable; raises UsageError, as every door."""
    listed = tuple(parameters)
    given = {name: text.replace("\r\n", "\n") for name, text in form.items() if text.strip()}
    typed = {each.name: _read(each, given[each.name]) for each in listed if each.name in given}
    return bind(listed, check_arguments(schema_of(listed), typed, cuts=False))


def _read(parameter: Parameter, text: str) -> Any:
    if parameter.about.is_joined:
        text = ",".join(text.replace(",", " ").split())
    if parameter.kind is bool:
        return True  # an unticked box is not sent
    if parameter.kind in (int, float) and text.strip().isdecimal() and len(text) <= DIGITS:
        return int(text)
    return parse_typed(parameter, text if "\n" in text.strip() else text.strip())


def call(
    memories: Runtime, function: Callable[..., Any], form: Mapping[str, str], **fixed: Any
) -> Any:
    """Return what an operation returns for the fields of a form, and values that no field gives."""
    operation = operation_of(function)
    given = read_form(operation.parameters_of("people"), form)
    return operation.run(memories, PersonCall(memories, "page"), **given | fixed)


def limits(operation: str, name: str) -> Markup:
    """Return the attributes of a field: its help as a title, its limits, and if it is required."""
    parameter = _parameter(operation, name)
    about = parameter.about
    bounds = {"maxlength": about.chars, "min": about.least, "max": about.most}
    found = {"title": about.help} | {key: value for key, value in bounds.items() if value}
    text = Markup("").join(Markup(' {}="{}"').format(*each) for each in found.items())
    return text + Markup(" required" if parameter.is_required else "")


def options(operation: str, name: str) -> list[str]:
    """Return what may be chosen in a field."""
    return list(_parameter(operation, name).schema["enum"])


def _parameter(operation: str, name: str) -> Parameter:
    listed = operation_of(getattr(memory_operations, operation)).parameters_of("people")
    return next(each for each in listed if each.name == name)
