// The latest things that were asked for, so that they are not fetched again.

export class Latest {
  #kept = new Map();

  /** @param make what becomes of a key, as a promise; what fails is not kept. */
  constructor(size, make) {
    Object.assign(this, { size, make });
  }

  get(...key) {
    const name = key.join("/");
    const known = this.#kept.get(name);
    const made = known ?? this.make(...key);
    this.#kept.delete(name);
    this.#kept.set(name, made);
    if (!known) made.catch(() => this.#kept.delete(name));
    if (this.#kept.size > this.size) this.#kept.delete(this.#kept.keys().next().value);
    return made;
  }
}
