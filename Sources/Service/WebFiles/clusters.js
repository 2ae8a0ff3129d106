// The clusters that the map shows: asked for anew when the query changes or the map leaves what they cover.
import { bitsFor, boundsOf, cellBox, cellOf, clusterZoom, viewBox } from "./grid.js";
import { firstLevelName, placesOf } from "./values.js";

const MAXIMUM_ZOOM = 22;
const DEEPER = 3;
/** How often an extent is looked at more closely, and how closely. */
const ROUNDS = 5;
const DEEPEST = 16;

export class Clusters {
  #run = null;
  covered = null;
  bits = bitsFor({ x: 0, y: 0 });

  /** @param shown called with the clusters, their zoom level and `total`; `failed` with an error. */
  constructor({ model, service, map, shown, failed }) {
    Object.assign(this, { model, service, map, shown, failed });
  }

  /** @param clause the clause of the query, `undefined` for all objects. */
  async load(clause, isNew) {
    const { model } = this;
    const zoom = clusterZoom(this.map.getZoom());
    const view = boundsOfMap(this.map);
    this.bits = bitsFor(this.map.getSize());
    if (!isNew && this.covered?.zoom === zoom && contains(this.covered.view, view)) return;
    this.#run?.abort();
    this.#run = new AbortController();
    try {
      const wanted = viewBox(view);
      const answer = await this.#ask(clause, { zoom, box: wanted }, this.#run.signal);
      this.covered = { zoom, view: grown(view, 0.15) };
      this.shown(answer, { zoom, bits: this.bits, field: model.geoField });
    } catch (error) {
      if (error.name !== "AbortError") this.failed(error);
    }
  }

  stop() {
    this.#run?.abort();
    this.covered = null;
  }

  #ask(clause, { zoom, box }, signal = undefined) {
    const { model } = this;
    const names = [model.geoField, model.naming].filter(Boolean).map((path) => firstLevelName({}, path));
    const isDotted = [model.geoField, model.naming].some((path) => path?.includes("."));
    return this.service.call("bucket.clusters", {
      bucket: model.bucket, field: model.geoField, zoom, bits: this.bits,
      ...(clause === undefined ? {} : { bucketQuery: { clause } }),
      ...(box ? { box } : {}),
      // A dotted path may name a first-level field as it stands; then the whole object is asked for.
      ...(isDotted ? {} : { fields: names }),
    }, signal);
  }

  /** Where the members of a cluster are: the box around them, and whether they lie at one place. */
  async inside(mark, clause) {
    const zoom = clusterZoom(this.map.getZoom());
    const cell = cellOf(mark.lat, mark.lon, zoom, this.bits);
    const deeper = Math.min(MAXIMUM_ZOOM, zoom + DEEPER);
    const { clusters } = await this.#ask(clause, { zoom: deeper, box: shrunk(cellBox(cell)) });
    const places = this.#corners(clusters, deeper).filter(({ lat, lon }) => isWithin(cellBox(cell), lat, lon));
    const isOnePlace = deeper === zoom || (zoom >= 19 && clusters.length === 1);
    return { bounds: places.length > 0 ? boundsOf(places) : null, isOnePlace, cell };
  }

  /** The box around all places that match, `null` if there are none; exact enough for the zoom level that fits it. */
  async extent(clause) {
    let [zoom, bounds, box] = [2, null, null];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { clusters } = await this.#ask(clause, { zoom, box });
      if (clusters.length === 0) break;
      bounds = boundsOf(this.#corners(clusters, zoom));
      const { south, west, north, east } = bounds;
      const fitting = Math.min(DEEPEST, this.map.getBoundsZoom([[south, west], [north, east]]));
      if (fitting <= zoom) break;
      zoom = fitting;
      box = viewBox(bounds, 0.01);
    }
    return bounds;
  }

  /** Places around what clusters hold: of an object its own, of a cluster the corners of its cell. */
  #corners(clusters, zoom) {
    return clusters.flatMap(({ center, object }) => {
      if (object) return placesOf(object, this.model.geoField);
      const { sw, ne } = cellBox(cellOf(center.lat, center.lon, zoom, this.bits));
      return [sw, ne];
    });
  }
}

const isWithin = ({ sw, ne }, lat, lon) => lat >= sw.lat && lat <= ne.lat && lon >= sw.lon && lon <= ne.lon;

/** A cell is half-open, a box is not: so its neighbours do not count. */
function shrunk({ sw, ne }) {
  const [width, height] = [(ne.lon - sw.lon) * 1e-6, (ne.lat - sw.lat) * 1e-6];
  return {
    sw: { ...sw, lon: sw.lon + width, lat: sw.lat + height }, ne: { ...ne, lon: ne.lon - width, lat: ne.lat - height },
  };
}

export function boundsOfMap(map) {
  const bounds = map.getBounds();
  return { south: bounds.getSouth(), west: bounds.getWest(), north: bounds.getNorth(), east: bounds.getEast() };
}

function grown({ south, west, north, east }, part) {
  const [width, height] = [(east - west) * part, (north - south) * part];
  return { south: south - height, west: west - width, north: north + height, east: east + width };
}

const contains = (a, b) => a.south <= b.south && a.west <= b.west && a.north >= b.north && a.east >= b.east;
