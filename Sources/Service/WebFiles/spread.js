// Moves the circles of clusters apart, so that none lies on the number of another.

const ROUNDS = 12;
/** A circle still covers the middle of its objects, by so many points. */
const COVERED = 3;
/** So far a circle's edge stays from the middle of a dot. */
const GAP = 2;
/** No two circles whose middles are farther apart touch. */
const REACH = 66;

/**
 * Changes `x` and `y` of circles `{x, y, radius, isFixed}`, in points of the screen. Those that are fixed stay where
 * they are. Where there is no room for all, some still overlap.
 */
export function spread(circles) {
  const from = circles.map(({ x, y }) => ({ x, y }));
  const pairs = neighbours(circles);
  for (let round = 0; round < ROUNDS; round += 1) {
    let isMoved = false;
    for (const [a, b] of pairs) isMoved = part(a, b) || isMoved;
    if (!isMoved) return;
    circles.forEach((circle, index) => hold(circle, from[index]));
  }
}

/** The pairs of circles that may touch and of which one can move. */
function neighbours(circles) {
  const cells = new Map();
  const key = (column, row) => column * 2 ** 26 + row;
  const pairs = [];
  for (const circle of circles) {
    const [column, row] = [Math.floor(circle.x / REACH), Math.floor(circle.y / REACH)];
    for (let c = column - 1; c <= column + 1; c += 1) {
      for (let r = row - 1; r <= row + 1; r += 1) {
        for (const other of cells.get(key(c, r)) ?? []) {
          if (!circle.isFixed || !other.isFixed) pairs.push([circle, other]);
        }
      }
    }
    if (!cells.has(key(column, row))) cells.set(key(column, row), []);
    cells.get(key(column, row)).push(circle);
  }
  return pairs;
}

/** Moves two circles to where they touch; returns whether they lay over each other. */
function part(a, b) {
  const wanted = a.isFixed || b.isFixed ? (a.isFixed ? b : a).radius + GAP : a.radius + b.radius;
  let [x, y] = [b.x - a.x, b.y - a.y];
  const distance = Math.hypot(x, y);
  if (distance >= wanted - 0.25) return false;
  if (distance === 0) [x, y] = [1, 0];
  const length = (wanted - distance) / (distance || 1);
  const shares = a.isFixed ? [0, 1] : b.isFixed ? [1, 0] : [0.5, 0.5];
  [a, b].forEach((circle, index) => {
    const share = shares[index] * length * (index === 0 ? -1 : 1);
    circle.x += x * share;
    circle.y += y * share;
  });
  return true;
}

function hold(circle, from) {
  const [x, y] = [circle.x - from.x, circle.y - from.y];
  const most = Math.max(0, circle.radius - COVERED);
  const part = Math.min(1, most / (Math.hypot(x, y) || 1));
  circle.x = from.x + x * part;
  circle.y = from.y + y * part;
}
