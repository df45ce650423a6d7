"""What a mission learned on a branch."""

from ademem.core.memory import Draft
from ademem.operations import writing
from ademem.plugins.procedures import operations
from tests.session.test_branches import LESSON
from tests.session.test_branches import repository as repository


def test_a_lesson_of_a_mission_that_ended_on_a_branch_waits_there(repository):
    repository.fire("session_start", source="startup")
    with repository.memories() as memories:
        mission = operations.start_mission(memories, "billing in euro")
        draft = Draft(content=LESSON, scope="mission", owner=mission.id, importance="high")
        writing.write(memories, draft)
        operations.end_mission(memories, mission.id, "success")

    assert [row.source_branch for row in repository.live()] == ["topic"]
