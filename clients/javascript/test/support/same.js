// Whether two messages mean the same, as clients/scenarios/README.md has it.
import assert from "node:assert/strict";

const DEFAULTS = { lowerIncluded: true, upperIncluded: true, model: "sphere", ignoreCase: false, dryRun: false };

/** Fails unless they are the same. `$NAME` in the expected one is any text, the same one for the same name. */
export function same(actual, expected, variables = new Map()) {
  const wanted = plain(expected);
  assert.deepEqual(bind(plain(actual), wanted, variables), wanted);
}

/** Fails unless it has what the expected one has: of objects these members, of arrays all elements. */
export function includes(actual, expected) {
  assert.deepEqual(pick(actual, expected), expected);
}

function pick(actual, expected) {
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return actual.map((element, index) => (index < expected.length ? pick(element, expected[index]) : element));
  }
  if (!isObject(actual) || !isObject(expected)) return actual;
  const names = Object.keys(expected).filter((name) => name in actual);
  return Object.fromEntries(names.map((name) => [name, pick(actual[name], expected[name])]));
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** The form in which things that mean the same are the same. */
function plain(value, name) {
  if (name === "orderBy") return order(value);
  if (Array.isArray(value)) return value.map((element) => plain(element));
  if (!isObject(value)) return value;
  const members = Object.entries(value)
    .filter(([key, member]) => member !== undefined && DEFAULTS[key] !== member)
    .map(([key, member]) => [key, plain(member, key)])
    .filter(([key, member]) => !(key === "clause" && member.type === "all"))
    .filter(([key, member]) => !(key === "bucketQuery" && Object.keys(member).length === 0));
  return Object.fromEntries(members);
}

function order(keys) {
  return [keys].flat().map((key) => (typeof key === "string" ? { field: key } : key))
    .map(({ field, descending = false }) => ({ field, descending }));
}

/** What a variable stands for, as the variable. */
function bind(actual, expected, variables) {
  if (typeof expected === "string" && expected.startsWith("$") && typeof actual === "string" && actual !== "") {
    if (!variables.has(expected) && ![...variables.values()].includes(actual)) variables.set(expected, actual);
    return variables.get(expected) === actual ? expected : actual;
  }
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return actual.map((element, index) => bind(element, expected[index], variables));
  }
  if (!isObject(actual) || !isObject(expected)) return actual;
  return Object.fromEntries(Object.entries(actual).map(([key, member]) => [key, bind(member, expected[key], variables)]));
}
