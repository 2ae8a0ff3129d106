// The form of the query: a row for each condition, how they are joined, the order.
import { byID, debounced, element, icon } from "./dom.js";
import { filterExpression } from "./filter.js";
import { choices, isComplete, isShape, operatorOf } from "./operators.js";
import { calculated, clauseOfRows, distanceName, emptyQuery, freeDistanceName } from "./query.js";
import { point } from "./sphere.js";
import { inputText, lengthText, listText, parseDegrees, parseLength, parseList, parseValue } from "./text.js";
import { PREDEFINED } from "./model.js";
import { isPredefined, TYPES } from "./values.js";

const TYPING = 350;
const ORIGIN = "builder";

export class Builder {
  /** @param draw called with the kind of a shape and the index of the row that it replaces, or -1. */
  constructor({ model, suggestions, draw }) {
    Object.assign(this, { model, suggestions, draw });
    byID("match").addEventListener("change", (event) => this.#set({ match: event.target.value }));
    byID("add-row").addEventListener("click", () => this.#addRow());
    byID("clear").addEventListener("click", () => this.model.set({ query: emptyQuery() }));
    for (const kind of ["circle", "box", "polygon", "corridor"]) {
      byID(`draw-${kind}`).addEventListener("click", (event) => this.draw(kind, -1, event.detail === 0));
    }
    byID("order").addEventListener("change", (event) => this.#set({ order: this.#orderFrom(event.target.value) }));
    byID("direction").addEventListener("click", () => this.#turn());
    byID("field").addEventListener("change", (event) => this.model.set({ field: event.target.value }));
    this.typed = debounced(TYPING, (query) => this.model.set({ query }, ORIGIN));
    model.on(["query", "fields", "geoFields", "field"], (changed, origin) => this.show(origin === ORIGIN));
  }

  /** Draws the form anew; of what was typed into it only the frame, so that the cursor stays. */
  show(isTyping = false) {
    const { query } = this.model;
    if (!isTyping) byID("rows").replaceChildren(...query.rows.map((row, index) => this.#row(row, index)));
    byID("match").value = query.match;
    byID("match").hidden = query.rows.length < 2;
    byID("clear").hidden = query.rows.length === 0 && query.order.by === "near" && !query.order.descending;
    byID("query-empty").hidden = query.rows.length > 0;
    for (const button of document.querySelectorAll(".shapes button")) button.disabled = this.model.geoField === null;
    this.#showOrder();
    this.#showFields();
  }

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
    if (index >= 0 && rows[index]) return this.setRow(index, { ...members, operator });
    const named = operator === "circle" || operator === "corridor" ? { putDistanceInto: freeDistanceName(rows) } : {};
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
    const next = byID("rows").children[Math.min(index, byID("rows").children.length - 1)];
    (next?.querySelector("button.remove") ?? byID("add-row")).focus();
  }

  // Rows

  #row(row, index) {
    const remove = element("button", { type: "button", class: "remove", "aria-label": `Remove condition ${index + 1}`, title: "Remove",
      onclick: () => this.#remove(index) }, icon("close"));
    const parts = row.raw === undefined
      ? [this.#fieldMenu(row, index), this.#operatorMenu(row, index), remove, this.#inputs(row, index)]
      : [element("p", { class: "raw-note" }, "Clause of its own"), remove, element("code", { class: "raw" }, filterExpression(row.raw) ?? JSON.stringify(row.raw))];
    return element("li", { class: row.raw === undefined ? "row" : "row is-raw", role: "group", "aria-label": `Condition ${index + 1}` },
      ...parts, element("p", { class: "error row-error", role: "alert", hidden: true }));
  }

  #fieldMenu(row, index) {
    const names = this.model.fields.map(({ field }) => field);
    const own = Object.keys(PREDEFINED);
    const all = [...new Set([...names, ...own, ...(row.field ? [row.field] : [])])];
    const options = (list) => list.map((name) => element("option", { value: name, selected: name === row.field }, name));
    const menu = element("select", { "aria-label": "Field", class: "field-menu" },
      element("optgroup", { label: "Fields" }, ...options(all.filter((name) => !isPredefined(name)))),
      element("optgroup", { label: "Set by the service" }, ...options(all.filter(isPredefined))));
    menu.addEventListener("change", () => this.#changeField(index, menu.value));
    return menu;
  }

  #changeField(index, field) {
    const types = this.model.typesOf(field);
    const row = this.model.query.rows[index];
    const isFit = choices(types).some(({ id, negated }) => id === row.operator && negated === row.negated);
    const [first] = choices(types);
    const members = isFit ? { field } : { field, operator: first.id, negated: first.negated };
    if (!isShape({ ...row, ...members })) Object.assign(members, { value: undefined, upper: undefined });
    this.setRow(index, members);
    this.#focus(index, ".operator-menu");
  }

  #focus(index, selector) {
    byID("rows").children[index]?.querySelector(selector)?.focus();
  }

  #operatorMenu(row, index) {
    const offered = choices(this.model.typesOf(row.field));
    const isOffered = offered.some(({ id, negated }) => id === row.operator && negated === row.negated);
    const { label, notLabel } = operatorOf(row);
    const all = isOffered ? offered : [...offered, { id: row.operator, negated: row.negated, label: row.negated ? notLabel : label }];
    const menu = element("select", { "aria-label": "Operator", class: "operator-menu" }, ...all.map((choice) =>
      element("option", { value: `${choice.negated ? "not:" : ""}${choice.id}`,
        selected: choice.id === row.operator && choice.negated === row.negated }, choice.label)));
    menu.addEventListener("change", () => {
      const negated = menu.value.startsWith("not:");
      this.#changeOperator(index, menu.value.replace("not:", ""), negated);
    });
    return menu;
  }

  /** Keeps the value if the new operator takes the same kind of it. */
  #changeOperator(index, operator, negated) {
    const row = this.model.query.rows[index];
    const isSameKind = operatorOf({ operator }).inputs === operatorOf(row).inputs;
    const value = isSameKind ? {} : { value: convert(row.value, operatorOf({ operator }).inputs), upper: undefined };
    const named = operator === "circle" && !row.putDistanceInto ? { putDistanceInto: freeDistanceName(this.model.query.rows) } : {};
    this.setRow(index, { operator, negated, ...value, ...named });
    this.#focus(index, ".inputs input, .inputs select, .inputs button, .operator-menu");
  }

  #inputs(row, index) {
    const { inputs } = operatorOf(row);
    const made = { value: () => [this.#valueInput(row, index, "value", "Value")], range: () => [
      this.#valueInput(row, index, "value", "Lower limit"), element("span", { class: "to" }, "to"), this.#valueInput(row, index, "upper", "Upper limit")],
    list: () => [this.#listInput(row, index)], type: () => [this.#typeMenu(row, index)],
    shape: () => this.#shapeInputs(row, index), none: () => [] }[inputs]();
    return element("div", { class: `inputs ${inputs}` }, ...made);
  }

  #valueInput(row, index, member, label) {
    const types = this.model.typesOf(row.field);
    const isChoice = types.size === 1 && types.has("BOOLEAN") && member === "value";
    if (isChoice) return this.#booleanMenu(row, index);
    const list = element("datalist", { id: `values-${index}-${member}` });
    const isNumeric = !types.has("STRING") && (types.has("INTEGER") || types.has("DECIMAL"));
    const input = element("input", { "aria-label": label, value: inputText(row[member], types), list: list.id, autocomplete: "off",
      spellcheck: "false", placeholder: isNumeric ? "number" : "value", inputmode: isNumeric ? "decimal" : false });
    input.addEventListener("focus", () => this.suggestions.fill(list, row.field));
    input.addEventListener("input", () => this.setRow(index, { [member]: parseValue(input.value, types) }, true));
    return element("span", { class: "with-list" }, input, list);
  }

  #booleanMenu(row, index) {
    const menu = element("select", { "aria-label": "Value" }, element("option", { value: "", selected: row.value === undefined }, "choose…"),
      ...["true", "false"].map((text) => element("option", { value: text, selected: String(row.value) === text }, text)));
    menu.addEventListener("change", () => this.setRow(index, { value: menu.value === "" ? undefined : menu.value === "true" }, true));
    return menu;
  }

  #listInput(row, index) {
    const types = this.model.typesOf(row.field);
    const input = element("input", { "aria-label": "Values, separated by commas", value: listText(row.value ?? [], types),
      placeholder: "value, value", autocomplete: "off", spellcheck: "false" });
    input.addEventListener("input", () => {
      const values = parseList(input.value, types);
      this.setRow(index, { value: values.length > 0 ? values : undefined }, true);
    });
    return input;
  }

  #typeMenu(row, index) {
    const menu = element("select", { "aria-label": "Type" }, element("option", { value: "", selected: !row.value }, "choose…"),
      ...TYPES.map((type) => element("option", { value: type, selected: type === row.value }, type.toLowerCase())));
    menu.addEventListener("change", () => this.setRow(index, { value: menu.value || undefined }, true));
    return menu;
  }

  // Shapes

  #shapeInputs(row, index) {
    const kind = row.operator;
    const drawing = kind === "from" ? "" : element("button", { type: "button", class: "redraw", title: "Draw anew on the map", "aria-label": "Draw anew",
      onclick: (event) => this.draw(kind, index, event.detail === 0) },
      icon("edit"), isComplete(row) ? null : "Draw");
    const length = (member, label) => this.#parsed(row, index, label, row[member] === undefined ? "" : lengthText(row[member]), parseLength,
      (meters) => ({ [member]: meters }), "5 km");
    const place = (label) => this.#parsed(row, index, label, row.center ? `${row.center.lat}, ${row.center.lon}` : "",
      (text) => parseDegrees(text, 2), ([lat, lon]) => ({ center: point(lat, lon) }), "35.68, 139.77");
    switch (kind) {
      case "circle": return [length("radius", "Radius"), element("span", { class: "to" }, "around"), place("Centre: latitude, longitude"), drawing];
      case "from": return [place("Place: latitude, longitude")];
      case "box": return [this.#parsed(row, index, "South, west, north, east", row.box ? boxText(row.box) : "",
        (text) => parseDegrees(text, 4), (edges) => ({ box: boxFrom(edges) }), "south, west, north, east"), drawing];
      case "corridor": return [length("width", "Width to each side"), element("span", { class: "to" }, describeShape(row)), drawing];
      default: return [element("span", { class: "to" }, describeShape(row)), drawing];
    }
  }

  /** A field for text that means something: while it does not, it says so and the query stays. */
  #parsed(row, index, label, text, parse, members, placeholder) {
    const input = element("input", { "aria-label": label, title: label, value: text, placeholder, autocomplete: "off", spellcheck: "false" });
    input.addEventListener("input", () => {
      const value = parse(input.value);
      input.setAttribute("aria-invalid", String(value === undefined));
      if (value !== undefined) this.setRow(index, members(value), true);
    });
    return input;
  }

  // Order

  #showOrder() {
    const { query, fields } = this.model;
    const { clause } = clauseOfRows(query);
    const calculatedNames = calculated(clause).map(({ name }) => `_calculated.${name}`);
    const near = this.model.geoField === null ? [] : [["near", nearLabel(clause)]];
    const others = [...fields.map(({ field }) => field), ...Object.keys(PREDEFINED), ...calculatedNames];
    const known = query.order.by === "field" && !others.includes(query.order.field) ? [query.order.field] : [];
    const keys = query.order.by === "keys" ? [["keys", query.order.keys.map((key) => key?.field).join(", ")]] : [];
    const choicesOfOrder = [...near, ["created", "time of creation"], ...keys, ...[...others, ...known].map((name) => [`field:${name}`, name])];
    byID("order").replaceChildren(...choicesOfOrder.map(([value, label]) => element("option", { value }, label)));
    byID("order").value = orderValue(query.order, this.model.geoField);
    this.#showDirection(query.order);
  }

  #showDirection(order) {
    const button = byID("direction");
    const canTurn = (order.by === "near" && this.model.geoField !== null) || order.by === "field";
    button.disabled = !canTurn;
    button.setAttribute("aria-pressed", String(Boolean(order.descending)));
    const label = order.by === "near" ? (order.descending ? "Farthest first" : "Nearest first") : (order.descending ? "Descending" : "Ascending");
    button.setAttribute("aria-label", label);
    button.title = label;
    button.replaceChildren(icon(order.descending ? "down" : "up"));
  }

  #turn() {
    const { order } = this.model.query;
    this.#set({ order: { ...order, descending: !order.descending } });
  }

  #orderFrom(value) {
    const { order } = this.model.query;
    if (value === "keys") return order;
    return value.startsWith("field:") ? { by: "field", field: value.slice(6), descending: false } : { by: value, descending: false };
  }

  #showFields() {
    const { geoFields, geoField } = this.model;
    byID("field-choice").hidden = geoFields.length < 2;
    byID("field").replaceChildren(...geoFields.map((name) => element("option", { value: name, selected: name === geoField }, name)));
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

const orderValue = (order, geoField) => {
  if (order.by === "field") return `field:${order.field}`;
  return order.by === "near" && geoField === null ? "created" : order.by;
};

const nearLabel = (clause) => {
  const name = distanceName(clause);
  return name === undefined ? "distance from map centre" : name;
};

const convert = (value, inputs) => {
  if (inputs === "list") return value === undefined ? undefined : [value].flat();
  return inputs === "value" || inputs === "range" ? [value].flat()[0] : undefined;
};

const boxText = ({ sw, ne }) => [sw.lat, sw.lon, ne.lat, ne.lon].join(", ");

function boxFrom([south, west, north, east]) {
  return { ne: point(north, east), sw: point(south, west) };
}

/** A shape in a few words. */
export function describeShape(row) {
  switch (row.operator) {
    case "polygon": {
      if (!row.polygon) return "not drawn yet";
      const rings = row.polygon.type === "Polygon" ? row.polygon.coordinates : row.polygon.coordinates.flat();
      return `${rings.reduce((sum, ring) => sum + ring.length - 1, 0)} corners`;
    }
    case "corridor": return row.line ? `of ${row.line.coordinates.length} points` : "not drawn yet";
    default: return "";
  }
}
