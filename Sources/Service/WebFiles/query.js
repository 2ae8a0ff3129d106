// The query that the page holds: rows joined by `and` or `or`, and an order; the documents it becomes.
import { clauseOf, isComplete, rowOf } from "./operators.js";
import { point } from "./sphere.js";

/** The name of the distance from the middle of the map; the shell's --near uses it too. */
export const DISTANCE = "distance";

export const emptyQuery = () => ({ match: "and", rows: [], order: { by: "near", descending: false } });

/** The clause of the complete rows (`undefined` without one), and the rows that it has, in its order. */
export function clauseOfRows({ match, rows }) {
  const used = rows.filter(isComplete);
  const clauses = used.map(clauseOf);
  const clause = clauses.length > 1 ? { type: match, clauses } : clauses[0];
  return { clause, used };
}

/** The rows that mean this clause; every clause has some. */
export function rowsOfClause(clause) {
  if (clause === undefined || isAll(clause)) return { match: "and", rows: [] };
  const isList = (clause?.type === "and" || clause?.type === "or") && Array.isArray(clause.clauses)
    && clause.clauses.length > 1 && Object.keys(clause).length === 2;
  return isList ? { match: clause.type, rows: clause.clauses.map(rowOf) } : { match: "and", rows: [rowOf(clause)] };
}

const isAll = (clause) => clause?.type === "all" && Object.keys(clause).length === 1;

/** The names of what a clause calculates, in its order, each with the type of its clause. */
export function calculated(clause) {
  if (typeof clause !== "object" || clause === null) return [];
  const own = ["putDistanceInto", "putAlongInto"].filter((member) => typeof clause[member] === "string")
    .map((member) => ({ name: clause[member], member, clause }));
  const inner = Array.isArray(clause.clauses) ? clause.clauses : [clause.clause];
  return [...own, ...inner.flatMap(calculated)];
}

/** The distance that "nearest first" orders by, `undefined` if the clause has none. */
export const distanceName = (clause) => calculated(clause).find(({ member }) => member === "putDistanceInto")?.name;

/** A name for a new distance, which no row has yet. */
export function freeDistanceName(rows) {
  const taken = new Set(rows.filter(isComplete).flatMap((row) => calculated(clauseOf(row))).map(({ name }) => name));
  let name = DISTANCE;
  for (let number = 2; taken.has(name); number += 1) name = DISTANCE + number;
  return name;
}

/**
 * The `bucketQuery`. Nearest first without a distance in the clause means: to the middle of the map, which needs a
 * geo field.
 */
export function bucketQuery(query, { geoField, middle }) {
  const { clause } = clauseOfRows(query);
  const { order } = query;
  if (order.by === "near") {
    const name = distanceName(clause);
    if (name !== undefined) return document(clause, `_calculated.${name}`, order.descending);
    if (geoField === null || !middle) return document(clause);
    const center = point(middle.lat, middle.lon);
    const from = { type: "geodistance", field: geoField, center, putDistanceInto: DISTANCE };
    return document(and(clause, from), `_calculated.${DISTANCE}`, order.descending);
  }
  if (order.by === "field") return document(clause, order.field, order.descending);
  return order.by === "keys" ? document(clause, order.keys) : document(clause);
}

/**
 * The clause of the objects that nearest first leaves out: those that have nothing in the geo field that it could be
 * measured to.
 */
export function withoutPlace({ clause }, { geoField, hasArrays }) {
  const other = (fieldType) => ({ type: "not", clause: { type: "hasField", field: geoField, fieldType } });
  const point = and(clause, other("GEOPOINT"));
  return hasArrays ? and(point, other("ARRAY")) : point;
}

function document(clause, orderBy, descending) {
  return {
    ...(clause === undefined ? {} : { clause }),
    ...(orderBy === undefined ? {} : { orderBy }),
    ...(descending ? { descending } : {}),
  };
}

function and(clause, further) {
  if (clause === undefined) return further;
  return { type: "and", clauses: isAnd(clause) ? [...clause.clauses, further] : [clause, further] };
}

/** Where an error of a query is in its own clause, to which nearest first has added another one. */
export function ownPath(path, clause) {
  const isWrapped = clause !== undefined && !isAnd(clause);
  return isWrapped ? path?.replace("bucketQuery.clause.clauses[0]", "bucketQuery.clause") : path;
}

/** Whether a clause is an `and` with clauses, and nothing else. */
export const isAnd = (clause) => clause?.type === "and" && Array.isArray(clause.clauses) && clause.clauses.length > 0
  && Object.keys(clause).length === 2;

/** The order that a document names, `null` where it names none. */
export function orderOfDocument({ clause, orderBy, descending = false }) {
  if (orderBy === undefined) return null;
  if (Array.isArray(orderBy)) return { by: "keys", keys: orderBy };
  const isNear = orderBy === `_calculated.${distanceName(clause)}`;
  return isNear ? { by: "near", descending } : { by: "field", field: orderBy, descending };
}

/** The row that an error of the service is about, by its path: `bucketQuery.clause.clauses[1].radius`. */
export function rowOfPath(path, query) {
  const { used } = clauseOfRows(query);
  const prefix = "bucketQuery.clause";
  if (!path?.startsWith(prefix) || used.length === 0) return null;
  if (used.length === 1) return used[0];
  const index = /^\.clauses\[(\d+)\]/.exec(path.slice(prefix.length));
  return index ? used[Number(index[1])] ?? null : null;
}
