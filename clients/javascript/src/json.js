// JSON as the service has it: numbers are finite, texts are whole characters, and whole numbers keep their digits if
// that is asked for.
import { InvalidInput } from "./errors.js";

/**
 * The JSON text of a value. A BigInt is a whole number.
 * @param path where the value stands, for errors.
 * @throws {InvalidInput} with the path of a number that is NaN or infinite, or of half a surrogate pair.
 */
export function stringify(value, path = "") {
  const text = "toJSON" in BigInt.prototype ? write(value) : native(value);
  // JSON.stringify writes null for NaN, and an escape for half a pair.
  if (text.includes("null") || /\\ud[89a-f]/.test(text)) check(value, path);
  return text;
}

function native(value) {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!/BigInt/.test(error.message)) throw error;
    return write(value);
  }
}

function write(value) {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (typeof value.toJSON === "function") return write(value.toJSON());
  if (Array.isArray(value)) return `[${value.map((element) => write(element) ?? "null").join(",")}]`;
  const members = Object.entries(value).map(([name, member]) => [name, write(member)])
    .filter(([, text]) => text !== undefined).map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return `{${members.join(",")}}`;
}

function check(value, path) {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new InvalidInput(`${value} is no number of JSON`, path);
  }
  if (typeof value === "string" && /\p{Surrogate}/u.test(value)) {
    throw new InvalidInput("the text has half a surrogate pair", path);
  }
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) return value.forEach((element, index) => check(element, `${path}[${index}]`));
  for (const [name, member] of Object.entries(value)) {
    const place = path ? `${path}.${name}` : name;
    check(name, place);
    check(member, place);
  }
}

/** A value in which whole numbers that a Number would round are BigInts. */
export function parseExact(text) {
  // Few texts have so long a number, and only those need more than JSON.parse.
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const marked = text.replace(TOKENS, (token) => (isRounded(token) ? `{"${MARK}":"${token}"}` : token));
  return JSON.parse(marked, (name, value) => (value?.[MARK] === undefined ? value : BigInt(value[MARK])));
}

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const isRounded = (token) => /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token));

/** The name of a member that no document has: nobody outside this process knows it. */
const MARK = `whole number ${Math.random()}${Math.random()}${Math.random()}`;
