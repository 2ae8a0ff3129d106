// What the map's canvas has besides shapes and marks: names of countries, degrees.
import { degreesText, multiples, stepAt } from "./graticule.js";
import { project } from "./grid.js";

/** The names of countries that have room for them. */
export function drawNames(context, names, { scale, left, top, right, bottom }, palette) {
  context.font = "500 11px Inter, system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = palette.place;
  for (const { name, x, y, room } of names) {
    if (y < top || y > bottom || room * scale < 3.4 * name.length) continue;
    for (let copy = Math.ceil(left - x); x + copy <= right; copy += 1) {
      context.fillText(name, (x + copy - left) * scale, (y - top) * scale);
    }
  }
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
