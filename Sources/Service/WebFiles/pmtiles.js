// Tiles out of a PMTiles archive, version 3, by ranges of its bytes.
import { Bytes, unpacked } from "./bytes.js";
import { Latest } from "./latest.js";

const HEADER = 127;
/** The header and the root of the directories lie within so many bytes. */
const BEGINNING = 16384;
const DIRECTORIES = 64;
const DEEPEST = 4;
const TYPES = { 1: "vector", 2: "image/png", 3: "image/jpeg", 4: "image/webp", 5: "image/avif" };

export class Archive {
  #begun = null;
  #directories = new Latest(DIRECTORIES, async (offset, length) => entriesOf(await unpacked(await this.read(offset, length))));

  /** @param read a function of an offset and a length, which becomes a `Uint8Array` of these bytes. */
  constructor(read) {
    this.read = read;
  }

  /** What the archive says of itself: {type, minZoom, maxZoom, …}; `type` is "vector" or the media type of images. */
  header() {
    this.#begun ??= this.#begin();
    return this.#begun;
  }

  async #begin() {
    const bytes = await this.read(0, BEGINNING);
    const header = headerOf(bytes);
    const { rootOffset, rootLength } = header;
    const isHere = rootOffset + rootLength <= bytes.length;
    const root = isHere ? bytes.subarray(rootOffset, rootOffset + rootLength) : await this.read(rootOffset, rootLength);
    return { ...header, root: entriesOf(await unpacked(root)) };
  }

  /** What is written about the archive as a whole, such as `attribution`. */
  async metadata() {
    const { metadataOffset, metadataLength } = await this.header();
    if (metadataLength === 0) return {};
    return JSON.parse(new TextDecoder().decode(await unpacked(await this.read(metadataOffset, metadataLength))));
  }

  /** The bytes of a tile, unpacked; `null` where there is none. */
  async tile(z, x, y) {
    const header = await this.header();
    const id = tileID(z, x, y);
    let entries = header.root;
    for (let depth = 0; depth < DEEPEST; depth += 1) {
      const entry = find(entries, id);
      if (!entry) return null;
      if (entry.run > 0) return unpacked(await this.read(header.tilesOffset + entry.offset, entry.length));
      entries = await this.#directories.get(header.leavesOffset + entry.offset, entry.length);
    }
    return null;
  }
}

function headerOf(bytes) {
  const isArchive = bytes.length >= HEADER && new TextDecoder().decode(bytes.subarray(0, 7)) === "PMTiles" && bytes[7] === 3;
  if (!isArchive) throw new Error("this is no PMTiles archive of version 3");
  const reader = new Bytes(bytes, 8);
  const [rootOffset, rootLength, metadataOffset, metadataLength, leavesOffset, , tilesOffset] =
    Array.from({ length: 11 }, () => reader.long());
  const [, , , type, minZoom, maxZoom] = Array.from({ length: 6 }, () => reader.byte());
  return { rootOffset, rootLength, metadataOffset, metadataLength, leavesOffset, tilesOffset,
    type: TYPES[type] ?? null, minZoom, maxZoom };
}

/** The entries of a directory: each for `run` tiles from `id` on; those with a run of 0 lead to another directory. */
function entriesOf(bytes) {
  const reader = new Bytes(bytes);
  const entries = Array.from({ length: reader.varint() }, () => ({}));
  let id = 0;
  for (const entry of entries) {
    id += reader.varint();
    entry.id = id;
  }
  for (const entry of entries) entry.run = reader.varint();
  for (const entry of entries) entry.length = reader.varint();
  entries.forEach((entry, index) => {
    const offset = reader.varint();
    const before = entries[index - 1];
    entry.offset = offset === 0 && before ? before.offset + before.length : offset - 1;
  });
  return entries;
}

/** The entry that a tile belongs to, if there is one. */
function find(entries, id) {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (entries[middle].id <= id) low = middle + 1;
    else high = middle;
  }
  const entry = entries[low - 1];
  return entry && (entry.run === 0 || id < entry.id + entry.run) ? entry : null;
}

/** The number of a tile: levels after each other, and a Hilbert curve within each. */
export function tileID(z, x, y) {
  let id = (4 ** z - 1) / 3;
  let [column, row] = [x, y];
  for (let size = 2 ** (z - 1); size >= 1; size /= 2) {
    const [right, lower] = [Math.floor(column / size) % 2, Math.floor(row / size) % 2];
    id += size * size * ((3 * right) ^ lower);
    [column, row] = [column % size, row % size];
    if (lower === 0) {
      if (right === 1) [column, row] = [size - 1 - column, size - 1 - row];
      [column, row] = [row, column];
    }
  }
  return id;
}
