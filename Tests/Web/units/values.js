import { ExactInteger, parseJSON } from "/map/exact.js";
import { byKey, compareValues, nameField, placesOf, typeOf, valueAt } from "/map/values.js";
import { equal, holds, test } from "./check.js";

const point = (lat, lon) => ({ _type: "point", lat, lon });

test("A whole number beyond 2^53 keeps its digits from the answer to the request", () => {
  const text = '{"a":12345678901234567890,"b":[-9223372036854775808,1.5],"c":9007199254740991}';
  const parsed = parseJSON(text);
  holds(parsed.a instanceof ExactInteger, "a number lost its digits");
  equal(String(parsed.a), "12345678901234567890");
  holds(typeof parsed.c === "number", "a number that fits needs no digits");
  holds(JSON.stringify(parsed) === text, JSON.stringify(parsed));
});

test("Every value has the type that hasField gives it", () => {
  const cases = { STRING: ["", "x"], INTEGER: [1, -0, 1e300, new ExactInteger("18446744073709551615")], DECIMAL: [0.5], BOOLEAN: [true],
    NULL: [null], ARRAY: [[], [point(1, 2)]], GEOPOINT: [point(0, 0)], OBJECT: [{}, { _type: "file" }, { lat: 1, lon: 2 }] };
  for (const [type, values] of Object.entries(cases)) for (const value of values) equal(typeOf(value), type);
});

test("A path reads a nested field, and a first-level name with dots comes first", () => {
  equal(valueAt({ address: { city: "Oslo" } }, "address.city"), "Oslo");
  equal(valueAt({ address: { city: "Oslo" }, "address.city": "Bergen" }, "address.city"), "Bergen");
  equal(valueAt({ location: point(1, 2) }, "location.lat"), 1);
  for (const path of ["a.b", "list.0", "text.length", "constructor", "__proto__", "big.digits"]) {
    equal(valueAt({ a: 1, list: [1], text: "x", big: new ExactInteger("9007199254740993") }, path), undefined, path);
  }
});

test("An object has one place, those of an array, or none", () => {
  equal(placesOf({ at: point(1, 2) }, "at"), [point(1, 2)]);
  equal(placesOf({ at: [point(1, 2), 7, [point(5, 6)], point(3, 4)] }, "at"), [point(1, 2), point(3, 4)]);
  equal(placesOf({ depot: { at: point(1, 2) } }, "depot.at"), [point(1, 2)]);
  for (const object of [{}, { at: null }, { at: {} }, { at: [] }]) equal(placesOf(object, "at"), []);
  equal(placesOf({ at: point(1, 2) }, null), []);
});

test("Values are ordered as queries order them", () => {
  const ascending = [null, false, true, -1.5, 0, 2, 9007199254740992, new ExactInteger("9007199254740993"), 1e300, "", "A", "a", "\uE000", "😀",
    point(-1, 5), point(1, -180), point(1, 179), [1]];
  ascending.forEach((a, i) => ascending.forEach((b, j) => {
    equal(Math.sign(compareValues(a, b)), Math.sign(i - j), `${JSON.stringify(a)} and ${JSON.stringify(b)}:`);
  }));
  equal(compareValues(point(1, 180), point(1, -180)), 0);
  equal(compareValues(1, 1.0), 0);
});

test("Objects without the field come last in both directions", () => {
  const objects = [{ _id: "a" }, { _id: "b", n: 1 }, { _id: "c", n: 2 }];
  const ids = (descending) => [...objects].sort(byKey((object) => object.n, descending)).map(({ _id }) => _id);
  equal([ids(false), ids(true)], [["b", "c", "a"], ["c", "b", "a"]]);
});

test("The field that names an object is the usual one, else the first text", () => {
  const text = (field) => ({ field, types: { STRING: 3 } });
  equal(nameField([text("city"), text("name"), text("_id")]), "name");
  equal(nameField([text("zone.name"), text("colour")]), "colour");
  equal(nameField([{ field: "n", types: { INTEGER: 1 } }]), null);
});
