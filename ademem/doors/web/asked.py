"""The request of a browser as values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ademem.core.errors import UsageError
from ademem.core.value import Value

if TYPE_CHECKING:
    from ademem.doors.web.application import Site


class Asked(Value):
    path: dict[str, str]
    """Parts of the address."""
    query: dict[str, str]
    form: dict[str, str]
    lists: dict[str, list[str]] = {}
    """All values of each field of the form."""
    site: Site
    project: str

    @property
    def revision(self) -> int | None:
        """The revision that the browser saw."""
        given = self.form.get("revision", "")
        if not given.isdecimal() and given:
            raise UsageError("the revision is no number", "load the page again")
        return int(given) if given else None
