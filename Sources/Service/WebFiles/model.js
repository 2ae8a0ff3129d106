// What the page shows, and who wants to know when it changes.

export class Model {
  #listeners = [];

  /** @param values what the page shows in the beginning, member by member. */
  constructor(values) {
    Object.assign(this, values);
  }

  /** Calls the listener when one of these members is set: with the names that were, and where that came from. */
  on(names, listener) {
    this.#listeners.push({ names: new Set(names), listener });
  }

  /** Sets members, all at once. `origin` says who did, so that a form is not redrawn under the typing hand. */
  set(values, origin = null) {
    Object.assign(this, values);
    const changed = new Set(Object.keys(values));
    for (const { names, listener } of this.#listeners) {
      if ([...names].some((name) => changed.has(name))) listener(changed, origin);
    }
  }

  /** The geo field that was asked for, if the bucket has it, else its place. */
  chooseGeoField() {
    this.geoField = this.geoFields.includes(this.field) ? this.field : this.place ?? this.geoFields[0] ?? null;
  }

  /** The types that a field has, by `bucket.fields`; empty for one it does not know. */
  typesOf(path) {
    const known = this.fields.find(({ field }) => field === path);
    return new Set(Object.keys(known?.types ?? PREDEFINED[path] ?? {}));
  }
}

/** The fields that the service sets itself, with their types. */
export const PREDEFINED = {
  _id: { STRING: 1 }, _created: { INTEGER: 1 }, _modified: { INTEGER: 1 }, _version: { INTEGER: 1 },
  _owner: { STRING: 1 },
};
