// The clusters that the map shows: asked for anew when the query changes or the map leaves what they cover.
import { BITS, boundsOf, cellBox, cellOf, clusterZoom, viewBox } from "./grid.js";
import { firstLevelName, placesOf } from "./values.js";

const MAXIMUM_ZOOM = 22;
const DEEPER = 3;

export class Clusters {
  #run = null;
  covered = null;

  /** @param shown called with the clusters, their zoom level and `total`; `failed` with an error. */
  constructor({ model, service, map, shown, failed }) {
    Object.assign(this, { model, service, map, shown, failed });
  }

  /** @param clause the clause of the query, `undefined` for all objects. */
  async load(clause, isNew) {
    const { model } = this;
    const zoom = clusterZoom(this.map.getZoom());
    const view = boundsOfMap(this.map);
    if (!isNew && this.covered?.zoom === zoom && contains(this.covered.view, view)) return;
    this.#run?.abort();
    this.#run = new AbortController();
    try {
      const wanted = viewBox(view);
      const answer = await this.#ask(clause, { zoom, box: wanted }, this.#run.signal);
      this.covered = { zoom, view: grown(view, 0.15) };
      this.shown(answer, { zoom, bits: BITS, field: model.geoField });
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
      bucket: model.bucket, field: model.geoField, zoom, bits: BITS,
      ...(clause === undefined ? {} : { bucketQuery: { clause } }),
      ...(box ? { box } : {}),
      // A dotted path may name a first-level field as it stands; then the whole object is asked for.
      ...(isDotted ? {} : { fields: names }),
    }, signal);
  }

  /** Where the members of a cluster are: the box around them, and whether they lie at one place. */
  async inside(mark, clause) {
    const zoom = clusterZoom(this.map.getZoom());
    const cell = cellOf(mark.lat, mark.lon, zoom);
    const deeper = Math.min(MAXIMUM_ZOOM, zoom + DEEPER);
    const { clusters } = await this.#ask(clause, { zoom: deeper, box: shrunk(cellBox(cell)) });
    const places = clusters.flatMap(({ center, object }) => (center ? [center] : placesOf(object, this.model.geoField)))
      .filter(({ lat, lon }) => isIn(cellOf(lat, lon, zoom), cell));
    return { bounds: places.length > 0 ? boundsOf(places) : null, isOnePlace: deeper === zoom || (zoom >= 19 && places.length === 1), cell };
  }

  /** The extent of all places that match, `null` if there are none. */
  async extent(clause) {
    const { clusters, total } = await this.#ask(clause, { zoom: 4, box: null });
    const places = clusters.flatMap(({ center, object }) => (center ? [center] : placesOf(object, this.model.geoField)));
    return places.length > 0 ? { bounds: boundsOf(places), total } : null;
  }
}

const isIn = (a, b) => a.column === b.column && a.row === b.row;

/** A cell is half-open, a box is not: so its neighbours do not count. */
function shrunk({ sw, ne }) {
  const [width, height] = [(ne.lon - sw.lon) * 1e-6, (ne.lat - sw.lat) * 1e-6];
  return { sw: { ...sw, lon: sw.lon + width, lat: sw.lat + height }, ne: { ...ne, lon: ne.lon - width, lat: ne.lat - height } };
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
