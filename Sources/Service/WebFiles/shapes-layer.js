// The shapes of the query on the map, with handles to change them by pointer or by arrow keys.
import { isComplete, isShape } from "./operators.js";
import { shapeFor } from "./canvas-shapes.js";
import {
  arcs, boxOf, circleOutline, cornersOf, destination, distanceBetween, near, point, ringOf, unwrapped, wrapLongitude,
} from "./sphere.js";
import { trimmed } from "./text.js";

const NUDGE = 8;

/**
 * Shows the shapes of rows. `changed(index, members, isLast)` is called while a handle is moved, and with `isLast`
 * when it is let go.
 */
export class ShapesLayer {
  constructor(L, map, marks, changed) {
    Object.assign(this, { L, map, marks, changed, group: L.layerGroup().addTo(map), isDragging: false, shapes: [] });
    map.on("moveend", () => this.#followWorld());
  }

  show(rows) {
    this.rows = rows;
    this.marks.shapes = rows.filter((row) => isShape(row) && isComplete(row)).flatMap(canvasShapes);
    this.marks.redraw();
    if (this.isDragging) return this.#moveHandles();
    const focused = this.#focusedHandle();
    this.group.clearLayers();
    this.world = this.#world();
    this.shapes = rows.map((row, index) => (isShape(row) && isComplete(row) ? this.#add(row, index) : null))
      .filter(Boolean);
    const again = focused && this.shapes.find(({ index }) => index === focused.index);
    again?.handles[focused.handle]?.getElement()?.focus();
  }

  /** The longitude of the copy of the world that the map is in. */
  #world() {
    return 360 * Math.round(this.map.getCenter().lng / 360);
  }

  #followWorld() {
    if (this.rows && this.world !== this.#world()) this.show(this.rows);
  }

  #focusedHandle() {
    for (const { index, handles } of this.shapes) {
      const handle = handles.findIndex((marker) => marker.getElement() === document.activeElement);
      if (handle >= 0) return { index, handle };
    }
    return null;
  }

  #add(row, index) {
    return { index, handles: handlesOf(row).map((handle, number) => this.#handle(handle, index, number)) };
  }

  /** The other handles of a shape follow the one that is dragged. */
  #moveHandles() {
    for (const { index, handles } of this.shapes) {
      const row = this.rows[index];
      if (!row || !isShape(row)) continue;
      handlesOf(row).forEach(({ at }, number) => {
        if (handles[number] && handles[number] !== this.dragged) handles[number].setLatLng(this.#near(at));
      });
    }
  }

  #near({ lat, lon }) {
    return [lat, near(lon, this.map.getCenter().lng)];
  }

  #handle({ at, label, kind }, index, number) {
    const { L } = this;
    const marker = L.marker(this.#near(at), {
      icon: L.divIcon({ className: `handle ${kind}`, iconSize: [18, 18] }),
      draggable: true, keyboard: true, zIndexOffset: 500,
    });
    const move = (isLast) => {
      const { lat, lng } = marker.getLatLng();
      const members = moved(this.rows[index], number, { lat: Math.max(-90, Math.min(90, lat)), lon: lng });
      this.changed(index, members, isLast);
    };
    marker.on("dragstart", () => Object.assign(this, { isDragging: true, dragged: marker }));
    marker.on("drag", () => move(false));
    marker.on("dragend", () => {
      Object.assign(this, { isDragging: false, dragged: null });
      move(true);
    });
    marker.addTo(this.group);
    this.#nameHandle(marker, label, move);
    return marker;
  }

  #nameHandle(marker, label, move) {
    const element = marker.getElement();
    element.setAttribute("role", "button");
    element.setAttribute("aria-label", `${label}: arrow keys move it`);
    element.title = label;
    element.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      const size = event.shiftKey ? 1 : NUDGE;
      const at = this.map.latLngToLayerPoint(marker.getLatLng()).add([step[0] * size, step[1] * size]);
      marker.setLatLng(this.map.layerPointToLatLng(at));
      move(true);
    });
  }
}

/** The outlines of a shape as [lat, lon]: areas with their rings, or lines. */
export function outlines(row) {
  switch (row.operator) {
    case "circle": return { areas: [[circleOutline(row.center, row.radius)]], isLine: false };
    case "box": return { areas: [[boxRing(row.box)]], isLine: false };
    case "polygon": {
      const polygons = row.polygon.type === "Polygon" ? [row.polygon.coordinates] : row.polygon.coordinates;
      return { areas: polygons.map((rings) => rings.map(unwrapped)), isLine: false };
    }
    case "corridor": return { areas: [[arcs(row.line.coordinates)]], isLine: true };
    default: return { areas: [], isLine: true };
  }
}

export function canvasShapes(row) {
  const { areas, isLine } = outlines(row);
  return areas.map((rings) => shapeFor(rings, { isLine, isDashed: row.negated }));
}

function boxRing(box) {
  const [[south, west], [north, east]] = cornersOf(box);
  return [[south, west], [south, east], [north, east], [north, west]];
}

const at = ([lon, lat]) => ({ lat, lon });

/** What can be taken hold of: the corners of boxes and of simple polygons, a circle's centre and edge. */
function handlesOf(row) {
  switch (row.operator) {
    case "circle": return [
      { at: row.center, label: "Centre of the circle", kind: "center" },
      { at: destination(row.center, row.radius, 90), label: "Edge of the circle", kind: "edge" }];
    case "from": return [{ at: row.center, label: "Where distances begin", kind: "center" }];
    case "box": return [{ at: row.box.sw, label: "South-west corner", kind: "corner" },
      { at: row.box.ne, label: "North-east corner", kind: "corner" }];
    case "polygon": return isSimple(row.polygon) ? row.polygon.coordinates[0].slice(0, -1).map((position, index) =>
      ({ at: at(position), label: `Corner ${index + 1}`, kind: "corner" })) : [];
    case "corridor": return row.line.coordinates.map((position, index) =>
      ({ at: at(position), label: `Point ${index + 1} of the route`, kind: "corner" }));
    default: return [];
  }
}

const MANY = 60;
const isSimple = ({ type, coordinates }) =>
  type === "Polygon" && coordinates.length === 1 && coordinates[0].length <= MANY;

const round = (value) => Number(trimmed(value, 6));

export const roundPoint = ({ lat, lon }) => point(round(lat), round(wrapLongitude(lon)));

/** A radius with three or four digits: nobody draws millimetres. */
export function roundRadius(meters) {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, meters))) - 2);
  return Math.max(1, Math.min(20015115, Math.round(meters / unit) * unit));
}

/** The members of a shape after one of its handles was moved. */
function moved(row, number, to) {
  switch (row.operator) {
    case "circle": return number === 0 ? { center: roundPoint(to) }
      : { radius: roundRadius(distanceBetween(row.center, to)) };
    case "from": return { center: roundPoint(to) };
    case "box": return { box: movedCorner(row.box, number, to) };
    case "polygon": {
      const corners = unwrapped(row.polygon.coordinates[0].slice(0, -1)).map(([lat, lon]) => ({ lat, lon }));
      corners[number] = { ...to, lon: near(to.lon, corners[number].lon) };
      return { polygon: { type: "Polygon", coordinates: [ringOf(corners).map(roundPosition)] } };
    }
    default: {
      const coordinates = row.line.coordinates.map((position, index) =>
        (index === number ? roundPosition([wrapLongitude(to.lon), to.lat]) : position));
      return { line: { type: "LineString", coordinates } };
    }
  }
}

export const roundPosition = ([lon, lat]) => [round(lon), round(lat)];

function movedCorner(box, number, to) {
  const [[south, west], [north, east]] = cornersOf(box);
  const corners = [{ lat: south, lon: west }, { lat: north, lon: east }];
  corners[number] = { lat: to.lat, lon: near(to.lon, corners[number].lon) };
  const { sw, ne } = boxOf(...corners);
  return { sw: roundPoint(sw), ne: roundPoint(ne) };
}
