import { pagesOfBuckets } from "/map/buckets.js";
import { collectionOf, linesFor, linksOf } from "/map/open-with.js";
import { equal, test } from "./check.js";

const about = { base: "https://geo.example.com/", server: { server: "geo.example.com:4362", isEncrypted: true }, hasGIS: true, hasLogins: false };
const shops = { bucket: "shops", geoFields: ["location"] };

test("A collection is named as the service names it, and may stand in an address", () => {
  equal([collectionOf("shops"), collectionOf("users/alice/notes", "home"), collectionOf("a", "b/c d")], ["shops", "users~alice~notes@home", "a@b%2Fc%20d"]);
});

test("A bucket leads to its map, and where it has places, to the collections of its geo fields", () => {
  equal(linksOf(shops, true).map(({ href }) => href), ["map#bucket=shops", "ogc/collections/shops", "tiles/shops.json"]);
  equal(linksOf({ bucket: "users/alice/notes", geoFields: ["at", "home"] }, true).map(({ href }) => href), ["map#bucket=users%2Falice%2Fnotes",
    "ogc/collections/users~alice~notes@at", "tiles/users~alice~notes@at.json", "ogc/collections/users~alice~notes@home", "tiles/users~alice~notes@home.json"]);
  equal(linksOf(shops, false).length, 1);
  equal(linksOf({ bucket: "shops", geoFields: [] }, true).length, 1);
});

test("Lines for programs have the addresses of the service, and tokens where it asks for them", () => {
  const lines = (item, more = {}) => Object.fromEntries(linesFor(item, { ...about, ...more }).map(({ program, text }) => [program, text]));
  equal(lines(shops).QGIS, "https://geo.example.com/ogc");
  equal(lines(shops).GDAL, "ogr2ogr shops.gpkg OAPIF:https://geo.example.com/ogc shops -oo PAGE_SIZE=10000");
  equal(lines(shops, { hasLogins: true }).GDAL, "ogr2ogr shops.gpkg OAPIF:https://geo.example.com/ogc shops -oo PAGE_SIZE=10000 -oo USERPWD=any:TOKEN");
  equal(lines({ bucket: "users/alice/notes", geoFields: ["at"] }).GDAL, "ogr2ogr users-alice-notes.gpkg OAPIF:https://geo.example.com/ogc 'users~alice~notes' -oo PAGE_SIZE=10000");
  equal(lines(shops).MapLibre.split("\n")[0], 'map.addSource("shops", {"type":"vector","url":"https://geo.example.com/tiles/shops.json"});');
  equal(lines(shops).Shell, "geobucket query --bucket shops \\\n  --limit 10 \\\n  --server geo.example.com:4362 --tls");
  equal(Object.keys(lines(shops, { hasGIS: false })), ["Shell"]);
  equal(Object.keys(lines({ bucket: "texts", geoFields: [] })), ["Shell"]);
});

test("Buckets come page by page, and the last page is known", async () => {
  const asked = [];
  const service = { call: async (method, params) => {
    asked.push([method, params]);
    return params.paginationKey ? { buckets: [{ bucket: "b" }] } : { buckets: [{ bucket: "a" }], nextPaginationKey: "k" };
  } };
  const pages = [];
  for await (const page of pagesOfBuckets(service, "users/alice")) pages.push(page);
  equal(pages, [{ buckets: [{ bucket: "a" }], isLast: false }, { buckets: [{ bucket: "b" }], isLast: true }]);
  equal(asked, [["bucket.list", { scope: "users/alice" }], ["bucket.list", { scope: "users/alice", paginationKey: "k" }]]);
});
