// What a watch tells: the objects that match, and what has happened since the client last looked.
import { stringify } from "./json.js";
import { compareBy } from "./order.js";

/** Why something is not there any more. */
class Gone {
  constructor(reason) {
    this.reason = reason;
  }
}

/**
 * Takes notifications, and gives states. What comes while nobody looks is merged, so a slow client needs no more memory
 * than the objects that have changed: then the events are the net effect, in which an object stands once.
 */
export class WatchState {
  #isRanking;
  #isPairs;
  #compare;
  /** What the client has seen, by id, and what has changed since: values, or `Gone`. */
  #shown = new Map();
  #pending = new Map();
  /** The ids of a ranking, in order. */
  #ids = [];
  /** Whether `#pending` has everything, in the order of a snapshot. */
  #isReplaced = false;
  /** The events of the only notification since the last state; null if there were several. */
  #events = [];
  #parts = [];
  #hasNews = false;
  #isSnapshot = false;
  #isConnected = true;
  #isComplete = false;
  #centerIsMissing = false;
  #change = null;
  /** The token with which a watch goes on from here. */
  resume;

  /** @param order keys `{field, descending}` in which the objects are kept; of a ranking the service says where. */
  constructor({ isRanking = false, isPairs = false, order = [], resume } = {}) {
    this.#isRanking = isRanking;
    this.#isPairs = isPairs;
    this.order = order;
    this.resume = resume;
  }

  set order(keys) {
    this.#compare = keys.length > 0 && !this.#isRanking ? compareBy(keys) : null;
  }

  get change() {
    return this.#change;
  }

  /** A notification: its name without `watch.`, and its params. `reason` is why objects leave by a snapshot. */
  apply(kind, params, reason = "unseen") {
    if (kind === "resync") this.#parts = [];
    else if (kind === "snapshot") this.#snapshot(params, reason);
    else if (kind === "events") this.#tell(params, this.#changes(params.events));
  }

  /** A connection begins: the parts of a snapshot that the one before did not end are void. */
  begin() {
    this.#parts = [];
  }

  connected(isConnected) {
    if (this.#isConnected === isConnected) return;
    this.#isConnected = isConnected;
    this.#hasNews = true;
  }

  /** Everything up to a change has been told. */
  synced(change) {
    if (change <= this.#change) return;
    this.#change = change;
    this.#hasNews = true;
  }

  /** The state with what led there since the last one; null if nothing has come. */
  take() {
    if (!this.#hasNews || this.#change === null) return null;
    const events = this.#events ?? (this.#isRanking ? this.#moves() : this.#effects());
    this.#show();
    const state = {
      [this.#isPairs ? "pairs" : "objects"]: this.#shown,
      events, change: this.#change, resume: this.resume,
      isSnapshot: this.#isSnapshot, isComplete: this.#isComplete, isConnected: this.#isConnected,
      centerIsMissing: this.#centerIsMissing,
    };
    this.#events = [];
    this.#hasNews = this.#isSnapshot = false;
    return state;
  }

  #snapshot(params, reason) {
    this.#parts.push(...params.objects);
    if (params.more) return;
    const whole = new Map(this.#parts.map((value) => [this.#idOf(value), value]));
    this.#parts = [];
    this.#ids = [...whole.keys()];
    const left = [...this.#shown.keys(), ...this.#pending.keys()].filter((id) => !whole.has(id));
    for (const id of left) whole.set(id, new Gone(reason));
    this.#pending = whole;
    this.#isReplaced = this.#isComplete = this.#isSnapshot = true;
    this.#tell(params, null);
  }

  #tell({ change, resume }, events) {
    this.#events = this.#hasNews && this.#events?.length !== 0 ? null : events;
    this.#change = change;
    this.resume = resume ?? this.resume;
    this.#hasNews = true;
  }

  #changes(events) {
    return events.map((event) => this.#apply(event)).filter((event) => event !== null);
  }

  #apply({ event, change, object, _id, ids, distance, reason, index, from, missing }) {
    switch (event) {
      case "enter": case "change": {
        const id = object._id;
        const previous = this.#set(id, object, index);
        return { event: previous ? "change" : "enter", id, object, previous, change, ...place(index, from) };
      }
      case "leave": {
        const previous = this.#remove(_id, reason);
        // A watch that goes on from an earlier run's token does not know what was there.
        return previous || !this.#isComplete ? { event, id: _id, previous, reason, change } : null;
      }
      case "meet":
        return this.#set(pairID(ids), { ids, distance }) ? null : { event, ids, distance, change };
      case "part":
        return this.#remove(pairID(ids), reason) || !this.#isComplete ? { event, ids, reason, change } : null;
      case "center":
        this.#centerIsMissing = missing;
        return null;
      default:
        return null;
    }
  }

  #idOf(value) {
    return this.#isPairs ? pairID(value.ids) : value._id;
  }

  /** What is there now, whether or not it has been shown. */
  #now(id) {
    const value = this.#pending.has(id) ? this.#pending.get(id) : this.#shown.get(id);
    return value instanceof Gone ? undefined : value;
  }

  #set(id, value, index) {
    const previous = this.#now(id);
    if (!previous) this.#pending.delete(id);
    this.#pending.set(id, value);
    if (this.#isRanking) {
      if (previous) this.#ids.splice(this.#ids.indexOf(id), 1);
      this.#ids.splice(index ?? this.#ids.length, 0, id);
    }
    return previous;
  }

  #remove(id, reason) {
    const previous = this.#now(id);
    if (!previous && this.#isComplete) return undefined;
    this.#pending.set(id, new Gone(reason));
    if (this.#isRanking && previous) this.#ids.splice(this.#ids.indexOf(id), 1);
    return previous;
  }

  /** What the client sees from now on. */
  #show() {
    if (this.#isReplaced) this.#shown = new Map();
    for (const [id, value] of this.#pending) {
      if (value instanceof Gone) this.#shown.delete(id);
      else this.#shown.set(id, value);
    }
    if (this.#isRanking) this.#shown = new Map(this.#ids.map((id) => [id, this.#shown.get(id)]));
    else if (this.#compare && this.#pending.size > 0) {
      this.#shown = new Map([...this.#shown].sort(([, a], [, b]) => this.#compare(a, b)));
    }
    this.#pending.clear();
    this.#isReplaced = false;
  }

  /** The difference between what the client has seen and what is there. */
  #effects() {
    const events = [];
    for (const [id, value] of this.#pending) {
      const previous = this.#shown.get(id);
      if (value instanceof Gone) {
        if (previous || !this.#isComplete) events.push(this.#left(id, previous, value.reason));
      } else if (!previous || !(this.#isPairs || isSame(previous, value))) events.push(this.#came(id, value, previous));
    }
    return events;
  }

  #left(id, previous, reason) {
    return this.#isPairs
      ? { event: "part", ids: id.split("/"), reason, change: this.#change }
      : { event: "leave", id, previous, reason, change: this.#change };
  }

  #came(id, object, previous) {
    return this.#isPairs
      ? { event: "meet", ...object, change: this.#change }
      : { event: previous ? "change" : "enter", id, object, previous, change: this.#change };
  }

  /** Events that turn the list that the client has seen into the one that is there, one after the other. */
  #moves() {
    const events = [];
    const list = [];
    for (const [id, previous] of this.#shown) {
      if (this.#now(id)) list.push(id);
      else events.push(this.#left(id, previous, this.#pending.get(id).reason));
    }
    this.#ids.forEach((id, index) => {
      const [object, previous] = [this.#now(id), this.#shown.get(id)];
      const from = list.indexOf(id);
      if (from === index && isSame(previous, object)) return;
      if (from >= 0) list.splice(from, 1);
      list.splice(index, 0, id);
      events.push({ ...this.#came(id, object, previous), index, ...(previous && from !== index && { from }) });
    });
    return events;
  }
}

const pairID = (ids) => ids.join("/");

const isSame = (a, b) => stringify(a) === stringify(b);

/** Where an object of a ranking stands, and stood. */
function place(index, from) {
  return { ...(index !== undefined && { index }), ...(from !== undefined && { from }) };
}
