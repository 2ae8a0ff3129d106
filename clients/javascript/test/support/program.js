// The program that GEOBUCKET names, as a service that a test starts, kills and restarts; and a proxy that cuts connections.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const program = process.env.GEOBUCKET;
/** Why a test that needs the program is skipped, or false. */
export const noProgram = program ? false : "GEOBUCKET names no program";

export class Program {
  #process = null;
  #ports = {};
  #flags;
  folder = mkdtempSync(join(tmpdir(), "geobucket-javascript-"));

  /** A service over a store of its own. */
  static async started(...flags) {
    const service = new Program(flags);
    await service.start();
    return service;
  }

  constructor(flags) {
    this.#flags = flags;
  }

  /** Starts it, at the ports that it had before. */
  async start() {
    const [lines, web] = [this.#ports["ready"] ?? 0, this.#ports.web ?? 0];
    const ports = ["--listen", `127.0.0.1:${lines}`, "--web", `127.0.0.1:${web}`];
    const all = ["serve", "--store", this.path("store.sqlite"), "--log-level", "error", ...ports, ...this.#flags];
    this.#process = spawn(program, all, { stdio: ["ignore", "pipe", "inherit"], cwd: this.folder });
    for await (const line of createInterface(this.#process.stdout)) {
      // geobucket web on 127.0.0.1:4364
      const [, name, , address] = line.split(" ");
      this.#ports[name] = Number(address.split(":").pop());
      if (name === "ready") return;
    }
    assert.fail("the service does not start");
  }

  path(name) {
    return join(this.folder, name);
  }

  get lines() {
    return `geobucket://127.0.0.1:${this.#ports.ready}`;
  }

  get secureLines() {
    return `geobuckets://127.0.0.1:${this.#ports.ready}`;
  }

  get web() {
    return `http://127.0.0.1:${this.#ports.web}`;
  }

  async stop(signal = "SIGTERM") {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.kill(signal);
    const [status] = await once(this.#process, "exit");
    if (signal === "SIGTERM") assert.equal(status, 0);
  }

  signal(name) {
    this.#process.kill(name);
  }

  async end() {
    await this.stop();
    rmSync(this.folder, { recursive: true });
  }

  /** What a command of the program prints. */
  run(...words) {
    const { status, stdout, stderr } = spawnSync(program, words, { cwd: this.folder, encoding: "utf8" });
    assert.equal(status, 0, stderr);
    return stdout;
  }
}

/** Passes bytes between clients and an address, until it cuts them off. */
export class Proxy {
  #sockets = new Set();
  #server;

  static async before(address) {
    const proxy = new Proxy();
    const port = new URL(address).port;
    proxy.#server = net.createServer((client) => {
      const service = net.connect(port, "127.0.0.1");
      for (const [socket, other] of [[client, service], [service, client]]) {
        proxy.#sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => {
          proxy.#sockets.delete(socket);
          other.destroy();
        });
        socket.pipe(other);
      }
    });
    await new Promise((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    proxy.address = address.replace(/\d+$/, proxy.#server.address().port);
    return proxy;
  }

  cut() {
    for (const socket of this.#sockets) socket.destroy();
  }

  close() {
    this.cut();
    this.#server.close();
  }
}
