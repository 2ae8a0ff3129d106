// The methods of the service, over whichever channel: which may be repeated, and under which key.
import { stringify } from "./json.js";
import { isRead, takesKey } from "./policy.js";

export class Service {
  #key;
  #keys = 0;
  #makeChannel;
  #channels = new Set();

  /** @param key a random text, of which the keys of writes are made; null: there are none. */
  constructor({ makeChannel, key }) {
    this.#makeChannel = makeChannel;
    this.#key = key;
    this.channel = makeChannel();
    this.#channels.add(this.channel);
  }

  /** A method that reads, or one that nothing is known of. */
  async call(method, params = {}, { signal, timeout } = {}) {
    const mayRepeat = isRead(method, params) || params.requestKey !== undefined;
    return this.channel.call(method, stringify(params), { mayRepeat, signal, timeout });
  }

  /** A method that writes, under a key. */
  write(method, params, options) {
    return this.call(method, takesKey(params) ? { ...params, ...this.#keyed(options) } : params, options);
  }

  /** `object.putMany` of objects that are JSON text. */
  async putMany(objects, params, options = {}) {
    const text = stringify({ ...params, ...this.#keyed(options) });
    const { signal, timeout } = options;
    const how = { mayRepeat: this.#key !== null, signal, timeout };
    return this.channel.call("object.putMany", `${text.slice(0, -1)},"objects":[${objects.join(",")}]}`, how);
  }

  /** Takes a channel of its own for what the service keeps by connection. */
  async *through(action) {
    const channel = this.#makeChannel();
    this.#channels.add(channel);
    try {
      yield* action(channel);
    } finally {
      this.#channels.delete(channel);
      channel.close();
    }
  }

  close() {
    for (const channel of this.#channels) channel.close();
  }

  #keyed({ requestKey } = {}) {
    if (requestKey === undefined && this.#key !== null) return { requestKey: `${this.#key}-${(this.#keys += 1)}` };
    return { requestKey };
  }
}
