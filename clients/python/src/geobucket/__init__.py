"""A client for GeoBucket, a service for objects with places.

    import geobucket
    from geobucket import F, GeoPoint, km

    with geobucket.connect("localhost:4362") as db:
        shops = db["shops"]
        shops.put("kiosk", {"name": "Kiosk", "open": True, "location": GeoPoint(35.6586, 139.7454)})
        near = F("location").within(km(5), of=(35.6812, 139.7671), into="d")
        for shop in shops.find(near & (F("open") == True)).nearest().limit(20):
            print(shop["name"], shop["_calculated"]["d"])

`geobucket.aio` has the same names for asyncio.
"""

from . import agg, aio
from ._blocking import Bucket, Database, Query, Watch, connect
from ._models import Stored
from ._query import Page
from ._states import Event, State
from ._watch import Pair
from ._writes import Written
from .clauses import ALL, Clause, F, match, raw
from .errors import (
    Conflict,
    Disconnected,
    GeoBucketError,
    InvalidInput,
    NotAllowed,
    NotFound,
    Timeout,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from .values import Circle, Document, GeoPoint, Reference, Shape, ft, km, m, mi, nmi

__version__ = "0.1.0"

__all__ = [
    "ALL",
    "Bucket",
    "Circle",
    "Clause",
    "Conflict",
    "Database",
    "Disconnected",
    "Document",
    "Event",
    "F",
    "GeoBucketError",
    "GeoPoint",
    "InvalidInput",
    "NotAllowed",
    "NotFound",
    "Page",
    "Pair",
    "Query",
    "Reference",
    "Shape",
    "State",
    "Stored",
    "Timeout",
    "TooManyRequests",
    "Unauthorized",
    "Unavailable",
    "Watch",
    "Written",
    "agg",
    "aio",
    "connect",
    "ft",
    "km",
    "m",
    "match",
    "mi",
    "nmi",
    "raw",
]
