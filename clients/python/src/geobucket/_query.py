"""Queries: which objects of a bucket, in which order, how many, and what is asked of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from . import clauses
from ._calls import Repeat
from ._faces import Source, operation
from ._models import Model
from ._writes import write_key
from .clauses import Clause
from .values import Document

Out = TypeVar("Out")
Q = TypeVar("Q", bound="QueryOperations[Any]")


@dataclass(frozen=True, slots=True)
class Page(Generic[Out]):
    """Some objects of a query, and the key by which the next page is asked for; None if there is none.

    - hints: why nothing was found, as `docs/protocol.md` has it, if it was asked.
    """

    objects: list[Out]
    next: str | None
    description: str
    hints: list[Document]


async def read(source: Source, method: str, params: Mapping[str, Any]) -> Any:
    """The result of a call that only reads."""
    link = source.link
    return await link.call(method, link.session.codec.encode(params), Repeat.FREELY)


class QueryOperations(Generic[Out]):
    """A query, which is never changed: each method that says more of it returns another one."""

    _source: Source

    def __init__(self, source: Any, bucket: str, model: Model[Any, Out], clause: Clause | None) -> None:
        self._source = source
        self._bucket = bucket
        self._model = model
        self._clause: Mapping[str, Any] | None = None if clause is None else clause.json
        self._order: list[tuple[str, bool]] = []
        self._limit: int | None = None
        self._page_size: int | None = None
        self._fields: list[str] | None = None
        self._at_least: int | None = None

    def _with(self: Q, **changes: Any) -> Q:
        query = self.__class__.__new__(self.__class__)
        query.__dict__.update(self.__dict__, **{f"_{name}": value for name, value in changes.items()})
        return query

    # What it says

    def order_by(self: Q, *fields: str) -> Q:
        """By fields, the first most significant; `-score` has large values first.

        A distance is `_calculated.` and its name.
        """
        return self._with(order=[(field.removeprefix("-"), field.startswith("-")) for field in fields])

    def nearest(self: Q) -> Q:
        """By the first distance in the clause. If it has no name it gets the name `distance`."""
        clause = self._clause or {}
        name = clauses.distance_name(clause)
        if name is None:
            name = "distance"
            clause, found = clauses.with_distance(clause, name)
            if not found:
                raise ValueError("nearest needs a clause with a distance: F(…).within(…) or along(…)")
        return self._with(clause=clause, order=[(f"_calculated.{name}", False)])

    def limit(self: Q, objects: int) -> Q:
        """At most so many objects, all pages together."""
        if objects < 1:
            raise ValueError(f"the limit is {objects}, and must be at least 1")
        return self._with(limit=objects)

    def page_size(self: Q, objects: int) -> Q:
        """At most so many objects in a page; the service has a limit of its own, 200."""
        return self._with(page_size=objects)

    def fields(self: Q, *names: str) -> Q:
        """Only these first-level members, `_id` and `_calculated`; without a name only those two."""
        return self._with(fields=list(names))

    def at_least(self: Q, change: int) -> Q:
        """At a node of a cluster with local reads: waits until it has this change."""
        return self._with(at_least=change)

    # Questions

    @operation
    async def page(self, key: str | None = None, *, hints: bool = False) -> Page[Out]:
        """One page: the first, or the one after that which had this key."""
        return await self._page(key, self._limit, hints)

    @operation
    async def first(self) -> Out | None:
        """The first object; None if there is none."""
        page = await self._page(None, 1)
        return page.objects[0] if page.objects else None

    @operation
    async def count(self) -> int:
        """How many objects the clause selects; the order and the limit are of no account."""
        answer = await read(self._source, "bucket.count", self._question(order=False))
        return int(answer["count"])

    @operation
    async def aggregate(self, /, **figures: Mapping[str, Any]) -> dict[str, Any]:
        """Figures of all objects that the clause selects, by name: `aggregate(n=agg.count())`."""
        params = self._question(order=False)
        asked = [{**figure, "putAggregationInto": name} for name, figure in figures.items()]
        params["bucketQuery"] = {**params.get("bucketQuery", {}), "aggregations": asked}
        answer = await read(self._source, "bucket.query", params)
        return dict(answer["aggregations"])

    @operation
    async def explain(self, *, analyze: bool = False) -> dict[str, Any]:
        """How the query runs; with `analyze` also what was visited and how long it took."""
        params = self._question() | self._size(self._limit) | ({"analyze": True} if analyze else {})
        answer: dict[str, Any] = await read(self._source, "bucket.explain", params)
        return answer

    @operation
    async def clusters(
        self,
        field: str | None = None,
        *,
        zoom: int | None = None,
        box: tuple[float, float, float, float] | None = None,
        tile: str | None = None,
        bits: int | None = None,
        objects: int | None = None,
        if_state: str | None = None,
    ) -> dict[str, Any]:
        """The objects counted by the cells of a map: of a `zoom` and a box (south, west, north, east), or a `tile`."""
        given = {
            "field": field,
            "zoom": zoom,
            "tile": tile,
            "bits": bits,
            "objects": objects,
            "ifState": if_state,
            "box": None if box is None else clauses.box_json(box),
        }
        params = self._question(order=False) | {name: value for name, value in given.items() if value is not None}
        answer: dict[str, Any] = await read(self._source, "bucket.clusters", params)
        return answer

    @operation
    async def delete(self, *, dry_run: bool = False) -> int:
        """Deletes all objects that the clause selects, at one moment, and returns how many there were.

        With `dry_run` nothing is deleted.
        """
        params = self._question(order=False)
        params.setdefault("bucketQuery", {"clause": clauses.ALL.json})
        if dry_run:
            return int((await read(self._source, "bucket.deleteWhere", params | {"dryRun": True}))["matches"])
        answer = await read(self._source, "bucket.deleteWhere", params | {"requestKey": write_key()})
        return int(answer["deleted"])

    # What is sent

    def _question(self, order: bool = True) -> dict[str, Any]:
        """The params of a question, without the size of a page."""
        params: dict[str, Any] = {"bucket": self._bucket}
        query: dict[str, Any] = {} if self._clause is None else {"clause": self._clause}
        if order and self._order:
            query["orderBy"] = [
                {"field": field, "descending": True} if descending else {"field": field}
                for field, descending in self._order
            ]
        if query:
            params["bucketQuery"] = {"clause": clauses.ALL.json, **query}
        if order and self._fields is not None:
            params["fields"] = self._fields
        if self._at_least is not None:
            params["atLeast"] = self._at_least
        return params

    def _size(self, wanted: int | None) -> dict[str, int]:
        sizes = [size for size in (wanted, self._page_size) if size is not None]
        return {"bestEffortLimit": min(sizes)} if sizes else {}

    async def _page(self, key: str | None, wanted: int | None, hints: bool = False) -> Page[Out]:
        params = self._question() | self._size(wanted)
        if key is not None:
            params["paginationKey"] = key
        if hints:
            params["hints"] = True
        answer = await read(self._source, "bucket.query", params)
        objects = [self._model.read(document) for document in answer["results"]]
        return Page(
            objects, answer.get("nextPaginationKey"), answer.get("queryDescription", ""), answer.get("hints", [])
        )

    async def _pages(self) -> AsyncGenerator[list[Out], None]:
        """All pages, each asked for when it is wanted."""
        key, wanted = None, self._limit
        while wanted is None or wanted > 0:
            page = await self._page(key, wanted)
            yield page.objects
            key = page.next
            if key is None:
                return
            wanted = None if wanted is None else wanted - len(page.objects)
