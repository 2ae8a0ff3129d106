// A watch as an async iterable of states, over lost connections and restarts.
import { Disconnected, Unauthorized, failureOf } from "./errors.js";
import { unlessAborted } from "./promises.js";
import { WatchState } from "./watch-state.js";

/**
 * What matches a query now, and what enters, changes and leaves from then on.
 *
 *     for await (const { objects, events } of shops.find(near("location", here, 2000)).watch()) …
 *
 * It begins with its first state, `move` or `sync`. The end of the loop ends it; so does its signal, with that reason.
 */
export class Watch {
  #channel;
  #params;
  #state;
  #signal;
  #stop = new AbortController();
  #handle = null;
  #attempt = 0;
  #hasBegun = false;
  /** Whether what comes is of another query, and whether something has come since the last beginning. */
  #isReplaced = false;
  #isFresh = false;
  #ended = null;
  /** Resolved, and made anew, with each notification, each beginning and the end. */
  #news = deferred();

  /** @param params of `watch.start`; `kind` says what `WatchState` has to know. */
  constructor(channel, { params, kind, signal }) {
    this.#channel = channel;
    this.#params = params;
    this.#state = new WatchState(kind);
    this.#signal = signal;
  }

  #abort = () => this.#end(this.#signal.reason);

  /** One loop takes the states. `objects` is theirs until the next one is asked for. */
  async *[Symbol.asyncIterator]() {
    this.#begin();
    try {
      for (;;) {
        const state = this.#state.take();
        if (state) yield state;
        else if (this.#ended) break;
        else await this.#news.promise;
      }
    } finally {
      this.close();
    }
    if (this.#ended.error) throw this.#ended.error;
  }

  /** Ends the watch. */
  async close() {
    await this.#end();
  }

  /**
   * Gives the watch another query. The difference comes as events. Returns the change number of the first state of the
   * new query.
   */
  async move(query, { signal } = {}) {
    this.#begin();
    const { bucketQuery, bestEffortLimit } = query.watchParams();
    const moved = { bucketQuery, ...(bestEffortLimit !== undefined && { bestEffortLimit }) };
    const before = this.#params;
    this.#params = { ...before, ...moved };
    this.#state.order = query.order;
    const handle = this.#handle;
    if (!handle?.move) {
      // The token of the old query is of no use for the new one: a snapshot tells what has changed.
      this.#isReplaced = true;
      this.#reopen();
      return this.#firstChange(signal);
    }
    try {
      return (await handle.move(moved, { signal })).change;
    } catch (error) {
      if (this.#handle !== handle) return this.#firstChange(signal);
      this.#params = before;
      this.#state.order = before.bucketQuery?.orderBy ?? [];
      throw error;
    }
  }

  /** Waits until the watch has every write that was answered before. Returns its change number. */
  async sync({ signal } = {}) {
    this.#begin();
    for (;;) {
      await this.#until(() => this.#handle, signal);
      const handle = this.#handle;
      if (!handle.sync) {
        this.#reopen();
        return this.#firstChange(signal);
      }
      try {
        const { change } = await handle.sync({ signal });
        this.#state.synced(change);
        this.#tellNews();
        return change;
      } catch (error) {
        if (this.#handle === handle) throw error;
      }
    }
  }

  // The connection.

  #begin() {
    if (this.#attempt > 0 || this.#ended) return;
    if (this.#signal?.aborted) return this.#end(this.#signal.reason);
    this.#signal?.addEventListener("abort", this.#abort, { once: true });
    this.#open();
  }

  async #open() {
    const attempt = (this.#attempt += 1);
    const isPresent = () => this.#attempt === attempt && !this.#ended;
    const receiver = {
      told: (kind, params) => isPresent() && this.#told(kind, params),
      lost: (error) => isPresent() && this.#lost(error),
    };
    this.#handle = null;
    this.#isFresh = false;
    this.#state.begin();
    const resume = this.#isReplaced ? undefined : this.#state.resume;
    try {
      const how = { isPatient: this.#hasBegun, signal: this.#stop.signal };
      const handle = await this.#channel.watch({ ...this.#params, ...(resume && { resume }) }, receiver, how);
      if (!isPresent()) return void handle.stop();
      this.#handle = handle;
      this.#hasBegun = true;
      this.#tellNews();
    } catch (error) {
      if (isPresent()) this.#end(error);
    }
  }

  #reopen() {
    this.#handle?.stop();
    this.#open();
  }

  #told(kind, params) {
    if (kind === "end") return this.#lost(failureOf(params.error ?? {}));
    this.#state.connected(true);
    this.#state.apply(kind, params, this.#isReplaced ? "query" : "unseen");
    if (kind === "events" || (kind === "snapshot" && !params.more)) {
      this.#isFresh = true;
      this.#isReplaced = false;
    }
    this.#tellNews();
  }

  /** The connection is gone, or the service has ended the watch. */
  #lost(error) {
    this.#handle = null;
    this.#state.connected(false);
    const isPassing = !error || error.code === "TEMPORARY_UNAVAILABLE_ERROR"
      || (error instanceof Unauthorized && this.#channel.renewsToken);
    if (!isPassing) return this.#end(error);
    this.#open();
    this.#tellNews();
  }

  #end(error) {
    if (this.#ended) return undefined;
    this.#ended = { error };
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#stop.abort();
    this.#tellNews();
    const handle = this.#handle;
    this.#handle = null;
    return handle?.stop();
  }

  // Waiting.

  #tellNews() {
    this.#news.resolve();
    this.#news = deferred();
  }

  async #next(signal) {
    if (this.#ended) throw this.#ended.error ?? new Disconnected("the watch has ended", { code: "CLOSED" });
    await unlessAborted(this.#news.promise, signal);
  }

  async #until(condition, signal) {
    while (!condition()) await this.#next(signal);
  }

  /** The change number of the first state of a new beginning. */
  async #firstChange(signal) {
    await this.#until(() => this.#isFresh, signal);
    return this.#state.change;
  }
}

function deferred() {
  let resolve;
  const promise = new Promise((done) => { resolve = done; });
  return { promise, resolve };
}
