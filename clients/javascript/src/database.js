// A service: its buckets, and calls of any method.
import { Bucket } from "./bucket.js";

export class Database {
  #service;

  constructor(service) {
    this.#service = service;
  }

  /** A bucket by its name, such as `shops` or `users/alice/notes`. Nothing is sent. */
  bucket(name) {
    return new Bucket(this.#service, name);
  }

  /** The buckets of a scope such as `users/alice`, or of the application: `{bucket, objects, geoFields, place}`. */
  async *buckets({ scope, ...options } = {}) {
    let paginationKey;
    do {
      const page = await this.call("bucket.list", { scope, paginationKey }, options);
      yield* page.buckets;
      paginationKey = page.nextPaginationKey;
    } while (paginationKey !== undefined);
  }

  /**
   * The result of any method of the protocol. What only reads is repeated when the connection is lost, and so is a
   * write whose params have a `requestKey`.
   */
  call(method, params, options) {
    return this.#service.call(method, params, options);
  }

  ping(options) {
    return this.call("server.ping", {}, options);
  }

  info(options) {
    return this.call("server.info", {}, options);
  }

  /** Ends the connection. Calls and watches fail with code CLOSED. */
  close() {
    this.#service.close();
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    this.close();
  }
}
