"""Places as values of objects, and lengths in metres."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: An object of a bucket: what JSON can hold, with places as values of this module.
Document = dict[str, Any]


class _Place:
    """What pydantic has to know of a place: it is one already, and is JSON as the service has it."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        written = core_schema.plain_serializer_function_ser_schema(lambda place: place.to_json())
        return core_schema.is_instance_schema(cls, serialization=written)


@dataclass(frozen=True, slots=True)
class GeoPoint(_Place):
    """A point: latitude and longitude in degrees.

    `lat, lon = point` takes it apart.
    """

    lat: float
    lon: float

    def __iter__(self) -> Iterator[float]:
        return iter((self.lat, self.lon))

    def to_json(self) -> dict[str, Any]:
        return {"_type": "point", "lat": self.lat, "lon": self.lon}

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        return {"type": "Point", "coordinates": (self.lon, self.lat)}


@dataclass(frozen=True, slots=True)
class Circle(_Place):
    """A circle: its centre in degrees, its radius in metres."""

    lat: float
    lon: float
    radius: float

    def to_json(self) -> dict[str, Any]:
        return {"_type": "circle", "lat": self.lat, "lon": self.lon, "radius": self.radius}


@dataclass(frozen=True, slots=True)
class Shape(_Place):
    """An area or a line: a GeoJSON geometry with longitude first.

    Shape({"type": "Polygon", "coordinates": [[[139.7, 35.6], …]]})
    Shape.of(shapely_polygon)
    """

    geometry: Mapping[str, Any]

    @classmethod
    def of(cls, place: Any) -> Shape:
        """A shape of GeoJSON or of anything with `__geo_interface__`."""
        return cls(geometry(place))

    def to_json(self) -> dict[str, Any]:
        return {"_type": "shape", **self.geometry}

    @property
    def __geo_interface__(self) -> Mapping[str, Any]:
        return self.geometry


@dataclass(frozen=True, slots=True)
class Reference:
    """The place that an object has in a field, wherever it is when it is asked for."""

    bucket: str
    id: str
    field: str

    def to_json(self) -> dict[str, Any]:
        return {"_type": "object", "bucket": self.bucket, "_id": self.id, "field": self.field}


#: A point as arguments take it: a GeoPoint, `(lat, lon)`, or anything with `__geo_interface__`.
Point = GeoPoint | tuple[float, float] | Any


def geometry(place: Any) -> Mapping[str, Any]:
    """The GeoJSON geometry of a mapping or of anything with `__geo_interface__`.

    Of a feature its geometry counts.
    """
    value = getattr(place, "__geo_interface__", place)
    if isinstance(value, Mapping) and value.get("type") == "Feature":
        value = value.get("geometry")
    if not isinstance(value, Mapping) or "coordinates" not in value:
        raise TypeError(f"{type(place).__name__} is no GeoJSON geometry and has no __geo_interface__")
    return {name: value[name] for name in ("type", "coordinates", "bbox") if name in value}


def point(place: Point) -> GeoPoint:
    """A GeoPoint of whatever stands for one."""
    if isinstance(place, GeoPoint):
        return place
    if isinstance(place, Sequence) and len(place) == 2:
        return GeoPoint(place[0], place[1])
    value = geometry(place)
    if value.get("type") != "Point":
        raise TypeError(f"a point is needed, not a {value.get('type')}")
    longitude, latitude, *_ = value["coordinates"]
    return GeoPoint(latitude, longitude)


def place_json(place: Any) -> Any:
    """The JSON by which an object holds a place, or a clause names it."""
    if isinstance(place, (GeoPoint, Circle, Shape, Reference)):
        return place.to_json()
    if isinstance(place, Mapping) and "_type" in place:
        return place
    value = geometry(place)
    return point(place).to_json() if value.get("type") == "Point" else Shape(value).to_json()


def m(length: float) -> float:
    """Metres."""
    return length


def km(length: float) -> float:
    """Kilometres in metres."""
    return length * 1_000


def mi(length: float) -> float:
    """Statute miles in metres."""
    return length * 1_609.344


def nmi(length: float) -> float:
    """Nautical miles in metres."""
    return length * 1_852


def ft(length: float) -> float:
    """Feet in metres."""
    return length * 0.3048
