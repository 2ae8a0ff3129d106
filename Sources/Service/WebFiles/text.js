// Numbers, lengths, times and values as people read them.
import { isNumber, parseJSON } from "./exact.js";
import { typeOf, isPoint } from "./values.js";

const grouped = new Intl.NumberFormat("en");

export const count = (number) => grouped.format(number);

export const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** A count in at most four characters, for a circle on the map. */
export function shortCount(number) {
  const unit = [[1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([size]) => number >= size);
  if (!unit) return String(number);
  const value = number / unit[0];
  return (value < 10 ? Math.floor(value * 10) / 10 : Math.floor(value)) + unit[1];
}

/** A length in metres: 12 m, 1,999 m, 14.4 km, 1,234 km. */
export function distance(meters) {
  if (meters < 10) return `${Number(meters.toFixed(2))} m`;
  if (meters < 9999.5) return `${count(Math.round(meters))} m`;
  const kilometers = meters / 1000;
  return kilometers < 999.95 ? `${kilometers.toFixed(1)} km` : `${count(Math.round(kilometers))} km`;
}

/** A time span: 0.8 ms, 12 ms, 1.2 s. */
export function duration(milliseconds) {
  if (milliseconds < 10) return `${Math.max(0.1, milliseconds).toFixed(1)} ms`;
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** A moment in the reader's time zone. */
export function moment(milliseconds, locale = undefined, timeZone = undefined) {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return String(milliseconds);
  return date.toLocaleString(locale, { dateStyle: "medium", timeStyle: "medium", timeZone });
}

/** A position with as many decimals as a map at this zoom level shows. */
export function position(lat, lon, zoom = 16) {
  const decimals = Math.max(0, Math.min(6, Math.round(zoom / 3.3)));
  return `${trimmed(lat, decimals)}, ${trimmed(lon, decimals)}`;
}

/** A number with at most so many decimals, and no zeros behind them. */
export const trimmed = (number, decimals) => String(Number(number.toFixed(decimals)) + 0);

const MAXIMUM_LENGTH = 160;

/** One line for any value of an object. */
export function value(value) {
  switch (typeOf(value)) {
    case "STRING": return cut(value);
    case "GEOPOINT": return position(value.lat, value.lon, 20);
    case "ARRAY": {
      const points = value.filter(isPoint).length;
      return points > 0 && points === value.length ? counted(points, "place") : cut(JSON.stringify(value));
    }
    case "OBJECT": return cut(JSON.stringify(value));
    default: return String(value);
  }
}

function cut(text) {
  const characters = text.length > MAXIMUM_LENGTH ? Array.from(text) : [];
  return characters.length > MAXIMUM_LENGTH ? characters.slice(0, MAXIMUM_LENGTH - 1).join("") + "…" : text;
}

/** What stands in an input field for a value, which `parseValue` reads back. */
export function inputText(value, types) {
  if (typeof value !== "string") return value === undefined ? "" : JSON.stringify(value);
  return types.has("STRING") && parseValue(value, types) === value ? value : JSON.stringify(value);
}

/** The value that a person means: by the types that the field has, quotes make a string of anything. */
export function parseValue(text, types) {
  const isText = types.has("STRING");
  const trimmedText = text.trim();
  if (/^".*"$/s.test(trimmedText)) {
    try { return JSON.parse(trimmedText); } catch { return text; }
  }
  const hasOthers = ["INTEGER", "DECIMAL", "BOOLEAN"].some((type) => types.has(type));
  if (isText && !hasOthers) return text === "" ? undefined : text;
  if (trimmedText === "") return undefined;
  const literal = parseLiteral(trimmedText);
  return literal === undefined ? text : literal;
}

function parseLiteral(text) {
  if (text === "true" || text === "false") return text === "true";
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return undefined;
  const parsed = parseJSON(text);
  return isNumber(parsed) && Number.isFinite(Number(parsed)) ? parsed : undefined;
}

/** The values of a list separated by commas; one with a comma in it stands in quotes. */
export function parseList(text, types) {
  const parts = text.match(/\s*"(?:[^"\\]|\\.)*"\s*(?=,|$)|[^,]+/g) ?? [];
  const values = parts.map((part) => part.trim()).map((part) => (part === "null" ? null : parseValue(part, types)));
  return values.filter((item) => item !== undefined);
}

export function listText(values, types) {
  return values.map((item) => {
    const text = inputText(item, types);
    const isMistaken = typeof item === "string" && !text.startsWith('"') && /[,"]|^\s|\s$|^null$|^$/.test(text);
    return isMistaken ? JSON.stringify(item) : text;
  }).join(", ");
}

const UNITS = { "": 1, m: 1, km: 1000, mi: 1609.344, nmi: 1852, ft: 0.3048 };

/** The metres of "500", "5 km", "3mi", "2 nmi", "900 ft"; `undefined` for anything else. */
export function parseLength(text) {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(|m|km|mi|nmi|ft)\s*$/i.exec(text.replaceAll(",", ""));
  const meters = match ? Number(match[1]) * UNITS[match[2].toLowerCase()] : 0;
  return meters > 0 ? meters : undefined;
}

/** A length for an input field, exact: "5 km", "1234.5 m". */
export const lengthText = (meters) =>
  (meters >= 1000 && Number.isInteger(meters / 10) ? `${meters / 1000} km` : `${meters} m`);

/** So many numbers of degrees, separated by commas or spaces; `undefined` for anything else. */
export function parseDegrees(text, many) {
  const parts = text.trim().split(/\s*,\s*|\s+/).map((part) => (part === "" ? NaN : Number(part)));
  const isValid = parts.length === many && parts.every((part, index) => Math.abs(part) <= (index % 2 === 0 ? 90 : 180));
  return isValid ? parts : undefined;
}
