"""Frozen values and closed sets of them; `dataclasses` and `enum` would cost each hook 8 ms."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from enum import IntEnum as IntEnum
    from enum import StrEnum as StrEnum
    from typing import Any, Self, TypeVar, dataclass_transform

    V = TypeVar("V", bound="Value")
else:

    def dataclass_transform(**_):
        return lambda cls: cls

    class _Members(type):
        def __iter__(cls) -> Iterator[Self]:
            return iter(cls._members.values())

    class _Enum(metaclass=_Members):
        """Members are made of the names in capitals; calling the class returns one by its value."""

        def __init_subclass__(cls) -> None:
            cls._members = {}
            for name, value in tuple(vars(cls).items()):
                if name.isupper():
                    member = cls._members[value] = super().__new__(cls, value)
                    member.value = value
                    setattr(cls, name, member)

        def __new__(cls, value: object) -> Self:
            try:
                return cls._members[value]
            except (KeyError, TypeError):
                raise ValueError(f"{value!r} is not a valid {cls.__name__}") from None

    class StrEnum(_Enum, str):
        pass

    class IntEnum(_Enum, int):
        pass


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Value:
    """Keyword-only fields from the annotations, compared and shown by content."""

    _fields: tuple[str, ...] = ()
    _names: frozenset[str] = frozenset()
    _defaults: dict[str, Any] = {}

    def __init_subclass__(cls) -> None:
        own = tuple(name for name in vars(cls).get("__annotations__", {}) if name[0] != "_")
        inherited = tuple(name for name in cls._fields if name not in own)
        cls._fields = inherited + own
        cls._names = frozenset(cls._fields)
        cls._defaults = cls._defaults | {n: cls.__dict__[n] for n in own if n in cls.__dict__}

    def __init__(self, **given: Any) -> None:
        if given.keys() != self._names:
            given = self._defaults | given
            if given.keys() != self._names:
                raise TypeError(_misfit(type(self), given))
        self.__dict__.update(given)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen; use replace()")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen; use replace()")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.__dict__[name] for name in self._fields)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self._fields)
        return f"{type(self).__name__}({shown})"


def of(kind: type[V], fields: dict[str, Any]) -> V:
    """Make a value of unchecked fields, for rows that are read by the hundred."""
    made = object.__new__(kind)
    object.__setattr__(made, "__dict__", fields)
    return made


def replace(value: V, **changes: Any) -> V:
    if not changes.keys() <= value._names:
        raise TypeError(_misfit(type(value), value.__dict__ | changes))
    copy = object.__new__(type(value))
    copy.__dict__.update(value.__dict__)
    copy.__dict__.update(changes)
    return copy


def as_dict(value: Value) -> dict[str, Any]:
    return {name: value.__dict__[name] for name in value._fields}


def _misfit(cls: type[Value], given: dict[str, Any]) -> str:
    unknown = [name for name in given if name not in cls._fields]
    missing = [name for name in cls._fields if name not in given and name not in cls._defaults]
    return f"{cls.__name__}: unknown fields {unknown}, missing fields {missing}"
