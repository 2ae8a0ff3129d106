// The operators of the query builder: for which types of values each is, and its clause.
//
// A row of the builder is {field, operator, negated, …what the operator takes} or {raw: clause}.
import { isNumber } from "./exact.js";
import { isPoint } from "./values.js";

const COMPARABLE = ["STRING", "INTEGER", "DECIMAL"];
const PLAIN = [...COMPARABLE, "BOOLEAN"];
const ANY = null;

const isPlain = (value) => typeof value === "string" || typeof value === "boolean" || isNumber(value);
const isLimit = (value) => typeof value === "string" || isNumber(value);
const isOneKind = (a, b) => isNumber(a) === isNumber(b);
const hasOnly = (clause, ...names) => Object.keys(clause).every((name) => name === "type" || names.includes(name));

/** A range with one limit: its name in the clause, and whether it is included. */
function limit(id, label, notLabel, side, isIncluded) {
  const [member, flag] = [`${side}Limit`, `${side}Included`];
  return {
    id, label, notLabel, types: COMPARABLE, inputs: "value",
    isComplete: (row) => isLimit(row.value),
    clause: (row) =>
      ({ type: "range", field: row.field, [member]: row.value, ...(isIncluded ? {} : { [flag]: false }) }),
    row: (clause) => clause.type === "range" && hasOnly(clause, "field", member, flag) && isLimit(clause[member])
      && (clause[flag] ?? true) === isIncluded ? { value: clause[member] } : null,
  };
}

/** A range with both limits; the lower one is always included. */
function between(id, label, notLabel, isUpperIncluded) {
  return {
    id, label, notLabel, types: COMPARABLE, inputs: "range",
    isComplete: (row) => isLimit(row.value) && isLimit(row.upper) && isOneKind(row.value, row.upper),
    clause: (row) => ({ type: "range", field: row.field, lowerLimit: row.value, upperLimit: row.upper,
      ...(isUpperIncluded ? {} : { upperIncluded: false }) }),
    row: (clause) => clause.type === "range"
      && hasOnly(clause, "field", "lowerLimit", "upperLimit", "lowerIncluded", "upperIncluded")
      && isLimit(clause.lowerLimit) && isLimit(clause.upperLimit) && (clause.lowerIncluded ?? true) === true
      && (clause.upperIncluded ?? true) === isUpperIncluded
      ? { value: clause.lowerLimit, upper: clause.upperLimit } : null,
  };
}

/** Whether the field is there, or is null. */
function state(id, label, notLabel, type, members, types) {
  return {
    id, label, notLabel, types, inputs: "none",
    isComplete: () => true,
    clause: (row) => ({ type, field: row.field, ...members }),
    row: (clause) => clause.type === type && hasOnly(clause, "field", ...Object.keys(members))
      && Object.entries(members).every(([name, value]) => clause[name] === value) ? {} : null,
  };
}

const text = (id, label, notLabel, member, types) => ({
  id, label, notLabel, types, inputs: "value",
  isComplete: (row) => (id === "prefix" ? typeof row.value === "string" : isPlain(row.value) || row.value === null),
  clause: (row) => ({ type: id, field: row.field, [member]: row.value }),
  row: (clause) => clause.type === id && hasOnly(clause, "field", member)
    && (id === "prefix" ? typeof clause[member] === "string" : isPlain(clause[member]) || clause[member] === null)
    ? { value: clause[member] } : null,
});

/** Those of an object's members that it has. */
const picked = (object, names) =>
  Object.fromEntries(names.filter((name) => object[name] !== undefined).map((name) => [name, object[name]]));

/** A shape on the map: the members that its clause has besides the field. */
const shape = (id, label, notLabel, type, required, optional = []) => ({
  id, label, notLabel, types: ["GEOPOINT"], inputs: "shape",
  isComplete: (row) => required.every((name) => row[name] !== undefined),
  clause: (row) => ({ type, field: row.field, ...picked(row, [...required, ...optional]) }),
  row: (clause) => clause.type === type && hasOnly(clause, "field", ...required, ...optional)
    && required.every((name) => isShapeMember(name, clause[name])) ? picked(clause, [...required, ...optional]) : null,
});

const isPosition = (value) =>
  Array.isArray(value) && value.length >= 2 && value.every((part) => typeof part === "number");
const isRings = (value) => Array.isArray(value) && value.length > 0
  && value.every((ring) => Array.isArray(ring) && ring.length > 0 && ring.every(isPosition));

function isShapeMember(name, value) {
  switch (name) {
    case "center": return isPoint(value);
    case "box": return isPoint(value?.sw) && isPoint(value?.ne) && Object.keys(value).length === 2;
    case "radius": case "width": return typeof value === "number";
    case "line": return value?.type === "LineString" && Array.isArray(value.coordinates)
      && value.coordinates.length > 0 && value.coordinates.every(isPosition);
    case "polygon": return (value?.type === "Polygon" && isRings(value.coordinates))
      || (value?.type === "MultiPolygon" && Array.isArray(value.coordinates) && value.coordinates.every(isRings));
    default: return false;
  }
}

export const OPERATORS = [
  { id: "eq", label: "is", notLabel: "is not", types: PLAIN, inputs: "value",
    isComplete: (row) => isPlain(row.value),
    clause: (row) => ({ type: "eq", field: row.field, value: row.value }),
    row: (clause) => (clause.type === "eq" && hasOnly(clause, "field", "value") && isPlain(clause.value)
      ? { value: clause.value } : null) },
  text("prefix", "begins with", "does not begin with", "prefix", ["STRING"]),
  text("contains", "contains", "does not contain", "value", ["STRING", "ARRAY"]),
  limit("atLeast", "≥", null, "lower", true),
  limit("above", ">", null, "lower", false),
  limit("atMost", "≤", null, "upper", true),
  limit("below", "<", null, "upper", false),
  between("between", "from … to …", "not from … to …", true),
  between("until", "from … to below …", null, false),
  { id: "in", label: "is one of", notLabel: "is none of", types: PLAIN, inputs: "list",
    isComplete: (row) => Array.isArray(row.value) && row.value.length > 0,
    clause: (row) => ({ type: "in", field: row.field, values: row.value }),
    row: (clause) => (clause.type === "in" && hasOnly(clause, "field", "values") && Array.isArray(clause.values)
      && clause.values.every((value) => isPlain(value) || value === null) ? { value: clause.values } : null) },
  shape("circle", "lies in a circle", "lies outside a circle", "geodistance", ["center", "radius"],
    ["putDistanceInto", "model"]),
  shape("box", "lies in a box", "lies outside a box", "geobox", ["box"]),
  shape("polygon", "lies in a polygon", "lies outside a polygon", "geopolygon", ["polygon"]),
  shape("corridor", "lies along a route", "does not lie along a route", "geocorridor", ["line", "width"],
    ["putDistanceInto", "putAlongInto"]),
  shape("from", "measured from", null, "geodistance", ["center"], ["putDistanceInto", "model"]),
  state("null", "is null", "is not null", "eq", { value: null }, ANY),
  { id: "type", label: "has the type", notLabel: "has another type than", types: ANY, inputs: "type",
    isComplete: (row) => typeof row.value === "string",
    clause: (row) => ({ type: "hasField", field: row.field, fieldType: row.value }),
    row: (clause) => (clause.type === "hasField" && hasOnly(clause, "field", "fieldType")
      && typeof clause.fieldType === "string" ? { value: clause.fieldType } : null) },
  state("exists", "exists", "is missing", "hasField", {}, ANY),
];

const byID = new Map(OPERATORS.map((operator) => [operator.id, operator]));

export const operatorOf = (row) => byID.get(row.operator);

/** What the menu of operators offers for a field with values of these types. */
export function choices(types) {
  const fit = OPERATORS.filter((operator) => operator.types === ANY || types.size === 0
    || operator.types.some((type) => types.has(type)));
  return fit.flatMap(({ id, label, notLabel }) => [
    { id, negated: false, label }, ...(notLabel ? [{ id, negated: true, label: notLabel }] : [])]);
}

export const isShape = (row) => row.raw === undefined && operatorOf(row).inputs === "shape";

export const isComplete = (row) => row.raw !== undefined || (row.field !== "" && operatorOf(row).isComplete(row));

export function clauseOf(row) {
  if (row.raw !== undefined) return row.raw;
  const clause = operatorOf(row).clause(row);
  return row.negated ? { type: "not", clause } : clause;
}

/** The row that means exactly this clause; one with the clause as it is where no operator does. */
export function rowOf(clause) {
  const isNot = clause?.type === "not" && hasOnly(clause, "clause");
  return leaf(isNot ? clause.clause : clause, isNot) ?? { raw: clause };
}

function leaf(clause, negated) {
  if (typeof clause?.field !== "string") return null;
  for (const operator of OPERATORS) {
    const row = negated && !operator.notLabel ? null : operator.row(clause);
    if (row) return { field: clause.field, operator: operator.id, negated, ...row };
  }
  return null;
}
