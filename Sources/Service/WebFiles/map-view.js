// The map: base map, marks, what is under the pointer, and the keys that it takes.
import { byID, prefersLessMotion } from "./dom.js";
import { Ground } from "./ground.js";
import { MarkSet } from "./mark-set.js";
import { createMarksLayer } from "./marks-layer.js";
import { project } from "./grid.js";
import { near, wrapLongitude } from "./sphere.js";
import { count } from "./text.js";
import { palette } from "./theme-switch.js";

const CLOSE = 12;
/** A place so near to an edge is not in view. */
const EDGE = 0.08;
/** From so many degrees on, places are all over the world. */
const WORLD = 220;
const WHOLE = [28, 8];

export class MapView {
  /**
   * @param ground {countries, basemap}: what lies under the objects.
   * @param act {choose(mark), hover(id), key(key): whether it was taken, moved(isQuiet)}
   */
  constructor(L, ground, act) {
    this.act = act;
    this.colours = palette();
    // The move under way, and the next one, is quiet: one that ends because another begins does not take its place.
    Object.assign(this, { isQuiet: false, isNextQuiet: false });
    this.map = L.map("map", {
      center: WHOLE, zoom: 2, minZoom: 1, maxZoom: 22, maxBounds: [[-89, -1e5], [89, 1e5]], maxBoundsViscosity: 1,
      zoomControl: false, attributionControl: false, fadeAnimation: false, zoomAnimation: !prefersLessMotion(),
      keyboardPanDelta: 100,
    });
    L.control.zoom({ position: "topright" }).addTo(this.map);
    L.control.scale({ position: "bottomleft", imperial: true }).addTo(this.map);
    this.map.createPane("marks");
    this.ground = new Ground(L, this.map, ground, { colours: () => this.colours, named: (names) => this.#name(names) });
    this.set = new MarkSet({ isStill: prefersLessMotion });
    const { names } = this.ground;
    this.marks = createMarksLayer(L, { set: this.set, colours: () => this.colours, names }).addTo(this.map);
    this.#listen();
    new ResizeObserver(() => this.#resize()).observe(this.map.getContainer());
    this.#resize();
  }

  /** The world is about as wide as the window at least, so that it is not seen twice. */
  #resize() {
    this.map.invalidateSize({ animate: false });
    const worlds = this.map.getSize().x / 256;
    this.map.setMinZoom(Math.max(1, Math.round(Math.log2(Math.max(1, worlds)))));
  }

  #listen() {
    const { map } = this;
    map.on("click", ({ containerPoint }) => {
      if (document.body.classList.contains("is-drawing")) return;
      const mark = this.marks.markAt(containerPoint);
      this.#focus(null);
      if (mark) this.act.choose(mark);
      else this.act.nothing();
    });
    map.on("mousemove", ({ containerPoint }) => this.#point(containerPoint));
    map.on("mouseout zoomstart dragstart", () => this.#point(null));
    map.on("movestart", () => {
      this.isQuiet = this.isNextQuiet;
      this.isNextQuiet = false;
    });
    map.on("moveend", () => {
      const { isQuiet } = this;
      this.isQuiet = false;
      this.act.moved(isQuiet);
    });
    map.getContainer().addEventListener("keydown", (event) => this.#key(event));
    map.getContainer().addEventListener("blur", () => this.#focus(null));
  }

  /** New colours after the theme has changed. */
  repaint() {
    this.colours = palette();
    this.ground.redraw();
    this.marks.redraw();
  }

  #name(names) {
    if (!this.marks) return;
    this.marks.names = names;
    this.marks.redraw();
  }

  #point(at) {
    const isFree = at && !document.body.classList.contains("is-drawing");
    const mark = isFree ? this.marks.markAt(at) : null;
    this.map.getContainer().classList.toggle("is-over-mark", mark !== null);
    const tip = byID("tip");
    tip.hidden = mark === null;
    if (mark) {
      tip.textContent = describe(mark);
      tip.style.left = `${at.x}px`;
      tip.style.top = `${at.y}px`;
    }
    const id = mark?.id ?? null;
    if (id !== this.pointed) this.act.hover(id);
    this.pointed = id;
  }

  // Keyboard

  #key(event) {
    if (event.target !== this.map.getContainer() || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const own = { n: () => this.#step(1), p: () => this.#step(-1), Enter: () => this.#open() }[key];
    const isTaken = own ? own() : this.act.key(key);
    if (isTaken) event.preventDefault();
  }

  #step(direction) {
    const marks = this.marks.inReadingOrder();
    if (marks.length === 0) return true;
    const at = marks.indexOf(this.marks.focused);
    const next = at < 0 ? (direction > 0 ? 0 : marks.length - 1) : (at + direction + marks.length) % marks.length;
    const mark = marks[next];
    this.#focus(mark);
    const does = mark.count > 1 ? "splits it" : "shows it";
    byID("announcer").textContent = `${describe(mark)}. ${next + 1} of ${marks.length}. Enter ${does}.`;
    return true;
  }

  #focus(mark) {
    if (this.marks.focused === mark) return;
    this.marks.focused = mark;
    this.marks.redraw();
  }

  #open() {
    const mark = this.marks.focused;
    if (!mark) return false;
    this.act.choose(mark);
    return true;
  }

  // Marks

  showClusters(clusters, about) {
    const now = performance.now();
    this.set.setClusters(clusters, about, now);
    if (this.marks.focused && !this.set.marks.has(this.marks.focused.key)) this.marks.focused = null;
    this.marks.redraw();
  }

  clear() {
    this.set.setObjects([], null, null);
    this.marks.redraw();
  }

  choose(id, places) {
    Object.assign(this.marks, { chosen: id, chosenPlaces: places.map(({ lat, lon }) => project(lat, lon)) });
    this.marks.redraw();
  }

  hover(id, places = []) {
    Object.assign(this.marks, { hovered: id, hoveredPlaces: places.map(({ lat, lon }) => project(lat, lon)) });
    this.marks.redraw();
  }

  // Moves

  /** The middle, with no more digits than can be seen. */
  get middle() {
    const { lat, lng } = this.map.getCenter();
    const decimals = Math.max(1, Math.min(6, Math.round(this.map.getZoom() / 3)));
    const round = (value) => Number(value.toFixed(decimals)) + 0;
    return { lat: round(Math.max(-90, Math.min(90, lat))), lon: round(wrapLongitude(lng)) };
  }

  get at() {
    const { lat, lng } = this.map.getCenter();
    return { lat, lon: wrapLongitude(lng), zoom: this.map.getZoom() };
  }

  go({ lat, lon, zoom }) {
    this.map.setView([lat, near(lon, this.map.getCenter().lng)], zoom, { animate: false });
  }

  /** Whether a box takes clearly less than the window, so that going there shows more. */
  isWiderThan({ south, west, north, east }) {
    const bounds = this.map.getBounds();
    const [width, height] = [bounds.getEast() - bounds.getWest(), bounds.getNorth() - bounds.getSouth()];
    return east - west < width * 0.7 && north - south < height * 0.7;
  }

  fit({ south, west, north, east }, isAnimated = false) {
    if (east - west > WORLD) return this.map.setView(WHOLE, this.map.getMinZoom(), { animate: false });
    const shift = near((west + east) / 2, this.map.getCenter().lng) - (west + east) / 2;
    const bounds = [[Math.max(-85, south), west + shift], [Math.min(85, north), east + shift]];
    this.map.fitBounds(bounds, { padding: [48, 48], maxZoom: 16, animate: isAnimated && !prefersLessMotion() });
  }

  zoomTo({ lat, lon }, zoom) {
    this.map.setView([lat, near(lon, this.map.getCenter().lng)], Math.min(22, zoom), { animate: !prefersLessMotion() });
  }

  /**
   * Brings a place into view, to the middle of what the fields of an object leave free, if it is not there; `isClose`
   * zooms in on it. This does not make another "middle".
   */
  show(place, isClose = false) {
    const { map } = this;
    const to = this.#position(place);
    const free = this.#free();
    const at = map.latLngToContainerPoint(to);
    if (isWithin(at, free, EDGE) && !isClose) return;
    const zoom = Math.max(isClose ? CLOSE : 0, map.getZoom());
    const fromMiddle = free.min.add(free.max).subtract(map.getSize()).divideBy(2);
    const middle = map.project(to, zoom).subtract(fromMiddle);
    if (zoom === map.getZoom() && middle.distanceTo(map.project(map.getCenter(), zoom)) < 1) return;
    this.isNextQuiet = true;
    map.setView(map.unproject(middle, zoom), zoom, { animate: !prefersLessMotion() });
  }

  /** Brings a place into view that the fields of an object hide. */
  uncover(place) {
    const { map } = this;
    const at = map.latLngToContainerPoint(this.#position(place));
    if (map.getSize().contains(at) && at.x >= 0 && at.y >= 0 && !isWithin(at, this.#free(), 0)) this.show(place);
  }

  #position({ lat, lon }) {
    return [lat, near(lon, this.map.getCenter().lng)];
  }

  /** The part of the map, in its points, that the fields of an object leave free: they lie at its right or its lower edge. */
  #free() {
    const size = this.map.getSize();
    const free = { min: size.multiplyBy(0), max: size };
    const panel = byID("details");
    if (panel.hidden) return free;
    const [own, over] = [this.map.getContainer().getBoundingClientRect(), panel.getBoundingClientRect()];
    if (over.width > own.width / 2) free.max.y = over.top - own.top;
    else free.max.x = over.left - own.left;
    return free;
  }
}

/** Whether a point lies in a box and not within `edge`, a part of it, of its sides. */
function isWithin({ x, y }, { min, max }, edge) {
  const [width, height] = [(max.x - min.x) * edge, (max.y - min.y) * edge];
  return x >= min.x + width && x <= max.x - width && y >= min.y + height && y <= max.y - height;
}

const describe = (mark) => (mark.count > 1 ? `${count(mark.count)} objects` : mark.label);
