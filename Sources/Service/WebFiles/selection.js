// The object that is chosen, and the one under the pointer: in the table, on the map, by its fields.
import { byID } from "./dom.js";
import { showPane } from "./frame.js";
import { cellBox } from "./grid.js";
import { counted } from "./text.js";
import { placesOf } from "./values.js";

export class Selection {
  /**
   * @param parts {model, service, table, details, live}; `view` is the map's, `null` without one.
   * @param distances the column of distances now; `changed` is called when another object is chosen.
   */
  constructor({ distances, changed, ...parts }) {
    Object.assign(this, parts, { distances, changed, view: null });
  }

  /**
   * Chooses an object; `null` chooses none. From the table the map goes to its place, from the map the table goes to
   * its row. From the map or a link, its place does not stay hidden behind its fields.
   */
  async choose(id, from = null) {
    const { model } = this;
    model.object = id;
    this.changed();
    this.table.choose(id, from === "map");
    if (id === null) {
      this.#close();
      this.view?.choose(null, []);
      return;
    }
    const object = await this.#find(id);
    if (model.object === id) this.#show(id, object, from);
  }

  /** Closes the object. The focus goes from it to its row, else to the map. */
  #close() {
    const { id, box } = this.details;
    const hadFocus = box.contains(document.activeElement);
    this.details.hide();
    if (hadFocus && !this.table.focus(id)) byID("map").focus({ preventScroll: true });
  }

  /** Closes what is shown of objects, if anything is. */
  close() {
    if (!byID("details").hidden) this.choose(null);
  }

  #show(id, object, from) {
    const places = object ? placesOf(object, this.model.geoField) : [];
    this.view?.choose(id, places);
    if (!object) {
      this.details.showMissing(id);
      return;
    }
    this.details.show(object, this.distances()?.of(this.table.object(id) ?? object));
    if (places.length === 0) return;
    if (from === "table") {
      showPane("map");
      this.view?.show(places[0]);
    } else if (from !== null) this.view?.uncover(places[0]);
  }

  async #find(id) {
    const known = this.live.objects.get(id) ?? this.table.object(id);
    if (known) return known;
    try {
      return await this.service.call("object.get", { bucket: this.model.bucket, id });
    } catch {
      return null;
    }
  }

  hover(id) {
    const object = id === null ? null : this.live.objects.get(id) ?? this.table.object(id);
    this.view?.hover(id, object ? placesOf(object, this.model.geoField) : []);
  }

  /** The object that is shown has its distance from the new results. */
  resultsShown() {
    const { object: id } = this.model;
    const object = this.table.object(id);
    const away = object && this.distances()?.of(object);
    if (away !== undefined && !byID("details").hidden && this.details.id === id) this.details.show(object, away);
  }

  /** Lists the objects in a cell of the grid, which no zoom level separates. */
  async listCell({ count, lat, lon }, cell, clause) {
    const { bucket, geoField } = this.model;
    const inside = { type: "geobox", field: geoField, box: cellBox(cell) };
    const both = clause === undefined ? inside : { type: "and", clauses: [clause, inside] };
    const { results } = await this.service.call("bucket.query", { bucket, bucketQuery: { clause: both } });
    this.details.showList(`${counted(count, "object")} at this place`, results, (id) => this.choose(id));
    this.view.uncover({ lat, lon });
  }
}
