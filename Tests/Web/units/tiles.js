import { Bytes, unpacked } from "/map/bytes.js";
import { Archive, tileID } from "/map/pmtiles.js";
import { layersOf } from "/map/vector-tile.js";
import { drawTile, placesIn } from "/map/vector-style.js";
import { equal, holds, random, test } from "./check.js";

const bytes = (...parts) => new Uint8Array(parts.flat());

function varint(value) {
  const out = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...out, rest];
    out.push((rest % 128) + 128);
  }
}

async function failure(run) {
  try {
    await run();
    return null;
  } catch (error) {
    return error.message;
  }
}

test("Numbers of up to 2^53 are read as they were written, and what ends too early is refused", async () => {
  for (const value of [0, 1, 127, 128, 300, 2 ** 31, 2 ** 32 + 5, 2 ** 53 - 1]) equal(new Bytes(bytes(varint(value))).varint(), value);
  equal([0, 1, 2, 3, 4294967295].map((value) => new Bytes(bytes(varint(value))).signed()), [0, -1, 1, -2, -2147483648]);
  for (const wrong of [[], [128], [255, 255]]) holds((await failure(() => new Bytes(bytes(wrong)).varint())).includes("too early"), `${wrong}`);
  holds((await failure(() => new Bytes(bytes(Array(11).fill(255))).varint())).includes("ten"), "eleven bytes");
  holds((await failure(() => new Bytes(bytes([5, 1])).part())).includes("too early"), "a part");
});

test("A tile has the number that the specification gives it", () => {
  // The examples of PMTiles 3, and the corners of a level.
  equal([[0, 0, 0], [1, 0, 0], [1, 0, 1], [1, 1, 1], [1, 1, 0], [2, 0, 0], [12, 3423, 1763]].map((tile) => tileID(...tile)), [0, 1, 2, 3, 4, 5, 19078479]);
  const ids = new Set();
  for (let x = 0; x < 16; x += 1) for (let y = 0; y < 16; y += 1) ids.add(tileID(4, x, y));
  equal([ids.size, Math.min(...ids), Math.max(...ids)], [256, 85, 340]);
  equal(tileID(26, 2 ** 26 - 1, 0), (4 ** 27 - 1) / 3 - 1);
});

/** An archive without compression: entries of [id, run, content], in directories of `size`. */
function archive(entries, size) {
  const data = entries.flatMap(([, , content]) => content);
  let offset = 0;
  const placed = entries.map(([id, run, content]) => {
    const entry = [id, run, offset, content.length];
    offset += content.length;
    return entry;
  });
  const directory = (list) => [varint(list.length), ...list.map(([id], index) => varint(id - (list[index - 1]?.[0] ?? 0))),
    ...list.map(([, run]) => varint(run)), ...list.map(([, , , length]) => varint(length)),
    ...list.map(([, , at], index) => varint(index > 0 && at === list[index - 1][2] + list[index - 1][3] ? 0 : at + 1))].flat();
  const leaves = [];
  const root = [];
  for (let start = 0; start < placed.length; start += size) {
    const part = directory(placed.slice(start, start + size));
    root.push([placed[start][0], 0, leaves.length, part.length]);
    leaves.push(...part);
  }
  const top = directory(root);
  const long = (value) => [...new Uint8Array(new BigUint64Array([BigInt(value)]).buffer)];
  const header = [..."PMTiles"].map((letter) => letter.charCodeAt(0));
  header.push(3, ...[127, top.length, 0, 0, 127 + top.length, leaves.length, 127 + top.length + leaves.length, data.length, 0, 0, 0].flatMap(long), 1, 1, 1, 1, 0, 3);
  header.push(...Array(127 - header.length).fill(0));
  return bytes(header, top, leaves, data);
}

test("Each tile of an archive is found through its directories, and what is not there is not", async () => {
  const chance = random(7);
  const entries = [];
  for (let id = 0; id < 85;) {
    const run = chance() < 0.3 ? 3 : 1;
    if (chance() < 0.7) entries.push([id, run, [id, 1, 2].slice(0, 1 + Math.floor(chance() * 3))]);
    id += run;
  }
  const file = archive(entries, 5);
  const asked = [];
  const read = async (offset, length) => {
    asked.push(offset);
    return file.slice(offset, offset + length);
  };
  const tiles = new Archive(read);
  for (let z = 0; z < 4; z += 1) {
    for (let x = 0; x < 2 ** z; x += 1) {
      for (let y = 0; y < 2 ** z; y += 1) {
        const id = tileID(z, x, y);
        const entry = entries.find(([from, run]) => id >= from && id < from + run);
        const found = await tiles.tile(z, x, y);
        equal(found && [...found], entry ? entry[2] : null, `tile ${z}/${x}/${y}`);
      }
    }
  }
  equal(asked.filter((offset) => offset === 0).length, 1, "the header is read once:");
  holds((await failure(() => new Archive(async () => bytes([1, 2, 3])).header())).includes("no PMTiles"), "no archive");
});

test("What gzip has packed is unpacked, other bytes stay", async () => {
  const packed = new Response(new Blob(["hello"]).stream().pipeThrough(new CompressionStream("gzip")));
  equal(new TextDecoder().decode(await unpacked(new Uint8Array(await packed.arrayBuffer()))), "hello");
  equal([...await unpacked(bytes([1, 2]))], [1, 2]);
});

const field = (number, data) => [...varint(number * 8 + 2), ...varint(data.length), ...data];
const text = (string) => [...new TextEncoder().encode(string)];

test("The layers of a vector tile have their features, with geometries and properties of every type", () => {
  const double = [...new Uint8Array(new Float64Array([1.5]).buffer)];
  const float = [...new Uint8Array(new Float32Array([0.25]).buffer)];
  const values = [field(1, text("Zürich")), [21, ...float], [25, ...double], [32, 7], [40, ...varint(1e12)], [48, 5], [56, 1]];
  // A point at 25, 17; the square of the specification with a hole of no interest here.
  const feature = (type, geometry, tags) => field(2, [...field(2, tags), 24, type, ...field(4, geometry.flatMap(varint))]);
  const layer = field(3, [120, 2, ...field(1, text("place")), ...feature(1, [9, 50, 34], [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]),
    ...feature(3, [9, 6, 12, 18, 10, 12, 24, 44, 15], []), ...values.map((_, index) => field(3, text(`k${index}`))).flat(),
    ...values.map((value) => field(4, value)).flat(), 40, ...varint(4096)]);
  const found = layersOf(bytes(layer, [8, 1]));
  const { extent, features } = found.get("place");
  equal([extent, features.length], [4096, 2]);
  equal(features[0], { type: "point", properties: { k0: "Zürich", k1: 0.25, k2: 1.5, k3: 7, k4: 1e12, k5: -3, k6: true }, parts: [[25, 17]] });
  equal(features[1], { type: "polygon", properties: {}, parts: [[3, 6, 8, 12, 20, 34]] });
});

test("Names of places come in the language of the reader, large ones first, from the usual kinds of tiles", () => {
  const feature = (properties) => ({ type: "point", properties, parts: [[1024, 2048]] });
  const layers = new Map([["place", { extent: 4096, features: [
    feature({ class: "village", name: "Au" }), feature({ class: "city", rank: 2, name: "München", "name:en": "Munich", "name:de": "München" }),
    feature({ kind: "locality", kind_detail: "town", name: "Erding" }), feature({ class: "country", name: "Germany" }), feature({ class: "city" })] }],
  ["water_name", { extent: 4096, features: [feature({ name: "Isar" })] }]]);
  const names = (language) => placesIn(layers, language).sort((a, b) => a.rank - b.rank).map(({ name }) => name);
  equal(names("en"), ["Germany", "Munich", "Erding", "Au"]);
  equal(names("de"), ["Germany", "München", "Erding", "Au"]);
  equal([placesIn(layers, "en")[0].x, placesIn(layers, "en")[0].y], [0.25, 0.5]);
});

test("What the layers of a tile are is drawn, each in its colour, and those of unknown names as lines", () => {
  const square = (x, y, side) => [[x, y, x + side, y, x + side, y + side, x, y + side]];
  const layer = (type, parts, properties) => ({ extent: 256, features: [{ type, parts, properties }] });
  const layers = new Map([["buildings", layer("polygon", square(10, 10, 20), {})], ["earth", layer("polygon", square(0, 0, 128), {})],
    ["landuse", layer("polygon", square(60, 60, 20), { kind: "park" })], ["roads", layer("line", [[0, 100, 128, 100]], { kind: "highway", kind_detail: "motorway" })],
    ["boundaries", layer("line", [[0, 120, 128, 120]], { kind: "country" })], ["mine", layer("polygon", square(150, 150, 40), {})],
    ["water_name", layer("line", [[0, 200, 256, 200]], { name: "Sea" })]]);
  const palette = { land: "#010101", water: "#020202", green: "#030303", built: "#040404", road: "#050505", border: "#060606" };
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 256;
  const context = canvas.getContext("2d");
  const at = (x, y) => context.getImageData(x, y, 1, 1).data[0];
  const points = [[200, 20], [100, 20], [70, 70], [20, 20], [60, 100], [60, 120], [150, 170], [170, 170], [60, 200]];
  drawTile(context, layers, 14, { x: 0, y: 0, times: 1 }, palette);
  const whole = points.map(([x, y]) => at(x, y));
  equal([...whole.slice(0, 5), ...whole.slice(7)], [2, 1, 3, 4, 5, 2, 2]);
  holds(whole[5] > 1 && whole[6] > 2, `lines ${whole}`);
  drawTile(context, layers, 3, { x: 0, y: 0, times: 1 }, palette);
  equal([at(20, 20), at(60, 100)], [1, 1], "from afar there are neither buildings nor roads:");
  drawTile(context, layers, 14, { x: 0.25, y: 0.25, times: 4 }, palette);
  equal([at(10, 10), at(40, 40), at(100, 100)], [3, 3, 1], "a part, enlarged:");
});
