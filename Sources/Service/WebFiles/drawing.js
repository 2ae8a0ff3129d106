// Drawing a new shape: a click for each point, or Enter at the cross in the middle of the map.
import { byID } from "./dom.js";
import { shapeFor } from "./canvas-shapes.js";
import { canvasShapes, roundPoint, roundPosition, roundRadius } from "./shapes-layer.js";
import { boxOf, distanceBetween, ringOf, wrapLongitude } from "./sphere.js";
import { distance } from "./text.js";

const HINTS = {
  circle: ["Set the centre of the circle.", "Set a point on its edge."],
  box: ["Set a corner of the box.", "Set the opposite corner."],
  polygon: ["Set the first corner.", "Set the next corner.", "Set further corners; the first one again closes it."],
  corridor: ["Set the beginning of the route.", "Set the next point.", "Set further points; Done ends the route."],
};
const NEEDED = { circle: 2, box: 2, polygon: 3, corridor: 2 };
const ROUTE_WIDTH_ON_SCREEN = 24;
/** A click so many points from a corner means the corner. */
const CLOSE = 14;

export class Drawing {
  /** @param finished called with the operator and the members of the shape that was drawn. */
  constructor(map, marks, finished) {
    Object.assign(this, { map, marks, finished, kind: null, points: [] });
    map.on("click", ({ latlng }) => this.#click(latlng));
    map.on("mousemove", ({ latlng }) => this.#preview(latlng));
    map.on("move", () => this.isByKeyboard && this.#preview(map.getCenter()));
    byID("drawing-done").addEventListener("click", () => this.done());
    byID("drawing-cancel").addEventListener("click", () => this.cancel());
    map.getContainer().addEventListener("keydown", (event) => this.#key(event), true);
  }

  get isActive() {
    return this.kind !== null;
  }

  begin(kind, isByKeyboard) {
    this.cancel();
    Object.assign(this, { kind, points: [], isByKeyboard });
    this.map.doubleClickZoom.disable();
    document.body.classList.add("is-drawing");
    byID("crosshair").hidden = !isByKeyboard;
    byID("drawing").hidden = false;
    this.#tell();
    this.map.getContainer().focus({ preventScroll: true });
  }

  cancel() {
    if (!this.isActive) return;
    this.kind = null;
    this.#sketch([]);
    document.body.classList.remove("is-drawing");
    byID("crosshair").hidden = true;
    byID("drawing").hidden = true;
    // The second click of a double click must not zoom.
    setTimeout(() => this.isActive || this.map.doubleClickZoom.enable(), 300);
  }

  done() {
    const { kind, points } = this;
    if (!kind || points.length < NEEDED[kind]) return;
    const members = this.#members(points);
    this.cancel();
    this.finished(kind, members);
  }

  #tell(extra = "") {
    const hints = HINTS[this.kind];
    byID("drawing-hint").textContent = hints[Math.min(this.points.length, hints.length - 1)] + extra;
    const isOpen = this.kind === "polygon" || this.kind === "corridor";
    byID("drawing-done").hidden = !(isOpen && this.points.length >= NEEDED[this.kind]);
  }

  #click(latlng) {
    if (!this.isActive) return;
    const to = { lat: Math.max(-90, Math.min(90, latlng.lat)), lon: latlng.lng };
    if (this.#closes(latlng)) return this.done();
    this.points.push(to);
    const isFull = (this.kind === "circle" || this.kind === "box") && this.points.length === 2;
    if (isFull) return this.done();
    this.#preview(latlng);
    this.#tell();
  }

  /** A click on the first corner closes a polygon; one on the last point ends a route, as a double click does. */
  #closes(latlng) {
    if (this.points.length < NEEDED[this.kind] || this.kind === "circle" || this.kind === "box") return false;
    const here = this.map.latLngToContainerPoint(latlng);
    const isNear = ({ lat, lon }) => this.map.latLngToContainerPoint([lat, lon]).distanceTo(here) < CLOSE;
    return isNear(this.points[this.points.length - 1]) || (this.kind === "polygon" && isNear(this.points[0]));
  }

  #key(event) {
    if (event.target !== this.map.getContainer() || !this.isActive) return;
    const act = { Enter: () => this.#enter(), Backspace: () => this.#back(), Escape: () => this.cancel(),
      d: () => this.done(), D: () => this.done() }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  #enter() {
    this.isByKeyboard = true;
    byID("crosshair").hidden = false;
    this.#click(this.map.getCenter());
  }

  #back() {
    this.points.pop();
    this.#preview(this.map.getCenter());
    this.#tell();
  }

  #sketch(shapes) {
    this.marks.sketch = shapes;
    this.marks.redraw();
  }

  /** The shape as it would be with a point under the pointer. */
  #preview(latlng) {
    if (!this.isActive) return;
    if (this.points.length === 0) return this.#sketch([]);
    const points = [...this.points, { lat: latlng.lat, lon: latlng.lng }];
    if (this.kind === "circle") this.#tell(` ${distance(distanceBetween(points[0], points[1]))}`);
    this.#sketch(this.#shapes(points));
  }

  #shapes(points) {
    const isLine = this.kind === "corridor" || this.kind === "polygon";
    if (!isLine) return canvasShapes({ operator: this.kind, ...this.#members(points) });
    const line = points.map(({ lat, lon }) => [lat, lon]);
    const isArea = this.kind === "polygon" && points.length > 2;
    return [shapeFor([line], { isLine: !isArea })];
  }

  #members(points) {
    switch (this.kind) {
      case "circle": {
        const [center, edge] = points;
        return { center: roundPoint(center), radius: roundRadius(distanceBetween(center, edge)) };
      }
      case "box": {
        const { sw, ne } = boxOf(points[0], points[1]);
        return { box: { ne: roundPoint(ne), sw: roundPoint(sw) } };
      }
      case "polygon": return { polygon: { type: "Polygon", coordinates: [ringOf(points).map(roundPosition)] } };
      default: {
        const coordinates = points.map(({ lat, lon }) => roundPosition([wrapLongitude(lon), lat]));
        return { line: { type: "LineString", coordinates }, width: this.#routeWidth() };
      }
    }
  }

  /** As wide as can be seen at this zoom level. */
  #routeWidth() {
    const { x, y } = this.map.getSize().divideBy(2);
    const [a, b] = [[x, y], [x + ROUTE_WIDTH_ON_SCREEN, y]].map((at) => this.map.containerPointToLatLng(at));
    return Math.min(1000000, roundRadius(distanceBetween({ lat: a.lat, lon: a.lng }, { lat: b.lat, lon: b.lng })));
  }
}
