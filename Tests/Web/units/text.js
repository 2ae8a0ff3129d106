import { ExactInteger } from "/map/exact.js";
import { distance, duration, inputText, lengthText, listText, parseDegrees, parseLength, parseList, parseValue, position, shortCount, value } from "/map/text.js";
import { pretty } from "/map/clause-editor.js";
import { rateText, Rate } from "/map/rate.js";
import { secondsBefore } from "/map/backoff.js";
import { equal, test } from "./check.js";

const types = (...names) => new Set(names);

test("A circle's count has at most four characters and is never rounded up", () => {
  const cases = [[2, "2"], [999, "999"], [1000, "1k"], [1999, "1.9k"], [9999, "9.9k"], [12345, "12k"], [999999, "999k"], [1201340, "1.2M"]];
  for (const [count, text] of cases) equal(shortCount(count), text);
});

test("Lengths are in metres below ten kilometres, and in kilometres above", () => {
  const cases = [[0, "0 m"], [0.004, "0 m"], [1.5, "1.5 m"], [412.118, "412 m"], [1999.4, "1,999 m"], [14400, "14.4 km"], [999949, "999.9 km"],
    [999951, "1,000 km"], [20015086.8, "20,015 km"]];
  for (const [meters, text] of cases) equal(distance(meters), text);
});

test("Times are as exact as their size asks for", () => {
  for (const [ms, text] of [[0.02, "0.1 ms"], [3.14, "3.1 ms"], [12.6, "13 ms"], [1240, "1.2 s"]]) equal(duration(ms), text);
});

test("A position has the decimals that its zoom level shows, and no negative zero", () => {
  equal(position(35.658603, 139.745433, 20), "35.658603, 139.745433");
  equal(position(35.658603, 139.745433, 3), "35.7, 139.7");
  equal(position(-0.00000001, 10, 20), "0, 10");
});

test("Any value fits into one line", () => {
  equal(value([{ _type: "point", lat: 1, lon: 2 }, { _type: "point", lat: 3, lon: 4 }]), "2 places");
  equal(value({ a: [1, null] }), '{"a":[1,null]}');
  equal(value(new ExactInteger("12345678901234567890")), "12345678901234567890");
  equal([...value("😀".repeat(500))].length, 160);
  equal([value(null), value(false), value(0.1), value("")], ["null", "false", "0.1", ""]);
});

test("What is typed becomes a value of the field's types, and quotes make a text of anything", () => {
  equal(parseValue("12", types("STRING")), "12");
  equal(parseValue("12", types("INTEGER")), 12);
  equal(parseValue("12", types("STRING", "INTEGER")), 12);
  equal(parseValue('"12"', types("STRING", "INTEGER")), "12");
  equal(parseValue("true", types("BOOLEAN")), true);
  equal(parseValue("true", types("STRING")), "true");
  equal(parseValue("012", types("INTEGER")), "012");
  equal(parseValue("-1.5e3", types("DECIMAL")), -1500);
  equal(parseValue("", types("INTEGER")), undefined);
  equal(String(parseValue("12345678901234567890", types("INTEGER"))), "12345678901234567890");
  equal(parseValue("5", types()), 5);
});

test("The text of an input field reads back as the same value, if the field can have it", () => {
  const kinds = [types("STRING"), types("INTEGER", "DECIMAL"), types("STRING", "INTEGER", "BOOLEAN"), types("BOOLEAN"), types()];
  for (const kind of kinds) {
    for (const item of ["a", "12", "true", '"x"', " y ", 12, -0.5, true, "null", "a,b", '"', "x\ny"]) {
      const isOfField = typeof item === "string" || !kind.has("STRING") || kind.size > 1;
      if (isOfField) equal(parseValue(inputText(item, kind), kind), item, `${[...kind]}:`);
    }
  }
});

test("A list of values reads back, commas and null included", () => {
  const kind = types("STRING", "INTEGER");
  for (const list of [["a", "b"], ["a,b", "c"], [1, "1", null, "null", true], ['say "hi"'], ["Paris, France", 7]]) {
    equal(parseList(listText(list, kind), kind), list);
  }
  equal(parseList("a, ,b,", kind), ["a", "b"]);
});

test("Lengths are read with their units, and written so that they read back", () => {
  for (const [text, meters] of [["500", 500], ["5 km", 5000], ["3mi", 4828.032], ["2 NMI", 3704], ["900ft", 274.32], ["1,500 m", 1500], ["0", undefined], ["-1", undefined], ["5 yd", undefined], ["", undefined]]) {
    equal(parseLength(text), meters, `${text}:`);
  }
  for (const meters of [1, 999, 1000, 1234.5, 12340, 300000, 20015115]) equal(parseLength(lengthText(meters)), meters);
});

test("Degrees are read in pairs of latitude and longitude", () => {
  equal(parseDegrees("35.68, 139.77", 2), [35.68, 139.77]);
  equal(parseDegrees("-20 175 -10 -175", 4), [-20, 175, -10, -175]);
  for (const text of ["91, 0", "0, 181", "1", "1,2,3", "a,b", "", "1,"]) equal(parseDegrees(text, 2), undefined, text);
});

test("A clause is pretty, and the same clause", () => {
  const clause = { type: "and", clauses: [{ type: "eq", field: "a", value: new ExactInteger("12345678901234567890") }, { type: "in", field: "b", values: ["x".repeat(60), 1] }] };
  const text = pretty(clause);
  equal(text.split("\n").length > 4, true);
  equal(text.replace(/\n\s*|(?<=":) /g, ""), JSON.stringify(clause));
});

test("The rate counts the events of the last seconds", () => {
  const rate = new Rate(5);
  rate.add(0, 0);
  for (let at = 100; at <= 2000; at += 100) rate.add(1, at);
  equal(rate.perSecond(2000), 10);
  equal(rate.perSecond(20000), 0);
  equal([rateText(0), rateText(0.25), rateText(9.96), rateText(41.6)], ["0", "0.3", "10.0", "42"]);
});

test("Each wait is twice as long as the one before it, up to half a minute", () => {
  equal([1, 2, 3, 4, 5, 6, 60].map(secondsBefore), [1, 2, 4, 8, 16, 30, 30]);
});
