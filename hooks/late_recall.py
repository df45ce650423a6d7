"""LateRecall: recall beside a call what took longer than the hook of the prompt may."""

from ademem.session import run
from ademem.session.late_recall import handle

run(handle)
