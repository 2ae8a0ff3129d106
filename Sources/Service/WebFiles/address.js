// The address of the page holds the whole view, behind its #: that part is not sent to any service.
import { parseJSON } from "./exact.js";
import { emptyQuery, clauseOfRows, rowsOfClause } from "./query.js";
import { trimmed } from "./text.js";
import { wrapLongitude } from "./sphere.js";

export const emptyView = () =>
  ({ bucket: null, field: null, at: null, query: emptyQuery(), object: null, isLive: false });

/** The fragment of a view, without the #. */
export function fragmentOf({ bucket, field, at, query, object, isLive }) {
  const members = [];
  const add = (name, text) => members.push(`${name}=${escaped(text)}`);
  if (bucket !== null) add("bucket", bucket);
  if (at) add("at", `${trimmed(at.lat, 5)},${trimmed(wrapLongitude(at.lon), 5)},${trimmed(at.zoom, 2)}`);
  if (field !== null) add("field", field);
  const { clause } = clauseOfRows(query);
  if (clause !== undefined) add("clause", JSON.stringify(clause));
  const order = orderText(query.order);
  if (order !== "near") add("order", order);
  if (object !== null) add("object", object);
  if (isLive) add("live", "1");
  return members.join("&");
}

/** Percent-encoded, except what may stand in a fragment and is easy to read. */
const escaped = (text) => encodeURIComponent(text).replace(/%(2C|3A|2F|40)/g, decodeURIComponent);

function orderText(order) {
  const suffix = order.descending ? ":desc" : "";
  switch (order.by) {
    case "near": return `near${suffix}`;
    case "created": return "created";
    case "field": return `field:${JSON.stringify(order.field)}${suffix}`;
    default: return `keys:${JSON.stringify(order.keys)}`;
  }
}

/** The view of a fragment. What cannot be read is as if it were not there. */
export function viewOf(fragment) {
  const members = new Map(fragment.replace(/^#/, "").split("&").filter(Boolean).map(memberOf));
  const view = emptyView();
  view.bucket = members.get("bucket") || null;
  view.field = members.get("field") || null;
  view.object = members.get("object") || null;
  view.isLive = members.get("live") === "1";
  view.at = placeOf(members.get("at"));
  const clause = jsonOf(members.get("clause"));
  if (typeof clause === "object" && clause !== null) Object.assign(view.query, rowsOfClause(clause));
  view.query.order = orderOf(members.get("order")) ?? view.query.order;
  return view;
}

function memberOf(text) {
  const at = text.indexOf("=");
  try {
    return [text.slice(0, at), decodeURIComponent(text.slice(at + 1))];
  } catch {
    return [text.slice(0, at), undefined];
  }
}

function placeOf(text = "") {
  const match = /^(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?),(\d+(?:\.\d+)?)$/.exec(text);
  if (!match) return null;
  const [lat, lon, zoom] = match.slice(1).map(Number);
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && zoom <= 22 ? { lat, lon, zoom } : null;
}

function jsonOf(text) {
  try {
    return text === undefined ? undefined : parseJSON(text);
  } catch {
    return undefined;
  }
}

function orderOf(text = "") {
  const descending = text.endsWith(":desc");
  const [by, rest] = [text.split(":")[0], text.slice(text.indexOf(":") + 1).replace(/:desc$/, "")];
  if (by === "near") return { by, descending };
  if (by === "created") return { by };
  const parsed = jsonOf(rest);
  if (by === "field" && typeof parsed === "string") return { by, field: parsed, descending };
  return by === "keys" && Array.isArray(parsed) && parsed.length > 0 ? { by, keys: parsed } : null;
}
