// Clauses of the query language: what `find` takes. Each is the JSON that docs/queries.md describes.
import { toPoint } from "./values.js";

/** Leaves out what is not given. */
function clause(type, members) {
  return { type, ...Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) };
}

/** Every object. */
export const all = () => clause("all", {});

/** The field has this value: a string, number, boolean, point, or null. */
export const eq = (field, value) => clause("eq", { field, value });

/** The field has another value than this one; objects without the field are not meant. */
export const ne = (field, value) => not(eq(field, value));

/**
 * Between limits of numbers or of strings, of which one may be left out: `from` and `through` are included, `above` and
 * `below` are not.
 */
export const range = (field, { from, above, through, below }) =>
  clause("range", {
    field,
    lowerLimit: above ?? from, lowerIncluded: above === undefined ? undefined : false,
    upperLimit: below ?? through, upperIncluded: below === undefined ? undefined : false,
  });

export const gt = (field, value) => range(field, { above: value });
export const gte = (field, value) => range(field, { from: value });
export const lt = (field, value) => range(field, { below: value });
export const lte = (field, value) => range(field, { through: value });
export const between = (field, from, through) => range(field, { from, through });

/** A string that begins so. */
export const prefix = (field, text) => clause("prefix", { field, prefix: text });

/** A string that is as the pattern says: `%` is any characters, `_` one. */
export const like = (field, pattern, { ignoreCase } = {}) => clause("like", { field, pattern, ignoreCase });

/** One of 1 to 200 values. */
export const isIn = (field, values) => clause("in", { field, values: [...values] });

/** The field is present; with a type, it is of that type. */
export const hasField = (field, fieldType) => clause("hasField", { field, fieldType });

/** A string that has this string in it, or an array that has this element. */
export const contains = (field, value) => clause("contains", { field, value });

/**
 * At most so many metres from a place, or from an object that moves (`objectAt`, in watches). Without a radius, every
 * object that has the field. `into` names the distance in `_calculated`.
 */
export const near = (field, center, radius, into, { model } = {}) =>
  clause("geodistance", { field, center: toPoint(center), radius, model, putDistanceInto: into });

/** Between two corners, in degrees. A west beyond the east crosses the antimeridian. */
export const box = (field, southWest, northEast) =>
  clause("geobox", { field, box: { sw: toPoint(southWest), ne: toPoint(northEast) } });

/** In a polygon, on its edges too: a GeoJSON Polygon or MultiPolygon, or a ring of `[longitude, latitude]`. */
export const within = (field, polygon) => clause("geopolygon", { field, polygon: toGeometry(polygon, "Polygon") });

/** At most so many metres from a line: a GeoJSON LineString, or positions `[longitude, latitude]`. */
export const along = (field, line, width, { distanceInto, alongInto } = {}) =>
  clause("geocorridor", {
    field, line: toGeometry(line, "LineString"), width, putDistanceInto: distanceInto, putAlongInto: alongInto,
  });

/** The place, a GeoJSON geometry, point, circle or `objectAt`, has a point in common with that of the field. */
export const intersects = (field, shape) => clause("geointersects", { field, shape });

/** The field's place lies wholly in this shape. */
export const inside = (field, shape) => clause("geowithin", { field, shape });

/** This shape lies wholly in the field's. */
export const holds = (field, shape) => clause("geocontains", { field, shape });

/** Words of a text, of one field or of several. */
export const match = (fields, text, { prefix, typos } = {}) =>
  clause("match", { ...(Array.isArray(fields) ? { fields } : { field: fields }), text, prefix, typos });

/** All of these. */
export const and = (...clauses) => chain("and", clauses);

/** One of these. */
export const or = (...clauses) => chain("or", clauses);

export const not = (inner) => clause("not", { clause: inner });

/** A clause as JSON, as text or as a value. */
export const raw = (json) => (typeof json === "string" ? JSON.parse(json) : json);

/** A chain of one operator is one clause. */
function chain(type, clauses) {
  const flat = clauses.flatMap((inner) => (inner.type === type ? inner.clauses : [inner]));
  return flat.length === 1 ? flat[0] : { type, clauses: flat };
}

function toGeometry(value, type) {
  if (!Array.isArray(value)) return value.geometry ?? value;
  return { type, coordinates: type === "Polygon" ? [value] : value };
}
