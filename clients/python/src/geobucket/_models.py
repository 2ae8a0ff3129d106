"""Dataclasses and pydantic models as objects of a bucket."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import types
import typing
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Generic, TypeVar, Union

from ._json import milliseconds, time_of
from .values import Circle, Document, GeoPoint, Shape

T = TypeVar("T")
In = TypeVar("In")
Out = TypeVar("Out")


class Model(Generic[In, Out]):
    """How documents are read and written; this one leaves them as they are."""

    def read(self, document: Document) -> Any:
        return document

    def write(self, value: Any) -> Any:
        return value


@dataclasses.dataclass(frozen=True, slots=True)
class Stored(Generic[T]):
    """A model as it is in a bucket, with what the service knows of it.

    - value: the model.
    - document: all of the object, also what the model does not have.
    """

    value: T
    document: Document

    @property
    def id(self) -> str:
        return str(self.document["_id"])

    @property
    def version(self) -> int:
        return int(self.document["_version"])

    @property
    def created(self) -> datetime.datetime:
        return time_of(self.document["_created"])

    @property
    def modified(self) -> datetime.datetime:
        return time_of(self.document["_modified"])

    def distance(self, name: str) -> float:
        """What a clause measured: the name is its `into`."""
        return float(self.document["_calculated"][name])


class TypedModel(Model[T | Stored[T], Stored[T]]):
    """Instances of a class.

    A dataclass's fields are members of the same name; None is left out, a `datetime` is milliseconds since 1970.
    What has `model_validate` and `model_dump`, as pydantic's models have, does it by these.
    """

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        self._is_pydantic = hasattr(kind, "model_validate") and hasattr(kind, "model_dump")
        if not self._is_pydantic and not dataclasses.is_dataclass(kind):
            raise TypeError(f"{kind.__name__} is neither a dataclass nor a model of pydantic")

    def read(self, document: Document) -> Stored[T]:
        if self._is_pydantic:
            return Stored(self._kind.model_validate(document), document)  # type: ignore[attr-defined]
        return Stored(_read(document, self._kind, ""), document)

    def write(self, value: T | Stored[T]) -> Document:
        if isinstance(value, Stored):
            return {"_id": value.id, **self.write(value.value)}
        if not isinstance(value, self._kind):
            raise TypeError(f"a {self._kind.__name__} is needed, not a {type(value).__name__}")
        if self._is_pydantic:
            value = value.model_dump(by_alias=True, exclude_none=True)  # type: ignore[attr-defined]
        document: Document = _write(value)
        return document


def _write(value: Any) -> Any:
    if isinstance(value, (GeoPoint, Circle, Shape)):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {name: _write(member) for name, member in members.items() if member is not None}
    if isinstance(value, Mapping):
        return {name: _write(member) for name, member in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_write(element) for element in value]
    if isinstance(value, datetime.datetime):
        return milliseconds(value)
    return _write(value.value) if isinstance(value, enum.Enum) else value


def _read(value: Any, kind: Any, path: str) -> Any:
    """The value of a type that a value of JSON stands for.

    - Raises: `TypeError` with the path of what has another type.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any or isinstance(kind, TypeVar):
        return value
    if origin in (Union, types.UnionType):
        return _read_union(value, arguments, path)
    if origin is typing.Annotated:
        return _read(value, arguments[0], path)
    if origin is typing.Literal:
        if value in arguments:
            return value
    elif origin in (list, set, frozenset, tuple) or kind in (list, set, frozenset, tuple):
        if isinstance(value, list):
            container: Any = origin or kind
            types_of = _elements(container, arguments, len(value))
            return container(
                _read(item, t, f"{path}[{i}]") for i, (item, t) in enumerate(zip(value, types_of, strict=True))
            )
    elif origin is dict or kind is dict:
        if isinstance(value, dict):
            inner = arguments[1] if arguments else Any
            return {name: _read(member, inner, f"{path}.{name}") for name, member in value.items()}
    elif kind is None or kind is type(None):
        if value is None:
            return None
    elif kind is datetime.datetime:
        if _is_number(value):
            return time_of(int(value))
    elif kind is Decimal:
        if _is_number(value):
            return Decimal(str(value))
    elif kind is float:
        if _is_number(value):
            return float(value)
    elif isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(value)
    elif isinstance(value, dict) and dataclasses.is_dataclass(kind):
        return _read_dataclass(value, kind, path)
    elif isinstance(kind, type) and isinstance(value, kind) and (kind is not int or not isinstance(value, bool)):
        return value
    raise TypeError(f"{path or 'the object'}: {value!r:.60} is no {getattr(kind, '__name__', kind)}")


def _elements(container: Any, arguments: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    if container is tuple and arguments and arguments[-1] is not Ellipsis:
        return arguments
    return ((arguments[0] if arguments else Any),) * count


def _read_union(value: Any, kinds: tuple[Any, ...], path: str) -> Any:
    failure: Exception | None = None
    for kind in kinds:
        try:
            return _read(value, kind, path)
        except (TypeError, ValueError) as error:
            if kind is not type(None):
                failure = error
    raise failure or TypeError(path)


def _read_dataclass(value: dict[str, Any], kind: Any, path: str) -> Any:
    hints = typing.get_type_hints(kind, include_extras=True)
    members = {}
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        inner = f"{path}.{field.name}" if path else field.name
        if field.name in value:
            members[field.name] = _read(value[field.name], hints[field.name], inner)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            # What was None was not written.
            members[field.name] = _read(None, hints[field.name], inner)
    return kind(**members)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
