"""Tables of pandas and geopandas, where these are installed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ._models import Stored
from .values import Document, GeoPoint, Shape, geometry, place_json

_COLUMNS = ("id", "latitude", "longitude", "point")


def split(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options that are of the table, and the others."""
    columns = {name: value for name, value in options.items() if name in _COLUMNS}
    return columns, {name: value for name, value in options.items() if name not in _COLUMNS}


def documents(
    frame: Any,
    *,
    id: str | None = None,
    latitude: str | None = None,
    longitude: str | None = None,
    point: str = "location",
) -> Iterator[Any]:
    """The rows of a table as documents."""
    if (latitude is None) != (longitude is None):
        raise ValueError("latitude and longitude go together")
    places = getattr(frame, "_geometry_column_name", None)
    if places is not None and frame.crs is not None and frame.crs.to_epsg() != 4326:
        frame = frame.to_crs(4326)
    names = [str(name) for name in frame.columns]
    # Through objects, numbers keep their types row by row; NaN and NaT are the absence of a value.
    rows = zip(*(frame[name].astype(object).where(frame[name].notna(), None) for name in frame.columns), strict=True)
    for row in rows:
        document = {name: _plain(value) for name, value in zip(names, row, strict=True) if value is not None}
        if places in document:
            document[point] = place_json(document.pop(places))
        if latitude is not None and longitude is not None:
            lat, lon = document.pop(latitude, None), document.pop(longitude, None)
            if lat is not None and lon is not None:
                document[point] = GeoPoint(float(lat), float(lon))
        if id is not None:
            document["_id"] = str(document.pop(id))
        yield document


def _plain(value: Any) -> Any:
    """A scalar of numpy or pandas as Python has it."""
    if hasattr(value, "to_pydatetime"):
        time = value.to_pydatetime()
        return time if time.tzinfo is not None else value.tz_localize("UTC").to_pydatetime()
    return value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value


def _documents(items: Sequence[Any]) -> list[Document]:
    return [item.document if isinstance(item, Stored) else item for item in items]


def frame(items: Sequence[Any]) -> Any:
    """A DataFrame of documents; its index has their ids."""
    import pandas

    rows = _documents(items)
    found = pandas.DataFrame.from_records([{**row, **row.get("_calculated", {})} for row in rows])
    found = found.drop(columns="_calculated", errors="ignore")
    return found.set_index("_id") if "_id" in found else found


def geo_frame(items: Sequence[Any], name: str | None) -> Any:
    """A GeoDataFrame of documents; places of the member `name` are its geometry."""
    import geopandas
    from shapely.geometry import shape

    rows = _documents(items)
    if name is None:
        places = (key for row in rows for key, value in row.items() if isinstance(value, (GeoPoint, Shape)))
        name = next(places, "location")
    table = frame(rows)
    column = table[name] if name in table else [None] * len(table)
    shapes = [shape(geometry(place)) if isinstance(place, (GeoPoint, Shape)) else None for place in column]
    table = table.drop(columns=name, errors="ignore")
    return geopandas.GeoDataFrame(table, geometry=geopandas.GeoSeries(shapes, index=table.index), crs="EPSG:4326")
