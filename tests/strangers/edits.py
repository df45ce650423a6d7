"""Memories about files of a package, and the edits of these files that bring them up.

    python -m tests.strangers.edits EDITS FOLDER [--read 8]

EDITS has a JSON object a line: `text` and `category` of a memory, the `file` it is about, and
`near`, a line of it to edit. FOLDER is the unpacked package. With `--read N` each memory was
learned in a session that read N files, its own among them, chosen at random.
"""

import argparse
import json
import os
import random
import shutil
import tempfile
from pathlib import Path
from unittest.mock import patch

from ademem.core import who
from ademem.core.memory import Draft, Origin, Trust
from ademem.operations import writing
from ademem.search import binding, tree
from ademem.store.runtime import Runtime
from tests import persons
from tests.repositories import Repository
from tests.strangers.places import read_lines
from tests.world import World

SEED = 47
TOLD = 40
"""Characters of a memory by which it is known in a denial, which has no id."""


def learn(world, each, session, files):
    """Store a memory as one that a session learned, which read these files."""
    transcript = world.root.parent / f"{session}.jsonl"
    calls = [
        {"type": "tool_use", "name": "Read", "input": {"file_path": str(world.root / file)}}
        for file in files
    ]
    line = {"type": "assistant", "message": {"role": "assistant", "content": calls}}
    transcript.write_text(json.dumps(line, separators=(",", ":")) + "\n")
    world.fire(
        "session_start", source="startup", session_id=session, transcript_path=str(transcript)
    )
    origin = Origin(trust=Trust.USER, source_type="user", session_id=session)
    draft = Draft(content=each["text"], category=each["category"], promoted=True, origin=origin)
    with world.terminal() as memories:
        memory = writing.write(memories, draft).memory
    return memory.id if memory else ""


def shown_at(world, each, session):
    """Return what is said at the edit, and where it is denied when it is made again."""
    at = {"session_id": session, "prompt_id": session}
    said = world.context("user_prompt_submit", prompt="Tidy this up a little", **at)
    edit = {"file_path": str(world.root / each["file"]), "old_string": each["near"]}
    edit["new_string"] = each["near"].replace(" ", "  ", 1) + " "
    call = {"tool_name": "Edit", "tool_input": edit}
    first = world.fire("pre_tool_use", **call, tool_use_id="t1", **at)
    world.fire("post_tool_batch", tool_calls=[], **at)
    again = world.fire("pre_tool_use", **call, tool_use_id="t2", **at) if "deny" in first else ""
    return said + first + again


def score(folder, edits, package, read):
    """Return how many memories were met, and how many of those shown are about the file."""
    world = World(folder / "project")
    shutil.copytree(package, world.root, dirs_exist_ok=True)
    repository = Repository(world.root)
    repository.git("add", "-A")
    repository.git("commit", "-qm", "all")
    files = [path for path in repository.git("ls-files").splitlines() if path.endswith(".py")]
    chance = random.Random(SEED)
    with world.memories() as memories:
        tree.renew(memories.project)
    ids = []
    for number, each in enumerate(edits):
        others = chance.sample([path for path in files if path != each["file"]], max(read - 1, 0))
        some = chance.sample([each["file"], *others], min(read, 1 + len(others)))
        ids.append(learn(world, each, f"learned{number}", some if read else []))
    with world.memories() as memories:
        binding.update_bindings(memories.store, memories.project)
    about = {id: each for id, each in zip(ids, edits, strict=True) if id}
    met, shown, right = 0, 0, 0
    for number, (id, each) in enumerate(zip(ids, edits, strict=True)):
        said = shown_at(world, each, f"edit{number}")
        found = [other for other in about if other in said or about[other]["text"][:TOLD] in said]
        met += id in found
        shown += len(found)
        right += sum(about[other]["file"] == each["file"] for other in found)
    return met, shown, right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("edits", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--read", type=int, default=8)
    given = parser.parse_args()
    edits = read_lines(given.edits)
    of_process = patch.object(who, "of_process", lambda: persons.acting(os.environ))
    by = patch.object(Runtime, "by", persons.By())
    with tempfile.TemporaryDirectory() as folder, of_process, by:
        met, shown, right = score(Path(folder), edits, given.folder, given.read)
    print(f"met {met} of {len(edits)}, {shown} shown, {right / max(shown, 1):.0%} about the file")


if __name__ == "__main__":
    main()
