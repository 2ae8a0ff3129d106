// Reads Mapbox Vector Tiles, version 2.
import { Bytes } from "./bytes.js";

const TYPES = [null, "point", "line", "polygon"];

/** The layers of a tile by their names: {extent, features: [{type, properties, parts}]}; a part is [x, y, x, y, …]. */
export function layersOf(bytes) {
  const layers = new Map();
  new Bytes(bytes).message({
    3: (tile) => {
      const { name, ...layer } = layerOf(tile.part());
      layers.set(name, layer);
    },
  });
  return layers;
}

function layerOf(bytes) {
  const [keys, values, found] = [[], [], []];
  let [name, extent] = ["", 4096];
  bytes.message({
    1: (layer) => { name = layer.text(); },
    2: (layer) => found.push(layer.part()),
    3: (layer) => keys.push(layer.text()),
    4: (layer) => values.push(valueOf(layer.part())),
    5: (layer) => { extent = layer.varint(); },
  });
  return { name, extent, features: found.map((feature) => featureOf(feature, keys, values)) };
}

function valueOf(bytes) {
  let value = null;
  bytes.message({
    1: (message) => { value = message.text(); }, 2: (message) => { value = message.float(); },
    3: (message) => { value = message.double(); }, 4: (message) => { value = message.varint(); },
    5: (message) => { value = message.varint(); }, 6: (message) => { value = message.signed(); },
    7: (message) => { value = message.varint() === 1; },
  });
  return value;
}

function featureOf(bytes, keys, values) {
  const feature = { type: null, properties: {}, parts: [] };
  bytes.message({
    2: (message) => {
      const tags = message.part();
      while (!tags.isAtEnd) feature.properties[keys[tags.varint()]] = values[tags.varint()];
    },
    3: (message) => { feature.type = TYPES[message.varint()] ?? null; },
    4: (message) => { feature.parts = partsOf(message.part()); },
  });
  return feature;
}

/** Commands: 1 begins a part, 2 goes on, 7 closes; in their higher bits is how many there are. */
function partsOf(bytes) {
  const parts = [];
  let [x, y] = [0, 0];
  while (!bytes.isAtEnd) {
    const command = bytes.varint();
    const [kind, times] = [command % 8, Math.floor(command / 8)];
    if (kind === 7) continue;
    for (let time = 0; time < times; time += 1) {
      x += bytes.signed();
      y += bytes.signed();
      if (kind === 1) parts.push([]);
      parts[parts.length - 1]?.push(x, y);
    }
  }
  return parts;
}
