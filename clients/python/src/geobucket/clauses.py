"""Clauses: which objects a query finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from . import values

FieldType = Literal["STRING", "INTEGER", "DECIMAL", "BOOLEAN", "GEOPOINT", "GEOSHAPE", "ARRAY", "OBJECT", "NULL"]


class Clause:
    """A condition on objects. `&`, `|` and `~` combine clauses; `json` is what the service gets.

    Logic has three values: a condition on a field that is missing or of another type is unknown,
    and so is its negation. `~(F("kind") == "bar")` does not find objects without a kind.
    """

    __slots__ = ("json",)

    def __init__(self, json: Mapping[str, Any]) -> None:
        self.json = json

    def __and__(self, other: Clause) -> Clause:
        return self._chain("and", other)

    def __or__(self, other: Clause) -> Clause:
        return self._chain("or", other)

    def __invert__(self) -> Clause:
        return Clause({"type": "not", "clause": self.json})

    def _chain(self, operator: str, other: Clause) -> Clause:
        if not isinstance(other, Clause):
            raise TypeError(f"a clause is combined with clauses, each in parentheses, not with {other!r:.60}")
        parts: list[Any] = []
        for clause in (self.json, other.json):
            parts += clause["clauses"] if clause.get("type") == operator else [clause]
        return Clause({"type": operator, "clauses": parts})

    def __bool__(self) -> bool:
        raise TypeError("a clause is neither true nor false: combine clauses with &, | and ~, each in parentheses")

    def __repr__(self) -> str:
        return f"Clause({dict(self.json)!r})"


def raw(clause: Mapping[str, Any]) -> Clause:
    """A clause as JSON, for what has no name here."""
    return Clause(clause)


#: Every object.
ALL = Clause({"type": "all"})


def match(fields: str | Iterable[str], text: str, *, prefix: bool | None = None, typos: int | None = None) -> Clause:
    """Objects with these words in one of several fields; see `F.match`."""
    names = {"field": fields} if isinstance(fields, str) else {"fields": list(fields)}
    return Clause({"type": "match", **names, "text": text, **_given(prefix=prefix, typos=typos)})


def _given(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


class F:
    """A field by its path, `F("address.city")`, from which clauses are made.

    F("score") >= 70
    F("location").within(km(2), of=(35.68, 139.76), into="d")
    """

    __slots__ = ("path",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, path: str) -> None:
        self.path = path

    def _clause(self, type: str, **members: Any) -> Clause:
        return Clause({"type": type, "field": self.path, **members})

    # Values

    def __eq__(self, value: Any) -> Clause:  # type: ignore[override]
        """The same value; `== None` is true of null alone."""
        return self._clause("eq", value=value)

    def __ne__(self, value: Any) -> Clause:  # type: ignore[override]
        """Another value of a comparable type; not true of objects without the field."""
        return ~self._clause("eq", value=value)

    def __lt__(self, value: Any) -> Clause:
        return self._clause("range", upperLimit=value, upperIncluded=False)

    def __le__(self, value: Any) -> Clause:
        return self._clause("range", upperLimit=value)

    def __gt__(self, value: Any) -> Clause:
        return self._clause("range", lowerLimit=value, lowerIncluded=False)

    def __ge__(self, value: Any) -> Clause:
        return self._clause("range", lowerLimit=value)

    def between(self, low: Any, high: Any) -> Clause:
        """Between two numbers or two strings, which are included."""
        return self._clause("range", lowerLimit=low, upperLimit=high)

    def is_in(self, values: Iterable[Any]) -> Clause:
        """Equal to one of up to 200 values."""
        return self._clause("in", values=list(values))

    def exists(self, type: FieldType | None = None) -> Clause:
        """The field is there, or is of that type."""
        return self._clause("hasField", **_given(fieldType=type))

    def starts_with(self, prefix: str) -> Clause:
        return self._clause("prefix", prefix=prefix)

    def like(self, pattern: str, *, ignore_case: bool = False) -> Clause:
        """A string as a pattern says: `%` stands for anything, `_` for one character."""
        return self._clause("like", pattern=pattern, **_given(ignoreCase=ignore_case or None))

    def contains(self, value: Any) -> Clause:
        """A string with this string in it, or an array with this element."""
        return self._clause("contains", value=value)

    def match(self, text: str, *, prefix: bool | None = None, typos: int | None = None) -> Clause:
        """A string with these words; the last may be the beginning of one unless `prefix` is False."""
        return match(self.path, text, prefix=prefix, typos=typos)

    # Places

    def within(
        self,
        radius: float | None = None,
        *,
        of: values.Point | values.Reference,
        into: str | None = None,
        model: Literal["sphere", "wgs84"] | None = None,
    ) -> Clause:
        """At most `radius` metres from a point; None: anywhere, for the sake of the distance.

        Objects have the distance in `_calculated` under the name `into`. In a watch the centre may
        be a `Reference`: the circle follows that object.
        """
        center = of if isinstance(of, values.Reference) else values.point(of)
        return self._clause(
            "geodistance", center=center.to_json(), **_given(radius=radius, putDistanceInto=into, model=model)
        )

    def in_box(self, south: float, west: float, north: float, east: float) -> Clause:
        """Between two parallels and two meridians; a west beyond the east crosses the 180th."""
        return self._clause("geobox", box=box_json((south, west, north, east)))

    def in_polygon(self, polygon: Any) -> Clause:
        """In a GeoJSON Polygon or MultiPolygon, or anything whose `__geo_interface__` is one."""
        reference = isinstance(polygon, values.Reference)
        return self._clause("geopolygon", polygon=polygon.to_json() if reference else values.geometry(polygon))

    def along(self, line: Any, width: float, *, into: str | None = None, along_into: str | None = None) -> Clause:
        """At most `width` metres from a GeoJSON LineString, or anything whose `__geo_interface__` is one.

        `into` names the distance from the line, `along_into` the way along it from its beginning.
        """
        names = _given(putDistanceInto=into, putAlongInto=along_into)
        return self._clause("geocorridor", line=values.geometry(line), width=width, **names)

    # Shapes. A shape is GeoJSON, anything with `__geo_interface__`, a GeoPoint, Circle or Reference.

    def intersects(self, shape: Any) -> Clause:
        """Shares at least one point with a shape."""
        return self._clause("geointersects", shape=_shape(shape))

    def inside(self, shape: Any) -> Clause:
        """Lies in a shape as a whole, edges included."""
        return self._clause("geowithin", shape=_shape(shape))

    def holds(self, shape: Any) -> Clause:
        """Holds a shape as a whole, edges included: `F("area").holds(GeoPoint(35.66, 139.75))`."""
        return self._clause("geocontains", shape=_shape(shape))


def _shape(shape: Any) -> Any:
    """A shape as clauses name it: GeoJSON stays GeoJSON."""
    if isinstance(shape, (values.GeoPoint, values.Circle, values.Reference)):
        return shape.to_json()
    if isinstance(shape, Mapping) and "_type" in shape:
        return shape
    return values.geometry(shape)


def box_json(box: tuple[float, float, float, float]) -> dict[str, Any]:
    """The corners of (south, west, north, east)."""
    south, west, north, east = box
    return {"sw": values.GeoPoint(south, west).to_json(), "ne": values.GeoPoint(north, east).to_json()}


DISTANCES = {"geodistance", "geocorridor"}


def distance_name(clause: Mapping[str, Any]) -> str | None:
    """The first name under which a clause reports a distance."""
    if clause.get("type") in DISTANCES and "putDistanceInto" in clause:
        return str(clause["putDistanceInto"])
    for part in parts(clause):
        if (name := distance_name(part)) is not None:
            return name
    return None


def with_distance(clause: Mapping[str, Any], name: str) -> tuple[Mapping[str, Any], bool]:
    """The clause with a name for the first distance in it, and whether there was one."""
    if clause.get("type") in DISTANCES:
        return {**clause, "putDistanceInto": name}, True
    inner = list(parts(clause))
    for index, part in enumerate(inner):
        named, found = with_distance(part, name)
        if found:
            inner[index] = named
            return {**clause, "clauses": inner} if "clauses" in clause else {**clause, "clause": named}, True
    return clause, False


def parts(clause: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """The clauses that a clause combines."""
    return clause.get("clauses") or ([clause["clause"]] if "clause" in clause else [])
