// The distance of an object from where "nearest first" measures.
import { DISTANCE, clauseOfRows, distanceName, rowsOfClause, withoutPlace } from "./query.js";
import { distanceBetween } from "./sphere.js";
import { placesOf } from "./values.js";

/** Whether a query is ordered by the distance from the middle of the map: no clause of it reports one. */
export function isByMiddle({ query, geoField, middle }) {
  return query.order.by === "near" && geoField !== null && middle !== null
    && distanceName(clauseOfRows(query).clause) === undefined;
}

/** What that order leaves out, for `Results`; `null` where nothing is. */
export function leftOutBy(model) {
  return isByMiddle(model) ? { all: clauseOfRows(model.query).clause, rest: placeless(model) } : null;
}

/** The query for the objects that it leaves out. */
export const queryWithoutPlace = (model) => ({ ...rowsOfClause(placeless(model)), order: { by: "created" } });

const placeless = (model) => withoutPlace(clauseOfRows(model.query),
  { geoField: model.geoField, hasArrays: model.typesOf(model.geoField).has("ARRAY") });

/**
 * The column of distances: its name, and the distance of an object in metres (`undefined` without one). It is what the
 * service reports; of a live query, which has no middle of the map, it is computed here. `null` without a column.
 */
export function distancesOf({ query, geoField, middle, isLive }) {
  const isMiddle = isByMiddle({ query, geoField, middle });
  const name = distanceName(clauseOfRows(query).clause) ?? (isMiddle ? DISTANCE : undefined);
  if (name === undefined) return null;
  if (isMiddle && isLive) return { name, of: (object) => fromMiddle(object, geoField, middle) };
  return { name, of: (object) => object._calculated?.[name] };
}

function fromMiddle(object, geoField, middle) {
  const distances = placesOf(object, geoField).map((place) => distanceBetween(place, middle));
  return distances.length > 0 ? Math.min(...distances) : undefined;
}
