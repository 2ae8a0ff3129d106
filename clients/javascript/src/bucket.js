// A bucket: its objects by id, and queries.
import { InvalidInput } from "./errors.js";
import { putMany } from "./put-many.js";
import { Query } from "./query.js";
import { milliseconds } from "./values.js";

/** Options of a call: what the client takes, and the params. */
const split = ({ signal, timeout, requestKey, ...params } = {}) => [params, { signal, timeout, requestKey }];

export class Bucket {
  #service;

  constructor(service, name) {
    this.#service = service;
    this.name = name;
  }

  /** The objects that match all of these clauses; without any, all objects. */
  find(...clauses) {
    return new Query(this.#service, this.name).where(...clauses);
  }

  get(id, options) {
    const [params, how] = split(options);
    return this.#service.call("object.get", { bucket: this.name, id, ...params }, how);
  }

  /** Stores an object under a new id. */
  create(object, options) {
    return this.#write("object.create", { object }, options);
  }

  /** Creates or replaces an object. */
  put(id, object, options) {
    return this.#write("object.put", { id, object }, options);
  }

  /** Changes members of an object: JSON Merge Patch, in which null removes. */
  patch(id, object, options) {
    return this.#write("object.patch", { id, object }, options);
  }

  async delete(id, options) {
    await this.#write("object.delete", { id }, options);
  }

  /** Stores many objects, with or without `_id`, in batches of which each is stored whole or not at all. */
  putMany(objects, options) {
    return putMany(this.#service, this.name, objects, options);
  }

  /** How many objects there are that match all of these clauses. */
  count(...clauses) {
    return this.find(...clauses).count();
  }

  /** Deletes the bucket. Returns how many objects it had. */
  async drop(options) {
    return (await this.#write("bucket.delete", {}, options)).deleted;
  }

  /** The fields of the objects, and how many have which type. */
  fields(options) {
    const [params, how] = split(options);
    return this.#service.call("bucket.fields", { bucket: this.name, ...params }, how);
  }

  /** All objects as they are now, by creation, over a connection of its own: it cannot go on on another. */
  export(options = {}) {
    return this.#service.through((channel) => this.#pieces(channel, options));
  }

  async *#pieces(channel, options) {
    if (!channel.keepsConnection) throw new InvalidInput("over HTTP there is no export: use find() or geobucket://");
    let piece;
    do {
      const params = { bucket: this.name, ...(piece && { continue: true }) };
      piece = await channel.call("bucket.export", JSON.stringify(params), options);
      yield* piece.objects;
    } while (piece.more);
  }

  #write(method, required, options) {
    const [{ expiresAt, ...params }, how] = split(options);
    const all = { bucket: this.name, ...required, ...params, expiresAt: milliseconds(expiresAt) };
    return this.#service.write(method, all, how);
  }
}
