"""Figures of all objects that a query finds: the arguments of `aggregate`.

shops.find(F("open") == True).aggregate(n=agg.count(), kinds=agg.group("kind"))
"""

from __future__ import annotations

from typing import Any


def count() -> dict[str, Any]:
    """The number of objects."""
    return {"type": "COUNT"}


def group(field: str, limit: int | None = None) -> dict[str, Any]:
    """The values of a field with how many objects have each, the most frequent first (50, or `limit`).

    The figure is `{"values": [{"value", "count"}, …], "other": N, "without": N}`.
    """
    return {"type": "GROUP", "field": field, **({} if limit is None else {"limit": limit})}


def min(field: str) -> dict[str, Any]:
    """The least number, None of no numbers."""
    return {"type": "MIN", "field": field}


def max(field: str) -> dict[str, Any]:
    """The greatest number."""
    return {"type": "MAX", "field": field}


def sum(field: str) -> dict[str, Any]:
    """The sum of the numbers."""
    return {"type": "SUM", "field": field}


def avg(field: str) -> dict[str, Any]:
    """The mean of the numbers."""
    return {"type": "AVG", "field": field}
