// The base map: outlines of countries and a graticule, drawn into tiles.
import { project } from "./grid.js";
import { multiples, stepAt } from "./graticule.js";

const SIZE = 256;
const MARGIN = 12;

/** A Leaflet layer of the countries of a GeoJSON. `colours()` gives the palette; call `redraw` when it changes. */
export function createBasemap(L, countries, colours) {
  const rings = countries.features.flatMap(({ geometry }) =>
    (geometry.type === "Polygon" ? [geometry.coordinates] : geometry.coordinates).map(projected));
  const Basemap = L.GridLayer.extend({
    createTile({ x, y, z }) {
      const tile = document.createElement("canvas");
      const ratio = Math.min(2, window.devicePixelRatio || 1);
      tile.width = SIZE * ratio;
      tile.height = SIZE * ratio;
      const context = tile.getContext("2d");
      context.scale(ratio, ratio);
      draw(context, rings, { x, y, z }, colours());
      return tile;
    },
  });
  return new Basemap({ tileSize: SIZE, updateWhenIdle: false, keepBuffer: 3, minZoom: 0, maxZoom: 22 });
}

/** A polygon's rings on the map, 0…1, and the box around them. */
function projected(polygon) {
  const rings = polygon.map((ring) => ring.map(([lon, lat]) => {
    const { x, y } = project(lat, lon);
    return [x, y];
  }));
  const [xs, ys] = [0, 1].map((axis) => rings[0].map((position) => position[axis]));
  return { rings, west: Math.min(...xs), east: Math.max(...xs), north: Math.min(...ys), south: Math.max(...ys) };
}

function draw(context, polygons, { x, y, z }, colours) {
  const scale = SIZE * 2 ** z;
  const reach = MARGIN / scale;
  const tile = { west: x / 2 ** z, north: y / 2 ** z, east: (x + 1) / 2 ** z, south: (y + 1) / 2 ** z };
  const near = polygons.filter(({ west, east, north, south }) => west <= tile.east + reach && east >= tile.west - reach
    && north <= tile.south + reach && south >= tile.north - reach);
  context.beginPath();
  const borders = new Path2D();
  const ends = { left: -tile.west * scale, right: (1 - tile.west) * scale, bottom: (1 - tile.north) * scale };
  for (const { rings } of near) {
    for (const ring of rings) {
      const points = clipped(ring.map(([px, py]) => [(px - tile.west) * scale, (py - tile.north) * scale]));
      trace(context, borders, points, ends);
    }
  }
  context.fillStyle = colours.land;
  context.fill("evenodd");
  graticule(context, tile, z, scale, colours);
  context.strokeStyle = colours.border;
  context.lineWidth = z < 3 ? 0.7 : 1;
  context.lineJoin = "round";
  context.stroke(borders);
}

/** Adds a ring to the area, and its edges to the borders, but not those along the antimeridian and the map's end. */
function trace(area, borders, points, { left, right, bottom }) {
  points.forEach(([x, y], index) => {
    if (index === 0) area.moveTo(x, y);
    else area.lineTo(x, y);
    const [fromX, fromY] = points[(index || points.length) - 1];
    const isCut = (a, b, edge) => Math.abs(a - edge) < 0.01 && Math.abs(b - edge) < 0.01;
    if (isCut(x, fromX, left) || isCut(x, fromX, right) || isCut(y, fromY, bottom)) return;
    borders.moveTo(fromX, fromY);
    borders.lineTo(x, y);
  });
  area.closePath();
}

/** The part of a ring within the tile and a margin, by Sutherland and Hodgman: far positions strain a canvas. */
function clipped(ring) {
  const [low, high] = [-MARGIN, SIZE + MARGIN];
  let points = ring;
  for (const [axis, limit, sign] of [[0, low, 1], [0, high, -1], [1, low, 1], [1, high, -1]]) {
    const inside = (point) => (point[axis] - limit) * sign >= 0;
    const out = [];
    points.forEach((point, index) => {
      const from = points[(index || points.length) - 1];
      if (inside(point) !== inside(from)) out.push(crossing(from, point, axis, limit));
      if (inside(point)) out.push(point);
    });
    points = out;
  }
  return points;
}

function crossing(from, to, axis, limit) {
  const part = (limit - from[axis]) / (to[axis] - from[axis]);
  const other = 1 - axis;
  const point = [];
  point[axis] = limit;
  point[other] = from[other] + part * (to[other] - from[other]);
  return point;
}

function graticule(context, tile, zoom, scale, colours) {
  const step = stepAt(zoom);
  const lat = (y) => (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI;
  context.beginPath();
  for (const lon of multiples(step, tile.west * 360 - 180, tile.east * 360 - 180)) {
    const x = Math.round((project(0, lon).x - tile.west) * scale) + 0.5;
    context.moveTo(x, 0);
    context.lineTo(x, SIZE);
  }
  for (const degrees of multiples(step, lat(tile.south), lat(tile.north))) {
    const y = Math.round((project(degrees, 0).y - tile.north) * scale) + 0.5;
    context.moveTo(0, y);
    context.lineTo(SIZE, y);
  }
  context.strokeStyle = colours.graticule;
  context.lineWidth = 1;
  context.stroke();
}
