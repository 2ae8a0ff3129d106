// Connections that are cut, a service that is killed, stopped and slow: nothing is lost, and nothing is done twice.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, near, point } from "../src/index.js";
import { Program, Proxy, noProgram } from "./support/program.js";

for (const kind of ["lines", "web"]) {
  test(`each write once, each read whole, a watch that has all, over ${kind}`, { skip: noProgram, timeout: 60_000 }, async () => {
    const service = await Program.started();
    const proxy = await Proxy.before(service[kind]);
    const db = await connect(proxy.address, { longestPause: 200 });
    const bucket = db.bucket("chaos");
    let isOver = false;
    let writes = 0;
    let seen = new Map();

    const writers = [1, 2, 3, 4].map(async (writer) => {
      for (let n = 0; !isOver; n += 1) {
        await bucket.create({ writer, n, location: point(35 + n / 10_000, 139) });
        writes += 1;
      }
    });
    const reader = (async () => {
      while (!isOver) {
        const ids = await bucket.find(near("location", [35, 139], undefined, "d")).nearest().pageSize(50).limit(300).toArray();
        assert.equal(new Set(ids.map(({ _id }) => _id)).size, ids.length);
      }
    })();
    const watch = bucket.find().fields("n").watch();
    const watcher = (async () => {
      for await (const { objects } of watch) seen = objects;
    })();

    const disaster = (async () => {
      for (const step of ["cut", "cut", "kill", "cut", "stall", "cut", "stop", "cut"]) {
        await sleep(250);
        if (step === "cut") proxy.cut();
        if (step === "stall") {
          service.signal("SIGSTOP");
          await sleep(300);
          service.signal("SIGCONT");
        }
        if (step === "kill" || step === "stop") {
          await service.stop(step === "kill" ? "SIGKILL" : "SIGTERM");
          await sleep(100);
          await service.start();
        }
      }
      isOver = true;
    })();
    await Promise.all([...writers, reader, disaster]);
    await watch.sync();
    await sleep(0);
    assert.ok(writes > 50, `${writes} writes`);
    assert.equal(await bucket.count(), writes);
    for (let n = 0; seen.size !== writes && n < 100; n += 1) await sleep(10);
    assert.equal(seen.size, writes);
    await watch.close();
    await watcher;
    db.close();
    proxy.close();
    await service.end();
  });
}
