// The clause as JSON beside the form: each follows the other.
import { byID, debounced } from "./dom.js";
import { ExactInteger, parseJSON } from "./exact.js";
import { clauseOfRows, rowsOfClause } from "./query.js";

const TYPING = 400;
const ORIGIN = "json";
const HINT = "What you change here changes the conditions above.";

export class ClauseEditor {
  constructor(model) {
    this.model = model;
    this.area = byID("clause");
    const read = debounced(TYPING, () => this.#read());
    this.area.addEventListener("input", read);
    model.on(["query"], (_, origin) => origin === ORIGIN || this.show());
  }

  show() {
    const { clause } = clauseOfRows(this.model.query);
    const text = pretty(clause ?? { type: "all" });
    if (this.area.value !== text) this.area.value = text;
    this.#tell(HINT, false);
  }

  #read() {
    try {
      const clause = this.area.value.trim() === "" ? undefined : parseJSON(this.area.value);
      this.model.set({ query: { ...this.model.query, ...rowsOfClause(clause) } }, ORIGIN);
      this.#tell(HINT, false);
    } catch (error) {
      this.#tell(`Not yet JSON: ${error.message}.`, true);
    }
  }

  #tell(text, isWrong) {
    byID("clause-state").textContent = text;
    byID("clause-state").classList.toggle("error", isWrong);
    this.area.setAttribute("aria-invalid", String(isWrong));
  }
}

const WIDTH = 44;

/** JSON on several lines, but short arrays and objects, such as points, on one. */
export function pretty(value, indent = "") {
  const line = JSON.stringify(value);
  const isPlain = typeof value !== "object" || value === null || value instanceof ExactInteger;
  if (isPlain || line.length + indent.length <= WIDTH) return line;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const members = Array.isArray(value) ? value.map((item) => pretty(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pretty(item, inner)}`);
  return `${open}\n${members.map((member) => inner + member).join(",\n")}\n${indent}${close}`;
}
