// The map page: makes its parts and joins them.
import { emptyView, fragmentOf, viewOf } from "./address.js";
import { Buckets } from "./buckets.js";
import { Builder } from "./builder.js";
import { ClauseEditor } from "./clause-editor.js";
import { Clusters } from "./clusters.js";
import { Commands } from "./commands.js";
import { Details } from "./details.js";
import { byID, copy, debounced } from "./dom.js";
import { Drawing } from "./drawing.js";
import { ExplainPanel } from "./explain-panel.js";
import { cellBox } from "./grid.js";
import { loadLeaflet } from "./leaflet.js";
import { Live } from "./live.js";
import { isLoggedIn } from "./login-mark.js";
import { MapView } from "./map-view.js";
import { Model } from "./model.js";
import { bucketQuery, clauseOfRows, DISTANCE, distanceName, rowOfPath } from "./query.js";
import { PAGE, Results } from "./results.js";
import { errorSentence } from "./sentences.js";
import { Service } from "./service.js";
import { ShapesLayer, roundPoint } from "./shapes-layer.js";
import { distanceBetween } from "./sphere.js";
import { Suggestions } from "./suggestions.js";
import { Table } from "./table.js";
import { counted } from "./text.js";
import { wireThemeSwitch } from "./theme-switch.js";
import { byKey, nameField, placesOf, valueAt } from "./values.js";

const AROUND = 25000;
const PAUSE_OF_MIDDLE = 200;
const WITHOUT_LEAFLET = "The map needs Leaflet. Install Debian’s package libjs-leaflet where the service runs "
  + "(apt-get install libjs-leaflet), and load this page again.";

class Page {
  constructor() {
    const view = viewOf(location.hash);
    this.model = new Model({ ...view, fields: [], geoFields: [], geoField: null, naming: null });
    this.service = new Service();
    const { model, service } = this;
    this.builder = new Builder({ model, suggestions: new Suggestions(model, service), draw: (...shape) => this.#draw(...shape) });
    this.editor = new ClauseEditor(model);
    this.buckets = new Buckets({ model, service, open: (name) => this.#open(name) });
    this.table = new Table({ model, chosen: (id) => this.#choose(id, true), hovered: (id) => this.#hover(id) });
    this.results = new Results({ service, table: this.table, shown: () => this.#resultsShown(), failed: (error) => this.#failed(error) });
    this.details = new Details(model, {
      close: () => this.#choose(null), showPlace: (place) => this.view?.show(place, true), near: (place) => this.#around(place),
      filter: (field, value) => this.builder.addValue(field, value),
    });
    this.explain = new ExplainPanel(service, () => this.#request());
    this.commands = new Commands(() => this.#request());
    this.live = new Live({ model, failed: (error) => this.#liveFailed(error), show: {
      marks: (objects) => this.#showLiveMarks(objects), effects: (effects) => this.#showLiveEffects(effects),
      table: (objects, most) => this.#showLiveTable(objects, most),
    } });
    this.followMiddle = debounced(PAUSE_OF_MIDDLE, () => this.#isByMiddle && this.#search({ isOnlyTable: true }));
  }

  async run() {
    this.#wire();
    const [L, countries] = await Promise.all([loadLeaflet(), loadCountries()]);
    if (L) this.#makeMap(L, countries);
    else this.#note("");
    await this.#load();
  }

  // Beginning

  async #load() {
    try {
      const info = await this.service.call("server.info");
      byID("about").textContent = `${info.version} · ${info.store}`;
    } catch (error) {
      if (error.isGone) return;
    }
    await this.buckets.load();
    const { model } = this;
    if (model.bucket === null) model.bucket = this.buckets.first?.bucket ?? null;
    if (model.bucket !== null) await this.#openView();
    else byID("summary").textContent = "";
  }

  #makeMap(L, countries) {
    this.view = new MapView(L, countries, {
      choose: (mark) => this.#chooseMark(mark), nothing: () => this.model.object !== null && this.#choose(null),
      hover: (id) => this.table.hover(id), key: (key) => this.#key(key), moved: (isQuiet) => this.#moved(isQuiet),
    });
    const { map } = this.view;
    this.shapes = new ShapesLayer(L, map, this.view.marks, (index, members, isLast) => this.builder.setRow(index, members, !isLast));
    this.drawing = new Drawing(map, this.view.marks, (kind, members) => this.builder.takeShape(kind, members, this.drawnRow));
    this.clusters = new Clusters({ model: this.model, service: this.service, map,
      shown: (answer, about) => this.#showClusters(answer, about), failed: (error) => this.#mapFailed(error) });
    this.model.on(["query"], () => this.shapes.show(this.model.query.rows));
  }

  #wire() {
    const { model, service } = this;
    wireThemeSwitch(() => this.view?.repaint());
    model.on(["query", "field"], () => this.#queryChanged());
    service.addEventListener("gone", ({ detail }) => this.#gone(detail));
    service.addEventListener("back", () => this.#back());
    byID("banner-try").addEventListener("click", () => service.tryNow());
    byID("live").addEventListener("click", () => this.#setLive(!model.isLive));
    byID("link").addEventListener("click", (event) => copy(location.href, event.currentTarget));
    byID("keys").addEventListener("click", () => byID("keys-dialog").showModal());
    byID("logout").addEventListener("click", () => service.logOut());
    byID("logout").hidden = !isLoggedIn();
    byID("fold").addEventListener("click", () => this.#fold());
    wireMenu(byID("columns"));
    document.addEventListener("visibilitychange", () => document.hidden || this.service.isGone || this.buckets.load());
    window.addEventListener("popstate", () => this.#addressChanged());
    for (const tab of document.querySelectorAll(".tabs button")) {
      tab.addEventListener("click", () => this.#showPane(tab.dataset.pane));
    }
  }

  #showPane(pane) {
    document.body.dataset.pane = pane;
    for (const tab of document.querySelectorAll(".tabs button")) tab.setAttribute("aria-pressed", String(tab.dataset.pane === pane));
  }

  #fold() {
    const isFolded = document.body.classList.toggle("is-folded");
    byID("fold").textContent = isFolded ? "Show" : "Hide";
    byID("fold").setAttribute("aria-expanded", String(!isFolded));
  }

  // Address

  /** Writes the view into the address; a new query or bucket is a step to go back from. */
  #writeAddress(isStep = false) {
    const { model } = this;
    const fragment = `#${fragmentOf({ ...model, at: this.view?.at ?? model.at })}`;
    if (fragment === location.hash) return;
    history[isStep ? "pushState" : "replaceState"](null, "", fragment);
  }

  async #addressChanged() {
    const view = viewOf(location.hash);
    const isSameBucket = view.bucket === this.model.bucket;
    Object.assign(this.model, emptyView(), view);
    if (!isSameBucket) await this.buckets.load();
    if (this.model.bucket === null) this.model.bucket = this.buckets.first?.bucket ?? null;
    if (this.model.bucket !== null) await this.#openView();
  }

  // Buckets

  async #open(name) {
    const { model } = this;
    Object.assign(model, emptyView(), { bucket: name });
    this.#showPane("map");
    if (!this.buckets.find(name)) await this.buckets.load();
    await this.#openView(true);
  }

  /** Shows what the model says: bucket, query, place, object, live. */
  async #openView(isStep = false) {
    const { model } = this;
    const { bucket } = model;
    document.title = `${bucket} – GeoBucket`;
    this.#stop();
    this.view?.clear();
    this.table.clear();
    this.details.hide();
    await this.#learnFields();
    if (model.bucket !== bucket) return;
    await this.#goToPlace();
    if (model.bucket !== bucket) return;
    this.isQuietAddress = !isStep;
    model.set({ bucket, query: model.query, fields: model.fields });
    if (model.object !== null) this.#choose(model.object, false);
  }

  async #learnFields() {
    const { model } = this;
    const { bucket } = model;
    let fields = [];
    try {
      fields = (await this.service.call("bucket.fields", { bucket })).fields;
      this.#failed(null);
    } catch (error) {
      this.#failed(error);
    }
    if (model.bucket !== bucket) return;
    const listed = this.buckets.find(bucket)?.geoFields ?? [];
    const geoFields = [...new Set([...listed, ...fields.filter(({ types }) => types.GEOPOINT).map(({ field }) => field)])].sort();
    const geoField = geoFields.includes(model.field) ? model.field : geoFields[0] ?? null;
    const naming = nameField(fields);
    Object.assign(model, { fields, geoFields, geoField, naming });
    this.table.setFields(fields, geoFields, naming);
  }

  async #goToPlace() {
    const { model } = this;
    if (!this.view) return;
    if (model.at) this.view.go(model.at);
    else if (model.geoField !== null) {
      try {
        const bounds = await this.clusters.extent(this.#clause);
        if (bounds) this.view.fit(bounds);
      } catch (error) {
        this.#mapFailed(error);
      }
    }
    this.middle = this.view.middle;
  }

  // Query

  #queryChanged() {
    const { model } = this;
    model.geoField = model.geoFields.includes(model.field) ? model.field : model.geoFields[0] ?? null;
    this.#writeAddress(!this.isQuietAddress);
    this.isQuietAddress = false;
    this.#search({});
  }

  get #clause() {
    return clauseOfRows(this.model.query).clause;
  }

  /** The params of `bucket.query` as the page sends them, `null` without a bucket. */
  #request() {
    const { model } = this;
    if (model.bucket === null) return null;
    return { bucket: model.bucket, bucketQuery: bucketQuery(model.query, { geoField: model.geoField, middle: this.middle }), bestEffortLimit: PAGE };
  }

  async #search({ isOnlyTable = false }) {
    const { model } = this;
    const request = this.#request();
    if (!request) return;
    this.commands.show();
    this.explain.load();
    this.#setLiveButton();
    if (model.isLive) {
      if (!isOnlyTable) this.#startLive();
      return;
    }
    this.followMiddle.cancel();
    if (!isOnlyTable) this.#loadClusters(true);
    await this.results.start(request, this.#distances());
  }

  #stop() {
    this.live.stop();
    this.results.stop();
    this.clusters?.stop();
    this.#note("");
  }

  /** Whether the order is by the distance from the middle of the map. */
  get #isByMiddle() {
    return this.model.query.order.by === "near" && distanceName(this.#clause) === undefined && this.model.geoField !== null
      && this.middle !== undefined;
  }

  /** The column of distances: the one that the clause reports, or the one from the middle. */
  #distances() {
    const name = distanceName(this.#clause) ?? (this.#isByMiddle && !this.model.isLive ? DISTANCE : undefined);
    if (name !== undefined) return { name, of: (object) => object._calculated?.[name] };
    if (!this.#isByMiddle) return null;
    const { geoField } = this.model;
    const { middle } = this;
    return { name: DISTANCE, of: (object) => least(placesOf(object, geoField).map((place) => distanceBetween(place, middle))) };
  }

  #failed(error) {
    if (error?.isGone) return;
    const row = error ? rowOfPath(error.path, this.model.query) : null;
    this.builder.showFailure(error, row, error ? errorSentence(error) : "");
    if (error) {
      this.view?.clear();
      this.clusters?.stop();
    }
  }

  #draw(kind, index, isByKeyboard) {
    if (!this.drawing) return;
    this.drawnRow = index;
    this.#showPane("map");
    this.drawing.begin(kind, isByKeyboard);
  }

  #around(place) {
    this.builder.takeShape("circle", { center: roundPoint(place), radius: AROUND }, -1);
    this.view?.zoomTo(place, 9);
  }

  // Map

  #note(text) {
    const note = this.view ? text : WITHOUT_LEAFLET;
    byID("map-note").textContent = note;
    byID("map-note").hidden = note === "";
  }

  #mapFailed(error) {
    if (!error.isGone) this.#note(errorSentence(error));
  }

  #loadClusters(isNew) {
    if (!this.clusters || this.model.isLive) return;
    if (this.model.geoField === null) {
      this.#note("No object of this bucket has a place.");
      return;
    }
    this.clusters.load(this.#clause, isNew);
  }

  #showClusters(answer, about) {
    if (this.model.isLive) return;
    this.#note("");
    this.view.showClusters(answer.clusters, { ...about, naming: this.model.naming });
  }

  #moved(isQuiet) {
    this.#writeAddress();
    this.#loadClusters(false);
    if (isQuiet) return;
    const { middle } = this.view;
    if (this.middle && middle.lat === this.middle.lat && middle.lon === this.middle.lon) return;
    this.middle = middle;
    if (this.#isByMiddle) this.followMiddle();
  }

  #key(key) {
    const shape = { c: "circle", b: "box", g: "polygon", r: "corridor" }[key];
    if (shape && this.model.geoField !== null) this.#draw(shape, -1, true);
    if (key === "Escape" && this.model.object !== null) this.#choose(null);
    return Boolean(shape);
  }

  async #chooseMark(mark) {
    if (mark.count === 1) return this.#choose(mark.id, false, true);
    try {
      const { bounds, isOnePlace, cell } = await this.clusters.inside(mark, this.#clause);
      if (isOnePlace) await this.#listCell(mark, cell);
      else if (bounds && isSmaller(bounds, this.view.map)) this.view.fit(bounds, true);
      else this.view.zoomTo(mark, this.view.map.getZoom() + 2);
    } catch (error) {
      this.#mapFailed(error);
    }
  }

  /** The objects of a cluster that no zoom level splits. */
  async #listCell(mark, cell) {
    const { model } = this;
    const inside = { type: "geobox", field: model.geoField, box: cellBox(cell) };
    const clause = this.#clause === undefined ? inside : { type: "and", clauses: [this.#clause, inside] };
    const { results } = await this.service.call("bucket.query", { bucket: model.bucket, bucketQuery: { clause } });
    this.details.showList(`${counted(mark.count, "object")} at this place`, results, (id) => this.#choose(id));
  }

  // One object

  /** Shows an object in the table, on the map and by its fields; `null` shows none. */
  async #choose(id, isShown = false, isFromMap = false) {
    const { model } = this;
    model.object = id;
    this.#writeAddress();
    this.table.choose(id, isFromMap);
    if (id === null) {
      this.details.hide();
      this.view?.choose(null, []);
      return;
    }
    const object = await this.#find(id);
    if (model.object !== id) return;
    const places = object ? placesOf(object, model.geoField) : [];
    this.view?.choose(id, places);
    if (!object) return this.details.showMissing(id);
    this.details.show(object, this.#distances()?.of(this.table.object(id) ?? object));
    if (isShown && places.length > 0) {
      this.#showPane("map");
      this.view?.show(places[0]);
    }
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

  /** The object that is shown has its distance from the new results. */
  #resultsShown() {
    const { object } = this.model;
    const away = this.table.object(object) && this.#distances()?.of(this.table.object(object));
    if (away !== undefined && !byID("details").hidden && this.details.id === object) this.details.show(this.table.object(object), away);
  }

  #hover(id) {
    const object = id === null ? null : this.live.objects.get(id) ?? this.table.object(id);
    this.view?.hover(id, object ? placesOf(object, this.model.geoField) : []);
  }

  // Live

  #setLive(isLive) {
    this.model.isLive = isLive;
    this.#writeAddress();
    this.#stop();
    this.view?.clear();
    this.#search({});
  }

  #setLiveButton() {
    byID("live").setAttribute("aria-checked", String(this.model.isLive));
    document.body.classList.toggle("is-live", this.model.isLive);
  }

  #startLive() {
    this.results.stop();
    this.clusters?.stop();
    this.view?.clear();
    this.#note("");
    const { bucket, query } = this.model;
    // The middle of the map moves with the map; a live query would begin anew each time.
    this.live.start({ bucket, bucketQuery: bucketQuery(query, { geoField: null, middle: null }) });
  }

  /** Without a live query there are the ordinary results, and why. */
  async #liveFailed(error) {
    this.live.stop();
    this.model.isLive = false;
    this.#writeAddress();
    await this.#search({});
    const summary = byID("summary");
    summary.textContent = `No live query: ${errorSentence(error)} ${summary.textContent}`.trim();
  }

  #showLiveMarks(objects) {
    const { naming, geoField } = this.model;
    this.view?.set.setObjects(objects, naming, geoField);
    this.view?.marks.redraw();
  }

  #showLiveEffects(effects) {
    const { naming, geoField, object } = this.model;
    this.view?.set.apply(effects, naming, geoField, performance.now());
    this.view?.marks.redraw();
    if (effects.some(({ id }) => id === object)) this.#choose(object);
  }

  #showLiveTable(objects, most) {
    const { order } = this.model.query;
    const distances = this.#distances();
    const key = { near: distances?.of, field: (object) => valueAt(object, order.field) }[order.by];
    const keyed = objects.map((object) => ({ object, key: key?.(object) }));
    if (key) keyed.sort(byKey((entry) => entry.key, order.descending));
    const sorted = keyed.map(({ object }) => object);
    this.table.set(sorted.slice(0, most), { distances });
    byID("results-end").textContent = sorted.length > most ? `The first ${most} of ${counted(sorted.length, "object")}.` : "";
  }

  // The service

  #gone(seconds) {
    byID("banner-text").textContent = `The service does not answer. Trying again in ${counted(seconds, "second")}.`;
    byID("banner").hidden = false;
    document.body.classList.add("is-gone");
  }

  async #back() {
    byID("banner").hidden = true;
    document.body.classList.remove("is-gone");
    if (this.model.fields.length === 0) return this.#load();
    await this.buckets.load();
    this.#search({});
  }
}

/** A menu closes when something else is pressed or reached, and with Escape. */
function wireMenu(menu) {
  document.addEventListener("pointerdown", ({ target }) => menu.contains(target) || menu.removeAttribute("open"));
  document.addEventListener("focusin", ({ target }) => menu.contains(target) || menu.removeAttribute("open"));
  menu.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    menu.removeAttribute("open");
    menu.querySelector("summary").focus();
  });
}

const least = (numbers) => (numbers.length > 0 ? Math.min(...numbers) : undefined);

/** Whether a box takes less than the window; one that does not would not split its cluster. */
function isSmaller({ south, west, north, east }, map) {
  const bounds = map.getBounds();
  return east - west < (bounds.getEast() - bounds.getWest()) * 0.7 && north - south < (bounds.getNorth() - bounds.getSouth()) * 0.7;
}

async function loadCountries() {
  try {
    return await (await fetch("map/countries.json")).json();
  } catch {
    return { type: "FeatureCollection", features: [] };
  }
}

new Page().run();
