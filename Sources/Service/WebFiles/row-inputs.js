// What a condition of the query builder takes besides field and operator: values, lists, lengths, places.
import { element, icon } from "./dom.js";
import { isComplete, operatorOf } from "./operators.js";
import { point } from "./sphere.js";
import { inputText, lengthText, listText, parseDegrees, parseLength, parseList, parseValue } from "./text.js";
import { TYPES } from "./values.js";

const PLAIN_TEXT = { autocomplete: "off", spellcheck: "false" };

export class RowInputs {
  /** @param set called with a row's index and the members that were typed; `draw` as the builder's. */
  constructor({ model, suggestions, set, draw }) {
    Object.assign(this, { model, suggestions, set, draw });
  }

  make(row, index) {
    const { inputs } = operatorOf(row);
    return element("div", { class: `inputs ${inputs}` }, ...this.#parts(inputs, row, index));
  }

  #parts(inputs, row, index) {
    switch (inputs) {
      case "value": return [this.#value(row, index, "value", "Value")];
      case "range": return [
        this.#value(row, index, "value", "Lower limit"), note("to"), this.#value(row, index, "upper", "Upper limit")];
      case "list": return [this.#list(row, index)];
      case "type": {
        const entries = TYPES.map((type) => [type, type.toLowerCase()]);
        return [this.#choice(row, index, "Type", entries, (type) => type)];
      }
      case "shape": return this.#shape(row, index);
      default: return [];
    }
  }

  // Values

  #value(row, index, member, label) {
    const types = this.model.typesOf(row.field);
    const isBoolean = types.size === 1 && types.has("BOOLEAN") && member === "value";
    if (isBoolean) {
      return this.#choice(row, index, label, ["true", "false"].map((text) => [text, text]), (text) => text === "true");
    }
    const list = element("datalist", { id: `values-${index}-${member}` });
    const isNumeric = !types.has("STRING") && (types.has("INTEGER") || types.has("DECIMAL"));
    const input = element("input", {
      ...PLAIN_TEXT, "aria-label": label, value: inputText(row[member], types), list: list.id,
      placeholder: isNumeric ? "number" : "value", inputmode: isNumeric ? "decimal" : false,
    });
    input.addEventListener("focus", () => this.suggestions.fill(list, row.field));
    input.addEventListener("input", () => this.set(index, { [member]: parseValue(input.value, types) }));
    return element("span", { class: "with-list" }, input, list);
  }

  /** A menu of a few values, given with their labels; `read` makes the value of an entry. */
  #choice(row, index, label, entries, read) {
    const options = entries.map(([text, shown]) =>
      element("option", { value: text, selected: String(row.value) === text }, shown));
    const none = element("option", { value: "", selected: row.value === undefined }, "choose…");
    const menu = element("select", { "aria-label": label }, none, ...options);
    menu.addEventListener("change", () => this.set(index, { value: menu.value === "" ? undefined : read(menu.value) }));
    return menu;
  }

  #list(row, index) {
    const types = this.model.typesOf(row.field);
    const input = element("input", {
      ...PLAIN_TEXT, "aria-label": "Values, separated by commas", value: listText(row.value ?? [], types),
      placeholder: "value, value",
    });
    input.addEventListener("input", () => {
      const values = parseList(input.value, types);
      this.set(index, { value: values.length > 0 ? values : undefined });
    });
    return input;
  }

  // Shapes

  #shape(row, index) {
    switch (row.operator) {
      case "circle": return [this.#length(row, index, "radius", "Radius"), note("around"), this.#drawing(row, index),
        this.#place(row, index, "Centre: latitude, longitude")];
      case "from": return [this.#place(row, index, "Place: latitude, longitude")];
      case "box": return this.#box(row, index);
      case "corridor": return [this.#length(row, index, "width", "Width to each side"), note(describeRoute(row)),
        this.#drawing(row, index)];
      default: return [note(describePolygon(row)), this.#drawing(row, index)];
    }
  }

  #drawing(row, index) {
    const begin = (event) => this.draw(row.operator, index, event.detail === 0);
    return element("button", {
      type: "button", class: "redraw", title: "Draw anew on the map", "aria-label": "Draw anew", onclick: begin,
    }, icon("edit"), isComplete(row) ? null : "Draw");
  }

  #length(row, index, member, label) {
    const text = row[member] === undefined ? "" : lengthText(row[member]);
    return this.#parsed(index, { label, text, placeholder: "5 km" }, parseLength, (meters) => ({ [member]: meters }));
  }

  #place(row, index, label) {
    const text = row.center ? `${row.center.lat}, ${row.center.lon}` : "";
    return this.#parsed(index, { label, text, placeholder: "35.68, 139.77" }, (typed) => parseDegrees(typed, 2),
      ([lat, lon]) => ({ center: point(lat, lon) }));
  }

  /** A box by its corners; until both are there it has none. */
  #box(row, index) {
    const box = { ...row.box };
    const corner = (name, label, placeholder) => {
      const text = box[name] ? `${box[name].lat}, ${box[name].lon}` : "";
      return this.#parsed(index, { label, text, placeholder }, (typed) => parseDegrees(typed, 2), ([lat, lon]) => {
        box[name] = point(lat, lon);
        return box.sw && box.ne ? { box: { ne: box.ne, sw: box.sw } } : {};
      });
    };
    return [note("from"), corner("sw", "South, west", "south, west"), this.#drawing(row, index),
      element("span", { class: "second" }, note("to"), corner("ne", "North, east", "north, east"))];
  }

  /** A field for a text that means something: while it does not, the field says so and the query stays. */
  #parsed(index, { label, text, placeholder }, parse, members) {
    const input = element("input", { ...PLAIN_TEXT, "aria-label": label, title: label, value: text, placeholder });
    input.addEventListener("input", () => {
      const value = parse(input.value);
      input.setAttribute("aria-invalid", String(value === undefined));
      if (value !== undefined) this.set(index, members(value));
    });
    return input;
  }
}

const note = (text) => element("span", { class: "to" }, text);

function describePolygon({ polygon }) {
  if (!polygon) return "not drawn yet";
  const rings = polygon.type === "Polygon" ? polygon.coordinates : polygon.coordinates.flat();
  return `${rings.reduce((sum, ring) => sum + ring.length - 1, 0)} corners`;
}

const describeRoute = ({ line }) => (line ? `of ${line.coordinates.length} points` : "not drawn yet");
