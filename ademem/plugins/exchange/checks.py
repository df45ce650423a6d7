"""The check of `ademem doctor` that runs the exchange, as the process that a person starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ademem.core import plugins
from ademem.operations.doctor import try_command
from ademem.plugins.exchange import folder
from ademem.store.runtime import open_runtime

if TYPE_CHECKING:
    from ademem.operations.doctor import Finding, Patient


def exchange_runs(patient: Patient) -> Finding:
    with open_runtime(patient.project, patient.environment, patient.now) as runtime:
        is_shared = folder.list_enrolled(runtime.store) or any(
            each.is_enrolled(runtime.store) for each in plugins.modules("EXCHANGE", by_others=True)
        )
    tried = "--dry-run" if is_shared else "--status"  # with nothing to preview
    return try_command(patient, "exchange", "sync", tried, "--project", patient.project.root)


CHECKS = (exchange_runs,)
