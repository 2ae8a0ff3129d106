// The order of the results, its direction, and the field that places are taken from.
import { byID, element, icon } from "./dom.js";
import { PREDEFINED } from "./model.js";
import { calculated, clauseOfRows, distanceName } from "./query.js";

export class OrderForm {
  /** @param set called with the order that was chosen. */
  constructor({ model, set }) {
    Object.assign(this, { model, set });
    byID("order").addEventListener("change", (event) => this.set(this.#orderOf(event.target.value)));
    byID("direction").addEventListener("click", () => {
      const { order } = model.query;
      this.set({ ...order, descending: !order.descending });
    });
    byID("field").addEventListener("change", (event) => model.set({ field: event.target.value }));
  }

  show() {
    const { query, geoField, geoFields } = this.model;
    const entries = this.#entries(query.order, clauseOfRows(query).clause);
    byID("order").replaceChildren(...entries.map(([value, label]) => element("option", { value }, label)));
    byID("order").value = entryOf(query.order, geoField);
    this.#showDirection(query.order);
    byID("field-choice").hidden = geoFields.length < 2;
    byID("field").replaceChildren(...geoFields.map((name) =>
      element("option", { value: name, selected: name === geoField }, name)));
  }

  /** The entries of the menu, each with its label. */
  #entries(order, clause) {
    const { fields, geoField } = this.model;
    const names = [...fields.map(({ field }) => field), ...Object.keys(PREDEFINED),
      ...calculated(clause).map(({ name }) => `_calculated.${name}`)];
    if (order.by === "field" && !names.includes(order.field)) names.push(order.field);
    return [
      ...(geoField === null ? [] : [["near", distanceName(clause) ?? "distance from map centre"]]),
      ["created", "time of creation"],
      ...(order.by === "keys" ? [["keys", order.keys.map((key) => key?.field).join(", ")]] : []),
      ...names.map((name) => [`field:${name}`, name]),
    ];
  }

  #showDirection(order) {
    const button = byID("direction");
    const isNear = order.by === "near";
    const isDescending = Boolean(order.descending);
    const label = isNear ? ["Nearest first", "Farthest first"] : ["Ascending", "Descending"];
    button.disabled = !((isNear && this.model.geoField !== null) || order.by === "field");
    button.setAttribute("aria-pressed", String(isDescending));
    button.setAttribute("aria-label", label[Number(isDescending)]);
    button.title = label[Number(isDescending)];
    button.replaceChildren(icon(isDescending ? "down" : "up"));
  }

  #orderOf(entry) {
    if (entry === "keys") return this.model.query.order;
    const isField = entry.startsWith("field:");
    return isField ? { by: "field", field: entry.slice(6), descending: false } : { by: entry, descending: false };
  }
}

/** The entry of an order. Without places, nearest first is the order of creation. */
function entryOf(order, geoField) {
  if (order.by === "field") return `field:${order.field}`;
  return order.by === "near" && geoField === null ? "created" : order.by;
}
