// The base map that the service names: tiles of images or of vectors from elsewhere, or out of one file.
import { unpacked } from "./bytes.js";
import { Latest } from "./latest.js";
import { Archive } from "./pmtiles.js";
import { layersOf } from "./vector-tile.js";
import { drawTile, placesIn } from "./vector-style.js";

const SIZE = 256;
/** Tiles that are kept as they were read, for their enlargements and for other colours. */
const KEPT = 96;
const SUBDOMAINS = "abc";
/** Servers of tiles ask for whom they work, and are told the page's origin, not more. */
const REFERRER = "strict-origin";

/**
 * A Leaflet layer of the base map in the page's settings. It fires `begun` with what its source says of itself, `shown`
 * with each tile that is there, and `failed` with each that is not; `placesAt(zoom)` are the names in its tiles.
 *
 * @param colours gives the palette; call `redraw` when it changes.
 */
export function createTiles(L, { kind, url, deepest }, colours) {
  if (kind === "raster") return imagesFrom(L, url, deepest);
  return drawnTiles(L, kind === "archive" ? fromArchive(url) : fromAddress(L, url, deepest), colours);
}

function imagesFrom(L, url, maxNativeZoom) {
  const Images = L.TileLayer.extend({
    createTile(at, done) {
      const tile = document.createElement("img");
      tile.alt = "";
      tile.referrerPolicy = REFERRER;
      tell(this, new Promise((resolve, reject) => Object.assign(tile, { onload: resolve, onerror: reject })), tile, done);
      tile.src = this.getTileUrl(at);
      return tile;
    },
    placesAt: () => [],
  });
  return new Images(url, { maxNativeZoom, maxZoom: 22, subdomains: SUBDOMAINS, className: "images" });
}

/** Tells Leaflet and the map when a tile is there, or that it is not. */
function tell(layer, loading, tile, done) {
  loading.then(() => {
    layer.fire("shown");
    done(null, tile);
  }, (error) => {
    layer.fire("failed");
    done(error, tile);
  });
}

// A source becomes {deepest, type, attribution} when it begins; a tile of it is an image, the layers of a tile, or `null`.

function fromAddress(L, url, deepest) {
  return {
    begin: async () => ({ deepest, type: "vector" }),
    async tile(z, x, y) {
      const parts = { z, x, y, "-y": 2 ** z - 1 - y, s: SUBDOMAINS[(x + y) % SUBDOMAINS.length], r: "" };
      const response = await fetch(L.Util.template(url, parts), { referrerPolicy: REFERRER });
      if (response.status === 204 || response.status === 404) return null;
      if (!response.ok) throw new Error(`status ${response.status}`);
      return layersOf(await unpacked(new Uint8Array(await response.arrayBuffer())));
    },
  };
}

function fromArchive(url) {
  const archive = new Archive(async (offset, length) => {
    const response = await fetch(url, { headers: { Range: `bytes=${offset}-${offset + length - 1}` } });
    if (response.status !== 206) throw new Error(`status ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  });
  return {
    async begin() {
      const [{ maxZoom, type }, { attribution }] = [await archive.header(), await archive.metadata()];
      return { deepest: maxZoom, type, attribution };
    },
    async tile(z, x, y) {
      const [{ type }, bytes] = [await archive.header(), await archive.tile(z, x, y)];
      if (bytes === null) return null;
      return type === "vector" ? layersOf(bytes) : createImageBitmap(new Blob([bytes], { type }));
    },
  };
}

function drawnTiles(L, source, colours) {
  const tiles = new Latest(KEPT, source.tile);
  const names = new Names();
  const Tiles = L.GridLayer.extend({
    isDrawn: true,

    createTile({ x, y, z }, done) {
      const tile = document.createElement("canvas");
      const column = ((x % 2 ** z) + 2 ** z) % 2 ** z;
      tell(this, this.fill(tile, z, column, y), tile, done);
      return tile;
    },

    begin() {
      this.begun ??= source.begin().then((begun) => {
        if (begun.type !== "vector") this.getContainer()?.classList.add("images");
        this.fire("begun", begun);
        return begun;
      });
      return this.begun;
    },

    /** Draws a tile; below the deepest level of the source, a part of one of that level. */
    async fill(canvas, z, x, y) {
      const level = Math.min(z, (await this.begin()).deepest);
      names.deepest = (await this.begin()).deepest;
      const times = 2 ** (z - level);
      const [column, row] = [Math.floor(x / times), Math.floor(y / times)];
      const found = await tiles.get(level, column, row);
      if (found === null) return;
      const part = { x: x / times - column, y: y / times - row, times };
      if (found instanceof Map) {
        names.take(found, level, column, row);
        drawTile(prepared(canvas), found, z, part, colours());
      } else drawImage(prepared(canvas), found, part);
    },

    placesAt: (zoom) => names.at(zoom),
  });
  return new Tiles({ tileSize: SIZE, updateWhenIdle: false, keepBuffer: 2, minZoom: 0, maxZoom: 22 });
}

/** The names of places in the latest tiles. */
class Names {
  #tiles = new Map();
  #ordered = null;
  deepest = 0;

  take(layers, z, x, y) {
    const key = `${z}/${x}/${y}`;
    if (this.#tiles.has(key)) return;
    const language = navigator.language.split("-")[0];
    const places = placesIn(layers, language).map((place) => ({ ...place, x: (x + place.x) / 2 ** z, y: (y + place.y) / 2 ** z }));
    this.#tiles.set(key, { z, places });
    if (this.#tiles.size > KEPT) this.#tiles.delete(this.#tiles.keys().next().value);
    this.#ordered = null;
  }

  /** Those for a zoom level, the ones that matter most first. */
  at(zoom) {
    const level = Math.min(Math.round(zoom), this.deepest);
    if (this.#ordered?.level !== level) {
      const places = [...this.#tiles.values()].filter(({ z }) => z === level).flatMap((tile) => tile.places);
      this.#ordered = { level, places: places.sort((a, b) => a.rank - b.rank) };
    }
    return this.#ordered.places;
  }
}

function drawImage(context, image, { x, y, times }) {
  const [width, height] = [image.width, image.height];
  context.drawImage(image, x * width, y * height, width / times, height / times, 0, 0, SIZE, SIZE);
}

function prepared(canvas) {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  canvas.width = SIZE * ratio;
  canvas.height = SIZE * ratio;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}
