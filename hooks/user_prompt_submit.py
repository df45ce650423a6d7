"""UserPromptSubmit: open a turn and recall what its prompt asks about."""

from ademem.events import run
from ademem.events.user_prompt_submit import handle

run(handle)
