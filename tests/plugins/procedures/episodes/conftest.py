"""A project whose sessions leave transcripts behind, and somebody to ask."""

from tests.synthesis.ai.conftest import ask as ask
from tests.synthesis.episodes.conftest import world as world
