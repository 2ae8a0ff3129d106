// Shapes of queries on the map's canvas, once for each copy of the world.
import { project } from "./grid.js";

/** A shape for the canvas: rings of [lat, lon], whose longitudes go on beyond ±180. */
export function shapeFor(rings, { isLine = false, isDashed = false } = {}) {
  const projected = rings.map((ring) => ring.map(([lat, lon]) => project(lat, lon)));
  const xs = projected.flat().map(({ x }) => x);
  return { rings: projected, isLine, isDashed, west: Math.min(...xs), east: Math.max(...xs) };
}

export function drawShape(context, { rings, isLine, isDashed, west, east }, { scale, left, top, right }, palette) {
  for (let copy = Math.ceil(left - east); west + copy <= right; copy += 1) {
    context.beginPath();
    for (const ring of rings) {
      ring.forEach(({ x, y }, index) => {
        context[index === 0 ? "moveTo" : "lineTo"]((x + copy - left) * scale, (y - top) * scale);
      });
      if (!isLine) context.closePath();
    }
    context.fillStyle = palette["shape-fill"];
    if (!isLine && !isDashed) context.fill("evenodd");
    context.setLineDash(isDashed ? [6, 6] : []);
    context.lineJoin = "round";
    context.strokeStyle = palette.shape;
    context.lineWidth = 2;
    context.stroke();
  }
  context.setLineDash([]);
}
