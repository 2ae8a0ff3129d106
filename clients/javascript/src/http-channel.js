// Calls over `POST /rpc` and watches over `GET /watch`, as browsers, Deno and Bun have them: with fetch.
import {
  Disconnected, InvalidInput, ProtocolError, Timeout, TooManyRequests, Unauthorized, failureOf,
} from "./errors.js";
import { EventReader } from "./events.js";
import { stringify } from "./json.js";
import { isPassing, pause } from "./policy.js";
import { Turns, follow, unlessAborted } from "./promises.js";

/** What watches take over lines alone. */
const OF_LINES = ["leaveRadius", "intervalMilliseconds", "pairs"];
/** What a proxy says of a service that is away. */
const GONE = new Set([502, 503, 504]);

/** Has what a `LineChannel` has; `fetch` and the clock are parameters. */
export class HTTPChannel {
  #addresses;
  #fetch;
  #clock;
  #options;
  #parse;
  #token;
  #presentToken = null;
  #address = 0;
  #nextID = 1;
  #waitingCalls = 0;
  #waitingCharacters = 0;
  #turns;
  #closing = new AbortController();
  renewsToken;
  /** Whether one call finds what the service kept for the one before. */
  keepsConnection = false;

  constructor({ addresses, fetch, clock, options, parse, token, renewsToken }) {
    this.#addresses = addresses;
    this.#fetch = fetch;
    this.#clock = clock;
    this.#options = options;
    this.#parse = parse;
    this.#token = token;
    this.renewsToken = renewsToken;
    this.#turns = new Turns(options.parallelRequests);
  }

  /** The result of a method, whose params are JSON text. */
  async call(method, params, { mayRepeat = false, timeout = this.#options.requestTimeout, signal } = {}) {
    const body = `{"jsonrpc":"2.0","id":${this.#nextID++},"method":"${method}","params":${params}}`;
    this.#admit(body);
    const stop = new AbortController();
    const release = this.#limit(stop, signal);
    const timer = this.#clock.after(timeout, () =>
      stop.abort(new Timeout(`no answer within ${timeout} ms`, { code: "TIMEOUT" })));
    try {
      const how = { mayRepeat, end: this.#clock.now() + timeout, signal: stop.signal };
      return await this.#repeated(how, () => this.#turns.take(stop.signal, () => this.#post(body, stop.signal)));
    } finally {
      this.#clock.cancel(timer);
      release();
      this.#waitingCalls -= 1;
      this.#waitingCharacters -= body.length;
    }
  }

  /** Begins a watch; see `LineChannel.watch`. Its handle can only stop. */
  async watch({ bucket, bucketQuery, bestEffortLimit, fields, resume, ...others }, receiver, { isPatient, signal }) {
    const unknown = OF_LINES.find((name) => others[name] !== undefined);
    if (unknown) throw new InvalidInput("over HTTP there are no such watches: use geobucket://", unknown);
    const parameters = new URLSearchParams({
      bucket,
      ...(bucketQuery && { query: stringify(bucketQuery) }),
      ...(bestEffortLimit !== undefined && { limit: bestEffortLimit }),
      ...(fields && { fields: fields.join(",") }),
    });
    const headers = { Accept: "text/event-stream", ...(resume && { "Last-Event-ID": resume }) };
    const stop = new AbortController();
    const release = this.#limit(stop, signal);
    try {
      const end = isPatient ? Infinity : this.#clock.now() + this.#options.requestTimeout;
      const stream = await this.#repeated({ mayRepeat: true, end, signal: stop.signal }, () =>
        this.#stream(`watch?${parameters}`, headers, stop.signal));
      this.#listen(stream, receiver, stop).finally(release);
      return { stop: async () => stop.abort() };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Ends all calls and watches with code CLOSED. */
  close() {
    this.#closing.abort(new Disconnected("the client was closed", { code: "CLOSED" }));
  }

  #admit({ length }) {
    const { waitingCalls, waitingCharacters } = this.#options;
    if (this.#waitingCalls >= waitingCalls || this.#waitingCharacters + length > waitingCharacters) {
      throw new TooManyRequests(`${this.#waitingCalls} calls wait already`, { code: "TOO_MANY_WAIT" });
    }
    this.#waitingCalls += 1;
    this.#waitingCharacters += length;
  }

  /** What a caller aborts, and the end of the client, stop it. Returns what ends that. */
  #limit(stop, signal) {
    const releases = [this.#closing.signal, signal].map((source) => source && follow(source, stop));
    return () => releases.forEach((release) => release?.());
  }

  /** Makes attempts until one succeeds or fails for good, or the pause before the next would be too long. */
  async #repeated({ mayRepeat, end, signal }, attempt) {
    let isRenewed = false;
    for (let failures = 0; ; failures += 1) {
      try {
        signal.throwIfAborted();
        return await attempt();
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof Unauthorized && this.renewsToken && !isRenewed) {
          this.#presentToken = null;
          isRenewed = true;
          continue;
        }
        const milliseconds = Math.max(error.retryAfter ?? 0, pause(this.#options, failures, this.#clock.random));
        if (!isPassing(error, mayRepeat) || this.#clock.now() + milliseconds >= end) throw error;
        await this.#sleep(milliseconds, signal);
      }
    }
  }

  async #sleep(milliseconds, signal) {
    let timer;
    const time = new Promise((resolve) => { timer = this.#clock.after(milliseconds, resolve); });
    await unlessAborted(time, signal).finally(() => this.#clock.cancel(timer));
  }

  async #post(body, signal) {
    const headers = { "Content-Type": "application/json" };
    const response = await this.#request("rpc", { method: "POST", headers, body, signal });
    const text = await this.#reading(response.text());
    const answer = this.#readAnswer(response, text);
    if (answer.error) throw failureOf(answer.error);
    return answer.result;
  }

  async #stream(path, headers, signal) {
    const response = await this.#request(path, { headers, signal });
    if (response.ok) return response.body.getReader();
    const { error } = this.#readAnswer(response, await this.#reading(response.text()));
    throw failureOf(error ?? {});
  }

  async #request(path, { headers, ...request }) {
    const { url } = this.#addresses[this.#address % this.#addresses.length];
    const token = await this.#authorization(request.signal);
    return this.#reading(this.#fetch(new URL(path, url).href, { ...request, headers: { ...headers, ...token } }));
  }

  async #authorization(signal) {
    if (!this.#token) return {};
    try {
      this.#presentToken ??= this.#token();
      return { Authorization: `Bearer ${await unlessAborted(this.#presentToken, signal)}` };
    } catch (error) {
      this.#presentToken = null;
      throw error;
    }
  }

  /** What fetch promises; if it fails, the next attempt goes to the next address. */
  async #reading(promise) {
    try {
      return await promise;
    } catch (cause) {
      const { name } = this.#addresses[this.#address++ % this.#addresses.length];
      throw new Disconnected(`${name}: ${cause.cause?.message ?? cause.message}`, { cause });
    }
  }

  /** An answer of JSON-RPC, or a refusal of the port's own. */
  #readAnswer({ status, headers }, text) {
    const seconds = Number(headers.get("Retry-After") ?? NaN);
    const retryAfterMillis = Number.isNaN(seconds) ? undefined : seconds * 1000;
    let answer;
    try {
      answer = this.#parse(text);
    } catch (cause) {
      if (GONE.has(status)) throw new Disconnected(`status ${status}`, { retryAfter: retryAfterMillis });
      throw new ProtocolError(`the answer, of status ${status}, is no JSON`, { cause });
    }
    if (answer?.errorCode) return { error: { message: answer.message, data: { retryAfterMillis, ...answer } } };
    if (answer?.result === undefined && !answer?.error) {
      throw new ProtocolError(`the answer, of status ${status}, is not of JSON-RPC`);
    }
    return answer;
  }

  /** Passes on what a stream tells, until it ends. The service says something every 15 s. */
  async #listen(stream, receiver, stop) {
    const decoder = new TextDecoder();
    const { answerCharacters } = this.#options;
    const events = new EventReader(answerCharacters, (name, data) => receiver.told(name, this.#parse(data)));
    let failure;
    for (;;) {
      const text = await this.#heard(stream, decoder, stop);
      if (text === null) break;
      try {
        events.push(text);
      } catch (cause) {
        failure = new ProtocolError(`what came is not of the protocol: ${cause.message}`, { cause });
        break;
      }
    }
    stop.abort();
    receiver.lost(failure);
  }

  /** The next piece; null at the end, after a failure, and after too long a silence. */
  async #heard(stream, decoder, stop) {
    const timer = this.#clock.after(this.#options.watchCheckTime, () => stop.abort());
    try {
      const { done, value } = await unlessAborted(stream.read(), stop.signal);
      return done ? null : decoder.decode(value, { stream: true });
    } catch {
      return null;
    } finally {
      this.#clock.cancel(timer);
    }
  }
}
