// The table of objects: a row each, columns for their fields, one row chosen and one under the pointer.
import { byID, element } from "./dom.js";
import { isNumber } from "./exact.js";
import { distance, moment, value } from "./text.js";
import { placesOf, valueAt } from "./values.js";

const USUAL_COLUMNS = 8;
const TIMES = new Set(["_created", "_modified", "_expiresAt"]);

export class Table {
  /** @param chosen called with the id of a row that was clicked, `hovered` with one under the pointer or `null`. */
  constructor({ model, chosen, hovered }) {
    Object.assign(this, { model, chosen, hovered, rows: new Map(), columns: [], hidden: new Set() });
    const body = byID("body");
    body.addEventListener("click", (event) => this.#click(event));
    body.addEventListener("mouseover", (event) => this.hovered(this.#idOf(event)));
    body.addEventListener("mouseleave", () => this.hovered(null));
    body.addEventListener("focusin", (event) => this.hovered(this.#idOf(event)));
    body.addEventListener("keydown", (event) => this.#key(event));
  }

  #idOf(event) {
    return event.target.closest?.("tr")?.dataset.id ?? null;
  }

  /** A row that is clicked has the focus, so that the keyboard goes on from there. */
  #click(event) {
    const id = this.#idOf(event);
    if (id === null) return;
    this.focus(id);
    this.chosen(id);
  }

  /** Gives an object's row the focus. Returns whether there is such a row that can have it. */
  focus(id) {
    const row = this.rows.get(id)?.row;
    if (!row || row.offsetParent === null) return false;
    this.#giveTab(row);
    row.querySelector("button").focus({ preventScroll: true });
    return true;
  }

  /** The arrow keys go from row to row; one row can be reached with Tab. */
  #key(event) {
    const row = event.target.closest("tr");
    const next = { ArrowDown: row?.nextElementSibling, ArrowUp: row?.previousElementSibling,
      Home: byID("body").firstElementChild, End: byID("body").lastElementChild }[event.key];
    if (!next) return;
    event.preventDefault();
    this.#giveTab(next);
    next.querySelector("button").focus();
  }

  #giveTab(row) {
    for (const button of byID("body").querySelectorAll("button[tabindex='0']")) button.tabIndex = -1;
    row.querySelector("button").tabIndex = 0;
  }

  /** Columns for the fields of a bucket; of many the first ones are shown. */
  setFields(fields, geoFields, naming) {
    const isPlain = ({ field, types }) => field !== naming && !geoFields.includes(field)
      && (!types.OBJECT || Object.keys(types).length > 1);
    const others = fields.filter(isPlain).map(({ field }) => field).sort((a, b) => a.localeCompare(b));
    const sum = (types) => Object.values(types).reduce((a, b) => a + b, 0);
    const frequency = new Map(fields.map(({ field, types }) => [field, sum(types)]));
    const usual = new Set([...others].sort((a, b) => frequency.get(b) - frequency.get(a)).slice(0, USUAL_COLUMNS));
    this.columns = [...(naming ? [naming] : []), ...others, ...geoFields, "_modified", "_version"];
    this.hidden = new Set(this.columns.filter((column) => column !== naming && !usual.has(column)));
    this.#showChoice();
  }

  #showChoice() {
    const list = this.columns.map((column) => {
      const box = element("input", { type: "checkbox", checked: !this.hidden.has(column) });
      box.addEventListener("change", () => {
        if (box.checked) this.hidden.delete(column);
        else this.hidden.add(column);
        this.redraw();
      });
      return element("label", {}, box, column);
    });
    byID("column-list").replaceChildren(byID("column-list").querySelector("legend"), ...list);
  }

  clear() {
    this.rows.clear();
    byID("body").replaceChildren();
    byID("head").replaceChildren();
  }

  /** Shows these objects and no others. Rows of objects that have not changed stay as they are. */
  set(objects, { distances }) {
    if (this.distances?.name !== distances?.name) this.rows.clear();
    this.distances = distances;
    this.#showHead();
    const old = this.rows;
    this.rows = new Map();
    const rows = objects.map((object) => {
      const known = old.get(object._id);
      const row = known?.object === object && known.away === this.#away(object) ? known : this.#made(object, known);
      this.rows.set(object._id, row);
      return row.row;
    });
    this.#replace(rows);
    this.#settle();
  }

  /** Puts rows into the table; the one that has the focus keeps it. */
  #replace(rows) {
    const body = byID("body");
    const isSame = rows.length === body.children.length && rows.every((row, index) => row === body.children[index]);
    if (isSame) return;
    const focused = body.contains(document.activeElement) ? document.activeElement.closest("tr").dataset.id : null;
    body.replaceChildren(...rows);
    if (focused === null) return;
    const row = this.rows.get(focused)?.row ?? body.firstElementChild;
    if (!row) return;
    this.#giveTab(row);
    row.querySelector("button").focus({ preventScroll: true });
  }

  append(objects) {
    for (const object of objects) {
      const row = this.#made(object, null);
      this.rows.set(object._id, row);
      byID("body").append(row.row);
    }
    this.#settle();
  }

  #settle() {
    const first = byID("body").firstElementChild;
    if (first && !byID("body").querySelector("button[tabindex='0']")) this.#giveTab(first);
    this.choose(this.model.object);
  }

  redraw() {
    const objects = [...this.rows.values()].map(({ object }) => object);
    this.rows.clear();
    this.set(objects, { distances: this.distances });
  }

  #shown() {
    return this.columns.filter((column) => !this.hidden.has(column));
  }

  #showHead() {
    const names = ["_id", ...(this.distances ? [this.distances.name] : []), ...this.#shown()];
    byID("head").replaceChildren(...names.map((name) =>
      element("th", { scope: "col", class: this.#isNumeric(name) ? "number" : false }, name)));
  }

  #isNumeric(name) {
    if (name === this.distances?.name) return true;
    const types = [...this.model.typesOf(name)];
    return types.length > 0 && !TIMES.has(name) && types.every((type) => type === "INTEGER" || type === "DECIMAL");
  }

  #away(object) {
    return this.distances?.of(object);
  }

  #made(object, known) {
    const away = this.#away(object);
    const button = element("button", { type: "button", tabindex: "-1", class: "row-id" }, object._id);
    const name = element("th", { scope: "row" }, button);
    const cells = this.#shown().map((column) => this.#cell(valueAt(object, column), column));
    const text = away === undefined ? "" : distance(away);
    const distances = this.distances ? [element("td", { class: "number" }, text)] : [];
    const row = element("tr", { "data-id": object._id }, name, ...distances, ...cells);
    if (placesOf(object, this.model.geoField).length === 0) row.classList.add("placeless");
    if (known && known.object !== object) row.classList.add("is-changed");
    return { object, row, away };
  }

  #cell(found, column) {
    if (found === undefined) return element("td", { class: "missing" });
    const isTime = TIMES.has(column);
    const text = isTime ? moment(Number(found)) : value(found);
    const isNumeric = isNumber(found) && !isTime;
    return element("td", { class: isNumeric ? "number" : found === null && "null" }, text);
  }

  object(id) {
    return this.rows.get(id)?.object;
  }

  /** Marks the row of an object; one that is out of sight is brought into it. */
  choose(id, isScrolled = false) {
    for (const row of byID("body").querySelectorAll("tr.is-chosen")) this.#unchoose(row);
    const row = this.rows.get(id)?.row;
    if (!row) return;
    row.classList.add("is-chosen");
    row.setAttribute("aria-current", "true");
    if (isScrolled) row.scrollIntoView({ block: "nearest" });
  }

  #unchoose(row) {
    row.classList.remove("is-chosen");
    row.removeAttribute("aria-current");
  }

  hover(id) {
    for (const row of byID("body").querySelectorAll("tr.is-hovered")) row.classList.remove("is-hovered");
    this.rows.get(id)?.row.classList.add("is-hovered");
  }
}
