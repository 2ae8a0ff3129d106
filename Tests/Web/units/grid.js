import { ancestors, bitsFor, boundsOf, cellBox, cellOf, project, viewBox } from "/map/grid.js";
import { degreesText, multiples, stepAt } from "/map/graticule.js";
import { equal, holds, near, random, test } from "./check.js";

test("A place's cell is the specification's: Tokyo is in 9/454/201", () => {
  equal(cellOf(35.68, 139.77, 5, 4), { level: 9, column: 454, row: 201 });
});

test("180 is -180, and polar places count in the edge rows", () => {
  equal(cellOf(0, 180, 3, 2), cellOf(0, -180, 3, 2));
  equal(cellOf(90, 0, 3, 2).row, 0);
  equal(cellOf(-90, 0, 3, 2).row, 31);
});

test("A cell lies in the cells of lower levels, which ancestors name", () => {
  const next = random(11);
  for (let round = 0; round < 300; round += 1) {
    const [lat, lon] = [next() * 180 - 90, next() * 360 - 180];
    const name = ({ level, column, row }) => `${level}/${column}/${row}`;
    const [child, parent] = [cellOf(lat, lon, 9, 2), cellOf(lat, lon, 6, 2)];
    holds([...ancestors(name(child))].includes(name(parent)), `seed 11, round ${round}`);
  }
  equal([...ancestors("0/0/0")], []);
});

test("A cell's box holds its places, and those at the edge reach to the poles", () => {
  const next = random(12);
  for (let round = 0; round < 300; round += 1) {
    const [lat, lon] = [next() * 180 - 90, next() * 359.9 - 180];
    const { sw, ne } = cellBox(cellOf(lat, lon, 7, 2));
    holds(sw.lat <= lat + 1e-9 && lat <= ne.lat + 1e-9 && sw.lon <= lon + 1e-6 && lon <= ne.lon + 1e-6, `seed 12, round ${round}: ${lat}, ${lon}`);
  }
});

test("A view of the whole world asks for the full circle, another for its own box across the antimeridian", () => {
  const world = viewBox({ south: -85, west: -300, north: 85, east: 250 });
  equal([world.sw.lon, world.ne.lon, world.sw.lat, world.ne.lat], [-180, 180, -90, 90]);
  const pacific = viewBox({ south: -20, west: 170, north: 0, east: 190 }, 0);
  equal([pacific.sw.lon, pacific.ne.lon], [170, -170]);
});

test("The bounds of places go around the antimeridian where that is shorter", () => {
  const at = (lat, lon) => ({ lat, lon });
  equal(boundsOf([at(1, 179), at(2, -178)]), { south: 1, north: 2, west: 179, east: 182 });
  equal(boundsOf([at(1, -10), at(2, 30), at(-3, 5)]), { south: -3, north: 2, west: -10, east: 30 });
  equal(boundsOf([at(4, 5)]), { south: 4, north: 4, west: 5, east: 5 });
});

test("The map's position is Web Mercator's", () => {
  equal(project(0, 0), { x: 0.5, y: 0.5 });
  near(project(85.0511287798066, -180).y, 0, 1e-12);
  equal(project(90, 540).x, 2);
});

test("Lines of the graticule are round degrees, some way apart", () => {
  for (let zoom = 0; zoom <= 22; zoom += 1) {
    const step = stepAt(zoom);
    const points = (step / 360) * 256 * 2 ** zoom;
    holds(step === 30 || step === 0.0001 || (points >= 110 && points < 300), `zoom ${zoom}: ${points}`);
  }
  equal(multiples(0.1, 0.25, 0.61), [0.3, 0.4, 0.5, 0.6]);
  equal([degreesText(0, "N", "S"), degreesText(-180, "E", "W"), degreesText(-0.1, "N", "S"), degreesText(30, "E", "W")], ["0°", "180°", "0.1°S", "30°E"]);
});

test("A window asks for no more cells than the service answers with", () => {
  for (const [x, y] of [[390, 844], [1440, 900], [3840, 2160], [7680, 4320]]) {
    const size = 256 / 2 ** bitsFor({ x, y });
    holds(((x * 1.3) / size + 2) * ((y * 1.3) / size + 2) < 4096, `${x} × ${y}`);
  }
});
