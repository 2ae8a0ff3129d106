// The grid of `bucket.clusters`: the world in Web Mercator, in cells that halve from level to level.
import { point, wrapLongitude } from "./sphere.js";

const SIZE = 2 ** 30;
const MAXIMUM_LATITUDE = 85.0511287798066;
const MAXIMUM_ZOOM = 22;

/** A cell has a quarter of a tile's side, 64 points on the screen: room for a circle with a number. */
const BITS = 2;
const CELL = 64;
/** The service answers with 4,096 cells at most. */
const CELLS = 4000;

/** The `bits` for a window of this size: larger cells where there would be too many. */
export function bitsFor({ x, y }) {
  const cells = (part) => (x * 1.3) / (CELL * part) * ((y * 1.3) / (CELL * part));
  return cells(1) <= CELLS ? BITS : BITS - 1;
}

/** The position on the map, 0…1 from west to east and from north to south. Longitudes beyond ±180 go on. */
export function project(lat, lon) {
  const sine = Math.sin((Math.max(-MAXIMUM_LATITUDE, Math.min(MAXIMUM_LATITUDE, lat)) * Math.PI) / 180);
  return { x: (lon + 180) / 360, y: 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI) };
}

const latitude = (y) => (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI;

/** The zoom level whose cells suit a map at this one. */
export const clusterZoom = (zoom) => Math.max(0, Math.min(MAXIMUM_ZOOM, Math.round(zoom)));

/** The cell of a place: its level, column and row. */
export function cellOf(lat, lon, zoom, bits = BITS) {
  const { x, y } = project(lat, lon === 180 ? -180 : lon);
  const level = zoom + bits;
  const integer = (value) => Math.max(0, Math.min(SIZE - 1, Math.floor(value * SIZE)));
  const scale = 2 ** (30 - level);
  return { level, column: Math.floor(integer(x) / scale), row: Math.floor(integer(y) / scale) };
}

/** The box of a cell; those at the edge reach to the poles. */
export function cellBox({ level, column, row }) {
  const cells = 2 ** level;
  const south = row === cells - 1 ? -90 : latitude((row + 1) / cells);
  const north = row === 0 ? 90 : latitude(row / cells);
  const lon = (edge) => (edge / cells) * 360 - 180;
  return { sw: point(south, lon(column)), ne: point(north, lon(column + 1)) };
}

/** The names of a cell's ancestors, nearest first: "3/4/5" has "2/2/2", "1/1/1", "0/0/0". */
export function* ancestors(name) {
  let [level, column, row] = name.split("/").map(Number);
  while (level > 0) {
    [level, column, row] = [level - 1, Math.floor(column / 2), Math.floor(row / 2)];
    yield `${level}/${column}/${row}`;
  }
}

/** The box to ask for: what a map shows, with a margin, so that a small move needs nothing new. */
export function viewBox({ south, west, north, east }, margin = 0.15) {
  const [width, height] = [east - west, north - south];
  const isWorld = width * (1 + 2 * margin) >= 360;
  const edge = (lat) => (lat >= 85 ? 90 : lat <= -85 ? -90 : lat);
  return {
    sw: { _type: "point", lat: edge(Math.max(-90, south - height * margin)),
      lon: isWorld ? -180 : wrapLongitude(west - width * margin) },
    ne: { _type: "point", lat: edge(Math.min(90, north + height * margin)),
      lon: isWorld ? 180 : wrapLongitude(east + width * margin) },
  };
}

/** The smallest box that holds these places: around the antimeridian, if it is smaller there. */
export function boundsOf(places) {
  const lons = places.map(({ lon }) => lon).sort((a, b) => a - b);
  let [gap, west, east] = [360 - (lons[lons.length - 1] - lons[0]), lons[0], lons[lons.length - 1]];
  for (let index = 1; index < lons.length; index += 1) {
    if (lons[index] - lons[index - 1] > gap) {
      [gap, west, east] = [lons[index] - lons[index - 1], lons[index], lons[index - 1] + 360];
    }
  }
  const lats = places.map(({ lat }) => lat);
  return { south: Math.min(...lats), north: Math.max(...lats), west, east };
}
