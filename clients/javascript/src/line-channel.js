// Calls and watches over lines, without sockets: `dial` makes the connections, and the clock is a parameter.
import {
  Disconnected, InvalidInput, ProtocolError, Timeout, TooManyRequests, Unauthorized, Unavailable, failureOf,
} from "./errors.js";
import { stringify } from "./json.js";
import { Lines } from "./lines.js";
import { isPassing, pause } from "./policy.js";

/**
 * One pipelined connection at a time to one of several addresses.
 *
 * A call is *unsent*, *sent*, or waits for its next attempt, until it is settled. What was sent is answered in order. A
 * call that is given up stays among the sent ones, so that its answer is known for what it is.
 *
 * `dial(address, events)` returns a link with `write(text)`, which says whether there is room for more, and `close()`;
 * it calls `events.opened()`, `received(text)`, `drained()` and, at most once, `closed(error)`.
 */
export class LineChannel {
  #addresses;
  #dial;
  #clock;
  #options;
  #parse;
  #token;
  renewsToken;
  /** Whether one call finds what the service kept for the one before. */
  keepsConnection = true;

  #link = null;
  #address = null;
  /** Whether requests may be sent: the connection is open, and logged in if there is a token. */
  #isReady = false;
  #isFull = false;
  #hasAnswered = false;
  #isClosed = false;
  #willFlush = false;
  #lines = null;
  #heard = 0;
  #timer = null;

  #nextID = 1;
  #unsent = new Set();
  #sent = new Map();
  #live = new Set();
  #characters = 0;
  #failures = 0;
  #dialled = 0;
  #watches = new Map();

  constructor({ addresses, dial, clock, options, parse, token, renewsToken }) {
    this.#addresses = addresses;
    this.#dial = dial;
    this.#clock = clock;
    this.#options = options;
    this.#parse = parse;
    this.#token = token;
    this.renewsToken = renewsToken;
  }

  /**
   * The result of a method, whose params are JSON text.
   * @param how.mayRepeat whether it may be sent again after it may have been done.
   * @param how.isPatient whether it waits for the service for as long as it takes.
   * @param how.link the only connection on which it has a meaning.
   * @param how.accept called with the result as soon as it is read, and whether somebody still waits for it.
   */
  call(method, params, { mayRepeat = false, isPatient = false, timeout, signal, accept, link } = {}) {
    return new Promise((resolve, reject) => {
      const id = this.#nextID++;
      const text = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`;
      const call = { id, text, mayRepeat, isPatient, accept, link, resolve, reject, attempts: 0, since: this.#clock.now() };
      const refusal = this.#refusal(text, signal);
      if (refusal) return reject(refusal);
      this.#live.add(call);
      this.#characters += text.length;
      if (signal) this.#obey(signal, call);
      if (!isPatient) {
        call.milliseconds = timeout ?? this.#options.requestTimeout;
        call.timer = this.#clock.after(call.milliseconds, () => this.#expire(call));
      }
      this.#queue(call);
    });
  }

  #refusal(text, signal) {
    if (signal?.aborted) return signal.reason;
    if (this.#isClosed) return new Disconnected("the client is closed", { code: "CLOSED" });
    const { waitingCalls, waitingCharacters } = this.#options;
    if (this.#live.size < waitingCalls && this.#characters + text.length <= waitingCharacters) return null;
    return new TooManyRequests(`${this.#live.size} calls wait already`, { code: "TOO_MANY_WAIT" });
  }

  /**
   * Begins a watch. `receiver.told(kind, params)` is called with each notification; `receiver.lost(error)` when the
   * connection is gone, with an error if there will be no other. What the handle does ends with the connection.
   */
  async watch(params, receiver, how) {
    let link;
    const accept = ({ watch }, isWanted) => {
      link = this.#link;
      if (isWanted) this.#watches.set(watch, receiver);
      else this.#call("watch.stop", { watch }, { link }).catch(() => {});
    };
    const { watch } = await this.#call("watch.start", params, { ...how, mayRepeat: true, accept });
    return {
      move: (query, how) => this.#call("watch.move", { watch, ...query }, { ...how, link }),
      sync: (how) => this.#call("watch.sync", { watch }, { ...how, link }),
      stop: async () => {
        if (this.#watches.get(watch) !== receiver) return;
        this.#watches.delete(watch);
        await this.#call("watch.stop", { watch }, { link }).catch(() => {});
      },
    };
  }

  #call(method, params, how) {
    return this.call(method, stringify(params), how);
  }

  /** Ends the connection, and all calls with code CLOSED. */
  close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#endAll(new Disconnected("the client was closed", { code: "CLOSED" }));
  }

  // The ends of a call.

  #fail(call, error) {
    this.#settle(call);
    call.reject(error);
  }

  #settle(call) {
    this.#live.delete(call);
    this.#unsent.delete(call);
    this.#characters -= call.text.length;
    call.text = null;
    this.#clock.cancel(call.timer);
    this.#clock.cancel(call.pauseTimer);
    call.signal?.removeEventListener("abort", call.abort);
  }

  #obey(signal, call) {
    call.signal = signal;
    call.abort = () => this.#fail(call, signal.reason);
    signal.addEventListener("abort", call.abort, { once: true });
  }

  #expire(call) {
    const isSent = this.#sent.has(call.id);
    const silence = this.#clock.now() - this.#heard;
    const timeout = new Timeout(`no answer within ${call.milliseconds} ms`, { code: "TIMEOUT", cause: call.lastError });
    // What could not be sent failed for the reason that it had.
    this.#fail(call, isSent ? timeout : call.lastError ?? timeout);
    if (isSent && silence >= call.milliseconds / 2) this.#lose(new Disconnected("the service has gone silent"));
  }

  /** A call failed in a way that the next attempt may not. */
  #repeatLater(call, error) {
    const milliseconds = Math.max(error.retryAfter ?? 0, this.#pause(call.attempts));
    if (this.#isTooLate(call, milliseconds)) return this.#fail(call, error);
    call.attempts += 1;
    call.lastError = error;
    call.pauseTimer = this.#clock.after(milliseconds, () => this.#queue(call));
  }

  #isTooLate(call, pause) {
    return !call.isPatient && this.#clock.now() + pause >= call.since + call.milliseconds;
  }

  #pause(failures) {
    return pause(this.#options, failures, this.#clock.random);
  }

  // Sending.

  #queue(call) {
    this.#unsent.add(call);
    if (this.#link === null && this.#timer === null) this.#connect();
    else this.#flushSoon();
  }

  /** What is called in one turn of the event loop goes out together. */
  #flushSoon() {
    if (this.#willFlush || !this.#isReady) return;
    this.#willFlush = true;
    this.#clock.soon(() => {
      this.#willFlush = false;
      this.#flush();
    });
  }

  #flush() {
    let text = "";
    for (const call of this.#unsent) {
      if (!this.#isReady || this.#isFull || this.#sent.size >= this.#options.pipelinedCalls) break;
      if (call.link && call.link !== this.#link) {
        this.#fail(call, new Disconnected("the connection was lost"));
        continue;
      }
      this.#unsent.delete(call);
      this.#sent.set(call.id, call);
      text += call.text;
      if (text.length < CHUNK) continue;
      this.#write(text);
      text = "";
    }
    if (text) this.#write(text);
  }

  #write(text) {
    this.#isFull = !this.#link.write(text);
  }

  // Receiving.

  #received(text) {
    const link = this.#link;
    this.#heard = this.#clock.now();
    try {
      for (const line of this.#lines.push(text)) {
        if (line) this.#read(line);
        if (this.#link !== link) return;
      }
    } catch (error) {
      return this.#breakOff(error);
    }
    if (this.#unsent.size > 0) this.#flushSoon();
  }

  #read(line) {
    const { id, method, params, result, error } = this.#parse(line);
    if (method !== undefined) return this.#told(method.slice("watch.".length), params);
    if (id === null) return this.#refused(failureOf(error));
    const call = this.#sent.get(id);
    if (!call) throw new RangeError(`an answer to ${id}, which was not asked`);
    this.#sent.delete(id);
    this.#hasAnswered = true;
    this.#failures = 0;
    if (error) this.#answeredError(call, failureOf(error));
    else this.#answered(call, result);
  }

  #told(kind, params) {
    const receiver = this.#watches.get(params.watch);
    if (kind === "end") this.#watches.delete(params.watch);
    receiver?.told(kind, params);
  }

  #answered(call, result) {
    const isWanted = this.#live.has(call);
    call.accept?.(result, isWanted);
    if (!isWanted) return;
    this.#settle(call);
    call.resolve(result);
  }

  #answeredError(call, error) {
    if (call.refuse) return call.refuse(error);
    if (!this.#live.has(call)) return;
    if (error instanceof Unauthorized && this.renewsToken && !call.hasNewToken) {
      call.hasNewToken = true;
      if (this.#isReady) this.#logIn();
      this.#queue(call);
    } else if (isPassing(error, call.mayRepeat)) this.#repeatLater(call, error);
    else this.#fail(call, error);
  }

  /** An error of no request: the connection is not wanted, or the oldest line could not be read. */
  #refused(error) {
    const [oldest] = this.#sent.values();
    if (error instanceof TooManyRequests || !oldest) return this.#lose(error);
    this.#sent.delete(oldest.id);
    this.#answeredError(oldest, error);
  }

  /** What comes is not the protocol: asking again would not help. */
  #breakOff(cause) {
    const error = new ProtocolError(`what came is not of the protocol: ${cause.message}`, { cause });
    for (const call of this.#sent.values()) if (this.#live.has(call)) this.#fail(call, error);
    for (const receiver of this.#takeWatches()) receiver.lost(error);
    this.#lose(error);
  }

  // The connection.

  #connect() {
    const address = this.#addresses[this.#dialled++ % this.#addresses.length];
    this.#address = address;
    this.#lines = new Lines(this.#options.answerCharacters);
    this.#isFull = this.#hasAnswered = false;
    // Events of a link that was dropped mean nothing.
    const of = (action) => (value) => {
      if (this.#link === link) action(value);
    };
    let link;
    try {
      link = this.#dial(address, {
        opened: of(() => (this.#token ? this.#logIn() : this.#becomeReady())),
        received: of((text) => this.#received(text)),
        drained: of(() => this.#drained()),
        closed: of((cause) => this.#lose(this.#lossOf(cause))),
      });
    } catch (cause) {
      const { message } = cause;
      return this.#endAll(new InvalidInput(message, { code: "INVALID_INPUT_DATA", path: "tls", cause }));
    }
    this.#link = link;
    this.#expectReady();
  }

  #expectReady() {
    const { connectTimeout } = this.#options;
    this.#setTimer(connectTimeout, () =>
      this.#lose(this.#lossOf(new Error(`no connection within ${connectTimeout} ms`))));
  }

  #lossOf(cause) {
    const message = `${this.#address.name}: ${cause?.message ?? "the connection was closed"}`;
    return this.#isReady ? new Disconnected(message, { cause }) : new Unavailable(message, { code: "UNREACHABLE", cause });
  }

  #setTimer(milliseconds, action) {
    this.#clock.cancel(this.#timer);
    this.#timer = this.#clock.after(milliseconds, () => {
      this.#timer = null;
      action();
    });
  }

  #drained() {
    this.#isFull = false;
    this.#flush();
  }

  #becomeReady() {
    this.#heard = this.#clock.now();
    this.#isReady = true;
    this.#watchSilence();
    this.#flush();
  }

  /** Nothing else is sent until the login is answered. */
  async #logIn() {
    this.#isReady = false;
    this.#expectReady();
    const link = this.#link;
    try {
      const params = JSON.stringify({ token: await this.#token() });
      if (this.#link !== link) return;
      const id = this.#nextID++;
      this.#sent.set(id, { id, accept: () => this.#becomeReady(), refuse: (error) => this.#loginFailed(error) });
      this.#write(`{"jsonrpc":"2.0","id":${id},"method":"auth.login","params":${params}}\n`);
    } catch (error) {
      if (this.#link === link) this.#endAll(error);
    }
  }

  #loginFailed(error) {
    if (isPassing(error, true)) this.#lose(error);
    else this.#endAll(error);
  }

  /** A connection with watches that has been silent for long is asked whether it still works. */
  #watchSilence() {
    const { watchCheckTime } = this.#options;
    this.#setTimer(watchCheckTime, () => {
      const isSilent = this.#clock.now() - this.#heard >= watchCheckTime;
      if (isSilent && this.#watches.size > 0) this.#call("server.ping", {}, { timeout: watchCheckTime / 4 }).catch(() => {});
      this.#watchSilence();
    });
  }

  /** The connection is gone: what may be repeated goes to the next one, before what was not sent. */
  #lose(error) {
    this.#drop();
    // A connection that was not wanted has done nothing.
    const isRefused = error instanceof TooManyRequests && !this.#hasAnswered;
    const unsent = [...this.#unsent];
    this.#unsent.clear();
    for (const call of this.#sent.values()) {
      if (!this.#live.has(call)) continue;
      if (call.mayRepeat || isRefused) this.#unsent.add(call);
      else this.#fail(call, error instanceof Disconnected ? error : new Disconnected(error.message, { cause: error }));
    }
    this.#sent.clear();
    for (const call of unsent) this.#unsent.add(call);
    this.#connectLater(error);
    for (const receiver of this.#takeWatches()) receiver.lost();
  }

  #connectLater(error) {
    const milliseconds = Math.max(error.retryAfter ?? 0, this.#pause(this.#failures++));
    for (const call of this.#unsent) {
      if (this.#isTooLate(call, milliseconds)) this.#fail(call, error);
      else call.lastError = error;
    }
    this.#setTimer(milliseconds, () => {
      if (this.#unsent.size > 0) this.#connect();
    });
  }

  /** The connection ends, and with it all that wait for something. */
  #endAll(error) {
    this.#drop();
    this.#sent.clear();
    for (const call of this.#live) this.#fail(call, error);
    for (const receiver of this.#takeWatches()) receiver.lost(error);
  }

  #takeWatches() {
    const receivers = [...this.#watches.values()];
    this.#watches.clear();
    return receivers;
  }

  #drop() {
    const link = this.#link;
    this.#link = null;
    this.#isReady = false;
    this.#clock.cancel(this.#timer);
    this.#timer = null;
    link?.close();
  }
}

/** Characters that are written at once. */
const CHUNK = 1 << 18;
