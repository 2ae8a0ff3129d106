// Draws names of countries, degrees, shapes and marks on one canvas over the map, and finds the mark under a pointer.
import { drawShape } from "./canvas-shapes.js";
import { project } from "./grid.js";
import { drawMarks, drawPlaces, labelsOf } from "./mark-drawing.js";
import { Room, drawDegrees, drawNames } from "./map-labels.js";

const SIZE = 256;
const TOUCH = 8;

/**
 * A Leaflet layer of a `MarkSet`. `chosen` and `hovered` are ids of objects, `focused` is a mark. `names` are what the
 * base map has: its {countries, placesAt(zoom), hasDegrees}.
 */
export function createMarksLayer(L, { set, colours, names }) {
  const MarksLayer = L.Layer.extend({
    chosen: null, hovered: null, focused: null, chosenPlaces: [], hoveredPlaces: [], shapes: [], sketch: [], frames: 0,
    names,

    onAdd(map) {
      this.map = map;
      this.canvas = L.DomUtil.create("canvas", "marks leaflet-zoom-animated", map.getPane("marks"));
      this.context = this.canvas.getContext("2d");
      this.resize();
    },

    getEvents() {
      return { move: this.place, zoom: this.place, viewreset: this.place, moveend: this.place, resize: this.resize,
        zoomanim: this.animateZoom };
    },

    resize() {
      const size = this.map.getSize();
      this.ratio = Math.min(2, window.devicePixelRatio || 1);
      this.canvas.width = size.x * this.ratio;
      this.canvas.height = size.y * this.ratio;
      this.canvas.style.width = `${size.x}px`;
      this.canvas.style.height = `${size.y}px`;
      this.place();
    },

    /** The canvas stays where the window is, while the map moves under it. */
    place() {
      L.DomUtil.setPosition(this.canvas, this.map.containerPointToLayerPoint([0, 0]));
      this.corner = this.map.containerPointToLatLng([0, 0]);
      this.zoom = this.map.getZoom();
      this.draw(performance.now());
    },

    /** While Leaflet zooms by a transition of CSS, so does the picture. */
    animateZoom({ zoom, center }) {
      const scale = this.map.getZoomScale(zoom, this.zoom);
      L.DomUtil.setTransform(this.canvas, this.map._latLngToNewLayerPoint(this.corner, zoom, center), scale);
    },

    redraw() {
      if (this.frame) return;
      this.frame = requestAnimationFrame((now) => {
        this.frame = null;
        this.draw(now);
      });
    },

    /** From the map's 0…1 to points of the window, with the copies of the world that it shows. */
    view() {
      const scale = SIZE * 2 ** this.zoom;
      const size = this.map.getSize();
      const center = this.map.getCenter();
      const middle = project(center.lat, center.lng);
      return { scale, size, left: middle.x - size.x / 2 / scale, top: middle.y - size.y / 2 / scale,
        right: middle.x + size.x / 2 / scale, bottom: middle.y + size.y / 2 / scale };
    },

    draw(now) {
      this.frames += 1;
      const isChanging = set.tidy(now);
      const { context } = this;
      const palette = colours();
      context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      const view = this.view();
      context.clearRect(0, 0, view.size.x, view.size.y);
      this.shown = visible(set, view, now);
      const { countries, placesAt, hasDegrees } = this.names;
      const room = new Room(this.shown);
      this.labels = labelsOf(context, this.shown, this.chosen, room);
      drawNames(context, { countries, places: placesAt(this.zoom) }, view, palette, room);
      if (hasDegrees) drawDegrees(context, view, this.zoom, palette, this.map);
      for (const shape of [...this.shapes, ...this.sketch]) drawShape(context, shape, view, palette);
      drawMarks(context, this.shown, now, palette, this);
      if (set.marksOf(this.hovered).length === 0) drawPlaces(context, this.hoveredPlaces, view, palette, false);
      if (set.marksOf(this.chosen).length === 0) drawPlaces(context, this.chosenPlaces, view, palette, true);
      if (isChanging) this.redraw();
    },

    /** The mark at a point of the window, the nearest of several. */
    markAt({ x, y }) {
      let [best, least] = [null, Infinity];
      for (const drawn of this.shown ?? []) {
        const away = Math.hypot(drawn.x - x, drawn.y - y) - drawn.mark.radius;
        const gap = drawn.mark.leaves === undefined ? away : Infinity;
        if (gap <= TOUCH && gap < least) [best, least] = [drawn.mark, gap];
      }
      return best;
    },

    /** The marks that can be seen, in the order of reading. */
    inReadingOrder() {
      const rows = (y) => Math.round(y / 48);
      return (this.shown ?? []).filter(({ x, y }) => this.map.getSize().contains([x, y]) && x >= 0 && y >= 0)
        .sort((a, b) => rows(a.y) - rows(b.y) || a.x - b.x).map(({ mark }) => mark);
    },
  });
  return new MarksLayer();
}

/** The marks in view with their points, once for each copy of the world. */
function visible(set, { scale, left, top, right, bottom }, now) {
  const out = [];
  const reach = 40 / scale;
  for (const mark of set.sorted) {
    const { x, y } = set.at(mark, now);
    if (y < top - reach || y > bottom + reach) continue;
    for (let copy = Math.ceil(left - reach - x); x + copy <= right + reach; copy += 1) {
      out.push({ mark, x: (x + copy - left) * scale, y: (y - top) * scale });
    }
  }
  return out;
}
