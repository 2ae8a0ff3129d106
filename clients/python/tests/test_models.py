"""Models and tables: what is written is read again."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import importlib.util
import json
import typing
import unittest
from typing import TYPE_CHECKING, Any

import geobucket
from geobucket import Circle, F, GeoPoint, Reference, Shape, Stored, _frames
from geobucket._json import Codec
from geobucket._models import TypedModel

if TYPE_CHECKING:
    from typing_extensions import assert_type

UTC = datetime.timezone.utc
SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}


class Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Inner:
    n: int
    at: GeoPoint | None = None


@dataclasses.dataclass
class Model:
    text: str
    number: float
    flag: bool
    price: decimal.Decimal
    time: datetime.datetime
    color: Color
    inner: Inner
    inners: list[Inner]
    pair: tuple[int, str]
    names: dict[str, int]
    either: int | str | None
    kind: typing.Literal["a", "b"] = "a"
    area: Shape | Circle | None = None
    anything: Any = None


MODEL = Model(
    "é", 2.0, True, decimal.Decimal("12.10"), datetime.datetime(2026, 1, 2, 3, 4, 5, 678000, UTC), Color.RED,
    Inner(1, GeoPoint(1, 2)), [Inner(2)], (3, "x"), {"a": 1}, "text", "b", Shape(SQUARE), [1, {"b": None}],
)  # fmt: skip


def through(codec: Codec, value: Any) -> Any:
    return codec.decode(codec.encode(value))


class ModelTests(unittest.TestCase):
    def test_a_dataclass_is_read_as_it_was_written(self) -> None:
        model = TypedModel(Model)
        for codec in (Codec(), Codec(decimals=True)):
            stored = model.read({**through(codec, model.write(MODEL)), "_id": "k1", "_version": 3})
            self.assertEqual((stored.id, stored.version), ("k1", 3))
            read = stored.value
            # Without decimals a price has passed through binary64.
            self.assertEqual(read.price, MODEL.price)
            self.assertEqual(dataclasses.replace(read, price=MODEL.price), MODEL)

    def test_what_was_read_is_written_under_its_id(self) -> None:
        stored = Stored(Inner(2), {"_id": "k1", "n": 1})
        self.assertEqual(TypedModel(Inner).write(stored), {"_id": "k1", "n": 2})

    def test_none_is_left_out_and_read_again(self) -> None:
        model = TypedModel(Model)
        written = model.write(dataclasses.replace(MODEL, either=None, area=None))
        self.assertNotIn("either", written)
        self.assertIsNone(model.read(through(Codec(), written)).value.either)

    def test_another_type_is_told_with_its_path(self) -> None:
        model = TypedModel(Model)
        document = through(Codec(), model.write(MODEL))
        changes: list[tuple[str, dict[str, Any]]] = [
            ("inner.n", {"inner": {"n": "1"}}),
            ("inners[0].n", {"inners": [{"n": True}]}),
            ("flag", {"flag": 1}),
            ("number", {"number": True}),
            ("names.a", {"names": {"a": "x"}}),
            ("kind", {"kind": "c"}),
            ("text", {"text": None}),
        ]
        for path, change in changes:
            with self.subTest(path), self.assertRaises(TypeError) as caught:
                model.read({**document, **change})
            self.assertTrue(str(caught.exception).startswith(f"{path}: "), caught.exception)
        with self.assertRaises(TypeError):
            TypedModel(dict)

    @unittest.skipUnless(importlib.util.find_spec("pydantic"), "pydantic is not installed")
    def test_a_pydantic_model_is_read_as_it_was_written(self) -> None:
        import pydantic

        class Branch(pydantic.BaseModel):
            at: GeoPoint | Circle

        class Place(pydantic.BaseModel):
            name: str
            at: GeoPoint
            opened: datetime.datetime
            price: decimal.Decimal
            note: str | None = None
            code: str = pydantic.Field(alias="the-code")
            branches: list[Branch] = []

        members: dict[str, Any] = {
            "name": "Kiosk",
            "at": GeoPoint(35, 139),
            "opened": datetime.datetime(2020, 1, 2, tzinfo=UTC),
            "price": decimal.Decimal("2.50"),
            "the-code": "x",
            "branches": [Branch(at=GeoPoint(1, 2)), Branch(at=Circle(1, 2, 3))],
        }
        place = Place(**members)
        model = TypedModel(Place)
        document = through(Codec(decimals=True), model.write(place))
        self.assertEqual(document["the-code"], "x")
        self.assertEqual((document["at"], document["opened"]), (GeoPoint(35, 139), 1_577_923_200_000))
        self.assertNotIn("note", document)
        self.assertEqual(model.read(document).value, place)


class ValueTests(unittest.TestCase):
    def test_places_are_json_and_places_again(self) -> None:
        codec = Codec()
        for place, json_text in [
            (GeoPoint(1.5, -2), {"_type": "point", "lat": 1.5, "lon": -2}),
            (Circle(1, 2, 3), {"_type": "circle", "lat": 1, "lon": 2, "radius": 3}),
            (Shape(SQUARE), {"_type": "shape", **SQUARE}),
        ]:
            self.assertEqual(json.loads(codec.encode(place)), json_text)
            self.assertEqual(through(codec, [place]), [place])
        reference = {"_type": "object", "bucket": "b", "_id": "k1", "field": "f"}
        self.assertEqual(json.loads(codec.encode(Reference("b", "k1", "f"))), reference)

    def test_what_only_looks_like_a_place_stays_as_it_is(self) -> None:
        for value in [
            {"_type": "point"}, {"_type": "circle", "lat": "x", "lon": 1, "radius": 1}, {"_type": "shape"},
            {"_type": ["point"]}, {"_type": "point", "lat": 1, "lon": 2, "alt": 3},
        ]:  # fmt: skip
            self.assertEqual(through(Codec(), value), value)

    def test_decimals_keep_their_digits_among_any_text(self) -> None:
        digits = ["12.10", "0.1000", "-1E+400", "123456789012345678901234567890.5"]
        value = {"d": [decimal.Decimal(text) for text in digits], "decimal-": 'decimal-"12.10"'}
        text = Codec().encode(value).decode()
        self.assertTrue(text.startswith(f'{{"d":[{",".join(digits)}]'), text)
        self.assertEqual(through(Codec(decimals=True), value), value)

    def test_a_clause_is_no_truth(self) -> None:
        with self.assertRaises(TypeError):
            _ = (F("a") == 1) and (F("b") == 2)
        with self.assertRaises(TypeError):
            _ = F("a") == 1 & F("b") == 2  # type: ignore[operator]

    def test_nearest_names_the_distance_wherever_it_is(self) -> None:
        db = geobucket.Database(geobucket._settings.make_settings("localhost", None, (None,) * 4, {}))
        clause = (F("n") == 1) & ~(F("at").within(5, of=(1, 2)) | (F("b") == 2))
        query = db["b"].find(clause).nearest()._question()["bucketQuery"]
        self.assertEqual(query["orderBy"], [{"field": "_calculated.distance"}])
        self.assertIn('"putDistanceInto": "distance"', json.dumps(query))
        self.assertNotIn("putDistanceInto", json.dumps(clause.json), "the clause itself is not changed")
        with self.assertRaises(ValueError):
            db["b"].find(F("n") == 1).nearest()

    def test_faces_have_types(self) -> None:
        if TYPE_CHECKING:
            db = geobucket.connect()
            shops = db["shops"]
            assert_type(shops.get("k1"), dict[str, Any])
            assert_type(shops.put("k1", {}), geobucket.Written)
            assert_type(shops.typed(Inner).get("k1"), Stored[Inner])
            assert_type(shops.typed(Inner).find().first(), Stored[Inner] | None)
            assert_type(list(shops.typed(Inner).find().limit(3)), list[Stored[Inner]])
            assert_type(next(shops.watch_pairs("b", "f", 1)).objects, dict[Any, geobucket.Pair])

            async def awaits() -> None:
                riders = (await geobucket.aio.connect())["riders"]
                assert_type(await riders.get("k1"), dict[str, Any])
                assert_type(await riders.typed(Inner).get("k1"), Stored[Inner])
                assert_type(await riders.find().order_by("n").page(), geobucket.Page[dict[str, Any]])
                assert_type([x async for x in riders.typed(Inner).find()], list[Stored[Inner]])
                assert_type(await anext(riders.watch()), geobucket.State[dict[str, Any]])

        self.assertTrue(hasattr(geobucket, "__path__"))


@unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
class FrameTests(unittest.TestCase):
    def test_rows_are_documents(self) -> None:
        import pandas

        frame = pandas.DataFrame(
            {
                "code": ["HND", 7], "lat": [35.5, None], "lon": [139.7, None], "n": [1, 2], "x": [1.5, float("nan")],
                "flag": [True, False], "tags": [["a"], None], "at": pandas.to_datetime(["2026-01-02", None]),
            }
        )  # fmt: skip
        found = list(_frames.documents(frame, id="code", latitude="lat", longitude="lon"))
        time = datetime.datetime(2026, 1, 2, tzinfo=UTC)
        first = {"_id": "HND", "location": GeoPoint(35.5, 139.7), "n": 1, "x": 1.5, "flag": True, "tags": ["a"]}
        self.assertEqual(found, [{**first, "at": time}, {"_id": "7", "n": 2, "flag": False}])
        self.assertIs(type(found[0]["n"]), int)
        self.assertIs(type(found[0]["flag"]), bool)
        text = Codec(datetimes=True).encode(found)
        self.assertIn(b'"at":1767312000000', text)

    def test_documents_are_rows(self) -> None:
        rows = [{"_id": "k1", "n": 1, "_calculated": {"d": 2.5}}, {"_id": "k2", "m": "x"}]
        frame = _frames.frame(rows)
        self.assertEqual((list(frame.index), frame.loc["k1", "d"], frame.loc["k2", "m"]), (["k1", "k2"], 2.5, "x"))
        self.assertEqual(len(_frames.frame([])), 0)

    @unittest.skipUnless(importlib.util.find_spec("geopandas"), "geopandas is not installed")
    def test_places_are_geometries(self) -> None:
        import geopandas
        from shapely.geometry import Point, shape

        rows = [{"_id": "k1", "at": GeoPoint(35, 139)}, {"_id": "k2", "at": Shape(SQUARE)}, {"_id": "k3"}]
        frame = _frames.geo_frame(rows, None)
        self.assertEqual((frame.crs.to_epsg(), frame.geometry["k1"]), (4326, Point(139, 35)))
        self.assertTrue(frame.geometry["k2"].equals(shape(SQUARE)))
        self.assertIsNone(frame.geometry["k3"])
        mercator = frame.to_crs(3857).reset_index()
        found = list(_frames.documents(mercator, id="_id", point="at"))
        self.assertAlmostEqual(found[0]["at"]["lat"], 35)
        self.assertEqual((found[1]["at"]["_type"], found[2]), ("shape", {"_id": "k3"}))
        self.assertEqual(len(geopandas.GeoDataFrame(_frames.geo_frame([], None))), 0)


if __name__ == "__main__":
    unittest.main()
