"""Parameters that several operations and commands have: help, limits, and how people spell them."""

from __future__ import annotations

from ademem.core.memory import SCOPES, SYNONYMS, Category, Importance
from ademem.operations.signatures import About

LIMIT = About(help="Maximum number", least=1, most=1000, is_plain=True, spelled="--limit -n")
ID = About(help="Of a memory, or its start", chars=64, spelled="ID")
CATEGORY = About(help=", ".join(Category), is_plain=True, spelled="--category -c")
IMPORTANCE = About(help=", ".join(Importance), is_plain=True, spelled="--importance")
TYPE = About(help="learned, decision, bugfix, … or a tag", is_plain=True, spelled="--type -t")
SCOPE = About(
    help=", ".join(SCOPES), choices=(*SCOPES, *SYNONYMS), is_plain=True, spelled="--scope"
)
OWNER = About(help="Agent or mission the memory belongs to", is_plain=True, spelled="--owner")
PATH = About(help="About this file", spelled="--path GLOB")
BRANCH = About(help="Memories of this unmerged branch", is_plain=True, spelled="--branch")
CANDIDATES = About(help="Unconfirmed ones too", spelled="--candidates")
TITLE = About(help="A heading, under which a text may be long", is_plain=True, spelled="--title")
TOPIC_KEY = About(help="A new text with this key replaces the old", spelled="--topic-key")
TAGS = About(
    help="Words separated by commas", items=20, is_plain=True, is_joined=True, spelled="--tags"
)
ANCHORS = About(help="file:first-last, or `$ command`", items=20, spelled="--anchor FILE:LINES")
BEFORE = About(
    help="Shell command before which it is shown", audience="people", spelled="--command WORDS"
)
PLACES = About(
    help="Where it applies: src/**, `npm install`, act:deploy", items=20, spelled="--at KEY"
)
OCCASIONS = About(
    help="Order, question or sight that needs it",
    spelled="--when WORDS",
)
REPEATS = About(help="Id of one that says it", spelled="--repeats ID")
REPLACES = About(help="One that no longer holds", is_plain=True, spelled="--replaces ID")
CONTRADICTS = About(
    help="One that cannot hold beside it", is_plain=True, spelled="--contradicts ID"
)
HEARD = About(help="The question that it answers", is_plain=True, spelled="--heard N")
REVISION = About(help="The one that you read", audience="people")
DRY_RUN = About(
    help="Show what would change, and change nothing", audience="people", spelled="--dry-run"
)
