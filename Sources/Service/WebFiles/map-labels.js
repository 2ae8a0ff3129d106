// What the map's canvas has besides shapes and marks: names of countries, degrees.
import { degreesText, multiples, stepAt } from "./graticule.js";
import { project } from "./grid.js";

/** What a mark covers: left, top, right, bottom. */
export const boxOf = ({ mark: { radius }, x, y }) => [x - radius, y - radius, x + radius, y + radius];

export const isOverlapping = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];

/** The names of countries that have room for them, where no mark is. Says which boxes they take. */
export function drawNames(context, names, { scale, left, top, right, bottom }, palette, shown) {
  const [marks, taken] = [shown.map(boxOf), []];
  context.font = "500 11px Inter, system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = palette.place;
  for (const { name, x, y, room } of names) {
    if (y < top || y > bottom || room * scale < 3.4 * name.length) continue;
    for (let copy = Math.ceil(left - x); x + copy <= right; copy += 1) {
      const [middle, line] = [(x + copy - left) * scale, (y - top) * scale];
      const half = context.measureText(name).width / 2;
      const box = [middle - half, line - 7, middle + half, line + 7];
      if (marks.some((mark) => isOverlapping(box, mark))) continue;
      taken.push(box);
      context.fillText(name, middle, line);
    }
  }
  return taken;
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
