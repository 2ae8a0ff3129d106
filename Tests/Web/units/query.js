import { choices, clauseOf, isComplete, rowOf } from "/map/operators.js";
import { bucketQuery, calculated, clauseOfRows, distanceName, emptyQuery, freeDistanceName, orderOfDocument, ownPath, rowOfPath, rowsOfClause, withoutPlace } from "/map/query.js";
import { filterExpression } from "/map/filter.js";
import { commandLine } from "/map/shell.js";
import { fragmentOf, emptyView } from "/map/address.js";
import { clauses } from "./clauses.js";
import { equal, holds, test } from "./check.js";

const eq = (field, value) => ({ type: "eq", field, value });
const middle = { lat: 35.7, lon: 139.8 };
const shown = (value) => JSON.stringify(value);

/** What the form may leave out or unwrap without changing the meaning. */
function plain(clause) {
  if (Array.isArray(clause)) return clause.map(plain);
  if (typeof clause !== "object" || clause === null || "digits" in clause) return clause;
  return Object.fromEntries(Object.entries(clause).filter(([name, value]) => !(name.endsWith("Included") && value === true))
    .map(([name, value]) => [name, plain(value)]).sort(([a], [b]) => (a < b ? -1 : 1)));
}

test("Every clause becomes rows, and its rows become the clause", () => {
  for (let seed = 1; seed <= 400; seed += 1) {
    const clause = clauses(seed).clause();
    const back = clauseOfRows(rowsOfClause(clause)).clause;
    const expected = clause.type === "all" ? undefined : clause;
    equal(shown(plain(back)), shown(plain(expected)), `seed ${seed}:`);
  }
});

test("Rows are stable: a clause of rows becomes the same rows", () => {
  for (let seed = 1; seed <= 400; seed += 1) {
    const once = clauseOfRows(rowsOfClause(clauses(seed).clause())).clause;
    const twice = clauseOfRows(rowsOfClause(once)).clause;
    equal(shown(twice), shown(once), `seed ${seed}:`);
  }
});

test("A clause that no operator says stays as it is", () => {
  for (const clause of [{ type: "eq", field: "a", value: [1] }, { type: "eq", field: "a" }, { type: "near", field: "a" }, { type: "eq", field: "a", value: 1, extra: 2 },
    { type: "not", clause: { type: "and", clauses: [] } }, { type: "and", clauses: [] }, { type: "geodistance", field: "a", center: { lat: 1, lon: 2 }, radius: 5 }, 7, "x", []]) {
    equal(rowOf(clause), { raw: clause });
    equal(clauseOf({ raw: clause }), clause);
  }
});

test("A row without its value is no part of the query yet", () => {
  const rows = [{ field: "a", operator: "eq", negated: false }, { field: "b", operator: "eq", negated: false, value: 1 },
    { field: "c", operator: "between", negated: false, value: 1 }, { field: "d", operator: "circle", negated: false, radius: 5 },
    { field: "e", operator: "between", negated: false, value: 1, upper: "x" }, { field: "f", operator: "in", negated: false, value: [] }];
  equal(rows.map(isComplete), [false, true, false, false, false, false]);
  equal(clauseOfRows({ match: "and", rows }), { clause: eq("b", 1), used: [rows[1]] });
});

test("A false value and an empty text are values", () => {
  equal(clauseOfRows({ match: "and", rows: [{ field: "a", operator: "eq", negated: false, value: false }] }).clause, eq("a", false));
  equal(clauseOfRows({ match: "and", rows: [{ field: "a", operator: "prefix", negated: true, value: "" }] }).clause, { type: "not", clause: { type: "prefix", field: "a", prefix: "" } });
});

test("The operators offered fit the types of the field", () => {
  const ids = (...types) => new Set(choices(new Set(types)).map(({ id }) => id));
  holds(ids("STRING").has("prefix") && !ids("STRING").has("circle"), "texts");
  holds(!ids("INTEGER").has("prefix") && ids("DECIMAL").has("between"), "numbers");
  holds(!ids("BOOLEAN").has("atLeast") && ids("BOOLEAN").has("eq"), "booleans");
  holds(ids("GEOPOINT").has("circle") && ids("GEOPOINT").has("corridor") && !ids("GEOPOINT").has("eq"), "places");
  holds(ids("ARRAY").has("contains") && !ids("ARRAY").has("atMost"), "arrays");
  for (const type of ["STRING", "NULL", "OBJECT", "GEOPOINT"]) holds(ids(type).has("exists") && ids(type).has("null") && ids(type).has("type"), type);
});

test("Nearest first orders by the clause's distance, else by the distance from the middle of the map", () => {
  const circle = { field: "at", operator: "circle", negated: false, center: { _type: "point", lat: 1, lon: 2 }, radius: 5, putDistanceInto: "d" };
  const with_ = (rows, order = { by: "near", descending: false }) => bucketQuery({ match: "and", rows, order }, { geoField: "at", middle });
  equal(with_([circle]).orderBy, "_calculated.d");
  const alone = with_([]);
  equal(alone, { clause: { type: "geodistance", field: "at", center: { _type: "point", ...middle }, putDistanceInto: "distance" }, orderBy: "_calculated.distance" });
  const row = { field: "a", operator: "eq", negated: false, value: 1 };
  equal(with_([row, row]).clause.clauses.length, 3);
  equal(with_([row], { by: "near", descending: true }).descending, true);
  equal(bucketQuery({ match: "or", rows: [row, row], order: { by: "near" } }, { geoField: "at", middle }).clause.clauses[0].type, "or");
  equal(bucketQuery({ ...emptyQuery(), rows: [row] }, { geoField: null, middle }), { clause: eq("a", 1) });
});

test("Other orders are what they say", () => {
  const order = (order) => bucketQuery({ match: "and", rows: [], order }, { geoField: "at", middle });
  equal(order({ by: "created" }), {});
  equal(order({ by: "field", field: "n", descending: true }), { orderBy: "n", descending: true });
  equal(order({ by: "keys", keys: [{ field: "a" }, { field: "b", descending: true }] }), { orderBy: [{ field: "a" }, { field: "b", descending: true }] });
  equal(orderOfDocument({ orderBy: "n" }), { by: "field", field: "n", descending: false });
  equal(orderOfDocument({}), null);
});

test("Distances are found wherever they stand, and new ones get a free name", () => {
  const near = { type: "geodistance", field: "a", center: { _type: "point", lat: 0, lon: 0 }, radius: 1, putDistanceInto: "distance" };
  const clause = { type: "or", clauses: [eq("x", 1), { type: "not", clause: near }] };
  equal(distanceName(clause), "distance");
  equal(calculated({ type: "geocorridor", putAlongInto: "p" }).map(({ name }) => name), ["p"]);
  equal(distanceName({ type: "geocorridor", putAlongInto: "p" }), undefined);
  equal(freeDistanceName([]), "distance");
  equal(freeDistanceName([rowOf(near), { raw: { ...near, putDistanceInto: "distance2" } }]), "distance3");
});

test("An error's path leads to its row, incomplete ones not counted", () => {
  const rows = [{ field: "a", operator: "eq", negated: false }, { field: "b", operator: "eq", negated: false, value: 1 }, { field: "c", operator: "eq", negated: false, value: 2 }];
  const query = { match: "and", rows, order: { by: "created" } };
  equal(rowOfPath("bucketQuery.clause.clauses[1].value", query), rows[2]);
  equal(rowOfPath("bucketQuery.clause.value", { ...query, rows: rows.slice(0, 2) }), rows[1]);
  equal(rowOfPath("bucketQuery.clause.clauses[7]", query), null);
  equal(rowOfPath("bucketQuery.orderBy", query), null);
  equal(rowOfPath(null, query), null);
});

test("Any JSON can be typed as a clause: it is kept, and shown, for the service to refuse", () => {
  const junk = [null, 7, "x", true, [], {}, { type: null }, { type: "and" }, { type: "and", clauses: 5 }, { type: "and", clauses: [null, {}] }, { type: "not" }, { type: "not", clause: null },
    { type: "or", clauses: [{ type: "and", clauses: [] }, 3] }, { type: "in", field: "a" }, { type: "in", field: 5, values: [{}] }, { type: "range", field: "a", lowerLimit: {} },
    { type: "range", field: "a" }, { type: "prefix", field: "a", prefix: 5 }, { type: "geobox", field: "a", box: {} }, { type: "geodistance", field: "a", center: null, radius: "x" },
    { type: "geopolygon", field: "a", polygon: { type: "Polygon", coordinates: [5] } }, { type: "geocorridor", field: "a", line: { type: "LineString", coordinates: [] }, width: 1 },
    { type: "eq", field: "a", value: 1, more: 2 }, { type: "and", clauses: [{ type: "eq", field: "a", value: 1 }], more: 1 }];
  for (const clause of junk) {
    const note = JSON.stringify(clause);
    const query = { ...rowsOfClause(clause), order: { by: "near", descending: false } };
    equal(clauseOfRows(query).clause, clause, note);
    equal(bucketQuery({ ...query, order: { by: "created" } }, { geoField: "at", middle }), { clause }, note);
    const nearest = bucketQuery(query, { geoField: "at", middle });
    equal(JSON.stringify(nearest).includes(Array.isArray(clause?.clauses) && clause.clauses.length > 0 ? JSON.stringify(clause.clauses[0]) : note), true, note);
    holds(commandLine({ bucket: "b2", bucketQuery: nearest, limit: 5, server: "127.0.0.1:4362" }).includes("--clause "), note);
    equal(filterExpression(clause), null, note);
    holds(fragmentOf({ ...emptyView(), query }).includes("clause="), note);
  }
});

test("What nearest first leaves out is what has neither a point nor, where there are some, an array in the geo field", () => {
  const other = (fieldType) => ({ type: "not", clause: { type: "hasField", field: "at", fieldType } });
  equal(withoutPlace({}, { geoField: "at", hasArrays: false }), other("GEOPOINT"));
  const both = { type: "and", clauses: [eq("a", 1), eq("b", 2)] };
  equal(withoutPlace({ clause: both }, { geoField: "at", hasArrays: true }),
    { type: "and", clauses: [eq("a", 1), eq("b", 2), other("GEOPOINT"), other("ARRAY")] });
});

test("The path of an error is that in the query's own clause, to which nearest first adds another", () => {
  const path = "bucketQuery.clause.clauses[0].clauses[1].radius";
  equal(ownPath(path, { type: "or", clauses: [eq("a", 1), eq("b", 2)] }), "bucketQuery.clause.clauses[1].radius");
  equal(ownPath("bucketQuery.clause.clauses[0].value", eq("a", [])), "bucketQuery.clause.value");
  equal(ownPath("bucketQuery.clause.clauses[1].value", { type: "and", clauses: [eq("a", 1), eq("b", 2)] }), "bucketQuery.clause.clauses[1].value");
  equal(ownPath(null, undefined), null);
});
