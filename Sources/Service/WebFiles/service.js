// The service, as a page reaches it: JSON-RPC over `POST /rpc`, whether it is there, and logging in and out.
import { parseJSON } from "./exact.js";
import { secondsBefore } from "./backoff.js";
import { markLogin } from "./login-mark.js";

/** Why a request failed: an error of the service, or that there was no answer (`isGone`). */
export class ServiceError extends Error {
  constructor({ message, errorCode = "UNDEFINED_ERROR", path = null, isGone = false }) {
    super(message);
    Object.assign(this, { errorCode, path, isGone });
  }
}

const GONE = new Set([502, 503, 504]);

/**
 * Events: `gone` with `detail` the seconds until the next try, each second anew, and `back` when it answers again.
 */
export class Service extends EventTarget {
  #id = 0;
  #failures = 0;
  #timer = null;

  /** @param view what stands behind the #: it goes along to the login page and back. */
  constructor({ view = () => location.hash } = {}) {
    super();
    this.view = view;
  }

  /** The result of a method. Throws `ServiceError`; an abort is thrown as it is. */
  async call(method, params = {}, signal = undefined) {
    return (await this.timed(method, params, signal)).result;
  }

  /** The result of a method, and in how many milliseconds it came. */
  async timed(method, params, signal) {
    this.#id += 1;
    const { status, text, milliseconds } = await this.#send({ jsonrpc: "2.0", id: this.#id, method, params }, signal);
    if (status === 401) return this.askForLogin();
    const answer = this.#read(text, status);
    if (answer.error) throw failure(answer.error);
    if (answer.errorCode) throw new ServiceError(answer);
    return { result: answer.result, milliseconds };
  }

  async #send(request, signal) {
    // The number is for the browser, which tells by the address how long a request took.
    const address = `rpc?${request.id}`;
    const begun = performance.now();
    let response;
    try {
      response = await fetch(address, {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request), signal,
      });
      const text = await response.text();
      if (!GONE.has(response.status)) {
        this.#find();
        return { status: response.status, text, milliseconds: tookOf(address) ?? performance.now() - begun };
      }
    } catch (error) {
      if (error.name === "AbortError") throw error;
    }
    this.#lose();
    throw new ServiceError({ message: "the service does not answer", isGone: true });
  }

  #read(text, status) {
    try {
      return parseJSON(text);
    } catch {
      throw new ServiceError({ message: `the answer (status ${status}) is no JSON` });
    }
  }

  askForLogin() {
    location.replace(`login${this.view()}`);
    return new Promise(() => {});
  }

  get isGone() {
    return this.#failures > 0;
  }

  #lose() {
    if (this.#timer !== null) return;
    this.#failures += 1;
    this.#wait(secondsBefore(this.#failures));
  }

  #wait(seconds) {
    this.dispatchEvent(new CustomEvent("gone", { detail: seconds }));
    this.#timer = setTimeout(() => (seconds > 1 ? this.#wait(seconds - 1) : this.tryNow()), 1000);
  }

  #find() {
    if (!this.isGone) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#failures = 0;
    this.dispatchEvent(new Event("back"));
  }

  async tryNow() {
    clearTimeout(this.#timer);
    this.#timer = null;
    try {
      await this.call("server.ping");
    } catch (error) {
      if (!error.isGone) throw error;
    }
  }

  async logOut() {
    await fetch("logout", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
    markLogin(false);
    this.askForLogin();
  }
}

/** From the request's first byte to the answer's last; the page is often busy when these have come. */
function tookOf(address) {
  const [entry] = performance.getEntriesByName(new URL(address, document.baseURI).href);
  // Browsers keep 250.
  if (performance.getEntriesByType("resource").length > 200) performance.clearResourceTimings();
  return entry && entry.requestStart > 0 ? entry.responseEnd - entry.requestStart : undefined;
}

function failure({ message, data = {} }) {
  return new ServiceError({ message, errorCode: data.errorCode, path: data.path });
}
