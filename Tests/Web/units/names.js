import { Room, drawNames } from "/map/map-labels.js";
import { labelsOf } from "/map/mark-drawing.js";
import { countryNames, Places } from "/map/places.js";
import { equal, holds, near, random, test } from "./check.js";

/** A canvas that writes down which boxes names take. */
function canvas() {
  const drawn = [];
  return { drawn, measureText: (text) => ({ width: text.length * 6 }), strokeText() {}, fillRect() {},
    fillText(text, x, y) { drawn.push({ text, x, y, align: this.textAlign }); } };
}

const view = { scale: 1000, left: 0, top: 0, right: 1, bottom: 0.6 };
const boxOf = ({ text, x, y, align }) => (align === "center" ? [x - text.length * 3, y - 7, x + text.length * 3, y + 7] : [x, y - 7, x + text.length * 6, y + 7]);
const overlap = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];

test("No name lies under a mark or over another name, and the first places have the best of it", () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    const chance = random(seed);
    const place = (index) => ({ name: "x".repeat(3 + Math.floor(chance() * 12)) + index, x: chance(), y: chance() * 0.6 });
    const places = Array.from({ length: 200 }, (_, index) => place(index));
    const countries = Array.from({ length: 5 }, (_, index) => ({ ...place(`c${index}`), room: 1 }));
    const marks = Array.from({ length: 40 }, () => ({ mark: { radius: 6 + chance() * 20 }, x: chance() * 1000, y: chance() * 600 }));
    const context = canvas();
    drawNames(context, { countries, places }, view, {}, new Room(marks));
    const boxes = context.drawn.map(boxOf);
    holds(boxes.length > 20, `seed ${seed}: ${boxes.length} names`);
    boxes.forEach((box, index) => {
      for (const { mark: { radius }, x, y } of marks) holds(!overlap(box, [x - radius, y - radius, x + radius, y + radius]), `seed ${seed}: under a mark`);
      for (const other of boxes.slice(index + 1)) holds(!overlap(box, other), `seed ${seed}: ${context.drawn[index].text} over another`);
    });
  }
});

test("The names of objects come before those of places, and that of the chosen object before others", () => {
  const context = canvas();
  const dot = (id, x) => ({ mark: { id, count: 1, radius: 5.5, label: `Shop ${id}` }, x, y: 300 });
  const shown = [dot("a", 480), dot("b", 500)];
  const room = new Room(shown);
  equal(labelsOf(context, shown, "b", room).map(({ text }) => text), ["Shop b"]);
  drawNames(context, { countries: [], places: [{ name: "Paris", x: 0.52, y: 0.3 }] }, view, {}, room);
  equal(context.drawn, []);
});

test("A name stands at the left of its place where there is no room at the right", () => {
  const context = canvas();
  const place = { name: "Paris", x: 0.5, y: 0.3 };
  drawNames(context, { countries: [], places: [place] }, view, {}, new Room([{ mark: { radius: 10 }, x: 530, y: 300 }]));
  equal(context.drawn.map(({ x }) => x), [500 - 6 - 30]);
});

test("A place is named at each copy of the world that is seen", () => {
  const context = canvas();
  drawNames(context, { countries: [], places: [{ name: "Paris", x: 0.5, y: 0.3 }] }, { ...view, left: -1, right: 2 }, {}, new Room([]));
  equal(context.drawn.map(({ x }) => Math.round(x)), [506, 1506, 2506]);
});

test("The file of places has those of each level before those of the next", () => {
  const places = new Places({ names: "Oslo\nRome\nBergen", lat: [59913, -18019, 18498], lon: [10738, 1773, -7189], from: [1, 1, 0, 1] });
  equal([0, 1, 2.6, 3, 22].map((zoom) => places.at(zoom).map(({ name }) => name)),
    [["Oslo"], ["Oslo", "Rome"], ["Oslo", "Rome"], ["Oslo", "Rome", "Bergen"], ["Oslo", "Rome", "Bergen"]]);
  near(places.all[2].x, (5.322 + 180) / 360, 1e-9);
});

test("The file of the page has the largest places and the capitals, where they are", async () => {
  const { loadPlaces } = await import("/map/places.js");
  const places = await loadPlaces();
  holds(places.all.length > 7000 && places.all.length < 7200, `${places.all.length} places`);
  const at = new Map(places.all.map(({ name, x }) => [name, x * 360 - 180]));
  for (const [name, lon] of [["Tokyo", 139.69], ["Paris", 2.35], ["New York City", -74.01], ["Reykjavík", -21.9], ["Vaduz", 9.52]]) near(at.get(name), lon, 0.02, name);
  const early = places.at(4).map(({ name }) => name);
  holds(early.length < 500 && early.includes("Tokyo") && !early.includes("Vaduz"), `${early.length} at level 4`);
});

test("A country has its name at its place, and the room for it", () => {
  const [{ name, x, room }] = countryNames({ features: [{ properties: { name: "Chad", label: [18, 15], room: 3.6 } }] });
  equal([name, x, room], ["Chad", 0.55, 0.01]);
});
