"""Settings files as people and programs write them, for properties that hold for all."""

import json
from typing import Any

from hypothesis import strategies as st

from ademem.operations.install.registration import EVENTS, PERMISSIONS

FOREIGN = {"hooks": [{"type": "command", "command": "theirs"}]}

_blanks = st.text(" \t\n", max_size=3)
_newlines = st.sampled_from(["\n", "\r\n"])
_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
_hooks = st.dictionaries(
    st.sampled_from(["Notification", *(event.name for event in EVENTS)]),
    st.lists(st.just(FOREIGN) | _values, max_size=2),
    max_size=3,
)
_permissions = st.fixed_dictionaries(
    {},
    optional={
        "allow": st.lists(st.sampled_from(["Read", *PERMISSIONS]) | st.text(max_size=5)),
        "deny": st.lists(st.text(max_size=5), max_size=2),
    },
)
_settings = st.builds(
    lambda rest, known: rest | known,
    st.dictionaries(
        st.text(max_size=6).filter(lambda name: name not in ("hooks", "permissions")),
        _values,
        max_size=3,
    ),
    st.fixed_dictionaries({}, optional={"hooks": _hooks, "permissions": _permissions}),
)


@st.composite
def odd_texts(draw: st.DrawFn) -> str:
    """Blanks wherever JSON allows some."""

    def text(value: Any) -> str:
        if isinstance(value, dict):
            names = [json.dumps(name, ensure_ascii=draw(st.booleans())) for name in value]
            return (
                "{"
                + members(
                    [f"{name}{pad()}:{pad()}{text(value[json.loads(name)])}" for name in names]
                )
                + "}"
            )
        if isinstance(value, list):
            return "[" + members([text(item) for item in value]) + "]"
        return json.dumps(value)

    def members(texts: list[str]) -> str:
        return ",".join(pad() + text + pad() for text in texts) if texts else pad()

    def pad() -> str:
        return draw(_blanks)

    mark = draw(st.sampled_from(["", "\ufeff"]))
    return mark + (pad() + text(draw(_settings)) + pad()).replace("\n", draw(_newlines))


@st.composite
def tidy_texts(draw: st.DrawFn) -> str:
    """The layouts that programs write."""
    text = json.dumps(draw(_settings), indent=draw(st.sampled_from([None, 0, 1, 2, 4, "\t"])))
    return (text + draw(st.sampled_from(["", "\n"]))).replace("\n", draw(_newlines))
