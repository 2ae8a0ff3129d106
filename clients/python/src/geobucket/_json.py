"""JSON as the service has it: exact integers, decimals by choice, places as values."""

from __future__ import annotations

import datetime
import json
import re
import secrets
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from . import values
from .errors import InvalidInput

# Python refuses to read longer integers; their digits are kept as a decimal.
_MOST_DIGITS = 640
# Stands before a decimal's digits until the text is done: no string of a document begins so.
_MARK = f"decimal-{secrets.token_hex(16)}:"
_MARKED = re.compile(f'"{_MARK}([-+.0-9A-Za-z]*)"')


class Codec:
    """Makes text of values, and values of text.

    - decimals: numbers with a fraction are read as `Decimal`, digit by digit.
    - datetimes: a `datetime` is written as milliseconds since 1970.
    """

    def __init__(self, *, decimals: bool = False, datetimes: bool = False) -> None:
        self._datetimes = datetimes
        number: Callable[[str], Any] | None = Decimal if decimals else None
        self._encoder = json.JSONEncoder(
            ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=self._other
        )
        self._decoder = json.JSONDecoder(object_hook=_place, parse_float=number)
        self._long = json.JSONDecoder(object_hook=_place, parse_float=number, parse_int=_integer)

    def encode(self, value: Any) -> bytes:
        """- Raises: `InvalidInput` for what JSON cannot hold."""
        try:
            text = self._encoder.encode(value)
            if _MARK in text:
                text = _MARKED.sub(r"\1", text)
            return text.encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(f"this cannot be sent as JSON: {error}") from error

    def decode(self, text: bytes) -> Any:
        """- Raises: `ValueError` for what is not JSON."""
        string = text.decode()
        try:
            return self._decoder.decode(string)
        except json.JSONDecodeError:
            raise
        except ValueError:
            return self._long.decode(string)
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error

    def _other(self, value: Any) -> Any:
        """What JSON does not know by itself."""
        if isinstance(value, Decimal):
            if not value.is_finite():
                raise ValueError(f"{value} is no number of JSON")
            return f"{_MARK}{value}"
        if isinstance(value, (values.GeoPoint, values.Shape, values.Circle, values.Reference)):
            return value.to_json()
        if isinstance(value, datetime.datetime):
            return self._milliseconds(value)
        if hasattr(value, "__geo_interface__"):
            return values.place_json(value)
        if isinstance(value, Mapping):
            return dict(value)
        if hasattr(value, "tolist"):
            return value.tolist()
        raise TypeError(f"{type(value).__name__} is not a value of JSON")

    def _milliseconds(self, time: datetime.datetime) -> int:
        if not self._datetimes:
            raise TypeError("a datetime is sent as milliseconds only with connect(…, datetimes=True)")
        return milliseconds(time)


def milliseconds(time: datetime.datetime) -> int:
    """Milliseconds since 1970 of a time that knows its zone."""
    if time.tzinfo is None:
        raise ValueError(f"{time} has no time zone")
    return (time - _EPOCH) // datetime.timedelta(milliseconds=1)


def time_of(milliseconds: int) -> datetime.datetime:
    """The time, in UTC, of milliseconds since 1970."""
    return _EPOCH + datetime.timedelta(milliseconds=milliseconds)


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def _integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= _MOST_DIGITS else Decimal(digits)


def _place(value: dict[str, Any]) -> Any:
    """A dict of JSON, or the place that it is."""
    if "_type" not in value:
        return value
    kind = value["_type"]
    try:
        if kind == "point" and len(value) == 3:
            return values.GeoPoint(float(value["lat"]), float(value["lon"]))
        if kind == "circle" and len(value) == 4:
            return values.Circle(float(value["lat"]), float(value["lon"]), float(value["radius"]))
        if kind == "shape" and "coordinates" in value and "type" in value:
            return values.Shape({name: member for name, member in value.items() if name != "_type"})
    except (KeyError, TypeError, ValueError):
        pass
    return value
