// The map page: makes its parts and joins them.
import { emptyView, fragmentOf, viewOf } from "./address.js";
import { Buckets } from "./buckets.js";
import { Builder } from "./builder.js";
import { ClauseEditor } from "./clause-editor.js";
import { Clusters } from "./clusters.js";
import { Commands } from "./commands.js";
import { Details } from "./details.js";
import { distancesOf, isByMiddle, leftOutBy, queryWithoutPlace } from "./distances.js";
import { byID, debounced } from "./dom.js";
import { Drawing } from "./drawing.js";
import { ExplainPanel } from "./explain-panel.js";
import { showNote, showPane, wireEscape, wireFrame } from "./frame.js";
import { loadLeaflet } from "./leaflet.js";
import { Live } from "./live.js";
import { LiveView } from "./live-view.js";
import { MapView } from "./map-view.js";
import { Model } from "./model.js";
import { bucketQuery, clauseOfRows, rowOfPath } from "./query.js";
import { PAGE, Results } from "./results.js";
import { Selection } from "./selection.js";
import { errorSentence } from "./sentences.js";
import { Service } from "./service.js";
import { loadSettings } from "./settings.js";
import { ShapesLayer, roundPoint } from "./shapes-layer.js";
import { Suggestions } from "./suggestions.js";
import { Table } from "./table.js";
import { wireThemeSwitch } from "./theme-switch.js";
import { nameField } from "./values.js";

const AROUND = 25000;
const PAUSE_OF_MIDDLE = 200;
const PAUSE_OF_ADDRESS = 150;
const WITHOUT_LEAFLET = "The map needs Leaflet. Install Debian’s package libjs-leaflet where the service runs "
  + "(apt-get install libjs-leaflet), and load this page again.";

class Page {
  /** @param settings what the service says of itself to pages. */
  constructor(settings) {
    this.settings = settings;
    const known = { fields: [], geoFields: [], place: null, geoField: null, naming: null, middle: null };
    this.model = new Model({ ...viewOf(location.hash), ...known });
    this.service = new Service();
    this.#makeQuery();
    this.#makeResults();
    // Browsers refuse an address that changes too often.
    this.writePlace = debounced(PAUSE_OF_ADDRESS, () => this.#writeAddress());
    this.followMiddle = debounced(PAUSE_OF_MIDDLE, () => isByMiddle(this.model) && this.#search({ isOnlyTable: true }));
  }

  #makeQuery() {
    const { model, service } = this;
    const suggestions = new Suggestions(model, service);
    this.commands = new Commands(() => this.#request(), this.settings);
    this.buckets = new Buckets({ model, service, server: () => this.commands.server, open: (name) => this.#open(name) });
    this.builder = new Builder({ model, suggestions, draw: (...shape) => this.#draw(...shape) });
    this.editor = new ClauseEditor(model);
    this.explain = new ExplainPanel(service, () => this.#request());
  }

  #makeResults() {
    const { model, service } = this;
    const distances = () => distancesOf(model);
    const table = new Table({
      model, chosen: (id) => this.selection.choose(id, "table"), hovered: (id) => this.selection.hover(id),
    });
    this.results = new Results({
      service, table, shown: () => this.selection.resultsShown(), missed: (sentences) => this.#note(sentences),
      failed: (error) => this.#failed(error),
    });
    this.details = new Details(model, {
      close: () => this.selection.choose(null), showPlace: (place) => this.view?.show(place, true),
      near: (place) => this.#around(place), filter: (field, value) => this.builder.addValue(field, value),
    });
    this.liveView = new LiveView({ model, table, distances });
    this.live = new Live({
      model, view: this.liveView, told: (effects) => this.#liveTold(effects),
      failed: (error) => this.#liveFailed(error),
    });
    this.table = table;
    this.selection = new Selection({
      model, service, table, details: this.details, live: this.live, distances, changed: () => this.#writeAddress(),
    });
  }

  #makeMap(L, countries) {
    this.view = new MapView(L, { countries, basemap: this.settings.basemap ?? null }, {
      choose: (mark) => this.#chooseMark(mark),
      nothing: () => this.model.object !== null && this.selection.choose(null),
      hover: (id) => this.table.hover(id), key: (key) => this.#key(key), moved: (isQuiet) => this.#moved(isQuiet),
    });
    const { map, marks } = this.view;
    const { model, service } = this;
    const setShape = (index, members, isLast) => this.builder.setRow(index, members, !isLast);
    const shapes = new ShapesLayer(L, map, marks, setShape);
    this.drawing = new Drawing(map, marks, (kind, members) => this.builder.takeShape(kind, members, this.drawnRow));
    this.clusters = new Clusters({
      model, service, map, shown: (answer, about) => this.#showClusters(answer, about),
      failed: (error) => this.#mapFailed(error),
    });
    this.selection.view = this.view;
    this.liveView.view = this.view;
    model.on(["query"], () => shapes.show(model.query.rows));
  }

  // Beginning

  async run(L, countries) {
    const { model, service } = this;
    wireThemeSwitch(() => this.view?.repaint());
    wireFrame(service);
    wireEscape(() => this.selection.close());
    model.on(["query", "field"], () => this.#queryChanged());
    service.addEventListener("back", () => this.#back());
    byID("live").addEventListener("click", () => this.#setLive(!model.isLive));
    byID("placeless").addEventListener("click", () => model.set({ query: queryWithoutPlace(model) }));
    window.addEventListener("popstate", () => this.#addressChanged());
    document.addEventListener("visibilitychange", () => document.hidden || service.isGone || this.buckets.load());
    if (L) this.#makeMap(L, countries);
    this.#note("");
    await this.#load();
  }

  async #load() {
    const { model } = this;
    try {
      const info = await this.service.call("server.info");
      byID("about").textContent = `${info.version} · ${info.store}`;
    } catch (error) {
      if (error.isGone) return;
    }
    await this.buckets.load();
    model.bucket ??= this.buckets.first?.bucket ?? null;
    if (model.bucket !== null) await this.#openView();
  }

  async #back() {
    if (this.model.fields.length === 0) {
      await this.#load();
      return;
    }
    await this.buckets.load();
    this.#search({});
  }

  // Address

  /** Writes the view into the address; a new query or bucket is a step to go back from. */
  #writeAddress(isStep = false) {
    const fragment = `#${fragmentOf({ ...this.model, at: this.view?.at ?? this.model.at })}`;
    if (fragment !== location.hash) history[isStep ? "pushState" : "replaceState"](null, "", fragment);
  }

  async #addressChanged() {
    const { model } = this;
    const view = viewOf(location.hash);
    const isOther = view.bucket !== model.bucket;
    Object.assign(model, emptyView(), view);
    if (isOther) await this.buckets.load();
    model.bucket ??= this.buckets.first?.bucket ?? null;
    if (model.bucket !== null) await this.#openView();
  }

  // Buckets

  async #open(name) {
    Object.assign(this.model, emptyView(), { bucket: name });
    this.#writeAddress(true);
    showPane("map");
    if (!this.buckets.find(name)) await this.buckets.load();
    await this.#openView();
  }

  /** Shows what the model says: bucket, query, place, object, live. */
  async #openView() {
    const { model } = this;
    const { bucket } = model;
    document.title = `${bucket} – GeoBucket`;
    this.#stop();
    this.view?.clear();
    this.table.clear();
    this.details.hide();
    await this.#learnFields(bucket);
    if (model.bucket === bucket) await this.#goToPlace();
    if (model.bucket !== bucket) return;
    this.isOpening = true;
    model.set({ bucket, query: model.query, fields: model.fields });
    this.isOpening = false;
    if (model.object !== null) this.selection.choose(model.object, "link");
  }

  async #learnFields(bucket) {
    const { model } = this;
    let fields = [];
    try {
      fields = (await this.service.call("bucket.fields", { bucket })).fields;
      this.#failed(null);
    } catch (error) {
      this.#failed(error);
    }
    if (model.bucket !== bucket) return;
    const { geoFields: listed = [], place = null } = this.buckets.find(bucket) ?? {};
    const placed = fields.filter(({ types }) => types.GEOPOINT).map(({ field }) => field);
    const geoFields = [...new Set([...listed, ...placed])].sort();
    Object.assign(model, { fields, geoFields, place, naming: nameField(fields) });
    model.chooseGeoField();
    this.table.setFields(fields, model.geoFields, model.naming);
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
    model.middle = this.view.middle;
  }

  // Query

  get #clause() {
    return clauseOfRows(this.model.query).clause;
  }

  /** The params of `bucket.query` as the page sends them, `null` without a bucket. */
  #request() {
    const { bucket, query, geoField, middle } = this.model;
    if (bucket === null) return null;
    return { bucket, bucketQuery: bucketQuery(query, { geoField, middle }), bestEffortLimit: PAGE };
  }

  #queryChanged() {
    this.model.chooseGeoField();
    this.#writeAddress(!this.isOpening);
    this.#search({});
  }

  async #search({ isOnlyTable = false }) {
    const { model } = this;
    const request = this.#request();
    if (!request) return;
    this.followMiddle.cancel();
    this.commands.show();
    this.explain.load();
    byID("live").setAttribute("aria-checked", String(model.isLive));
    if (model.isLive) {
      if (!isOnlyTable) this.#startLive();
      return;
    }
    if (!isOnlyTable) this.#loadClusters(true);
    await this.results.start(request, distancesOf(model), leftOutBy(model));
  }

  #stop() {
    this.live.stop();
    this.results.stop();
    this.clusters?.stop();
    this.#note("");
  }

  /** Shows an error of the service at the condition that it is about; `null` shows none. */
  #failed(error) {
    if (error?.isGone) return;
    const row = error ? rowOfPath(error.path, this.model.query) : null;
    this.builder.showFailure(error, row, error ? errorSentence(error, row !== null) : "");
    if (!error) return;
    this.view?.clear();
    this.clusters?.stop();
  }

  #draw(kind, index, isByKeyboard) {
    if (!this.drawing) return;
    this.drawnRow = index;
    showPane("map");
    this.drawing.begin(kind, isByKeyboard);
  }

  #around(place) {
    this.builder.takeShape("circle", { center: roundPoint(place), radius: AROUND }, -1);
    this.view?.zoomTo(place, 9);
  }

  // Map

  #note(text) {
    showNote(this.view ? text : WITHOUT_LEAFLET);
  }

  /** What is wrong with the query stands there, and not on the map too. */
  #mapFailed(error) {
    if (error.path?.startsWith("bucketQuery")) this.#failed(error);
    else if (!error.isGone) this.#note(errorSentence(error));
  }

  #loadClusters(isNew) {
    if (!this.clusters || this.model.isLive) return;
    if (this.model.geoField === null) this.#note("No object of this bucket has a place.");
    else this.clusters.load(this.#clause, isNew);
  }

  #showClusters(answer, about) {
    if (this.model.isLive) return;
    this.#note("");
    this.view.showClusters(answer.clusters, { ...about, naming: this.model.naming });
  }

  /** The map has moved; quietly, when that only brought a place into view. */
  #moved(isQuiet) {
    const { model } = this;
    this.writePlace();
    this.#loadClusters(false);
    if (isQuiet) return;
    const before = model.middle;
    model.middle = this.view.middle;
    const isElsewhere = before?.lat !== model.middle.lat || before?.lon !== model.middle.lon;
    if (isElsewhere && isByMiddle(model)) this.followMiddle();
  }

  #key(key) {
    const shape = { c: "circle", b: "box", g: "polygon", r: "corridor" }[key];
    if (shape && this.model.geoField !== null) this.#draw(shape, -1, true);
    return Boolean(shape);
  }

  async #chooseMark(mark) {
    if (mark.count === 1) {
      this.selection.choose(mark.id, "map");
      return;
    }
    const { view } = this;
    try {
      const { bounds, isOnePlace, cell } = await this.clusters.inside(mark, this.#clause);
      if (isOnePlace) await this.selection.listCell(mark, cell, this.#clause);
      else if (bounds && view.isWiderThan(bounds)) view.fit(bounds, true);
      else view.zoomTo(mark, view.map.getZoom() + 2);
    } catch (error) {
      this.#mapFailed(error);
    }
  }

  // Live

  #setLive(isLive) {
    this.model.isLive = isLive;
    this.#writeAddress();
    this.#stop();
    this.view?.clear();
    this.#search({});
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

  /** The object that is chosen is shown as it is now. */
  #liveTold(effects) {
    const { object } = this.model;
    if (effects.some(({ id }) => id === object)) this.selection.choose(object);
  }

  /** Without a live query there are the ordinary results, and why. */
  async #liveFailed(error) {
    if (error.errorCode === "UNAUTHORIZED") return this.service.askForLogin();
    this.live.stop();
    this.model.isLive = false;
    this.#writeAddress();
    await this.#search({});
    const summary = byID("summary");
    summary.textContent = `No live query: ${errorSentence(error)} ${summary.textContent}`.trim();
  }
}

async function loadCountries() {
  try {
    return await (await fetch("map/countries.json")).json();
  } catch {
    return { type: "FeatureCollection", features: [] };
  }
}

const [L, settings, countries] = await Promise.all([loadLeaflet(), loadSettings(), loadCountries()]);
new Page(settings).run(L, countries);
