// Clauses at random, of every type that the language has.
import { random } from "./check.js";
import { ExactInteger } from "/map/exact.js";

export function clauses(seed) {
  const next = random(seed);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const plain = () => pick(["a", "", "it's", 'say "x"', "and", "true", "12", " x ", "a,b", "日本", 1, -2.5, 1e21, 0, true, false, new ExactInteger("12345678901234567890")]);
  const field = () => pick(["name", "runway_m", "address.city", "a b", "and", "`x`", "_id", "naïve", "point", 'q"q', "back\\slash"]);
  const point = () => ({ _type: "point", lat: pick([35.68, -33.9, 0, 90]), lon: pick([139.77, -180, 180, 0.5]) });
  const limit = () => pick([{ lowerLimit: 1 }, { upperLimit: "x" }, { lowerLimit: 1, upperLimit: 2.5 }, { lowerLimit: "a", upperLimit: "b", upperIncluded: false },
    { lowerLimit: 3, lowerIncluded: false }, { upperLimit: 3, upperIncluded: false }, { lowerLimit: 1, lowerIncluded: false, upperLimit: 2, upperIncluded: false }]);
  const ring = [[139.7, 35.6], [139.8, 35.6], [139.8, 35.7], [139.7, 35.6]];
  const leaves = [
    () => ({ type: "eq", field: field(), value: pick([plain(), null, point()]) }),
    () => ({ type: "range", field: field(), ...limit() }),
    () => ({ type: "prefix", field: field(), prefix: pick(["", "a", "it's", "12", "or"]) }),
    () => ({ type: "in", field: field(), values: [plain(), pick([plain(), null])] }),
    () => ({ type: "hasField", field: field() }),
    () => ({ type: "hasField", field: field(), fieldType: pick(["STRING", "GEOPOINT", "NULL"]) }),
    () => ({ type: "contains", field: field(), value: pick([plain(), null]) }),
    () => ({ type: "geobox", field: "location", box: { ne: { ...point(), lat: 90 }, sw: { ...point(), lat: -20 } } }),
    () => ({ type: "geodistance", field: pick(["location", "home"]), center: point(), ...pick([{ radius: 5000 }, {}, { radius: 1234.5, putDistanceInto: "distance" },
      { radius: 10, putDistanceInto: "d", model: "wgs84" }, { putDistanceInto: "distance" }]) }),
    () => ({ type: "geopolygon", field: "location", polygon: pick([{ type: "Polygon", coordinates: [ring] }, { type: "MultiPolygon", coordinates: [[ring]] }]) }),
    () => ({ type: "geocorridor", field: "location", line: { type: "LineString", coordinates: ring.slice(0, 3) }, width: 2000, ...pick([{}, { putAlongInto: "a" }]) }),
    () => ({ type: "all" }),
  ];
  const clause = (depth) => {
    const kind = next();
    if (depth === 0 || kind < 0.5) return pick(leaves)();
    if (kind < 0.65) return { type: "not", clause: clause(depth - 1) };
    return { type: pick(["and", "or"]), clauses: Array.from({ length: 1 + Math.floor(next() * 3) }, () => clause(depth - 1)) };
  };
  return { clause: () => clause(3) };
}
