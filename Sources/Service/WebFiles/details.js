// One object: all its fields, its places, and what to do with it.
import { byID, copy, element, icon } from "./dom.js";
import { isNumber } from "./exact.js";
import { pretty } from "./clause-editor.js";
import { distance, moment, position, value as valueText } from "./text.js";
import { isPoint, isPredefined, placesOf, typeOf } from "./values.js";

const TIMES = new Set(["_created", "_modified", "_expiresAt"]);

export class Details {
  /** @param act {close, showPlace(place), near(place), filter(field, value)} */
  constructor(model, act) {
    Object.assign(this, { model, act, box: byID("details") });
  }

  hide() {
    this.id = null;
    this.box.hidden = true;
    this.box.replaceChildren();
  }

  showMissing(id) {
    this.id = id;
    this.#fill(id, [element("p", { class: "hint" }, "This object is not there any more.")]);
  }

  /** Shows a list of objects to choose from: those that lie at one place. */
  showList(title, objects, choose) {
    this.id = null;
    const names = objects.map((object) => button({ class: "choice", onclick: () => choose(object._id) },
      element("strong", {}, this.#title(object)), element("span", {}, object._id)));
    this.#fill(title, [element("ul", { class: "choices" }, ...names.map((name) => element("li", {}, name)))]);
  }

  /** Shows an object; `away` is its distance, `undefined` without one. */
  show(object, away) {
    this.id = object._id;
    const { _calculated, ...rest } = object;
    const own = Object.entries(rest).filter(([name]) => !isPredefined(name));
    const predefined = Object.entries(rest).filter(([name]) => isPredefined(name));
    const [place] = placesOf(object, this.model.geoField);
    const isAway = away === undefined ? "" : ` · ${distance(away)}`;
    this.#fill(this.#title(object), [
      element("p", { class: "about-object" }, element("code", {}, object._id), isAway),
      element("div", { class: "actions" }, ...this.#actions(object, place)),
      this.#list(own, ""),
      element("details", { class: "predefined" }, element("summary", {}, "Set by the service"),
        this.#list(predefined, "")),
    ]);
  }

  #actions(object, place) {
    return [
      place && button({ onclick: () => this.act.showPlace(place) }, icon("target"), "Show"),
      place && button({ onclick: () => this.act.near(place) }, icon("circle"), "Around it"),
      button({ onclick: (event) => copy(pretty(object), event.currentTarget) }, icon("copy"),
        element("span", { "data-label": true }, "JSON")),
    ];
  }

  #title(object) {
    const name = this.model.naming ? object[this.model.naming] : undefined;
    return typeof name === "string" && name !== "" ? name : object._id;
  }

  #fill(title, parts) {
    const attributes = { class: "quiet close", "aria-label": "Close", title: "Close (Esc)" };
    const close = button({ ...attributes, onclick: () => this.act.close() }, icon("close"));
    this.box.replaceChildren(element("header", {}, element("h2", { id: "details-title" }, title), close), ...parts);
    this.box.hidden = false;
  }

  #list(members, prefix) {
    const rows = members.flatMap(([name, value]) => [element("dt", {}, name),
      element("dd", { class: typeOf(value).toLowerCase() }, ...this.#value(value, prefix + name))]);
    return element("dl", {}, ...rows);
  }

  #value(value, path) {
    if (isPoint(value)) return [this.#place(value)];
    if (Array.isArray(value)) return [this.#array(value)];
    if (typeOf(value) === "OBJECT") return [this.#list(Object.entries(value), `${path}.`)];
    if (TIMES.has(path)) return [moment(Number(value))];
    const text = typeof value === "string" ? value : valueText(value);
    return value === null ? [text] : [element("span", {}, text), this.#only(path, value)];
  }

  #only(path, value) {
    if (!(typeof value === "string" || typeof value === "boolean" || isNumber(value))) return null;
    const title = `Only objects with this ${path}`;
    return button({ class: "only", title, "aria-label": title, onclick: () => this.act.filter(path, value) }, icon("filter"));
  }

  #place(point) {
    const attributes = { class: "place", title: "Show this place on the map", onclick: () => this.act.showPlace(point) };
    return button(attributes, position(point.lat, point.lon, 20));
  }

  #array(items) {
    if (items.length === 0) return "[]";
    return element("ul", { class: "items" }, ...items.map((item) => element("li", {}, this.#item(item))));
  }

  #item(item) {
    if (isPoint(item)) return this.#place(item);
    const isNested = typeof item === "object" && item !== null && !isNumber(item);
    return isNested ? element("code", {}, JSON.stringify(item)) : valueText(item);
  }
}

const button = (attributes, ...children) => element("button", { type: "button", ...attributes }, ...children);
