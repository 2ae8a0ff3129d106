// One connection of lines, without sockets: what is sent on it, and what its answers are to.
import { Disconnected, ProtocolError, TooManyRequests, Unavailable, failureOf } from "./errors.js";
import { Lines } from "./lines.js";
import { isPassing } from "./policy.js";

/** Characters that are written at once. */
const CHUNK = 1 << 18;

/**
 * From dialling to its end, which comes once. What was sent is answered in order, so a call that nobody waits for any
 * more stays among the sent ones, and its answer is known for what it is.
 *
 * `dial(address, events)` returns a link with `write(text)`, which says whether there is room for more, and `close()`;
 * it calls `events.opened()`, `received(text)`, `drained()` and `closed(error)`.
 *
 * The owner's `hasRoom()` is called when more can be sent; `answered(call, result)` and `refused(call, error)`;
 * `told(kind, params)` with notifications; `silent()` after each `watchCheckTime` without a word. Its end is
 * `lost(error, calls)`, with the calls that were not answered, or, if another connection would not do better,
 * `ended(error)`.
 */
export class LineConnection {
  #address;
  #clock;
  #options;
  #parse;
  #token;
  #owner;
  #link;
  #lines;
  #timer;
  #sent = new Map();
  /** Whether requests may be sent: it is open, and logged in if there is a token. */
  #isReady = false;
  #isFull = false;
  #isClosed = false;
  #hasAnswered = false;
  /** When something last came. */
  heard = 0;

  constructor({ address, dial, clock, options, parse, token }, owner) {
    this.#address = address;
    this.#clock = clock;
    this.#options = options;
    this.#parse = parse;
    this.#token = token;
    this.#owner = owner;
    this.#lines = new Lines(options.answerCharacters);
    const unlessClosed = (action) => (value) => {
      if (!this.#isClosed) action(value);
    };
    this.#link = dial(address, {
      opened: unlessClosed(() => (token ? this.logIn() : this.#becomeReady())),
      received: unlessClosed((text) => this.#received(text)),
      drained: unlessClosed(() => this.#drained()),
      closed: unlessClosed((cause) => this.lose(this.#lossOf(cause?.message ?? "the connection was closed", cause))),
    });
    this.#expectReady();
  }

  get isReady() {
    return this.#isReady;
  }

  hasSent(call) {
    return this.#sent.has(call.id);
  }

  /** Sends the first of these calls, as many as there is room for, and takes them out of the set. */
  send(calls) {
    let text = "";
    for (const call of calls) {
      if (!this.#isReady || this.#isFull || this.#sent.size >= this.#options.pipelinedCalls) break;
      calls.delete(call);
      this.#sent.set(call.id, call);
      text += call.text;
      if (text.length < CHUNK) continue;
      this.#write(text);
      text = "";
    }
    if (text) this.#write(text);
  }

  /** Logs in, perhaps anew. Nothing else is sent until that is answered. */
  async logIn() {
    this.#isReady = false;
    this.#expectReady();
    try {
      const params = JSON.stringify({ token: await this.#token() });
      if (this.#isClosed) return;
      this.#sent.set(LOGIN, { id: LOGIN });
      this.#write(`{"jsonrpc":"2.0","id":"${LOGIN}","method":"auth.login","params":${params}}\n`);
    } catch (error) {
      if (!this.#isClosed) this.#end(error);
    }
  }

  /** The connection is of no more use: another one may be. */
  lose(error) {
    this.close();
    // What a connection was asked that was not wanted has not been begun.
    const isBegun = this.#hasAnswered || !(error instanceof TooManyRequests);
    this.#owner.lost(error, [...this.#sent.values()].filter(({ id }) => id !== LOGIN), isBegun);
  }

  /** Nothing comes from it any more. */
  close() {
    this.#isClosed = true;
    this.#isReady = false;
    this.#clock.cancel(this.#timer);
    this.#link.close();
  }

  #end(error) {
    this.close();
    this.#owner.ended(error);
  }

  #write(text) {
    this.#isFull = !this.#link.write(text);
  }

  #drained() {
    this.#isFull = false;
    this.#owner.hasRoom();
  }

  #expectReady() {
    const { connectTimeout } = this.#options;
    this.#setTimer(connectTimeout, () => this.lose(this.#lossOf(`no connection within ${connectTimeout} ms`)));
  }

  #becomeReady() {
    this.heard = this.#clock.now();
    this.#isReady = true;
    this.#watchSilence();
    this.#owner.hasRoom();
  }

  #watchSilence() {
    const { watchCheckTime } = this.#options;
    this.#setTimer(watchCheckTime, () => {
      if (this.#clock.now() - this.heard >= watchCheckTime) this.#owner.silent();
      this.#watchSilence();
    });
  }

  #setTimer(milliseconds, action) {
    this.#clock.cancel(this.#timer);
    this.#timer = this.#clock.after(milliseconds, action);
  }

  #lossOf(message, cause) {
    const text = `${this.#address.name}: ${message}`;
    return this.#isReady ? new Disconnected(text, { cause }) : new Unavailable(text, { code: "UNREACHABLE", cause });
  }

  #received(text) {
    this.heard = this.#clock.now();
    try {
      for (const line of this.#lines.push(text)) {
        if (line) this.#read(line);
        if (this.#isClosed) return;
      }
    } catch (cause) {
      // Asking again would not help.
      return this.#end(new ProtocolError(`what came is not of the protocol: ${cause.message}`, { cause }));
    }
    this.#owner.hasRoom();
  }

  #read(line) {
    const { id, method, params, result, error } = this.#parse(line);
    if (method !== undefined) return this.#owner.told(method.slice("watch.".length), params);
    if (id === null) return this.#refused(failureOf(error));
    const call = this.#sent.get(id);
    if (!call) throw new RangeError(`an answer to ${id}, which was not asked`);
    this.#sent.delete(id);
    this.#hasAnswered = true;
    if (id === LOGIN) return error ? this.#loginRefused(failureOf(error)) : this.#becomeReady();
    return error ? this.#owner.refused(call, failureOf(error)) : this.#owner.answered(call, result);
  }

  #loginRefused(error) {
    if (isPassing(error, true)) this.lose(error);
    else this.#end(error);
  }

  /** An error of no request: the connection is not wanted, or the oldest line could not be read. */
  #refused(error) {
    const [oldest] = this.#sent.values();
    if (error instanceof TooManyRequests || !oldest || oldest.id === LOGIN) return this.lose(error);
    this.#sent.delete(oldest.id);
    this.#owner.refused(oldest, error);
  }
}

/** The id of a login; those of calls are numbers. */
const LOGIN = "login";
