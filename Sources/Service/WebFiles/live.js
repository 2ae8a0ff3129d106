// Live: the query as a live query. Its objects go to the map as they move and to the table in their order; the latest
// changes stand in a list, with how many there are a second.
import { byID, element } from "./dom.js";
import { Rate, rateText } from "./rate.js";
import { count, counted } from "./text.js";
import { Watch } from "./watch.js";

const LOGGED = 60;
const TABLE_PAUSE = 400;
const SIGNS = { enter: "+", change: "~", leave: "−" };
const WORDS = { enter: "enters", change: "changes", leave: "leaves" };

export class Live {
  /**
   * @param view the `LiveView` that shows the objects.
   * @param told called with the effects of a notification; `failed` with the error that ends the live query.
   */
  constructor({ model, view, told, failed }) {
    Object.assign(this, { model, view, told, failed, watch: null });
    setInterval(() => this.watch && this.#showFigures(), 500);
  }

  start({ bucket, bucketQuery }) {
    this.stop();
    this.rate = new Rate();
    this.isConnected = false;
    byID("log").replaceChildren();
    byID("log-frame").hidden = false;
    byID("live-figures").hidden = false;
    byID("summary").textContent = "Waiting for the state of the live query…";
    this.watch = new Watch({
      bucket, bucketQuery,
      told: (state, effects, { isFirst }) => this.#told(state, effects, isFirst),
      connected: (isConnected) => this.#connected(isConnected),
      failed: (error) => this.failed(error),
    });
  }

  stop() {
    this.watch?.close();
    this.watch = null;
    clearTimeout(this.tableTimer);
    this.tableTimer = null;
    byID("log-frame").hidden = true;
    byID("live-figures").hidden = true;
  }

  get objects() {
    return this.watch ? this.watch.state.objects : new Map();
  }

  #connected(isConnected) {
    this.isConnected = isConnected;
    this.#showFigures();
  }

  #told(state, effects, isFirst) {
    const isBeginning = isFirst && this.shownOnce !== this.watch;
    if (isBeginning) {
      this.shownOnce = this.watch;
      this.rate.add(0, performance.now());
      this.view.showAll(state.objects.values());
    } else if (effects.length > 0) {
      this.rate.add(effects.length, performance.now());
      this.view.showEffects(effects);
      this.told(effects);
      this.#log(effects);
    }
    if (state.isComplete) {
      byID("summary").textContent = `${counted(state.objects.size, "object matches", "objects match")}, live.`;
    }
    this.#showTable();
    this.#showFigures();
  }

  /** The table a few times a second at most, however fast the changes come. */
  #showTable() {
    if (this.tableTimer) return;
    this.tableTimer = setTimeout(() => {
      this.tableTimer = null;
      if (this.watch) this.view.showTable([...this.objects.values()]);
    }, this.tableShownAt && performance.now() - this.tableShownAt < TABLE_PAUSE ? TABLE_PAUSE : 0);
    this.tableShownAt = performance.now();
  }

  #showFigures() {
    const perSecond = this.rate.perSecond(performance.now());
    byID("live-figures").textContent = this.isConnected ? `${rateText(perSecond)} changes a second`
      : "Connection lost; trying again…";
    byID("live-figures").classList.toggle("is-lost", !this.isConnected);
  }

  #log(effects) {
    const now = Date.now();
    const items = effects.slice(-LOGGED).reverse().map(({ kind, id, after, before, reason }) => {
      const name = this.#name(after ?? before, id);
      const why = kind === "leave" && reason ? ` (${reason})` : "";
      return element("li", { class: kind }, element("span", { class: "sign", "aria-hidden": "true" }, SIGNS[kind]),
        element("span", { class: "who" }, name), element("span", { class: "what" }, `${WORDS[kind]}${why}`),
        element("time", { datetime: new Date(now).toISOString() }, new Date(now).toLocaleTimeString()));
    });
    byID("log").prepend(...items);
    while (byID("log").children.length > LOGGED) byID("log").lastElementChild.remove();
    if (effects.length > LOGGED) byID("log").title = `${count(effects.length)} changes at once`;
  }

  #name(object, id) {
    const name = this.model.naming ? object?.[this.model.naming] : undefined;
    return typeof name === "string" && name !== "" ? name : id;
  }
}
