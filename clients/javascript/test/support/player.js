// Plays a service, as clients/scenarios/README.md says: reads what a scenario expects, and answers what it has.
import assert from "node:assert/strict";
import net from "node:net";
import { parseExact, stringify } from "../../src/json.js";
import { same } from "./same.js";

/** What a client may ask at any time, and what it gets. */
const FREE = { "server.ping": "pong", "server.info": {}, "watch.stop": {} };
const PATIENCE = 5_000;

export class Player {
  #server = net.createServer((socket) => this.#accept(socket));
  #sockets = new Set();
  #requests = [];
  #wake = () => {};
  #variables = new Map();

  async begin() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `geobucket://127.0.0.1:${this.#server.address().port}`;
  }

  end() {
    this.lose();
    this.#server.close();
    const unexpected = this.#requests.filter(({ method }) => !(method in FREE));
    assert.deepEqual(unexpected.map(({ method, params }) => ({ method, params })), []);
  }

  lose() {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  tell(messages) {
    const [socket] = [...this.#sockets].slice(-1);
    for (const message of messages) send(socket, message);
  }

  /** Plays a wire; with `isTogether` everything is read before the first answer. */
  async play(wire, isTogether = false) {
    const requests = [];
    for (const expected of wire) {
      const request = await this.#next(expected.method);
      same(request.params, expected.params ?? {}, this.#variables);
      requests.push([request, expected]);
      // What is answered before a connection is lost is answered.
      if (!isTogether || expected.lost) for (const answer of requests.splice(0)) this.#answer(...answer);
    }
    for (const answer of requests) this.#answer(...answer);
  }

  #answer({ id, socket }, { result, error, tell = [], lost, never }) {
    if (never) return;
    if (lost) {
      // What it sent behind this is not read.
      this.#requests = this.#requests.filter((request) => request.socket !== socket);
      return void socket.destroySoon();
    }
    send(socket, error ? { id, error } : { id, result });
    for (const message of tell) send(socket, message);
  }

  async #next(method) {
    const end = Date.now() + PATIENCE;
    for (;;) {
      const request = this.#requests.shift();
      if (request?.method === method) return request;
      if (request && request.method in FREE) this.#answer(request, { result: FREE[request.method] });
      else if (request) assert.fail(`${stringify({ ...request, socket: undefined })} instead of ${method}`);
      else {
        let timer;
        await new Promise((resolve) => {
          this.#wake = resolve;
          timer = setTimeout(resolve, Math.max(1, end - Date.now()));
        });
        clearTimeout(timer);
        if (this.#requests.length === 0 && Date.now() >= end) assert.fail(`no ${method} came`);
      }
    }
  }

  #accept(socket) {
    this.#sockets.add(socket);
    let rest = "";
    socket.setEncoding("utf8");
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("data", (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) this.#requests.push({ ...parseExact(line), socket });
      this.#wake();
    });
  }
}

const send = (socket, message) => socket.write(`${stringify({ jsonrpc: "2.0", ...message })}\n`);
