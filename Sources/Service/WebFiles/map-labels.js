// What the map's canvas has besides shapes and marks: names of countries and places, degrees.
import { degreesText, multiples, stepAt } from "./graticule.js";
import { project } from "./grid.js";

/** What a mark covers: left, top, right, bottom. */
const boxOf = ({ mark: { radius }, x, y }) => [x - radius, y - radius, x + radius, y + radius];

const isOverlapping = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];

const COUNTRY = "600 11px Inter, system-ui, sans-serif";
const PLACE = "500 11px Inter, system-ui, sans-serif";
const GAP = 6;

/**
 * The names of countries that have room for them, and of places, where there is room left. Of places the first have the
 * best of it.
 */
export function drawNames(context, { countries, places }, view, palette, room) {
  context.textBaseline = "middle";
  context.textAlign = "center";
  context.font = COUNTRY;
  context.fillStyle = palette.place;
  for (const country of countries) {
    if (country.room * view.scale >= 3.4 * country.name.length) drawCountry(context, country, view, room);
  }
  context.textAlign = "left";
  context.font = PLACE;
  context.strokeStyle = palette["label-halo"];
  context.lineWidth = 2.5;
  context.lineJoin = "round";
  for (const place of places) drawPlace(context, place, view, room);
}

function drawCountry(context, { name, x, y }, view, room) {
  const half = widthOf(context, COUNTRY, name) / 2;
  for (const [middle, line] of pointsOf(x, y, view)) {
    if (room.take([middle - half, line - 7, middle + half, line + 7])) context.fillText(name, middle, line);
  }
}

/** A dot with the name at its right, else at its left. */
function drawPlace(context, { name, x, y }, view, room) {
  for (const [middle, line] of pointsOf(x, y, view)) {
    const width = widthOf(context, PLACE, name);
    const isRight = room.take([middle - 3, line - 7, middle + GAP + width, line + 7]);
    if (!isRight && !room.take([middle - GAP - width, line - 7, middle + 3, line + 7])) continue;
    const start = isRight ? middle + GAP : middle - GAP - width;
    context.strokeText(name, start, line);
    context.fillText(name, start, line);
    context.fillRect(middle - 1.5, line - 1.5, 3, 3);
  }
}

/** What is taken on the canvas, in cells, so that few boxes are compared. */
export class Room {
  #cells = new Map();

  /** @param shown marks with their points, which take room. */
  constructor(shown) {
    for (const mark of shown) this.#put(boxOf(mark));
  }

  /** Whether a box is free; then it is taken. */
  take(box) {
    for (const cell of cellsOf(box)) {
      if (this.#cells.get(cell)?.some((other) => isOverlapping(box, other))) return false;
    }
    this.#put(box);
    return true;
  }

  #put(box) {
    for (const cell of cellsOf(box)) {
      if (!this.#cells.has(cell)) this.#cells.set(cell, []);
      this.#cells.get(cell).push(box);
    }
  }
}

const CELL = 96;

function* cellsOf(box) {
  const [left, top, right, bottom] = box.map((edge) => Math.floor(edge / CELL));
  for (let column = left; column <= right; column += 1) {
    for (let row = top; row <= bottom; row += 1) yield column * 4096 + row;
  }
}

/** Where a position is on the canvas, once for each copy of the world. */
function* pointsOf(x, y, { scale, left, top, right, bottom }) {
  if (y < top || y > bottom) return;
  for (let copy = Math.ceil(left - x); x + copy <= right; copy += 1) yield [(x + copy - left) * scale, (y - top) * scale];
}

const widths = new Map();

function widthOf(context, font, text) {
  const key = font + text;
  if (!widths.has(key)) {
    if (widths.size > 20000) widths.clear();
    widths.set(key, context.measureText(text).width);
  }
  return widths.get(key);
}

/** The degrees of the graticule, at the upper and at the right edge. */
export function drawDegrees(context, { scale, size, left, right, top }, zoom, palette, map) {
  const step = stepAt(zoom);
  context.font = "10px Inter, system-ui, sans-serif";
  context.fillStyle = palette.place;
  context.textBaseline = "top";
  context.textAlign = "left";
  for (const lon of multiples(step, left * 360 - 180, right * 360 - 180)) {
    const wrapped = Number((((((lon + 180) % 360) + 360) % 360) - 180).toFixed(6));
    context.fillText(degreesText(wrapped, "E", "W"), (project(0, lon).x - left) * scale + 3, 4);
  }
  const bounds = map.getBounds();
  context.textAlign = "right";
  context.textBaseline = "bottom";
  for (const lat of multiples(step, Math.max(-85, bounds.getSouth()), Math.min(85, bounds.getNorth()))) {
    const y = (project(lat, 0).y - top) * scale;
    if (y > 24) context.fillText(degreesText(lat, "N", "S"), size.x - 4, y - 2);
  }
}
