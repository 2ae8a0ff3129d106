import { filterExpression } from "/map/filter.js";
import { commandLine, hostAndPort, loadCommand, netcatLine, quote } from "/map/shell.js";
import { equal, test } from "./check.js";

const line = (bucketQuery, more = {}) => commandLine({ bucket: "airports", bucketQuery, limit: 50, server: "127.0.0.1:4362", ...more }).replaceAll(" \\\n  ", " ");
const near = (members) => ({ type: "geodistance", field: "location", center: { _type: "point", lat: 35.6812, lon: 139.7671 }, ...members });

test("A word is quoted where a shell would read it otherwise", () => {
  const cases = [["kind", "kind"], ["a b", "'a b'"], ["it's", "'it'\\''s'"], ["", "''"], ["$HOME", "'$HOME'"], ["a\nb", "'a\nb'"], ["-20,175", "-20,175"],
    ["users/alice/notes", "users/alice/notes"], ["!x", "'!x'"], ["~", "'~'"], ["`x`", "'`x`'"], ["日本", "'日本'"], ["\\", "'\\'"]];
  for (const [word, quoted] of cases) equal(quote(word), quoted);
});

test("A circle and conditions are flags that people would type", () => {
  equal(line({ clause: { type: "and", clauses: [near({ radius: 100000, putDistanceInto: "distance" }), { type: "eq", field: "lighted", value: true },
    { type: "range", field: "runway_m", lowerLimit: 2500 }] }, orderBy: "_calculated.distance" }),
  "geobucket query --bucket airports --near 35.6812,139.7671 --within 100km --where 'lighted = true and runway_m >= 2500' --limit 50");
});

test("Another order, another field, another service are flags of their own", () => {
  equal(line({ clause: near({ field: "home", putDistanceInto: "distance" }), orderBy: "_calculated.distance", descending: true }, { server: "db:5000" }),
    "geobucket query --bucket airports --near 35.6812,139.7671 --field home --order-by _calculated.distance:desc --limit 50 --server db:5000");
  equal(line({ orderBy: [{ field: "kind" }, { field: "runway_m", descending: true }] }), "geobucket query --bucket airports --order-by kind,runway_m:desc --limit 50");
});

test("A circle that --near does not mean is a clause", () => {
  for (const [members, order] of [[{ radius: 5 }, "name"], [{ radius: 5, putDistanceInto: "d" }, "_calculated.d"], [{ radius: 5, putDistanceInto: "distance", model: "wgs84" }, "name"],
    [{ radius: 5, putDistanceInto: "distance" }, undefined]]) {
    const clause = near(members);
    const flags = order === undefined ? "" : ` --order-by ${order}`;
    equal(line({ clause, ...(order ? { orderBy: order } : {}) }), `geobucket query --bucket airports --clause '${JSON.stringify(clause)}'${flags} --limit 50`);
  }
});

test("A box across the antimeridian keeps its edges", () => {
  const box = { ne: { _type: "point", lat: -10, lon: -175 }, sw: { _type: "point", lat: -20, lon: 175 } };
  equal(line({ clause: { type: "geobox", field: "location", box } }), "geobucket query --bucket airports --box -20,175,-10,-175 --limit 50");
});

test("A field that --order-by cannot name makes it a call", () => {
  equal(line({ orderBy: "a:b" }), `geobucket call bucket.query '{"bucket":"airports","bucketQuery":{"orderBy":"a:b"},"bestEffortLimit":50}'`);
});

test("Filter expressions say what they can, and quote what they must", () => {
  const cases = [
    [{ type: "eq", field: "kind", value: "large_airport" }, "kind = large_airport"],
    [{ type: "eq", field: "kind", value: "a b" }, 'kind = "a b"'],
    [{ type: "eq", field: "kind", value: "true" }, 'kind = "true"'],
    [{ type: "eq", field: "kind", value: "12" }, 'kind = "12"'],
    [{ type: "eq", field: "a b", value: null }, "`a b` = null"],
    [{ type: "eq", field: "and", value: 1 }, "`and` = 1"],
    [{ type: "not", clause: { type: "eq", field: "a", value: 1 } }, "a != 1"],
    [{ type: "not", clause: { type: "range", field: "a", lowerLimit: 1, upperLimit: 2, upperIncluded: false } }, "not (a >= 1 and a < 2)"],
    [{ type: "in", field: "a", values: ["x", 1, null] }, "a in (x, 1, null)"],
    [{ type: "or", clauses: [{ type: "hasField", field: "a" }, { type: "and", clauses: [{ type: "prefix", field: "b", prefix: "x" }, { type: "contains", field: "c", value: "y" }] }] }, "a exists or (b ^= x and c ~ y)"],
    [{ type: "eq", field: "at", value: { _type: "point", lat: 1, lon: 2 } }, "at = point(1,2)"],
    [{ type: "hasField", field: "a", fieldType: "STRING" }, null],
    [{ type: "and", clauses: [{ type: "hasField", field: "a" }, near({})] }, null],
    [{ type: "all" }, null],
  ];
  for (const [clause, expression] of cases) equal(filterExpression(clause), expression);
});

test("A line for nc is one line, whatever the texts in it", () => {
  const text = netcatLine({ jsonrpc: "2.0", id: 1, method: "x", params: { a: "it's\n\u2028" } }, "[::1]:4362");
  equal(text.includes("\n"), false);
  equal(text.endsWith("| nc -N '::1' 4362") || text.endsWith("| nc -N ::1 4362"), true);
});

test("An address has a host and a port", () => {
  equal(hostAndPort("[::1]:4362"), { host: "::1", port: "4362" });
  equal(hostAndPort("db.example:1"), { host: "db.example", port: "1" });
  equal([hostAndPort("db"), hostAndPort("::1:4362"), hostAndPort("")], [null, null, null]);
});

test("Commands lead to the line port, with TLS where it has that", () => {
  equal(line({}, { server: "127.0.0.1:4400" }), "geobucket query --bucket airports --limit 50 --server 127.0.0.1:4400");
  equal(line({}, { isEncrypted: true }), "geobucket query --bucket airports --limit 50 --server 127.0.0.1:4362 --tls");
  equal(loadCommand({ server: "127.0.0.1:4362", isEncrypted: false }), "geobucket load FILE --bucket NAME");
  equal(loadCommand({ server: "[::1]:4400", isEncrypted: true }), "geobucket load FILE --bucket NAME \\\n  --server '[::1]:4400' --tls");
});
