"""The worker keeps the index of the files, and where memories apply, up with git."""

from ademem.search import tree as index
from ademem.store import bindings, memories
from tests.repositories import Repository


def test_a_commit_makes_the_index_due_once(world):
    repository = Repository(world.root)
    repository.commit("First", "src/auth.py")

    assert "tree" in world.work(model=None)
    assert "tree" not in world.due(model=None)
    repository.commit("Second", "src/views.py")
    assert "tree" in world.due(model=None)
    world.work(model=None)
    tree = index.open_tree(world.runtime.project)
    assert [path for path in tree.paths() if path.startswith("src/")] == [
        "src/auth.py",
        "src/views.py",
    ]
    tree.close()


def test_without_git_no_index_is_due(world):
    assert "tree" not in world.due(model=None)


def test_memories_whose_place_is_renamed_are_read_again(world):
    (id,) = world.keep("`src/auth.py` never logs a token")
    (other,) = world.keep("`src/views.py` renders on the server")
    world.work(model=None)
    table = {each: memories.get(world.store, each) for each in (id, other)}
    for each, key in ((id, "src/auth.py"), (other, "src/views.py")):
        place = bindings.Binding(kind="path", key=key)
        bindings.put(world.store, table[each], [place])
    bindings.clear_due(world.store, bindings.list_due(world.store))
    bindings.mark_due(world.store, {"src", "src/auth.py"})

    assert bindings.list_due(world.store) == [table[id].seq]
    assert other not in [each.id for each in bindings.read_due(world.store, range(10))]
