// Clauses as the shell's filter expressions: `kind = large_airport and runway_m >= 2500`.
import { isNumber } from "./exact.js";
import { isPoint } from "./values.js";

const KEYWORDS = new Set(["and", "or", "not", "in", "exists", "true", "false", "null", "point"]);

const isBare = (text) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) && !KEYWORDS.has(text.toLowerCase());

function field(path) {
  const isWord = /^[A-Za-z_][A-Za-z0-9_.]*$/.test(path) && !KEYWORDS.has(path.toLowerCase());
  if (isWord) return path;
  const escaped = JSON.stringify(path).slice(1, -1).replaceAll('\\"', '"').replaceAll("`", "\\u0060");
  return `\`${escaped}\``;
}

/** A value, `null` where expressions have none for it. */
function literal(value) {
  if (value === null || typeof value === "boolean" || isNumber(value)) return String(value);
  if (typeof value === "string") return isBare(value) ? value : JSON.stringify(value);
  return isPoint(value) ? `point(${value.lat},${value.lon})` : null;
}

/** `field OP value`, `null` if a part of it is. */
function comparison(path, symbol, value) {
  const right = literal(value);
  return right === null ? null : `${field(path)} ${symbol} ${right}`;
}

function range(clause) {
  const isLimit = (value) => value === undefined || typeof value === "string" || isNumber(value);
  if (!isLimit(clause.lowerLimit) || !isLimit(clause.upperLimit)) return null;
  const parts = [];
  if (clause.lowerLimit !== undefined) {
    parts.push(comparison(clause.field, clause.lowerIncluded === false ? ">" : ">=", clause.lowerLimit));
  }
  if (clause.upperLimit !== undefined) {
    parts.push(comparison(clause.field, clause.upperIncluded === false ? "<" : "<=", clause.upperLimit));
  }
  if (parts.length === 0 || parts.includes(null)) return null;
  return { text: parts.join(" and "), binds: parts.length > 1 ? "and" : "leaf" };
}

const list = (values) => {
  const texts = values.map(literal);
  return texts.includes(null) ? null : `(${texts.join(", ")})`;
};

const leaf = (text) => (text === null ? null : { text, binds: "leaf" });

const MEMBERS = {
  eq: ["field", "value"], prefix: ["field", "prefix"], contains: ["field", "value"], in: ["field", "values"],
  range: ["field", "lowerLimit", "upperLimit", "lowerIncluded", "upperIncluded"], hasField: ["field"],
  not: ["clause"], and: ["clauses"], or: ["clauses"],
};

/** Whether a clause has what its type takes, and nothing else: what the service would refuse has no expression. */
function isSayable(clause) {
  const known = MEMBERS[clause?.type];
  if (!known || !Object.keys(clause).every((name) => name === "type" || known.includes(name))) return false;
  if (known[0] === "field" && typeof clause.field !== "string") return false;
  const isList = (value) => Array.isArray(value) && value.length > 0;
  return { in: () => isList(clause.values), and: () => isList(clause.clauses), or: () => isList(clause.clauses),
    prefix: () => typeof clause.prefix === "string" }[clause.type]?.() ?? true;
}

function expression(clause) {
  if (!isSayable(clause)) return null;
  switch (clause.type) {
    case "eq": return leaf(comparison(clause.field, "=", clause.value));
    case "prefix": return leaf(comparison(clause.field, "^=", clause.prefix));
    case "contains": return leaf(comparison(clause.field, "~", clause.value));
    case "range": return range(clause);
    case "in": {
      const values = list(clause.values);
      return leaf(values === null ? null : `${field(clause.field)} in ${values}`);
    }
    case "hasField": return leaf(`${field(clause.field)} exists`);
    case "not": return negation(clause.clause);
    default: return joined(clause);
  }
}

function negation(clause) {
  if (clause?.type === "eq" && isSayable(clause)) return leaf(comparison(clause.field, "!=", clause.value));
  const inner = expression(clause);
  if (inner === null) return null;
  return leaf(inner.binds === "leaf" ? `not ${inner.text}` : `not (${inner.text})`);
}

function joined({ type, clauses }) {
  const parts = clauses.map(expression);
  if (parts.includes(null)) return null;
  const texts = parts.map(({ text, binds }) => (binds === "leaf" || binds === type ? text : `(${text})`));
  return parts.length === 1 ? parts[0] : { text: texts.join(` ${type} `), binds: type };
}

/** The expression of a clause that means the same, `null` for what expressions cannot say: shapes, types. */
export const filterExpression = (clause) => expression(clause)?.text ?? null;
