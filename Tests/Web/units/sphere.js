import { arcs, boxOf, circleOutline, cornersOf, destination, distanceBetween, near as nearest, ringOf, unwrapped, wrapLongitude } from "/map/sphere.js";
import { equal, holds, near, random, test } from "./check.js";

test("Distances are those of the service", () => {
  const from = { lat: 35.677379, lon: 139.702148 };
  near(distanceBetween(from, { lat: 35.667983, lon: 139.739356 }), 3519.661460663769, 1e-6);
  near(distanceBetween(from, { lat: 35.672568, lon: 139.723606 }), 2010.7256561596193, 1e-6);
  near(distanceBetween({ lat: 10, lon: 179.5 }, { lat: 10, lon: -179.5 }), distanceBetween({ lat: 10, lon: 0 }, { lat: 10, lon: 1 }), 1e-6);
});

test("A destination lies as far away as it was asked to", () => {
  const next = random(7);
  for (let round = 0; round < 500; round += 1) {
    const from = { lat: next() * 180 - 90, lon: next() * 360 - 180 };
    const meters = next() * 1.9e7;
    near(distanceBetween(from, destination(from, meters, next() * 360)), meters, 0.5, `seed 7, round ${round}:`);
  }
});

test("Longitudes wrap into -180…180, and 180 stays", () => {
  for (const [lon, wrapped] of [[180, 180], [-180, -180], [181, -179], [-181, 179], [540, -180], [725, 5], [0, 0]]) equal(wrapLongitude(lon), wrapped);
  equal(nearest(-179, 179), 181);
  equal(nearest(10, -710), -710);
});

test("A circle's outline is closed and has no jump, across the antimeridian too", () => {
  for (const lon of [0, 179.9, -179.9]) {
    const ring = circleOutline({ lat: -17, lon }, 300000);
    equal(ring[0].map((v) => Math.round(v * 1e6)), ring[ring.length - 1].map((v) => Math.round(v * 1e6)));
    for (let at = 1; at < ring.length; at += 1) holds(Math.abs(ring[at][1] - ring[at - 1][1]) < 10, `a jump at ${at}`);
    for (const [lat, edge] of ring) near(distanceBetween({ lat: -17, lon }, { lat, lon: edge }), 300000, 0.01);
  }
});

test("A circle around a pole closes along the pole", () => {
  const ring = circleOutline({ lat: 88, lon: 20 }, 500000);
  equal(ring.slice(-2).map(([lat]) => lat), [90, 90]);
  near(Math.abs(ring[ring.length - 1][1] - ring[ring.length - 2][1]), 360, 1e-6);
  equal(circleOutline({ lat: -89, lon: 0 }, 500000).slice(-2).map(([lat]) => lat), [-90, -90]);
});

test("A box drawn across the antimeridian has a south-west corner east of its north-east corner", () => {
  equal(boxOf({ lat: -10, lon: 190 }, { lat: -20, lon: 170 }), { sw: { _type: "point", lat: -20, lon: 170 }, ne: { _type: "point", lat: -10, lon: -170 } });
  equal(boxOf({ lat: 1, lon: -200 }, { lat: 2, lon: 200 }).sw.lon, -180);
  equal(boxOf({ lat: 1, lon: -200 }, { lat: 2, lon: 200 }).ne.lon, 180);
  equal(cornersOf(boxOf({ lat: -10, lon: 190 }, { lat: -20, lon: 170 })), [[-20, 170], [-10, 190]]);
});

test("A ring that was drawn closes, wraps, and has no edge of half a turn", () => {
  equal(ringOf([{ lat: 0, lon: 170 }, { lat: 10, lon: 190 }, { lat: 20, lon: 170 }]), [[170, 0], [-170, 10], [170, 20], [170, 0]]);
  const wide = ringOf([{ lat: 0, lon: -150 }, { lat: 0, lon: 150 }, { lat: 50, lon: 0 }]);
  holds(wide.length > 4, "a wide edge was not divided");
  const points = unwrapped(wide);
  for (let at = 1; at < points.length; at += 1) holds(Math.abs(points[at][1] - points[at - 1][1]) < 180, "an edge of half a turn");
  near(points[0][1], points[points.length - 1][1], 1e-9);
});

test("A route follows the shorter great-circle arc", () => {
  const line = arcs([[139.77, 35.68], [-122.4, 37.77]]);
  holds(Math.max(...line.map(([lat]) => lat)) > 45, "the arc does not bend to the north");
  near(line[line.length - 1][1], 237.6, 1e-9);
  equal(arcs([[10, 5]]), [[5, 10]]);
});
