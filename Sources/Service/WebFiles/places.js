// The names on the map: countries, and the largest places of the world.
import { unpacked } from "./bytes.js";
import { project } from "./grid.js";

/** The names of countries in a GeoJSON, each with the room for it in widths of the map. */
export const countryNames = ({ features }) => features.map(({ properties: { name, label, room } }) =>
  ({ name, room: room / 360, ...project(label[1], label[0]) }));

/** The places of a file as `scripts/places.py` makes it, those that appear first before others. */
export class Places {
  constructor({ names, lat, lon, from }) {
    const [lats, lons] = [sums(lat), sums(lon)];
    this.all = names.split("\n").map((name, index) => ({ name, ...project(lats[index] / 1000, lons[index] / 1000) }));
    this.from = sums(from);
    this.shown = { zoom: -1, places: [] };
  }

  /** Those that appear up to a zoom level. */
  at(zoom) {
    const level = Math.max(0, Math.min(this.from.length - 1, Math.floor(zoom)));
    if (this.shown.zoom !== level) this.shown = { zoom: level, places: this.all.slice(0, this.from[level]) };
    return this.shown.places;
  }
}

function sums(differences) {
  let sum = 0;
  return differences.map((difference) => { sum += difference; return sum; });
}

/** The places of the page's file, `null` if it does not come. */
export async function loadPlaces() {
  try {
    const bytes = new Uint8Array(await (await fetch("map/places.json.gz")).arrayBuffer());
    return new Places(JSON.parse(new TextDecoder().decode(await unpacked(bytes))));
  } catch {
    return null;
  }
}
