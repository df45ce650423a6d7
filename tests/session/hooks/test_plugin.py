"""The plugin's hooks say the same as the installer's."""

import json
from pathlib import Path

from ademem.operations.install import registration

ROOT = Path(__file__).parents[3]


def test_the_plugin_registers_what_the_installer_registers():
    plugin = json.loads((ROOT / "hooks/hooks.json").read_text())

    wanted = registration.make_groups(python="", hooks='"${CLAUDE_PLUGIN_ROOT}/hooks"')
    assert plugin["hooks"] == wanted


def test_every_registered_hook_has_its_script():
    scripts = {path.stem for path in (ROOT / "hooks").glob("*.py")}

    registered = {event.hook for event in (*registration.EVENTS, *registration.NEWER)}
    assert scripts == registered - {"file_changed", "instructions_loaded"}  # `notes.sh` does all
