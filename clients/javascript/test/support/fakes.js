// A clock that stands until it is moved, and links that a test plays: the core of the client without sockets.
import { LineChannel } from "../../src/line-channel.js";
import { DEFAULTS } from "../../src/policy.js";

export class FakeClock {
  #now = 0;
  #timers = new Map();
  #next = 1;
  random = () => 1;

  now = () => this.#now;
  after = (milliseconds, action) => {
    this.#timers.set(this.#next, { at: this.#now + milliseconds, action });
    return this.#next++;
  };
  cancel = (timer) => this.#timers.delete(timer);
  soon = (action) => setImmediate(action);

  /** Lets time pass, with what is due in it, in its order. */
  async pass(milliseconds) {
    const end = this.#now + milliseconds;
    for (;;) {
      await settled();
      const [timer] = [...this.#timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at);
      if (!timer) break;
      this.#timers.delete(timer[0]);
      this.#now = timer[1].at;
      timer[1].action();
    }
    this.#now = end;
  }

  get timers() {
    return this.#timers.size;
  }
}

/** Until nothing more happens by itself. */
export async function settled() {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A link: `sent` are the requests that were written to it, and the test is the service. */
export class FakeLink {
  sent = [];
  isClosed = false;
  isFull = false;

  constructor(address, events) {
    Object.assign(this, { address, events });
  }

  write(text) {
    for (const line of text.split("\n")) if (line) this.sent.push(JSON.parse(line));
    return !this.isFull;
  }

  close() {
    this.isClosed = true;
  }

  /** The service's side. */
  open = () => this.events.opened();
  say = (message) => this.events.received(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  answer = (index, result) => this.say({ id: this.sent[index].id, result });
  refuse = (index, errorCode, data) =>
    this.say({ id: this.sent[index].id, error: { code: 1, message: errorCode, data: { errorCode, ...data } } });
  break = (error) => this.events.closed(error);
}

/** A channel with a clock and the links that it has dialled. */
export function playground({ addresses = ["a"], token, renewsToken = false, ...options } = {}) {
  const clock = new FakeClock();
  const links = [];
  const channel = new LineChannel({
    addresses: addresses.map((name) => ({ name })), clock, parse: JSON.parse, token, renewsToken,
    options: { ...DEFAULTS, ...options },
    dial: (address, events) => {
      const link = new FakeLink(address, events);
      links.push(link);
      return link;
    },
  });
  return { clock, links, channel };
}
