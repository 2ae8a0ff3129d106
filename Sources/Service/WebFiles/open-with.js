// What to paste into other programs, so that they open a bucket.
import { commandLine, quote } from "./shell.js";

/** The name of a bucket's collection in addresses. */
export const collectionOf = (bucket, field = null) =>
  encodeURIComponent(bucket.replaceAll("/", "~") + (field === null ? "" : `@${field}`)).replace("%40", "@");

/** Where a bucket is found: its map, and the collection of each of its geo fields, if the service has any. */
export function linksOf({ bucket, geoFields }, hasGIS) {
  const map = { text: "Map", href: `map#bucket=${encodeURIComponent(bucket)}` };
  if (!hasGIS || geoFields.length === 0) return [map];
  const names = geoFields.length === 1 ? [null] : geoFields;
  return [map, ...names.flatMap((field) => {
    const of = field === null ? "" : ` of ${field}`;
    const collection = collectionOf(bucket, field);
    return [{ text: `Features${of}`, href: `ogc/collections/${collection}` }, { text: `TileJSON${of}`, href: `tiles/${collection}.json` }];
  })];
}

/**
 * Lines for programs, each {program, note, text}.
 *
 * @param base the address of the web port, with a `/` at its end.
 * @param server the line port, as `loadCommand` has it; `hasLogins` whether a token is asked for.
 */
export function linesFor({ bucket, geoFields }, { base, server, hasGIS, hasLogins }) {
  const shell = { program: "Shell", note: "", text: commandLine({ bucket, bucketQuery: {}, limit: 10, ...server }) };
  if (!hasGIS || geoFields.length === 0) return [shell];
  const name = collectionOf(bucket);
  const plain = decodeURIComponent(name);
  const login = hasLogins ? " -oo USERPWD=any:TOKEN" : "";
  const basic = hasLogins ? " Under Authentication, Basic takes the token as the password." : "";
  const source = { type: "vector", url: `${base}tiles/${name}.json` };
  const layer = (part, radius) => `map.addLayer(${JSON.stringify({
    id: `${bucket}-${part}`, type: "circle", source: bucket, "source-layer": part, paint: { "circle-radius": radius } })});`;
  return [
    { program: "QGIS", text: `${base}ogc`,
      note: `Layer, Add Layer, Add WFS / OGC API – Features Layer, New: this URL, version OGC API – Features.${basic}` },
    { program: "GDAL", note: "", text: `ogr2ogr ${quote(`${plain.replaceAll("~", "-")}.gpkg`)} OAPIF:${base}ogc ${quote(plain)} -oo PAGE_SIZE=10000${login}` },
    { program: "MapLibre", note: hasLogins ? "Requests carry the token, by transformRequest." : "",
      text: [`map.addSource(${JSON.stringify(bucket)}, ${JSON.stringify(source)});`, layer("clusters", 9), layer("objects", 4)].join("\n") },
    shell,
  ];
}
