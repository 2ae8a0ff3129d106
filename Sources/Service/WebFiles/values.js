// What an object holds: types as `hasField` names them, fields by path, places.
import { ExactInteger } from "./exact.js";

export const TYPES = ["STRING", "INTEGER", "DECIMAL", "BOOLEAN", "GEOPOINT", "ARRAY", "OBJECT", "NULL"];

export function isPoint(value) {
  return value?._type === "point" && typeof value.lat === "number" && typeof value.lon === "number";
}

export function typeOf(value) {
  if (value === null) return "NULL";
  if (value instanceof ExactInteger) return "INTEGER";
  if (Array.isArray(value)) return "ARRAY";
  switch (typeof value) {
    case "string": return "STRING";
    case "boolean": return "BOOLEAN";
    case "number": return Number.isInteger(value) ? "INTEGER" : "DECIMAL";
    default: return isPoint(value) ? "GEOPOINT" : "OBJECT";
  }
}

const has = (object, name) => Object.prototype.hasOwnProperty.call(object, name);
const isObject = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactInteger);

/** The value at a field path, `undefined` where there is none. A first-level name with dots comes first. */
export function valueAt(object, path) {
  if (has(object, path)) return object[path];
  let value = object;
  for (const name of path.split(".")) {
    if (!isObject(value) || !has(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** The places that an object has at a field: none, one, or those of an array. */
export function placesOf(object, path) {
  const value = path === null ? undefined : valueAt(object, path);
  if (isPoint(value)) return [value];
  return Array.isArray(value) ? value.filter(isPoint) : [];
}

/** The first-level name that a path reads, which is what `fields` of a query takes. */
export function firstLevelName(object, path) {
  return has(object, path) ? path : path.split(".")[0];
}

export const isPredefined = (name) => name.startsWith("_");

/** The field that names an object for people, of those that a bucket has; `null` if it has none. */
export function nameField(fields) {
  const texts = fields.filter(({ field, types }) => types.STRING && !isPredefined(field)).map(({ field }) => field);
  const usual = ["name", "title", "label", "place", "city"];
  return usual.find((name) => texts.includes(name)) ?? texts.find((name) => !name.includes(".")) ?? null;
}

const RANKS = { NULL: 0, BOOLEAN: 1, INTEGER: 2, DECIMAL: 2, STRING: 3, GEOPOINT: 4, ARRAY: 5, OBJECT: 5 };

/** Less than, equal to or greater than 0, in the order of values that queries have. */
export function compareValues(a, b) {
  const types = [typeOf(a), typeOf(b)];
  const [rankA, rankB] = types.map((type) => RANKS[type]);
  if (rankA !== rankB) return rankA - rankB;
  switch (rankA) {
    case RANKS.BOOLEAN: return Number(a) - Number(b);
    case RANKS.INTEGER: return compareNumbers(a, b);
    case RANKS.STRING: return compareTexts(a, b);
    case RANKS.GEOPOINT: return a.lat - b.lat || meridian(a.lon) - meridian(b.lon);
    default: return 0;
  }
}

const meridian = (lon) => (lon === 180 ? -180 : lon);

function compareNumbers(a, b) {
  if (typeOf(a) === "INTEGER" && typeOf(b) === "INTEGER") {
    const [left, right] = [whole(a), whole(b)];
    return left < right ? -1 : Number(left > right);
  }
  return Number(a) - Number(b);
}

const whole = (value) => BigInt(typeof value === "number" ? value : value.digits);

/** By code points, which UTF-16 does not order: surrogates come before U+E000. */
function compareTexts(a, b) {
  for (let index = 0; index < a.length && index < b.length; ) {
    const [left, right] = [a.codePointAt(index), b.codePointAt(index)];
    if (left !== right) return left - right;
    index += left > 0xffff ? 2 : 1;
  }
  return a.length - b.length;
}

/** A comparison of objects by a key of each; those without one come last in both directions. */
export function byKey(key, descending) {
  return (a, b) => {
    const [left, right] = [key(a), key(b)];
    if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
    return descending ? compareValues(right, left) : compareValues(left, right);
  };
}
