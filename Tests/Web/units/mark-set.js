import { clusterRadius, FADE, MarkSet, PULSE } from "/map/mark-set.js";
import { cellOf, project } from "/map/grid.js";
import { spread } from "/map/spread.js";
import { shortCount } from "/map/text.js";
import { equal, holds, near, random, test } from "./check.js";

const point = (lat, lon) => ({ _type: "point", lat, lon });
const about = { field: "at", naming: "name", zoom: 3, bits: 2 };
const keys = (set) => [...set.marks.keys()];

test("A mark that stays is the same mark, so that it is drawn on without a flicker", () => {
  const set = new MarkSet();
  const clusters = [{ cell: "5/28/12", count: 3, center: point(35, 139) }, { cell: "5/1/1", count: 1, object: { _id: "aa", at: point(80, -170) } }];
  set.setClusters(clusters, about, 0);
  const before = [...set.marks.values()];
  set.setClusters(clusters.map((cluster) => ({ ...cluster, count: cluster.count })), about, 10);
  [...set.marks.values()].forEach((mark, index) => holds(mark === before[index], mark.key));
});

test("A cluster that splits sends its parts out from where it was", () => {
  const set = new MarkSet();
  set.setClusters([{ cell: "5/28/12", count: 3, center: point(35, 139) }], about, 0);
  const start = project(35, 139);
  set.setClusters([{ cell: "6/56/25", count: 2, center: point(34, 138) }, { cell: "6/57/25", count: 1, object: { _id: "aa", at: point(35.5, 140) } }], { ...about, zoom: 4 }, 1000);
  for (const mark of set.marks.values()) equal(set.at(mark, 1000), start);
  const [mark] = set.marks.values();
  equal(set.at(mark, 5000), project(34, 138));
});

test("An object with several places is marked at each of them, in its own cell", () => {
  const set = new MarkSet();
  const places = [point(10, 10), point(-40, 100)];
  const object = { _id: "loop", name: "Loop", at: places };
  const clusters = places.map(({ lat, lon }) => {
    const { level, column, row } = cellOf(lat, lon, 3, 2);
    return { cell: `${level}/${column}/${row}`, count: 1, object };
  });
  set.setClusters(clusters, about, 0);
  equal(keys(set), ["loop#0", "loop#1"]);
  equal([...set.marks.values()].map(({ lat }) => lat), [10, -40]);
});

test("A live object enters with a pulse, glides, and fades away", () => {
  const set = new MarkSet();
  const at = (lat, lon) => ({ _id: "c1", name: "Aiko", at: point(lat, lon) });
  set.setObjects([], "name", "at");
  set.apply([{ kind: "enter", id: "c1", after: at(0, 0) }], "name", "at", 1000);
  const [mark] = set.marks.values();
  equal([mark.entered, set.tidy(1000 + PULSE / 2), set.tidy(1001 + PULSE)], [1000, true, false]);
  set.apply([{ kind: "change", id: "c1", before: at(0, 0), after: at(0, 90) }], "name", "at", 5000);
  equal(set.at(mark, 5000).x, 0.5);
  const halfway = set.at(mark, 5200).x;
  holds(halfway > 0.5 && halfway < 0.75, `at ${halfway}`);
  equal(set.at(mark, 9000).x, 0.75);
  set.apply([{ kind: "leave", id: "c1", before: at(0, 90), reason: "moved" }], "name", "at", 10000);
  equal([set.marksOf("c1").length, set.tidy(10000 + FADE / 2), set.marks.size], [0, true, 1]);
  equal([set.tidy(10000 + FADE), set.marks.size], [false, 0]);
});

test("A move across the antimeridian takes the short way", () => {
  const set = new MarkSet();
  const at = (lon) => ({ _id: "c1", at: point(0, lon) });
  set.setObjects([at(179)], null, "at");
  set.apply([{ kind: "change", id: "c1", after: at(-179) }], null, "at", 0);
  const [mark] = set.marks.values();
  for (let now = 0; now < 600; now += 50) holds(set.at(mark, now).x > 0.99, `at ${set.at(mark, now).x}`);
});

test("An object that enters again while it fades stays", () => {
  const set = new MarkSet();
  const after = { _id: "c1", at: point(1, 1) };
  set.setObjects([after], null, "at");
  set.apply([{ kind: "leave", id: "c1" }], null, "at", 0);
  set.apply([{ kind: "enter", id: "c1", after }], null, "at", 100);
  set.tidy(5000);
  equal(keys(set), ["c1#0"]);
});

test("A place that is taken out of an array fades, and the others stay", () => {
  const set = new MarkSet();
  set.setObjects([{ _id: "l1", at: [point(1, 1), point(2, 2)] }], null, "at");
  set.apply([{ kind: "change", id: "l1", after: { _id: "l1", at: [point(1, 1)] } }], null, "at", 0);
  set.tidy(5000);
  equal(keys(set), ["l1#0"]);
});

test("Where motion is not wanted nothing glides", () => {
  const set = new MarkSet({ isStill: () => true });
  const at = (lon) => ({ _id: "c1", at: point(0, lon) });
  set.setObjects([at(0)], null, "at");
  set.apply([{ kind: "change", id: "c1", after: at(90) }], null, "at", 0);
  equal(set.at([...set.marks.values()][0], 0).x, 0.75);
});

test("More objects make a larger circle, within a cell of 64 points", () => {
  let before = 0;
  for (const count of [2, 10, 100, 1000, 10000, 1e6]) {
    holds(clusterRadius(count) >= before && clusterRadius(count) <= 32, `${count}`);
    before = clusterRadius(count);
  }
  near(clusterRadius(1e9), 31, 1e-9);
});

/** Half the points that a number takes in a circle, but for the outermost two. */
const half = (count) => shortCount(count).length * 3.3 - 2;

/** Circles and dots at random places of a grid's cells, some in the corner where four cells meet. */
function crowd(seed) {
  const chance = random(seed);
  const circles = [];
  for (let cell = 0; cell < 400; cell += 1) {
    if (chance() < 0.4) continue;
    const [column, row] = [cell % 20, Math.floor(cell / 20)];
    const isDot = chance() < 0.3;
    const corner = (index) => (chance() < 0.2 ? (index % 2 === 0 ? 63 : 1) : chance() * 64);
    const count = isDot ? 1 : 2 + Math.floor(chance() ** 4 * 20000);
    circles.push({ x: column * 64 + corner(column), y: row * 64 + corner(row), count,
      radius: isDot ? 5.5 : clusterRadius(count), isFixed: isDot });
  }
  return circles;
}

test("No circle lies on the number of another, and each covers the middle of its objects", () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const circles = crowd(seed);
    const from = circles.map((circle) => ({ ...circle }));
    spread(circles);
    circles.forEach((circle, index) => {
      const away = Math.hypot(circle.x - from[index].x, circle.y - from[index].y);
      holds(circle.isFixed ? away === 0 : away <= circle.radius - 2.9, `seed ${seed}: moved by ${away}`);
      if (circle.isFixed) return;
      for (const other of circles.slice(index + 1).filter(({ isFixed }) => !isFixed)) {
        const apart = Math.hypot(circle.x - other.x, circle.y - other.y);
        const isClear = apart > circle.radius + half(other.count) && apart > other.radius + half(circle.count);
        holds(isClear, `seed ${seed}: the circles of ${circle.count} and ${other.count} are ${apart} apart`);
      }
    });
  }
});

test("Circles that do not touch stay at the middle of their objects, and those at one point part", () => {
  const apart = [{ x: 10, y: 10, radius: 15 }, { x: 45, y: 10, radius: 15 }];
  spread(apart);
  equal(apart.map(({ x, y }) => [x, y]), [[10, 10], [45, 10]]);
  const together = [{ x: 64, y: 64, radius: 12 }, { x: 64, y: 64, radius: 12 }];
  spread(together);
  holds(Math.abs(together[0].x - together[1].x) > 17, JSON.stringify(together));
});
