"""What a prompt is: an order to change things, a question, or neither."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.guard.turn import TurnClass, classify

REQUIRED = """
fix the bug
Fix login bug
Fix the login bug in src/auth.py
Fixing the login flow please
Implementing the parser now
Delete the users table
create a new endpoint for orders
Migrate the database to v2
Optimise the slow query please
Make the button blue please
Revert that last commit
please tidy the parser
can you fix the flaky test?
could you please add a retry to the client?
would you mind renaming this class?
Can you look at src/app.ts and fix the error?
look at the failing test and then repair it
I want you to refactor the store
we need to support Windows paths
we need a new endpoint for orders
I'd like a dark mode
let's get rid of the old cache
let's move the helpers into one module
go ahead
yes, please continue
do it
ok, ship it
sounds good, go ahead
Add tests for the parser and run them
Upgrade typer to 0.12
bump the version
rename foo to bar everywhere
the button should be blue
errors must be logged in one place
the login page is broken
tests are failing on main
There is a crash when the list is empty
TypeError: cannot read property of undefined
Replace the regex by a parser, it is unreadable
commit this and push
set up CI for this repository
write a migration for the new column
Why don't you simplify this function?
how about extracting a helper?
Please update the README.
1. add a flag 2. document it
now remove the debug output
generate the docs
Extract the SQL into its own module.
turn off the cache in tests
clean up the imports
You should validate the input first
also handle the empty case
undo the last change
use orjson instead of json
write unit tests for src/foo.py
The docs say X. Change them to say Y.
install the dependencies
configure ruff to 100 columns
debug the memory leak
""".strip().splitlines()

SOFT = """
How do I change my address?
Why does the test fail?
what does the build do?
look at src/foo.ts please
explain how the cache works
Explain why we added the lock
How would you implement a rate limiter?
what is the difference between the two parsers?
where is the config loaded?
review my last commit
Can you explain how to add a test?
can you tell me what this function does?
show me the failing tests
plan the migration to v2
brainstorm names for the new module
summarise the architecture
is there a convention for error names?
Does the guard handle heredocs?
which tests cover the parser?
should we split this module?
investigate where the time goes
compare the two approaches
walk me through the release process
did you run the tests?
src/auth.py
give me an overview of the store
update me on the state of the branch
I wonder who owns this code these days
修复登录错误
warum ist das so langsam
are the migrations reversible?
list the open questions
read the README first
think about the trade-offs
""".strip().splitlines()

NONE = """
hi
hello there
thanks!
thank you so much
ok
good morning
just testing
this is a test message
ping
/compact
/clear now
cool
no
never mind
how are you
remember: deploys go through the staging branch
<task-notification>done</task-notification>
great job
y
""".strip().splitlines()


@pytest.mark.parametrize("prompt", REQUIRED)
def test_an_order_to_change_things_requires_memory(prompt):
    assert classify(prompt).turn is TurnClass.REQUIRED, classify(prompt)


@pytest.mark.parametrize("prompt", SOFT)
def test_a_question_or_a_look_is_soft(prompt):
    assert classify(prompt).turn is TurnClass.SOFT, classify(prompt)


@pytest.mark.parametrize("prompt", NONE)
def test_small_talk_needs_no_memory(prompt):
    assert classify(prompt).turn is TurnClass.NONE, classify(prompt)


@pytest.mark.parametrize("prompt", REQUIRED[:10])
def test_plan_mode_changes_nothing_so_it_is_at_most_soft(prompt):
    assert classify(prompt, plan_mode=True).turn is TurnClass.SOFT


@pytest.mark.parametrize(
    "verb", ["fix", "fixing", "fixes", "rename", "renaming", "stop", "stopping"]
)
def test_inflections_of_an_order_are_orders(verb):
    assert classify(f"{verb} the parser of the client").turn is TurnClass.REQUIRED


@given(st.text(max_size=300))
def test_any_text_has_a_class_and_a_reason(prompt):
    assert classify(prompt).why
