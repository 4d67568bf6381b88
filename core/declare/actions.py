"""Tools: functions of the app that a model may call, with what a person is shown of them.

A plain function runs inside the transaction that records it; an `async def` reaches outside and runs between a begun
and an ended line. `@query` changes nothing; everything else is a change, and passes the gate.
"""

from __future__ import annotations

import hashlib
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from pydantic import ConfigDict, Field, ValidationError, create_model
from pydantic_core import PydanticSerializationError

from core.declare.rights import Principal, Row
from core.declare.schemas import NO_JSON, NO_NUMBER, canonical, errors_of, read_object, to_strict_json
from core.errors import BadDeclaration, BadInput, HandonError
from core.words import label_of

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from core.clock import Clock


AnyRow = TypeVar("AnyRow", bound=Row)


class Context:
    """What a tool is given about the work it is done in, where its first parameter is annotated `Context`.

    `session` reads and changes only what both the agent's account and the person may (rule R2), and belongs to the
    running transaction; an action that reaches outside has none. `person` is None where the work is for nobody.
    `call_key` is the same at every retry of one call: an idempotency key for services that take one.
    """

    def __init__(
        self,
        agent: Principal,
        person: Callable[[], Principal | None],
        piece: UUID,
        clock: Clock,
        call_key: str,
        session: Callable[[], Session] | None,
    ) -> None:
        self.agent, self.piece, self.clock, self.call_key = agent, piece, clock, call_key
        self._whose, self._open = person, session

    @cached_property
    def person(self) -> Principal | None:
        return self._whose()

    @cached_property
    def session(self) -> Session:
        if self._open is None:
            raise HandonError(
                "What reaches outside has no session: read rows in a query, change them in a plain action."
            )
        return self._open()

    def find(self, row: type[AnyRow], id: UUID) -> AnyRow:
        """The row of that id. Raises BadInput where there is none that both may read."""
        found = self.session.get(row, id)
        if found is None:
            raise BadInput({"": f"There is no {label_of(row.__name__).lower()} with the id {id}."})
        return found


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    kind: Any
    default: Any  # inspect.Parameter.empty where it must be given
    row: type[Row] | None


class Action:
    """A function a model may call. Still called as the function it was made of."""

    def __init__(
        self,
        function: Callable[..., Any],
        label: str,
        *,
        query: bool,
        says: str = "",
        outside: bool = False,
        reversible: bool = False,
        masks: tuple[str, ...] = (),
        decide_within: timedelta | None = None,
    ) -> None:
        self.function = function
        self.name = function.__name__
        self.label = label
        self.query = query
        self.says = says
        self.awaited = inspect.iscoroutinefunction(function)
        self.outside = outside or (self.awaited and not query)
        self.reversible = reversible
        self.masks = masks
        self.decide_within = decide_within
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<{'query' if self.query else 'action'} {self.name}>"

    @cached_property
    def _signature(self) -> tuple[bool, tuple[Parameter, ...]]:
        try:
            hints = typing.get_type_hints(self.function, include_extras=True)
        except NameError as error:
            raise BadDeclaration(f"{self.name}: the type of a parameter is not known: {error}") from None
        given = list(inspect.signature(self.function).parameters.values())
        takes_context = bool(given) and hints.get(given[0].name) is Context
        parameters = []
        for parameter in given[1:] if takes_context else given:
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise BadDeclaration(f"{self.name}: a tool's parameters have names; *args and **kwargs have none.")
            kind = hints.get(parameter.name)
            if kind is None:
                raise BadDeclaration(f"{self.name}: the parameter {parameter.name} has no type.")
            row = kind if inspect.isclass(kind) and issubclass(kind, Row) else None
            parameters.append(Parameter(parameter.name, kind, parameter.default, row))
        return takes_context, tuple(parameters)

    @property
    def takes_context(self) -> bool:
        return self._signature[0]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self._signature[1]

    @cached_property
    def _model(self) -> Any:
        fields: dict[str, Any] = {}
        for parameter in self.parameters:
            default = ... if parameter.default is inspect.Parameter.empty else parameter.default
            if parameter.row is not None:
                what = f"The id of a {label_of(parameter.row.__name__).lower()}."
                fields[parameter.name] = (UUID, Field(default, description=what))
            else:
                fields[parameter.name] = (parameter.kind, default)
        return create_model(self.name, __config__=ConfigDict(extra="forbid", allow_inf_nan=False), **fields)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments. A row is named by its id."""
        return typing.cast("dict[str, Any]", self._model.model_json_schema())

    @property
    def description(self) -> str:
        doc = inspect.getdoc(self.function)
        return f"{self.label}. {doc}" if doc else f"{self.label}."

    def read(self, arguments: str | Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, checked: values of the declared types, ids for rows. Raises BadInput, field by field."""
        given = read_object(arguments) if isinstance(arguments, str) else dict(arguments)
        try:
            checked = self._model.model_validate_json(to_strict_json(given))
        except ValidationError as error:
            raise BadInput(errors_of(error)) from None
        except (PydanticSerializationError, TypeError):
            raise BadInput({"": NO_JSON}) from None
        except ValueError:
            raise BadInput({"": NO_NUMBER}) from None
        return {parameter.name: getattr(checked, parameter.name) for parameter in self.parameters}

    def plain(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Checked arguments as JSON values: what is stored, shown and hashed."""
        return typing.cast("dict[str, Any]", self._model.model_construct(**values).model_dump(mode="json"))

    def fingerprint(self, plain: Mapping[str, Any]) -> str:
        """SHA-256 over the action's name and its canonical arguments, hex (rule P12)."""
        return fingerprint_of(self.name, plain)

    def sentence(self, values: Mapping[str, Any]) -> str:
        """What the call does, as a person reads it; rows are given as rows. Never the model's words (ui 3.3)."""
        if not self.says:
            return self.label
        try:
            return self.says.format(**values)
        except (KeyError, IndexError, AttributeError, ValueError):
            return self.label


def fingerprint_of(action: str, plain: Mapping[str, Any]) -> str:
    return hashlib.sha256(f"{action}\n{canonical(dict(plain))}".encode()).hexdigest()


def action(
    label: str,
    *,
    says: str = "",
    outside: bool = False,
    reversible: bool = False,
    masks: tuple[str, ...] = (),
    decide_within: timedelta | None = None,
) -> Callable[[Callable[..., Any]], Action]:
    """Declare a change. `says` is its sentence ("Write on {volume.shelfmark}: {note}"); `outside`, that it reaches
    beyond the database (an `async def` always does); `reversible`, that it can be taken back; `masks`, the arguments
    no page shows; `decide_within`, how long a proposal of it waits for a person, where that is not what its agent says
    (`requests_wait`; rule P11)."""
    return lambda function: Action(
        function,
        label,
        query=False,
        says=says,
        outside=outside,
        reversible=reversible,
        masks=masks,
        decide_within=decide_within,
    )


def query(label: str) -> Callable[[Callable[..., Any]], Action]:
    """Declare a tool that changes nothing. It passes no gate."""
    return lambda function: Action(function, label, query=True)
