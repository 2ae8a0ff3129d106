// Where a live query shows: its objects as marks on the map and as rows of the table.
import { byID } from "./dom.js";
import { counted } from "./text.js";
import { byKey, valueAt } from "./values.js";

const ROWS = 200;

export class LiveView {
  /** @param parts {model, table, distances}; `view` is the map's, `null` without one. */
  constructor(parts) {
    Object.assign(this, parts, { view: null });
  }

  showAll(objects) {
    const { naming, geoField } = this.model;
    this.view?.set.setObjects(objects, naming, geoField);
    this.view?.marks.redraw();
  }

  showEffects(effects) {
    const { naming, geoField } = this.model;
    this.view?.set.apply(effects, naming, geoField, performance.now());
    this.view?.marks.redraw();
  }

  /** The first objects, in the order of the query. */
  showTable(objects) {
    const distances = this.distances();
    const sorted = this.#sorted(objects, distances);
    this.table.set(sorted.slice(0, ROWS), { distances });
    const isCut = sorted.length > ROWS;
    byID("results-end").textContent = isCut ? `The first ${ROWS} of ${counted(sorted.length, "object")}.` : "";
  }

  /** Several keys, and the time of creation, are the service's to compare: then the order is that of the snapshot. */
  #sorted(objects, distances) {
    const { order } = this.model.query;
    const keyOf = { near: distances?.of, field: (object) => valueAt(object, order.field) }[order.by];
    if (!keyOf) return objects;
    return objects.map((object) => ({ object, key: keyOf(object) }))
      .sort(byKey(({ key }) => key, order.descending)).map(({ object }) => object);
  }
}
