// Calls and watches over lines: one pipelined connection at a time, to one of several addresses.
import { Disconnected, InvalidInput, Timeout, TooManyRequests, Unauthorized } from "./errors.js";
import { stringify } from "./json.js";
import { LineConnection } from "./line-connection.js";
import { isPassing, pause } from "./policy.js";

/**
 * A call is *unsent*, *sent* on the present connection, or pauses before its next attempt, until it is settled. `dial`
 * is as `LineConnection` describes it, and the clock is a parameter.
 */
export class LineChannel {
  #addresses;
  #clock;
  #options;
  /** What connections are made with. */
  #how;
  renewsToken;
  /** Whether one call finds what the service kept for the one before. */
  keepsConnection = true;

  #connection = null;
  #reconnectTimer = null;
  #isClosed = false;
  #willFlush = false;
  #nextID = 1;
  #live = new Set();
  #unsent = new Set();
  #characters = 0;
  #failures = 0;
  #dialled = 0;
  #watches = new Map();
  #owner = {
    hasRoom: () => this.#flushSoon(),
    answered: (call, result) => this.#answered(call, result),
    refused: (call, error) => this.#refused(call, error),
    told: (kind, params) => this.#told(kind, params),
    silent: () => this.#check(),
    lost: (error, calls, isBegun) => this.#lost(error, calls, isBegun),
    ended: (error) => this.#endAll(error),
  };

  constructor({ addresses, dial, clock, options, parse, token, renewsToken }) {
    this.#addresses = addresses;
    this.#clock = clock;
    this.#options = options;
    this.#how = { dial, clock, options, parse, token };
    this.renewsToken = renewsToken;
  }

  /**
   * The result of a method, whose params are JSON text.
   * @param how.mayRepeat whether it may be sent again after it may have been done.
   * @param how.isPatient whether it waits for the service for as long as it takes.
   * @param how.connection the only one on which it has a meaning.
   * @param how.accept called with the result as soon as it is read, and whether somebody still waits for it.
   */
  call(method, params, { mayRepeat = false, isPatient = false, timeout, signal, accept, connection } = {}) {
    return new Promise((resolve, reject) => {
      const id = this.#nextID++;
      const text = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`;
      const refusal = this.#refusal(text, signal);
      if (refusal) return reject(refusal);
      const call = { id, text, mayRepeat, isPatient, accept, connection, resolve, reject, attempts: 0 };
      this.#live.add(call);
      this.#characters += text.length;
      if (signal) this.#obey(signal, call);
      if (!isPatient) this.#limit(call, timeout ?? this.#options.requestTimeout);
      this.#queue(call);
    });
  }

  /**
   * Begins a watch. `receiver.told(kind, params)` is called with each notification; `receiver.lost(error)` when the
   * connection is gone, with an error if there will be no other. What the handle does ends with the connection.
   */
  async watch(params, receiver, how) {
    let connection;
    const accept = ({ watch }, isWanted) => {
      connection = this.#connection;
      if (isWanted) this.#watches.set(watch, receiver);
      else this.#call("watch.stop", { watch }, { connection }).catch(() => {});
    };
    const { watch } = await this.#call("watch.start", params, { ...how, mayRepeat: true, accept });
    return {
      move: (query, how) => this.#call("watch.move", { watch, ...query }, { ...how, connection }),
      sync: (how) => this.#call("watch.sync", { watch }, { ...how, connection }),
      stop: async () => {
        if (this.#watches.get(watch) !== receiver) return;
        this.#watches.delete(watch);
        await this.#call("watch.stop", { watch }, { connection }).catch(() => {});
      },
    };
  }

  /** Ends the connection, and all calls and watches with code CLOSED. */
  close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#endAll(new Disconnected("the client was closed", { code: "CLOSED" }));
  }

  #call(method, params, how) {
    return this.call(method, stringify(params), how);
  }

  // From a call to its end.

  #refusal(text, signal) {
    if (signal?.aborted) return signal.reason;
    if (this.#isClosed) return new Disconnected("the client is closed", { code: "CLOSED" });
    const { waitingCalls, waitingCharacters } = this.#options;
    if (this.#live.size < waitingCalls && this.#characters + text.length <= waitingCharacters) return null;
    return new TooManyRequests(`${this.#live.size} calls wait already`, { code: "TOO_MANY_WAIT" });
  }

  #obey(signal, call) {
    call.signal = signal;
    call.abort = () => this.#fail(call, signal.reason);
    signal.addEventListener("abort", call.abort, { once: true });
  }

  #limit(call, milliseconds) {
    call.milliseconds = milliseconds;
    call.end = this.#clock.now() + milliseconds;
    call.timer = this.#clock.after(milliseconds, () => this.#expire(call));
  }

  #expire(call) {
    const { milliseconds, lastError } = call;
    const timeout = new Timeout(`no answer within ${milliseconds} ms`, { code: "TIMEOUT", cause: lastError });
    const isSent = this.#connection?.hasSent(call);
    // What could not be sent failed for the reason that it had.
    this.#fail(call, isSent ? timeout : lastError ?? timeout);
    const isSilent = isSent && this.#clock.now() - this.#connection.heard >= milliseconds / 2;
    if (isSilent) this.#connection.lose(new Disconnected("the service has gone silent"));
  }

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

  #isTooLate(call, pause) {
    return this.#clock.now() + pause >= call.end;
  }

  // Sending.

  #queue(call) {
    if (call.connection && call.connection !== this.#connection) {
      return this.#fail(call, new Disconnected("the connection was lost"));
    }
    this.#unsent.add(call);
    if (this.#connection === null && this.#reconnectTimer === null) this.#connect();
    else this.#flushSoon();
  }

  /** What is called in one turn of the event loop goes out together. */
  #flushSoon() {
    if (this.#willFlush || this.#unsent.size === 0 || !this.#connection?.isReady) return;
    this.#willFlush = true;
    this.#clock.soon(() => {
      this.#willFlush = false;
      this.#connection?.send(this.#unsent);
    });
  }

  #connect() {
    const address = this.#addresses[this.#dialled++ % this.#addresses.length];
    try {
      this.#connection = new LineConnection({ address, ...this.#how }, this.#owner);
    } catch (cause) {
      this.#endAll(new InvalidInput(cause.message, { code: "INVALID_INPUT_DATA", path: "tls", cause }));
    }
  }

  // What comes of a connection.

  #answered(call, result) {
    this.#failures = 0;
    const isWanted = this.#live.has(call);
    call.accept?.(result, isWanted);
    if (!isWanted) return;
    this.#settle(call);
    call.resolve(result);
  }

  #refused(call, error) {
    if (!this.#live.has(call)) return;
    if (error instanceof Unauthorized && this.renewsToken && !call.hasNewToken) {
      call.hasNewToken = true;
      if (this.#connection.isReady) this.#connection.logIn();
      this.#queue(call);
    } else if (isPassing(error, call.mayRepeat)) this.#repeatLater(call, error);
    else this.#fail(call, error);
  }

  #repeatLater(call, error) {
    const milliseconds = Math.max(error.retryAfter ?? 0, pause(this.#options, call.attempts++, this.#clock.random));
    if (this.#isTooLate(call, milliseconds)) return this.#fail(call, error);
    call.lastError = error;
    call.pauseTimer = this.#clock.after(milliseconds, () => this.#queue(call));
  }

  #told(kind, params) {
    const receiver = this.#watches.get(params.watch);
    if (kind === "end") this.#watches.delete(params.watch);
    receiver?.told(kind, params);
  }

  /** A connection with watches that says nothing is asked whether it works; if not, that call gives it up. */
  #check() {
    const timeout = this.#options.watchCheckTime / 4;
    if (this.#watches.size > 0) this.#call("server.ping", {}, { timeout }).catch(() => {});
  }

  /** What may be repeated goes to the next connection, before what was not sent. */
  #lost(error, calls, isBegun) {
    this.#connection = null;
    const unsent = [...this.#unsent];
    this.#unsent.clear();
    for (const call of calls.filter((call) => this.#live.has(call))) {
      if (call.mayRepeat || !isBegun) this.#unsent.add(call);
      else this.#fail(call, error instanceof Disconnected ? error : new Disconnected(error.message, { cause: error }));
    }
    for (const call of unsent) {
      if (call.connection) this.#fail(call, new Disconnected(error.message, { cause: error }));
      else this.#unsent.add(call);
    }
    this.#connectLater(error);
    for (const receiver of this.#takeWatches()) receiver.lost();
  }

  #connectLater(error) {
    const milliseconds = Math.max(error.retryAfter ?? 0, pause(this.#options, this.#failures++, this.#clock.random));
    for (const call of this.#unsent) {
      if (this.#isTooLate(call, milliseconds)) this.#fail(call, error);
      else call.lastError = error;
    }
    this.#reconnectTimer = this.#clock.after(milliseconds, () => {
      this.#reconnectTimer = null;
      if (this.#unsent.size > 0) this.#connect();
    });
  }

  /** All that wait for something fail; the next call begins anew. */
  #endAll(error) {
    this.#connection?.close();
    this.#connection = null;
    this.#clock.cancel(this.#reconnectTimer);
    this.#reconnectTimer = null;
    for (const call of this.#live) this.#fail(call, error);
    for (const receiver of this.#takeWatches()) receiver.lost(error);
  }

  #takeWatches() {
    const receivers = [...this.#watches.values()];
    this.#watches.clear();
    return receivers;
  }
}
