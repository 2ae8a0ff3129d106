// A query as commands to paste into a terminal.
import { filterExpression } from "./filter.js";
import { rowOf } from "./operators.js";
import { DISTANCE, isAnd } from "./query.js";

const USUAL_SERVER = "127.0.0.1:4362";

/** A word for a POSIX shell. */
export function quote(word) {
  return /^[A-Za-z0-9_/:@%+,.-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The host and the port of HOST:PORT, without the brackets of IPv6. */
export function hostAndPort(address) {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d+)$/.exec(address.trim());
  return match ? { host: match[1] ?? match[2], port: match[3] } : null;
}

/** One request of the line protocol, sent by `nc`. */
export function netcatLine(request, server) {
  const { host, port } = hostAndPort(server) ?? hostAndPort(USUAL_SERVER);
  return `printf '%s\\n' ${quote(JSON.stringify(request))} | nc -N ${quote(host)} ${port}`;
}

/**
 * `geobucket query` with flags for what has one, or `geobucket call` where a part of the order has none. Flags begin
 * new lines, which a backslash joins.
 */
export function commandLine({ bucket, bucketQuery, limit, server, isEncrypted = false }) {
  const order = orderText(bucketQuery);
  const where = serverFlags(server, isEncrypted);
  if (order === null) {
    const params = JSON.stringify({ bucket, bucketQuery, bestEffortLimit: limit });
    return lines([["geobucket", "call", "bucket.query", params], where]);
  }
  const { flags, isOrdered } = clauseFlags(bucketQuery.clause, order);
  const orderFlags = order === "" || isOrdered ? [] : ["--order-by", order];
  return lines([["geobucket", "query", "--bucket", bucket], ...flags, orderFlags, ["--limit", String(limit)], where]);
}

/** The command that makes a bucket out of a file. */
export const loadCommand = ({ server, isEncrypted }) =>
  lines([["geobucket", "load", "FILE", "--bucket", "NAME"], serverFlags(server, isEncrypted)]);

/** The flags that lead to a service; TLS needs an address. */
function serverFlags(server, isEncrypted) {
  if (isEncrypted) return ["--server", server, "--tls"];
  return server === USUAL_SERVER ? [] : ["--server", server];
}

const lines = (parts) =>
  parts.filter((words) => words.length > 0).map((words) => words.map(quote).join(" ")).join(" \\\n  ");

/** What --order-by takes, empty for no order, `null` for a field whose name it cannot say. */
function orderText({ orderBy, descending = false }) {
  if (orderBy === undefined) return "";
  const keys = Array.isArray(orderBy) ? orderBy : [{ field: orderBy, descending }];
  if (keys.some((key) => typeof key?.field !== "string" || /[,:]/.test(key.field))) return null;
  return keys.map((key) => key.field + (key.descending ? ":desc" : "")).join(",");
}

/**
 * The flags of a clause, each with its value: --near and --box for one circle and one box of a field, --where, and
 * --clause for the rest.
 */
function clauseFlags(clause, order) {
  const parts = clause === undefined ? [] : isAnd(clause) ? clause.clauses : [clause];
  const circle = order === "" ? undefined : parts.find(isNear);
  const box = parts.find((part) => isRow(part, "box") && (!circle || part.field === circle.field));
  const field = (circle ?? box)?.field;
  const flags = [];
  if (circle) flags.push(["--near", `${circle.center.lat},${circle.center.lon}`, ...within(circle)]);
  if (box) flags.push(["--box", [box.box.sw.lat, box.box.sw.lon, box.box.ne.lat, box.box.ne.lon].join(",")]);
  if (field !== undefined && field !== "location") flags.push(["--field", field]);
  flags.push(...conditions(parts.filter((part) => part !== circle && part !== box)));
  return { flags, isOrdered: circle !== undefined && order === `_calculated.${DISTANCE}` };
}

/** A circle that --near means exactly. */
const isNear = (part) => (isRow(part, "circle") || isRow(part, "from")) && part.putDistanceInto === DISTANCE
  && (part.model ?? "sphere") === "sphere";

function isRow(clause, operator) {
  const row = rowOf(clause);
  return row.operator === operator && !row.negated;
}

function within({ radius }) {
  if (radius === undefined) return [];
  const isInKilometers = radius >= 1000 && radius % 100 === 0;
  return ["--within", isInKilometers ? `${radius / 1000}km` : String(radius)];
}

function conditions(parts) {
  const expressible = parts.filter((part) => filterExpression(part) !== null);
  const rest = parts.filter((part) => !expressible.includes(part));
  const clause = expressible.length > 1 ? { type: "and", clauses: expressible } : expressible[0];
  const where = clause === undefined ? [] : [["--where", filterExpression(clause)]];
  return [...where, ...rest.map((part) => ["--clause", JSON.stringify(part)])];
}
