// What lies under the objects: outlines and names of the page's own, and the base map of the service's settings.
import { createBasemap } from "./basemap.js";
import { countryNames, loadPlaces } from "./places.js";
import { createTiles } from "./tiles.js";

const NATURAL_EARTH = "Natural Earth";
const GEONAMES = '<a href="https://www.geonames.org/" target="_blank" rel="noopener">GeoNames</a>'
  + ' (<a href="https://creativecommons.org/licenses/by/4.0/" target="_blank" rel="noopener">CC BY</a>)';
const UNREACHABLE = "the base map does not answer";

export class Ground {
  /**
   * @param ground {countries: a GeoJSON, basemap: of the settings or `null`}
   * @param act {colours: the palette, named: called with the names that the map shows from now on}
   */
  constructor(L, map, { countries, basemap }, { colours, named }) {
    Object.assign(this, { named, credits: L.control.attribution({ prefix: "Leaflet" }).addTo(map) });
    this.outlines = createBasemap(L, countries, colours).addTo(map);
    this.names = { countries: countryNames(countries), placesAt: () => [], hasDegrees: true };
    this.credits.addAttribution(NATURAL_EARTH);
    this.#showPlaces();
    if (basemap) this.#show(createTiles(L, basemap, colours), basemap, map);
  }

  /** In new colours. */
  redraw() {
    this.outlines.redraw();
    if (this.tiles?.isDrawn) this.tiles.redraw();
  }

  #name(names) {
    this.names = names;
    this.named(names);
  }

  async #showPlaces() {
    const places = await loadPlaces();
    if (!places || this.isCovered) return;
    this.credits.addAttribution(GEONAMES);
    this.#name({ ...this.names, placesAt: (zoom) => places.at(zoom) });
  }

  /** Where tiles come, their names take the place of the page's own. */
  #show(tiles, { attribution }, map) {
    this.tiles = tiles;
    const credit = (text) => text && this.credits.addAttribution(escaped(text));
    credit(attribution);
    tiles.on("begun", (begun) => credit(attribution ? "" : plain(begun.attribution)));
    tiles.on("failed", () => this.isCovered || this.credits.addAttribution(UNREACHABLE));
    tiles.on("shown", () => {
      if (!this.isCovered) this.#cover(tiles);
      else this.named(this.names);
    });
    tiles.addTo(map);
  }

  #cover(tiles) {
    this.isCovered = true;
    for (const credit of [UNREACHABLE, GEONAMES]) this.credits.removeAttribution(credit);
    this.#name({ countries: [], placesAt: (zoom) => tiles.placesAt(zoom), hasDegrees: false });
  }
}

/** The credits of an archive may be HTML, of which the text is shown. */
const plain = (html) => (html ? new DOMParser().parseFromString(html, "text/html").body.textContent : "");

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
