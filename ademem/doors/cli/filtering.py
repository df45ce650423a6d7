"""Filters of memories from the options of a command."""

from __future__ import annotations

import os

from ademem.core.client import mission_of
from ademem.core.errors import UsageError
from ademem.core.memory import Category, Scope, Status
from ademem.doors.cli.parameters import parse_choice, parse_scope
from ademem.search.engine import Filters


def make_filters(
    category: str | None,
    type_: str | None,
    scope: str | None,
    owner: str | None,
    path: str | None,
    branch: str | None,
    statuses: tuple[Status, ...],
) -> Filters:
    wanted = parse_scope(scope)
    if scope and scope.strip().lower() == Scope.AGENT and not owner:
        hint = "name it by --owner; `ademem core show --agents` lists them"
        raise UsageError("each agent has its own memories", hint)
    return Filters(
        statuses=statuses,
        categories=tuple(filter(None, [parse_choice(Category, category)])),
        types=(type_,) if type_ else (),
        scopes=(wanted,) if wanted else (),
        owner=owner,
        mission=owner or mission_of(os.environ),
        path=path,
        branch=branch,
    )
