// The form of the query: a row for each condition, how they are joined, tools to draw with, the order.
import { byID, debounced, element, icon } from "./dom.js";
import { filterExpression } from "./filter.js";
import { PREDEFINED } from "./model.js";
import { choices, isShape, operatorOf } from "./operators.js";
import { OrderForm } from "./order-form.js";
import { emptyQuery, freeDistanceName } from "./query.js";
import { RowInputs } from "./row-inputs.js";
import { isPredefined } from "./values.js";

const TYPING = 350;
const ORIGIN = "builder";

export class Builder {
  /** @param draw called with the kind of a shape, the index of the row that it replaces or -1, whether by a key. */
  constructor({ model, suggestions, draw }) {
    Object.assign(this, { model, draw });
    const set = (index, members) => this.setRow(index, members, true);
    this.inputs = new RowInputs({ model, suggestions, set, draw });
    this.order = new OrderForm({ model, set: (order) => this.#set({ order }) });
    byID("match").addEventListener("change", (event) => this.#set({ match: event.target.value }));
    byID("add-row").addEventListener("click", () => this.#addRow());
    byID("clear").addEventListener("click", () => this.#set(emptyQuery()));
    for (const kind of ["circle", "box", "polygon", "corridor"]) {
      byID(`draw-${kind}`).addEventListener("click", (event) => this.draw(kind, -1, event.detail === 0));
    }
    this.typed = debounced(TYPING, (query) => this.model.set({ query }, ORIGIN));
    model.on(["query", "fields", "geoFields", "field"], (changed, origin) => this.show(origin === ORIGIN));
  }

  /** Draws the form anew; of what was typed into it only the frame, so that the cursor stays. */
  show(isTyping = false) {
    const { query, geoField } = this.model;
    if (!isTyping) byID("rows").replaceChildren(...query.rows.map((row, index) => this.#row(row, index)));
    byID("match").value = query.match;
    byID("match").hidden = query.rows.length < 2;
    byID("clear").hidden = query.rows.length === 0 && query.order.by === "near" && !query.order.descending;
    byID("query-empty").hidden = query.rows.length > 0;
    for (const button of document.querySelectorAll(".shapes button")) button.disabled = geoField === null;
    this.order.show();
  }

  // Changes

  #set(members, isTyping = false) {
    const query = { ...this.model.query, ...members };
    if (isTyping) {
      // The form is what it shows; the search may wait until the hand rests.
      this.model.query = query;
      this.typed(query);
      return;
    }
    this.typed.cancel();
    this.model.set({ query });
  }

  setRow(index, members, isTyping = false) {
    const rows = this.model.query.rows.map((row, at) => (at === index ? { ...row, ...members } : row));
    this.#set({ rows }, isTyping);
  }

  /** Adds a shape that was drawn, or puts it into the row that asked for it. */
  takeShape(operator, members, index) {
    const { rows } = this.model.query;
    if (index >= 0 && rows[index]) {
      this.setRow(index, { ...members, operator });
      return;
    }
    const reports = operator === "circle" || operator === "corridor";
    const named = reports ? { putDistanceInto: freeDistanceName(rows) } : {};
    this.#set({ rows: [...rows, { field: this.model.geoField, operator, negated: false, ...members, ...named }] });
  }

  /** Adds a condition that a field has a value. */
  addValue(field, value) {
    this.#set({ rows: [...this.model.query.rows, { field, operator: "eq", negated: false, value }] });
  }

  #addRow() {
    const known = this.model.fields.filter(({ types }) => !types.GEOPOINT && !types.OBJECT);
    const field = (known.find(({ types }) => types.STRING) ?? known[0])?.field ?? "_id";
    const operator = choices(this.model.typesOf(field))[0].id;
    this.#set({ rows: [...this.model.query.rows, { field, operator, negated: false }] });
    byID("rows").lastElementChild?.querySelector("select")?.focus();
  }

  #remove(index) {
    this.#set({ rows: this.model.query.rows.filter((_, at) => at !== index) });
    const rows = byID("rows").children;
    const next = rows[Math.min(index, rows.length - 1)];
    (next?.querySelector("button.remove") ?? byID("add-row")).focus();
  }

  // Rows

  #row(row, index) {
    const name = `Condition ${index + 1}`;
    const remove = element("button", {
      type: "button", class: "remove", title: "Remove", "aria-label": `Remove ${name.toLowerCase()}`,
      onclick: () => this.#remove(index),
    }, icon("close"));
    const isRaw = row.raw !== undefined;
    const parts = isRaw ? rawParts(row.raw, remove)
      : [this.#fieldMenu(row, index), this.#operatorMenu(row, index), remove, this.inputs.make(row, index)];
    return element("li", { class: isRaw ? "row is-raw" : "row", role: "group", "aria-label": name },
      ...parts, element("p", { class: "error row-error", role: "alert", hidden: true }));
  }

  #fieldMenu(row, index) {
    const names = new Set([...this.model.fields.map(({ field }) => field), ...Object.keys(PREDEFINED), row.field]);
    const options = (isOwn) => [...names].filter((name) => isPredefined(name) === isOwn).map((name) =>
      element("option", { value: name, selected: name === row.field }, name));
    const menu = element("select", { "aria-label": "Field", class: "field-menu" },
      element("optgroup", { label: "Fields" }, ...options(false)),
      element("optgroup", { label: "Set by the service" }, ...options(true)));
    menu.addEventListener("change", () => this.#changeField(index, menu.value));
    return menu;
  }

  /** Keeps operator and value if the new field can have them. */
  #changeField(index, field) {
    const row = this.model.query.rows[index];
    const offered = choices(this.model.typesOf(field));
    const isFit = offered.some((choice) => isChosen(choice, row));
    const members = isFit ? { field } : { field, operator: offered[0].id, negated: offered[0].negated };
    if (!isShape({ ...row, ...members })) Object.assign(members, { value: undefined, upper: undefined });
    this.setRow(index, members);
    this.#focus(index, ".operator-menu");
  }

  #operatorMenu(row, index) {
    const offered = choices(this.model.typesOf(row.field));
    const { label, notLabel } = operatorOf(row);
    const own = { id: row.operator, negated: row.negated, label: row.negated ? notLabel : label };
    const all = offered.some((choice) => isChosen(choice, row)) ? offered : [...offered, own];
    const menu = element("select", { "aria-label": "Operator", class: "operator-menu" }, ...all.map((choice) =>
      element("option", { value: `${choice.negated ? "not:" : ""}${choice.id}`, selected: isChosen(choice, row) },
        choice.label)));
    menu.addEventListener("change", () => {
      this.#changeOperator(index, menu.value.replace("not:", ""), menu.value.startsWith("not:"));
    });
    return menu;
  }

  /** Keeps the value if the new operator takes the same kind of it. */
  #changeOperator(index, operator, negated) {
    const { rows } = this.model.query;
    const row = rows[index];
    const { inputs } = operatorOf({ operator });
    const value = inputs === operatorOf(row).inputs ? {} : { value: convert(row.value, inputs), upper: undefined };
    const isNewCircle = operator === "circle" && !row.putDistanceInto;
    const named = isNewCircle ? { putDistanceInto: freeDistanceName(rows) } : {};
    this.setRow(index, { operator, negated, ...value, ...named });
    this.#focus(index, ".inputs input, .inputs select, .inputs button, .operator-menu");
  }

  #focus(index, selector) {
    byID("rows").children[index]?.querySelector(selector)?.focus();
  }

  // Errors

  /** Shows an error of the service at the row that it is about, or below all. */
  showFailure(failure, row = null, sentence = "") {
    const index = failure && row ? this.model.query.rows.indexOf(row) : -1;
    [...byID("rows").children].forEach((item, at) => {
      const place = item.querySelector(".row-error");
      place.hidden = at !== index;
      place.textContent = at === index ? sentence : "";
      item.classList.toggle("is-wrong", at === index);
    });
    byID("query-error").hidden = !failure || index >= 0;
    byID("query-error").textContent = failure && index < 0 ? sentence : "";
  }
}

const isChosen = (choice, row) => choice.id === row.operator && choice.negated === row.negated;

function rawParts(clause, remove) {
  const text = filterExpression(clause) ?? JSON.stringify(clause);
  return [element("p", { class: "raw-note" }, "Clause of its own"), remove, element("code", { class: "raw" }, text)];
}

/** A value for another kind of input: a list has several, others have one. */
function convert(value, inputs) {
  if (inputs === "list") return value === undefined ? undefined : [value].flat();
  return inputs === "value" || inputs === "range" ? [value].flat()[0] : undefined;
}
