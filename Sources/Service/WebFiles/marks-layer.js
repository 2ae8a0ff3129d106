// Draws names of countries, degrees, shapes and marks on one canvas over the map, and finds the mark under a pointer.
import { FADE, PULSE } from "./mark-set.js";
import { degreesText, multiples, stepAt } from "./graticule.js";
import { shortCount } from "./text.js";
import { project } from "./grid.js";

const SIZE = 256;
const TOUCH = 8;
const NAMED_DOTS = 120;

/** A Leaflet layer of a `MarkSet`. `chosen` and `hovered` are ids of objects, `focused` is a mark. */
export function createMarksLayer(L, { set, colours, countries }) {
  const names = countries.features.map(({ properties: { name, label, room } }) =>
    ({ name, room: room / 360, ...project(label[1], label[0]) }));
  const MarksLayer = L.Layer.extend({
    chosen: null, hovered: null, focused: null, chosenPlaces: [], hoveredPlaces: [], shapes: [], sketch: [], frames: 0,

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
      drawNames(context, names, view, palette);
      drawDegrees(context, view, this.zoom, palette, this.map);
      for (const shape of [...this.shapes, ...this.sketch]) drawShape(context, shape, view, palette);
      this.shown = visible(set, view, now);
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

/** A shape for the canvas: rings of [lat, lon], whose longitudes go on beyond ±180. */
export function shapeFor(rings, { isLine = false, isDashed = false } = {}) {
  const projected = rings.map((ring) => ring.map(([lat, lon]) => project(lat, lon)));
  const xs = projected.flat().map(({ x }) => x);
  return { rings: projected, isLine, isDashed, west: Math.min(...xs), east: Math.max(...xs) };
}

function drawShape(context, { rings, isLine, isDashed, west, east }, { scale, left, top, right }, palette) {
  for (let copy = Math.ceil(left - east); west + copy <= right; copy += 1) {
    context.beginPath();
    for (const ring of rings) {
      ring.forEach(({ x, y }, index) => {
        context[index === 0 ? "moveTo" : "lineTo"]((x + copy - left) * scale, (y - top) * scale);
      });
      if (!isLine) context.closePath();
    }
    context.fillStyle = palette["shape-fill"];
    if (!isLine && !isDashed) context.fill("evenodd");
    context.setLineDash(isDashed ? [6, 6] : []);
    context.lineJoin = "round";
    context.strokeStyle = palette.shape;
    context.lineWidth = 2;
    context.stroke();
  }
  context.setLineDash([]);
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

function drawMarks(context, shown, now, palette, { chosen, hovered, focused }) {
  const clusters = shown.filter(({ mark }) => mark.count > 1);
  const dots = shown.filter(({ mark }) => mark.count === 1);
  for (const { mark, x, y } of clusters) drawCluster(context, mark, x, y, palette);
  drawPulses(context, dots, now, palette);
  drawDots(context, dots.filter(({ mark }) => mark.leaves === undefined && mark.id !== chosen), palette.dot, palette);
  drawLeaving(context, dots, now, palette);
  drawDots(context, dots.filter(({ mark }) => mark.leaves === undefined && mark.id === chosen), palette.chosen, palette, 2);
  for (const { mark, x, y } of shown) {
    if (mark === focused) ring(context, x, y, mark.radius + 6, palette.ink, 2);
    else if (mark.id !== undefined && (mark.id === chosen || mark.id === hovered)) {
      ring(context, x, y, mark.radius + 5, palette.chosen, 2.5);
    }
  }
  if (dots.length <= NAMED_DOTS) drawLabels(context, shown, palette);
}

/** The places of an object that has no mark of its own, because it is in a cluster. */
function drawPlaces(context, places, { scale, left, top, right }, palette, isChosen) {
  for (const { x, y } of places) {
    for (let copy = Math.ceil(left - x); x + copy <= right; copy += 1) {
      const [px, py] = [(x + copy - left) * scale, (y - top) * scale];
      if (isChosen) disc(context, px, py, 6.5, palette.chosen);
      ring(context, px, py, isChosen ? 6.5 : 9, isChosen ? palette["dot-edge"] : palette.chosen, 2);
      if (isChosen) ring(context, px, py, 11, palette.chosen, 2.5);
    }
  }
}

function disc(context, x, y, radius, colour) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
}

function ring(context, x, y, radius, colour, width) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
}

function drawCluster(context, { count, radius }, x, y, palette) {
  disc(context, x, y, radius + 4, palette["mark-halo"]);
  disc(context, x, y, radius, palette.mark);
  context.fillStyle = palette["mark-ink"];
  context.font = `600 ${radius < 16 ? 11 : 12.5}px Inter, system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(shortCount(count), x, y + 0.5);
}

/** All of one colour in one path, which is what makes ten thousand quick. */
function drawDots(context, dots, colour, palette, extra = 0) {
  if (dots.length === 0) return;
  context.beginPath();
  const radius = (dots.length > 1500 ? -2 : dots.length > 400 ? -1 : 0) + extra;
  for (const { mark, x, y } of dots) {
    context.moveTo(x + mark.radius + radius, y);
    context.arc(x, y, mark.radius + radius, 0, 2 * Math.PI);
  }
  context.fillStyle = colour;
  context.fill();
  context.strokeStyle = palette["dot-edge"];
  context.lineWidth = dots.length > 1500 ? 0.75 : 1.5;
  context.stroke();
}

function drawPulses(context, dots, now, palette) {
  for (const { mark, x, y } of dots) {
    const entered = (now - mark.entered) / PULSE;
    const changed = (now - mark.changed) / PULSE;
    const part = entered < 1 ? entered : changed;
    if (!(part >= 0 && part < 1)) continue;
    context.globalAlpha = 1 - part;
    ring(context, x, y, mark.radius + 3 + part * (entered < 1 ? 22 : 8), entered < 1 ? palette.enter : palette.dot, entered < 1 ? 3 : 1.5);
    context.globalAlpha = 1;
  }
}

function drawLeaving(context, dots, now, palette) {
  for (const { mark, x, y } of dots) {
    if (mark.leaves === undefined) continue;
    const part = Math.min(1, (now - mark.leaves) / FADE);
    context.globalAlpha = 1 - part;
    disc(context, x, y, mark.radius * (1 + part * 0.8), palette.leave);
    context.globalAlpha = 1;
  }
}

/** Names beside the dots, as far as they have room. */
function drawLabels(context, shown, palette) {
  context.font = "500 11.5px Inter, system-ui, sans-serif";
  context.textAlign = "left";
  context.textBaseline = "middle";
  const taken = shown.map(({ mark, x, y }) => [x - mark.radius, y - mark.radius, x + mark.radius, y + mark.radius]);
  for (const { mark, x, y } of shown) {
    if (!mark.label || mark.leaves !== undefined) continue;
    const text = mark.label.length > 30 ? `${mark.label.slice(0, 29)}…` : mark.label;
    const box = [x + 9, y - 8, x + 13 + context.measureText(text).width, y + 8];
    if (taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) continue;
    taken.push(box);
    haloed(context, text, x + 11, y + 0.5, palette.ink, palette);
  }
}

function haloed(context, text, x, y, colour, palette) {
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = palette["label-halo"];
  context.strokeText(text, x, y);
  context.fillStyle = colour;
  context.fillText(text, x, y);
}

/** The names of countries that have room for them. */
function drawNames(context, names, { scale, left, top, right, bottom }, palette) {
  context.font = "500 11px Inter, system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = palette.place;
  for (const { name, x, y, room } of names) {
    if (y < top || y > bottom || room * scale < 3.4 * name.length) continue;
    for (let copy = Math.ceil(left - x); x + copy <= right; copy += 1) {
      context.fillText(name, (x + copy - left) * scale, (y - top) * scale);
    }
  }
}

/** The degrees of the graticule, at the upper and at the right edge. */
function drawDegrees(context, { scale, size, left, right, top }, zoom, palette, map) {
  const step = stepAt(zoom);
  context.font = "10px Inter, system-ui, sans-serif";
  context.fillStyle = palette.place;
  context.textBaseline = "top";
  context.textAlign = "left";
  for (const lon of multiples(step, left * 360 - 180, right * 360 - 180)) {
    const wrapped = Number((((((lon + 180) % 360) + 360) % 360) - 180).toFixed(6));
    context.fillText(degreesText(wrapped, "E", "W"), (project(0, lon).x - left) * scale + 3, 4);
  }
  const bounds = map.getBounds();
  context.textAlign = "right";
  context.textBaseline = "bottom";
  for (const lat of multiples(step, Math.max(-85, bounds.getSouth()), Math.min(85, bounds.getNorth()))) {
    const y = (project(lat, 0).y - top) * scale;
    if (y > 24) context.fillText(degreesText(lat, "N", "S"), size.x - 4, y - 2);
  }
}
