// A live query over server-sent events: opens it, keeps it open, and passes on what it tells.
import { secondsBefore } from "./backoff.js";
import { parseJSON } from "./exact.js";
import { WatchState } from "./watch-state.js";

const NAMES = ["snapshot", "events", "resync", "end"];
const STOPPING = "TEMPORARY_UNAVAILABLE_ERROR";

export class Watch {
  #source = null;
  #timer = null;
  #failures = 0;

  /**
   * @param told called with the state and the effects of each notification.
   * @param connected called with whether the stream is open; `failed` with the error that ends it.
   */
  constructor({ bucket, bucketQuery, told, connected, failed }) {
    this.url = `watch?${new URLSearchParams({ bucket, query: JSON.stringify(bucketQuery) })}`;
    Object.assign(this, { told, connected, failed, state: new WatchState() });
    this.#open();
  }

  /** The browser opens a stream that breaks anew by itself, and says from where it goes on. */
  #open() {
    const source = new EventSource(this.url);
    this.#source = source;
    source.addEventListener("open", () => {
      this.#failures = 0;
      this.state.begin();
      this.connected(true);
    });
    source.addEventListener("error", () => this.#lost(source));
    for (const name of NAMES) source.addEventListener(name, ({ data }) => this.#receive(name, parseJSON(data)));
  }

  #receive(name, params) {
    // A service that stops says so, and the stream breaks.
    if (name === "end" && params.error?.data?.errorCode === STOPPING) return;
    const wasComplete = this.state.isComplete;
    const effects = this.state.apply(name, params);
    if (this.state.ended) return this.#end(this.state.ended);
    this.told(this.state, effects, { isFirst: !wasComplete && name === "snapshot" && this.state.isComplete });
  }

  /** A stream that the browser has given up was refused, or the service is gone: an ordinary request tells which. */
  async #lost(source) {
    this.connected(false);
    if (source.readyState !== EventSource.CLOSED) return;
    const error = await this.#refusal();
    if (this.#source !== source) return;
    if (error) return this.#end(error);
    this.#failures += 1;
    this.#timer = setTimeout(() => this.#open(), secondsBefore(this.#failures) * 1000);
  }

  async #refusal() {
    const stop = new AbortController();
    try {
      const response = await fetch(this.url, { signal: stop.signal });
      if (response.ok) return null;
      const isPassing = response.status === 429 || response.status >= 500;
      return isPassing ? null : parseJSON(await response.text());
    } catch {
      return null;
    } finally {
      stop.abort();
    }
  }

  #end(error) {
    this.close();
    const { errorCode, path } = error.data ?? error;
    this.failed({ message: error.message, errorCode, path });
  }

  close() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }
}
