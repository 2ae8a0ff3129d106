// JSON: exact whole numbers, and what cannot be written.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidInput } from "../src/errors.js";
import { parseExact, stringify } from "../src/json.js";

test("whole numbers that a number would round are bigints, all else as JSON.parse has it", () => {
  const text = String.raw`{"a":9007199254740993,"b":-18446744073709551615,"c":9007199254740991,"d":1234567890123456.5,
    "e":12345678901234567e3,"f":"12345678901234567","g":"\"12345678901234567\\","h":[1,12345678901234567890],"é☕":-0,
    "12345678901234567":{"__proto__":1}}`;
  const value = parseExact(text);
  const plain = JSON.parse(text);
  for (const name of ["c", "d", "e", "f", "g", "é☕", "12345678901234567"]) assert.deepEqual(value[name], plain[name]);
  assert.deepEqual([value.a, value.b, value.h], [9007199254740993n, -18446744073709551615n, [1, 12345678901234567890n]]);
});

test("what is no JSON is refused with and without long numbers", () => {
  for (const text of ["", "{", '{"a":12345678901234567', '"\\x12345678901234567"', "[1,]"]) {
    assert.throws(() => parseExact(text), SyntaxError);
  }
});

test("bigints are written as whole numbers, wherever they stand", () => {
  const value = { a: 9007199254740993n, b: [1n, undefined, "1n"], c: undefined, d: new Date(0), e: { toJSON: () => 5n } };
  assert.equal(stringify(value), '{"a":9007199254740993,"b":[1,null,"1n"],"d":"1970-01-01T00:00:00.000Z","e":5}');
  BigInt.prototype.toJSON = function () { return `${this}`; };
  try {
    assert.equal(stringify({ n: 7n }), '{"n":7}');
  } finally {
    delete BigInt.prototype.toJSON;
  }
});

test("random values come back as they were", () => {
  let seed = 7;
  const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const values = (depth) => {
    const kind = random(depth > 3 ? 6 : 8);
    if (kind === 0) return BigInt(random(1000)) * 98765432109876543n + 9007199254740993n;
    if (kind === 1) return random(1 << 30) / 1024;
    if (kind === 2) return ["null", "NaN", "\\", '"', "☕", "\u2028", "1234567890123456789", ""][random(8)];
    if (kind < 6) return [true, null, -5][kind - 3];
    if (kind === 6) return Array.from({ length: random(4) }, () => values(depth + 1));
    return Object.fromEntries(Array.from({ length: random(4) }, (_, n) => [`${n}"\\é`, values(depth + 1)]));
  };
  for (let round = 0; round < 500; round += 1) {
    const value = values(0);
    assert.deepEqual(parseExact(stringify(value)), value);
  }
});

test("a number that JSON has not, and half a character, are refused with their path", () => {
  for (const [value, path] of [
    [{ a: { b: [1, NaN] } }, "object.a.b[1]"], [{ a: null, n: Infinity }, "object.n"], [{ "x\ud800": 1 }, "object.x\ud800"],
    [{ t: ["\udc00"] }, "object.t[0]"], [{ n: 5n, m: -Infinity }, "object.m"],
  ]) {
    assert.throws(() => stringify(value, "object"), (error) => error instanceof InvalidInput && error.path === path);
  }
  assert.equal(stringify({ t: "null \\ud800 ☕😀", u: null }), JSON.stringify({ t: "null \\ud800 ☕😀", u: null }));
});
