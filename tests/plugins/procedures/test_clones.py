"""Skills that came with a clone: whose they are."""

from ademem.plugins.procedures import operations
from tests.session.test_clones import ann as ann
from tests.session.test_clones import clones as clones

SKILL = ".claude/skills/release/SKILL.md"


def skill(member, text="Tag the release, then push the tag."):
    path = member.root / SKILL
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: release\ndescription: How to release\n---\n{text}\n")


def skills(member):
    with member.memories() as memories:
        operations.reindex_skills(memories)
        return {
            row.entry.path: row.memory.claimed_author for row in operations.list_skills(memories)
        }


def test_a_skill_that_came_with_a_clone_says_so(clones, ann):
    skill(ann)
    ann.share()
    ben = clones.clone("Ben")

    assert skills(ben) == {SKILL: "Ann"}


def test_a_skill_that_was_written_here_is_the_persons_in_a_second_clone_too(clones, ann):
    ann.learn()
    ann.share()
    skill(ann)
    assert skills(ann) == {SKILL: None}
    ann.commit()

    assert skills(clones.clone("Ann", "second")) == {SKILL: None}
