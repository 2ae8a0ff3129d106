// The lines of longitude and latitude that a map shows: round degrees, at a distance that suits the zoom level.

const STEPS = [30, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001];
const POINTS_BETWEEN = 110;

/** Degrees between two lines, at least so far apart on the screen. */
export function stepAt(zoom) {
  const degreesPerPoint = 360 / (256 * 2 ** zoom);
  return [...STEPS].reverse().find((step) => step / degreesPerPoint >= POINTS_BETWEEN) ?? STEPS[0];
}

/** The multiples of a step within a range. */
export function multiples(step, from, to) {
  const out = [];
  for (let index = Math.ceil(from / step - 1e-9); index * step <= to + step * 1e-9; index += 1) {
    out.push(Number((index * step).toFixed(6)));
  }
  return out;
}

/** "35.5°N", "180°", "0°". */
export function degreesText(value, positive, negative) {
  const size = Number(Math.abs(value).toFixed(6));
  const letter = size === 0 || size === 180 ? "" : value > 0 ? positive : negative;
  return `${size}°${letter}`;
}
