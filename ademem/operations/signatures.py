"""Operations as typed functions: a door reads names, limits and defaults off their signatures.

A parameter has the type of its value and, in `Annotated`, what else holds of it:

    def timeline(runtime: Runtime, call: Call, id: Id, before: Annotated[int, About(most=20)] = 3)

Annotations that are texts are read when a door asks for the operation, and no other ones.
"""

from __future__ import annotations

from ademem.core.caching import cache
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Annotated as Annotated
    from typing import Any, Protocol, TypeVar
    from typing import Literal as Literal

    from ademem.core.client import TurnKey
    from ademem.core.memory import Origin
    from ademem.core.project import Project
    from ademem.store.runtime import Runtime

    Function = TypeVar("Function", bound=Callable[..., Any])
    Row = dict[str, Any]
    Schema = dict[str, Any]
else:
    Protocol, Row = object, dict

    class _Form:
        """A form of `typing`, which takes 2 of the 70 ms in which a short command runs."""

        def __init__(self, given: Any) -> None:
            self.given = given if isinstance(given, tuple) else (given,)

        def __class_getitem__(cls, given: Any) -> Any:
            return cls(given)

        def __or__(self, _none: None) -> Any:
            return self

    class Annotated(_Form):
        @property
        def __origin__(self) -> Any:
            return self.given[0]

        @property
        def __metadata__(self) -> tuple[Any, ...]:
            return self.given[1:]

    class Literal(_Form):
        @property
        def __args__(self) -> tuple[str, ...]:
            return self.given


class About(Value):
    """What holds of a parameter beside its type."""

    help: str = ""
    chars: int = 0
    """Longest text, which is cut there; 0: of any length."""
    items: int = 0
    """Most items of a list."""
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    name: str = ""
    """Name for callers, where it is no name in Python."""
    default: Any = None
    """Where this stands in place of the default."""
    audience: str = ""
    """Only "people" or only "programs" give it; empty: both."""
    is_plain: bool = False
    """The name tells a program enough: its schema has no description."""
    spelled: str = ""
    """Names and metavar at the command line, if not `--name`: `--limit -n`, `--at KEY`, or `TEXT`
    of an argument; `--stop/--no-stop` sets and unsets."""
    is_joined: bool = False
    """People give a list as one text, with commas."""
    variable: str = ""
    """Variable of the environment that a command line reads without the option."""


class Answer(Value):
    """Keys of a result, in `Annotated` around its type."""

    always: tuple[str, ...]
    sometimes: tuple[str, ...] = ()


class Call(Protocol):
    """What a door knows of the call that an operation answers."""

    client: str
    """Name and version of the program."""
    place: str
    """Where its searches are recorded as shown."""
    projects: tuple[Project, ...]
    """Those that the call may reach."""
    how: str
    """What named the first of them."""
    others: Mapping[str, Runtime]
    """Projects that are searched beside, by name."""

    @property
    def turn(self) -> TurnKey: ...

    @property
    def door(self) -> str: ...

    @property
    def model(self) -> str:
        """That of `searching.rank`."""

    def origin(self) -> Origin: ...


class Parameter(Value):
    name: str
    """For callers."""
    variable: str
    kind: Any
    """A class, a `Literal`, or an alias such as `tuple[str, ...]`."""
    about: About
    default: Any = None
    is_required: bool = False

    @property
    def schema(self) -> Schema:
        has_default = self.default not in (None, "", ())
        return _schema_of(self.kind, self.about) | (
            {"default": self.default} if has_default else {}
        )


class Operation(Value):
    """A function that doors offer: its first parameter is the memory, the second the call."""

    run: Callable[..., Any]
    row: Callable[[Any, Any, Any], Row] | None = None
    """Makes of memory, call and result what programs get; None: it is the result."""
    audience: str = ""
    """Only "people" call it; empty: programs, too."""
    reads: bool = False
    destroys: bool = False
    repeats: bool = False
    """Twice is as once."""
    always_loaded: bool = False
    """A client shows it to its model in every session."""
    shows_text: bool = False
    """The result has texts of memories."""
    joins: bool = False
    """Of several projects all answer; else the first that has one."""
    command: str = ""
    """Command that follows from the operation; empty: one is written out, or there is none."""
    empty: Mapping[str, Any] | None = None
    """Result where no project is enrolled; None: a refusal."""

    @property
    def summary(self) -> str:
        return summarize(self.run)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Those that programs give."""
        return self.parameters_of("programs")

    def parameters_of(self, audience: str) -> tuple[Parameter, ...]:
        every = read_parameters(self.run, after=2)
        return tuple(each for each in every if each.about.audience in ("", audience))

    def call(self, runtime: Runtime, call: Call, arguments: Mapping[str, Any]) -> Any:
        """Answer a program's call, whose arguments the schemas of the parameters allow."""
        result = self.run(runtime, call, **bind(self.parameters, arguments))
        return self.row(runtime, call, result) if self.row else result

    @property
    def answer(self) -> Answer:
        (found,) = _annotation(self.run, "return").__metadata__
        assert isinstance(found, Answer)
        return found


class Operations:
    """The operations of a module, in the order of their definitions, with what all of them share.

    Those that share more are written *into* the same list.
    """

    def __init__(self, into: Operations | None = None, **shared: Any) -> None:
        self.all: list[Operation] = into.all if into else []
        self.shared: dict[str, Any] = into.shared | shared if into else shared

    def __call__(self, **traits: Any) -> Callable[[Function], Function]:
        def define(function: Function) -> Function:
            self.all.append(Operation(run=function, **self.shared, **traits))
            _defined[function] = self.all[-1]
            return function

        return define


_defined: dict[Any, Operation] = {}


def operation_of(function: Callable[..., Any]) -> Operation:
    return _defined[function]


def schema_of(parameters: Iterable[Parameter]) -> Schema:
    """Return the schema of an object with these parameters."""
    listed = tuple(parameters)
    required = [each.name for each in listed if each.is_required]
    return {
        "type": "object",
        "properties": {each.name: each.schema for each in listed},
        **({"required": required} if required else {}),
    }


def summarize(function: Callable[..., Any]) -> str:
    """Return the first paragraph of the docstring in one line."""
    return " ".join((function.__doc__ or "").partition("\n\n")[0].split())


@cache
def read_parameters(function: Callable[..., Any], after: int) -> tuple[Parameter, ...]:
    """Return the parameters of a function *after* so many that no caller gives.

    `inspect` would take as long to load as all of an answer.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    given = function.__defaults__ or ()
    defaults = dict(zip(names[code.co_argcount - len(given) :], given, strict=False))
    defaults |= function.__kwdefaults__ or {}
    return tuple(
        _parameter(name, function, name not in defaults, defaults.get(name))
        for name in names[after:]
    )


def _parameter(
    name: str, function: Callable[..., Any], is_required: bool, default: Any
) -> Parameter:
    kind, about = _split(_annotation(function, name))
    if isinstance(default, About):
        about = default
        is_required, default = default.default is ..., default.default
    return Parameter(
        name=about.name or name,
        variable=name,
        kind=kind,
        about=about,
        default=None if is_required else default,
        is_required=is_required,
    )


def _annotation(function: Callable[..., Any], name: str) -> Any:
    found = function.__annotations__[name]
    return eval(found, function.__globals__) if isinstance(found, str) else found  # code of ours


NOTHING = type(None)


def _split(annotation: Any) -> tuple[Any, About]:
    """Return the type of a value that is given, and what else holds of it."""
    kinds = [each for each in getattr(annotation, "__args__", ()) if each is not NOTHING]
    if hasattr(annotation, "__metadata__"):
        about = next((it for it in annotation.__metadata__ if isinstance(it, About)), About())
        return _split(annotation.__origin__)[0], about
    if len(kinds) < len(getattr(annotation, "__args__", ())) and len(kinds) == 1:
        return _split(kinds[0])
    return annotation, About()


NAMES: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
}


def _schema_of(kind: Any, about: About) -> Schema:
    help = "" if about.is_plain else about.help
    texts = {"description": help, "maxLength": about.chars, "maxItems": about.items}
    bounds = {"minimum": about.least, "maximum": about.most}
    return {
        **({"enum": list(about.choices)} if about.choices else _type_of(kind)),
        **{name: text for name, text in texts.items() if text},
        **{name: bound for name, bound in bounds.items() if bound is not None},
    }


def _type_of(kind: Any) -> Schema:
    """Return the schema of a type, which is told by its form, as `typing` is slow to load."""
    of = getattr(kind, "__args__", ())
    if kind in NAMES:
        return {"type": NAMES[kind]}
    if not of:
        return {"enum": list(kind)}
    if all(isinstance(each, str) for each in of):  # a Literal
        return {"enum": list(of)}
    origin = getattr(kind, "__origin__", None)  # none of `int | str`
    if origin is tuple:
        return {"type": "array", "items": _schema_of(*_split(of[0]))}
    if origin is dict:
        return {"type": "object"}
    return {"type": sorted(NAMES[each] for each in of)}


def bind(parameters: Iterable[Parameter], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments that their schemas allow as values of the types, by variable."""
    return {
        each.variable: _convert(each.kind, arguments[each.name])
        for each in parameters
        if each.name in arguments
    }


def _convert(kind: Any, value: Any) -> Any:
    if getattr(kind, "__origin__", None) is tuple:
        return tuple(value)
    is_class = isinstance(kind, type) and kind not in NAMES
    return kind(value) if is_class and isinstance(value, str) else value
