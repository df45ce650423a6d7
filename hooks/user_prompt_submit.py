"""UserPromptSubmit: open a turn and recall what its prompt asks about."""

from ademem.session import run
from ademem.session.user_prompt_submit import handle

run(handle)
