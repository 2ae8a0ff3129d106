// A query of a bucket: which objects, in which order, how many. It is sent when something is asked of it.
import { and } from "./clauses.js";
import { InvalidInput } from "./errors.js";
import { toPoint } from "./values.js";
import { Watch } from "./watch.js";

/** A key of `orderBy` that goes from the greatest value to the least. */
export const descending = (field) => ({ field, descending: true });

/**
 * Each method that says more returns another query. It is an async iterable of the objects, which asks for the next
 * page when the last one has been used up.
 */
export class Query {
  #service;
  #bucket;
  #parts;

  constructor(service, bucket, parts = { clauses: [], order: [] }) {
    this.#service = service;
    this.#bucket = bucket;
    this.#parts = parts;
  }

  #with(parts) {
    return new Query(this.#service, this.#bucket, { ...this.#parts, ...parts });
  }

  /** Those of them that match these clauses too. */
  where(...clauses) {
    return this.#with({ clauses: [...this.#parts.clauses, ...clauses] });
  }

  /** In the order of these fields: names, or `descending(name)`. */
  orderBy(...keys) {
    return this.#with({ order: keys.map((key) => (typeof key === "string" ? { field: key } : key)) });
  }

  /** Nearest first, by the distance that a clause reports. */
  nearest() {
    const name = this.#parts.clauses.map(distanceName).find((found) => found !== undefined);
    if (!name) throw new InvalidInput('no clause names a distance, as near(field, center, radius, "d") does', "orderBy");
    return this.orderBy(`_calculated.${name}`);
  }

  /** At most so many objects, all pages together. */
  limit(count) {
    return this.#with({ limit: positive(count, "limit") });
  }

  /** At most so many objects in a page. */
  pageSize(count) {
    return this.#with({ pageSize: positive(count, "pageSize") });
  }

  /** Of the objects only these first-level members, beside `_id` and the distances. */
  fields(...names) {
    return this.#with({ fields: names.flat() });
  }

  /** The keys of the order. */
  get order() {
    return this.#parts.order;
  }

  /** The `bucketQuery` of the protocol; undefined for all objects in the order of creation. */
  get bucketQuery() {
    const { clauses, order } = this.#parts;
    if (clauses.length === 0 && order.length === 0) return undefined;
    return {
      ...(clauses.length > 0 && { clause: and(...clauses) }),
      ...(order.length > 0 && { orderBy: order }),
    };
  }

  [Symbol.asyncIterator]() {
    return this.objects();
  }

  /** The objects, page by page. */
  async *objects(options = {}) {
    let [key, left] = [undefined, this.#parts.limit ?? Infinity];
    do {
      const page = await this.#page({ ...options, key }, left);
      yield* page.objects;
      left -= page.objects.length;
      key = page.nextKey;
    } while (key !== undefined && left > 0);
  }

  /** All objects in an array. */
  async toArray(options) {
    const objects = [];
    for await (const object of this.objects(options)) objects.push(object);
    return objects;
  }

  /** The first object, or undefined. */
  async first(options) {
    return (await this.limit(1).page(options)).objects[0];
  }

  /** One page: `{objects, nextKey, description, hints}`. The next begins behind `key`. */
  page(options = {}) {
    return this.#page(options, this.#parts.limit ?? Infinity);
  }

  async #page({ key, ...options }, left) {
    const limit = Math.min(left, this.#parts.pageSize ?? Infinity);
    const params = { paginationKey: key, ...(limit < Infinity && { bestEffortLimit: limit }) };
    const answer = await this.#read("bucket.query", { ...params, fields: this.#parts.fields }, options);
    const { results: objects, nextPaginationKey: nextKey, queryDescription: description, hints } = answer;
    return { objects, nextKey, description, hints };
  }

  async count(options) {
    return (await this.#read("bucket.count", {}, options)).count;
  }

  /** How the query runs; with `analyze` also what it really visited. */
  explain(options) {
    return this.#read("bucket.explain", { bestEffortLimit: this.#parts.limit, fields: this.#parts.fields }, options);
  }

  /** Figures of all objects by their names: `{n: count(), kinds: group("kind")}`. */
  async aggregate(figures, options) {
    const aggregations = Object.entries(figures).map(([name, figure]) => ({ ...figure, putAggregationInto: name }));
    const bucketQuery = { ...this.bucketQuery, aggregations };
    return (await this.#read("bucket.query", { bucketQuery }, options)).aggregations;
  }

  /**
   * How many objects there are in the cells of a map: `{zoom, box: [southWest, northEast]}` or `{tile}`, and perhaps
   * `field`, `bits`, `objects`, `ifState`.
   */
  clusters({ box, ...options } = {}) {
    const corners = box && { sw: toPoint(box[0]), ne: toPoint(box[1]) };
    return this.#read("bucket.clusters", { fields: this.#parts.fields, box: corners }, options);
  }

  /** Deletes the objects. Returns how many; with `dryRun`, how many there are, and nothing is deleted. */
  async delete({ dryRun, ...how } = {}) {
    const { clauses } = this.#parts;
    const bucketQuery = { clause: clauses.length > 0 ? and(...clauses) : { type: "all" } };
    const answer = await this.#service.write("bucket.deleteWhere", { bucket: this.#bucket, bucketQuery, dryRun }, how);
    return dryRun ? answer.matches : answer.deleted;
  }

  /**
   * The objects from now on. With an order and a limit it is a ranking.
   * @param options `leaveRadius`, `interval` in milliseconds, `resume`, `signal`.
   */
  watch({ leaveRadius, interval, resume, signal } = {}) {
    const params = { bucket: this.#bucket, ...this.watchParams(), leaveRadius, intervalMilliseconds: interval };
    const isRanking = this.order.length > 0 && this.#parts.limit !== undefined;
    return new Watch(this.#service.channel, { params, kind: { isRanking, order: this.order, resume }, signal });
  }

  /** Who of these objects comes near whom of another query: within `radius` of what is at the other's `field`. */
  watchPairs(others, { field, radius, leaveRadius, resume, signal }) {
    const pairs = { bucket: others.#bucket, field, clause: others.bucketQuery?.clause, radius, leaveRadius };
    const params = { bucket: this.#bucket, bucketQuery: this.bucketQuery, pairs };
    return new Watch(this.#service.channel, { params, kind: { isPairs: true, resume }, signal });
  }

  /** What of it a watch takes. */
  watchParams() {
    const { limit, fields } = this.#parts;
    return { bucketQuery: this.bucketQuery, bestEffortLimit: limit, fields };
  }

  #read(method, params, { signal, timeout, ...others } = {}) {
    const all = { bucket: this.#bucket, bucketQuery: this.bucketQuery, ...params, ...others };
    return this.#service.call(method, all, { signal, timeout });
  }
}

/** The service takes 0 for its own limit. */
function positive(count, path) {
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidInput(`expected a whole number above 0, not ${count}`, path);
}

/** The name under which a clause, or one in it, reports a distance. */
function distanceName({ putDistanceInto, clauses = [], clause }) {
  if (putDistanceInto !== undefined) return putDistanceInto;
  return [...clauses, ...(clause ? [clause] : [])].map(distanceName).find((name) => name !== undefined);
}
