// The state that a live query tells: what its notifications make of a set of objects, one after the other.

/**
 * What matches a live query. `apply` takes a notification and says what it changed, as a list of
 * {kind: "enter" | "change" | "leave", id, before, after, reason}.
 *
 * After each notification `objects` is what `bucket.query` would have answered at `change`; while a snapshot comes in
 * parts, the one before it stays. `order` has their ids, in the
 * order of the query where the watch is a ranking.
 */
export class WatchState {
  constructor() {
    this.objects = new Map();
    this.order = [];
    this.change = null;
    this.isComplete = false;
    this.ended = null;
    this.parts = [];
  }

  /** A new connection begins: parts of a snapshot that the old one did not end are of no use. */
  begin() {
    this.parts = [];
  }

  apply(name, params) {
    switch (name) {
      case "snapshot": return this.#snapshot(params);
      case "events": return this.#events(params);
      case "resync":
        this.parts = [];
        this.isComplete = false;
        return [];
      case "end":
        this.ended = params.error ?? { message: "The service has ended the live query." };
        return [];
      default: return [];
    }
  }

  #snapshot({ objects, more, change }) {
    this.parts.push(...objects);
    if (more) return [];
    const before = this.objects;
    this.objects = new Map(this.parts.map((object) => [object._id, object]));
    this.order = [...this.objects.keys()];
    this.parts = [];
    this.change = change;
    this.isComplete = true;
    return difference(before, this.objects);
  }

  #events({ events, change }) {
    const effects = events.map((event) => this.#event(event)).filter(Boolean);
    this.change = change;
    return effects;
  }

  #event(event) {
    switch (event.event) {
      case "enter": case "change": return this.#set(event);
      case "leave": return this.#remove(event);
      default: return null;
    }
  }

  /** An enter of an object that is already held is a change; a change of one that is not is an enter. */
  #set({ object, index }) {
    const id = object._id;
    const before = this.objects.get(id);
    this.objects.set(id, object);
    this.#place(id, index, before === undefined);
    return { kind: before === undefined ? "enter" : "change", id, before, after: object };
  }

  #place(id, index, isNew) {
    if (index === undefined) {
      if (isNew) this.order.push(id);
      return;
    }
    if (!isNew) this.order.splice(this.order.indexOf(id), 1);
    this.order.splice(index, 0, id);
  }

  /** A leave of an object that is not held means nothing. */
  #remove({ _id, reason }) {
    const before = this.objects.get(_id);
    if (before === undefined) return null;
    this.objects.delete(_id);
    this.order = this.order.filter((id) => id !== _id);
    return { kind: "leave", id: _id, before, reason };
  }
}

function difference(before, after) {
  const effects = [];
  for (const [id, object] of before) {
    if (!after.has(id)) effects.push({ kind: "leave", id, before: object, reason: "changed" });
  }
  for (const [id, object] of after) {
    const old = before.get(id);
    if (old === undefined) effects.push({ kind: "enter", id, after: object });
    else if (JSON.stringify(old) !== JSON.stringify(object)) {
      effects.push({ kind: "change", id, before: old, after: object });
    }
  }
  return effects;
}
