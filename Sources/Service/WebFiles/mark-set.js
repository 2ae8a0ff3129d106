// The marks on the map: a circle for each cluster, a dot for each place of an object. Marks live on from one state to
// the next, so that they can move; where each is at a moment is arithmetic, without a canvas.
import { ancestors, cellOf, project } from "./grid.js";
import { spread } from "./spread.js";
import { placesOf } from "./values.js";

const TILE = 256;
const SPLIT = 260;
const MOVE = 600;
export const PULSE = 1100;
export const FADE = 700;

const dotRadius = 5.5;

/** More objects, a larger circle, but never wider than a cell of the grid. */
export const clusterRadius = (count) => Math.min(31, 10 + 5.2 * Math.log10(count));

const easeOut = (part) => 1 - (1 - part) ** 3;

/** The shorter way around the world, in widths of the map. */
const shortest = (difference) => difference - Math.round(difference);

export class MarkSet {
  /** @param isStill whether nothing may move by itself: what people who are made ill by motion ask for. */
  constructor({ isStill = () => false } = {}) {
    this.marks = new Map();
    this.isStill = isStill;
    this.sorted = [];
  }

  /** Shows clusters. New ones come out of the cluster that held them; marks that stay are the same objects. */
  setClusters(clusters, { field, naming, zoom, bits }, now) {
    const old = this.marks;
    this.marks = new Map();
    const described = clusters.map((cluster) => describe(cluster, { field, naming, zoom, bits }));
    const placed = described.filter(({ place }) => place);
    const points = spreadAt(zoom, placed);
    placed.forEach(({ key, place: { lat, lon }, ...rest }, index) =>
      this.#put(old, key, { ...rest, ...points[index], lat, lon }, now, SPLIT));
    this.#sort();
  }

  /** Shows objects one by one, at all their places, as they are now. */
  setObjects(objects, naming, field) {
    this.marks = new Map();
    for (const object of objects) this.#putObject(this.marks, object, field, naming, null);
    this.#sort();
  }

  /** Shows what a live query has told: who enters pulses, who moves glides, who leaves fades. */
  apply(effects, naming, field, now) {
    for (const effect of effects) {
      const stays = effect.after ? this.#putObject(this.marks, effect.after, field, naming, now, effect.kind) : 0;
      this.#letGo(effect.id, stays, now);
    }
    this.#sort();
  }

  #putObject(old, object, field, naming, now, kind = null) {
    const places = placesOf(object, field);
    places.forEach((place, index) => {
      const mark = this.#put(old, `${object._id}#${index}`, {
        id: object._id, index, count: 1, label: nameOf(object, naming), radius: dotRadius,
        ...project(place.lat, place.lon), lat: place.lat, lon: place.lon, leaves: undefined,
      }, now, MOVE);
      if (kind === "enter") mark.entered = now;
      if (kind === "change") mark.changed = now;
    });
    return places.length;
  }

  /** The places of an object from this one on fade away. */
  #letGo(id, from, now) {
    for (let index = from; this.marks.has(`${id}#${index}`); index += 1) {
      this.marks.get(`${id}#${index}`).leaves ??= now;
    }
  }

  #put(old, key, values, now, time) {
    const known = old.get(key);
    const mark = known ?? { key };
    const from = known ? this.at(known, now ?? 0) : this.#ancestor(old, values.cell);
    Object.assign(mark, values);
    const isMoved = from && (from.x !== mark.x || from.y !== mark.y);
    mark.move = isMoved && now !== null && !this.isStill() ? { x: from.x, y: from.y, since: now, time } : null;
    this.marks.set(key, mark);
    return mark;
  }

  #ancestor(old, cell) {
    if (!cell || this.isStill()) return null;
    for (const name of ancestors(cell)) {
      if (old.has(name)) return { x: old.get(name).x, y: old.get(name).y };
    }
    return null;
  }

  /** Where a mark is: on its way, or at its place. */
  at(mark, now) {
    const part = mark.move ? Math.max(0, (now - mark.move.since) / mark.move.time) : 1;
    if (part >= 1) return { x: mark.x, y: mark.y };
    const eased = easeOut(part);
    return {
      x: mark.move.x + shortest(mark.x - mark.move.x) * eased,
      y: mark.move.y + (mark.y - mark.move.y) * eased,
    };
  }

  isMoving(mark, now) {
    return (mark.move && now - mark.move.since < mark.move.time) || now - mark.entered < PULSE
      || now - mark.changed < PULSE || mark.leaves !== undefined;
  }

  /** Forgets the marks that have faded. Returns whether some are still changing. */
  tidy(now) {
    const before = this.marks.size;
    const fade = this.isStill() ? 0 : FADE;
    let isChanging = false;
    for (const mark of this.marks.values()) {
      if (now - mark.leaves >= fade) this.marks.delete(mark.key);
      else if (this.isMoving(mark, now)) isChanging = true;
    }
    if (this.marks.size !== before) this.#sort();
    return isChanging;
  }

  /** Large ones first, so that small ones lie on top of them. */
  #sort() {
    this.sorted = [...this.marks.values()].sort((a, b) => b.radius - a.radius);
  }

  marksOf(id) {
    if (id === null) return [];
    return this.sorted.filter((mark) => mark.id === id && mark.leaves === undefined);
  }
}

/** Where marks are on the map, 0…1: a dot at its place, a circle perhaps beside the middle of its objects. */
function spreadAt(zoom, marks) {
  const scale = TILE * 2 ** zoom;
  const points = marks.map(({ place, radius, count }) => {
    const { x, y } = project(place.lat, place.lon);
    return { x: x * scale, y: y * scale, radius, isFixed: count === 1 };
  });
  spread(points);
  return points.map(({ x, y }, index) =>
    (points[index].isFixed ? project(marks[index].place.lat, marks[index].place.lon) : { x: x / scale, y: y / scale }));
}

const nameOf = (object, naming) => {
  const name = naming ? object[naming] : undefined;
  return typeof name === "string" && name !== "" ? name : object._id;
};

/** What a cluster of the service's answer is on the map; a cell with one object shows that object. */
function describe({ cell, count, center, object }, { field, naming, zoom, bits }) {
  if (!object) return { key: cell, cell, count, place: center, radius: clusterRadius(count), label: null };
  const places = placesOf(object, field);
  const index = Math.max(0, places.findIndex((place) => nameOfCell(cellOf(place.lat, place.lon, zoom, bits)) === cell));
  return { key: `${object._id}#${index}`, cell, id: object._id, index, count: 1, place: places[index],
    radius: dotRadius, label: nameOf(object, naming) };
}

const nameOfCell = ({ level, column, row }) => `${level}/${column}/${row}`;
