// Calls over lines, without sockets: a clock and links that the test plays.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Disconnected, ProtocolError, Timeout, TooManyRequests, Unauthorized, Unavailable } from "../src/errors.js";
import { playground, settled } from "./support/fakes.js";

const read = { mayRepeat: true };

/** How a call ends: its value, or its failure. */
const outcome = (promise) => promise.then((value) => ({ value }), (error) => ({ error }));

async function ready(options) {
  const all = playground(options);
  const first = all.channel.call("server.ping", "{}", read);
  all.links[0].open();
  await settled();
  all.links[0].answer(0, "pong");
  await first;
  return { ...all, link: all.links[0] };
}

test("calls of one turn are written together and answered by their ids", async () => {
  const { channel, link } = await ready();
  const both = [channel.call("a", "{}"), channel.call("b", "{}")];
  assert.equal(link.sent.length, 1);
  await settled();
  assert.deepEqual(link.sent.slice(1).map(({ method }) => method), ["a", "b"]);
  link.events.received(`{"id":${link.sent[1].id},"result":1}\n{"id":${link.sent[2].id},"res`);
  link.events.received(`ult":2}\n`);
  assert.deepEqual(await Promise.all(both), [1, 2]);
});

test("no more calls are under way than the bound, and none while the socket is full", async () => {
  const { channel, link } = await ready({ pipelinedCalls: 2 });
  const calls = [1, 2, 3].map((n) => channel.call(`m${n}`, "{}"));
  await settled();
  assert.equal(link.sent.length, 3);
  link.isFull = true;
  link.answer(1, 1);
  await settled();
  assert.equal(link.sent.length, 4);
  const fourth = channel.call("m4", "{}");
  link.answer(2, 2);
  link.answer(3, 3);
  await settled();
  assert.equal(link.sent.length, 4);
  link.isFull = false;
  link.events.drained();
  await settled();
  link.answer(4, 4);
  assert.deepEqual(await Promise.all([...calls, fourth]), [1, 2, 3, 4]);
});

test("more calls than may wait are refused at once", async () => {
  const { channel } = playground({ waitingCalls: 2 });
  const waiting = [channel.call("a", "{}"), channel.call("b", "{}")].map(outcome);
  const { error } = await outcome(channel.call("c", "{}"));
  assert.ok(error instanceof TooManyRequests);
  assert.equal(error.code, "TOO_MANY_WAIT");
  channel.close();
  for (const { error } of await Promise.all(waiting)) assert.equal(error.code, "CLOSED");
  const large = playground({ waitingCharacters: 100 });
  assert.equal((await outcome(large.channel.call("a", " ".repeat(100)))).error.code, "TOO_MANY_WAIT");
});

test("a lost connection: what may be repeated is, in its order; the rest fails", async () => {
  const { channel, link, links, clock } = await ready();
  const calls = [channel.call("a", "{}", read), channel.call("b", "{}"), channel.call("c", "{}", read)].map(outcome);
  await settled();
  link.break(new Error("reset"));
  const late = channel.call("d", "{}");
  assert.ok((await calls[1]).error instanceof Disconnected);
  assert.equal(links.length, 1);
  await clock.pass(100);
  links[1].open();
  await settled();
  assert.deepEqual(links[1].sent.map(({ method }) => method), ["a", "c", "d"]);
  [0, 1, 2].forEach((index) => links[1].answer(index, index));
  assert.deepEqual([await calls[0], await calls[2], await late], [{ value: 0 }, { value: 1 }, 2]);
});

test("pauses double, are bounded, and go through the addresses; then the call fails", async () => {
  const { channel, links, clock } = playground({ addresses: ["a", "b"], firstPause: 100, longestPause: 400, requestTimeout: 2000 });
  const call = outcome(channel.call("a", "{}"));
  const times = [];
  for (let n = 0; n < 20 && links.length > n; n += 1) {
    times.push(clock.now());
    links[n].break(new Error("refused"));
    await clock.pass(400);
  }
  const { error } = await call;
  assert.ok(error instanceof Unavailable && !(error instanceof Disconnected));
  assert.match(error.message, /^[ab]: refused/);
  assert.deepEqual(links.map(({ address }) => address.name).join(""), "ababa");
  assert.ok(clock.now() <= 2000);
});

test("a connection that does not open is given up", async () => {
  const { channel, links, clock } = playground({ connectTimeout: 1000 });
  const call = channel.call("a", "{}");
  await clock.pass(1100);
  assert.ok(links[0].isClosed);
  links[1].open();
  await settled();
  links[1].answer(0, 1);
  assert.equal(await call, 1);
});

test("a service that never answers: the call times out, and the connection is given up if all is silent", async () => {
  const { channel, link, clock } = await ready();
  const silent = outcome(channel.call("a", "{}", { timeout: 1000 }));
  await clock.pass(1000);
  assert.ok((await silent).error instanceof Timeout);
  assert.ok(link.isClosed);
});

test("a call that times out beside answers leaves the connection, and its late answer is passed over", async () => {
  const { channel, link, clock } = await ready();
  const slow = outcome(channel.call("slow", "{}", { timeout: 1000 }));
  const quick = channel.call("quick", "{}", { timeout: 5000 });
  await clock.pass(900);
  link.answer(2, 2);
  await clock.pass(100);
  assert.ok((await slow).error instanceof Timeout);
  assert.equal(await quick, 2);
  assert.ok(!link.isClosed);
  link.answer(1, 1);
  assert.ok(!link.isClosed);
});

test("an abort ends a call whether it waits, is sent, or pauses, and leaves nothing behind", async () => {
  const { channel, link, clock } = await ready();
  const before = clock.timers;
  for (const moment of ["waits", "sent", "pauses"]) {
    const controller = new AbortController();
    const call = outcome(channel.call("a", "{}", { signal: controller.signal, mayRepeat: true }));
    if (moment !== "waits") await settled();
    if (moment === "pauses") link.refuse(link.sent.length - 1, "TEMPORARY_UNAVAILABLE_ERROR");
    controller.abort(new Error(moment));
    assert.equal((await call).error.message, moment);
    if (moment === "sent") link.answer(link.sent.length - 1, 1);
  }
  await clock.pass(10_000);
  assert.equal(clock.timers, before);
  assert.equal(link.sent.length, 3);
  assert.equal((await outcome(channel.call("a", "{}", { signal: AbortSignal.abort() }))).error.name, "AbortError");
});

test("broken lines end the connection, and what was sent fails", async () => {
  for (const text of ["{\n", "7\n", "null\n", `{"id":99,"result":1}\n`, `{"method":"watch.events"}\n`, `${"x".repeat(2000)}`]) {
    const { channel, link, links, clock } = await ready({ answerCharacters: 1000 });
    const call = outcome(channel.call("a", "{}", read));
    await settled();
    link.events.received(text);
    assert.ok((await call).error instanceof ProtocolError, text);
    assert.ok(link.isClosed);
    const next = channel.call("b", "{}");
    await clock.pass(200);
    links[1].open();
    await settled();
    links[1].answer(0, 1);
    assert.equal(await next, 1);
  }
});

test("an error without an id is of the oldest line, or says that the connection is not wanted", async () => {
  const { channel, link, links, clock } = await ready();
  const call = outcome(channel.call("a", "{}", read));
  await settled();
  link.say({ id: null, error: { message: "too long", data: { errorCode: "LINE_TOO_LONG" } } });
  assert.equal((await call).error.code, "LINE_TOO_LONG");
  const next = channel.call("b", "{}", read);
  await settled();
  link.say({ id: null, error: { message: "full", data: { errorCode: "TOO_MANY_REQUESTS", retryAfterMillis: 700 } } });
  await clock.pass(699);
  assert.equal(links.length, 1);
  await clock.pass(1);
  assert.equal(links.length, 2);
  // What a connection that was not wanted was asked has not been begun.
  const write = channel.call("c", "{}");
  links[1].open();
  await settled();
  links[1].say({ id: null, error: { message: "full", data: { errorCode: "TOO_MANY_REQUESTS" } } });
  await clock.pass(200);
  links[2].open();
  await settled();
  [0, 1].forEach((index) => links[2].answer(index, index));
  assert.deepEqual(await Promise.all([next, write]), [0, 1]);
});

test("nothing is sent before the login is answered; a refused one fails what waits", async () => {
  const { channel, links } = playground({ token: async () => "t" });
  const call = outcome(channel.call("a", "{}"));
  links[0].open();
  await settled();
  assert.deepEqual(links[0].sent.map(({ method, params }) => [method, params]), [["auth.login", { token: "t" }]]);
  links[0].refuse(0, "WRONG_TOKEN");
  assert.ok((await call).error instanceof Unauthorized);
  assert.ok(links[0].isClosed);
});

test("a token that is made anew: the call that was refused is repeated after another login", async () => {
  let number = 0;
  const { channel, links } = playground({ token: async () => `t${(number += 1)}`, renewsToken: true });
  const call = outcome(channel.call("a", "{}"));
  links[0].open();
  await settled();
  links[0].answer(0, {});
  await settled();
  links[0].refuse(1, "UNAUTHORIZED");
  await settled();
  assert.deepEqual(links[0].sent[2].params, { token: "t2" });
  links[0].answer(2, {});
  await settled();
  links[0].refuse(3, "UNAUTHORIZED");
  assert.ok((await call).error instanceof Unauthorized);
});

test("a token that cannot be had, and one that never comes", async () => {
  const failing = playground({ token: async () => { throw new Error("no token"); } });
  const call = outcome(failing.channel.call("a", "{}"));
  failing.links[0].open();
  assert.equal((await call).error.message, "no token");
  const waiting = playground({ token: () => new Promise(() => {}), connectTimeout: 100, requestTimeout: 150 });
  const other = outcome(waiting.channel.call("a", "{}"));
  waiting.links[0].open();
  await waiting.clock.pass(200);
  assert.ok((await other).error instanceof Unavailable);
});

test("a close fails what waits, and nothing is done afterwards", async () => {
  const { channel, link, links, clock } = await ready();
  const call = outcome(channel.call("a", "{}", read));
  channel.close();
  assert.equal((await call).error.code, "CLOSED");
  assert.ok(link.isClosed);
  await clock.pass(60_000);
  assert.equal(links.length, 1);
  assert.equal(clock.timers, 0);
  assert.equal((await outcome(channel.call("a", "{}"))).error.code, "CLOSED");
});

test("a silent connection with watches is asked whether it works, and given up if not", async () => {
  const { channel, link, clock } = await ready({ watchCheckTime: 40_000 });
  let isLost = false;
  const handle = channel.watch({ bucket: "b" }, { told: () => {}, lost: () => { isLost = true; } });
  await settled();
  link.answer(1, { watch: "w1" });
  await handle;
  await clock.pass(40_000);
  assert.equal(link.sent[2].method, "server.ping");
  await clock.pass(10_000);
  assert.ok(link.isClosed && isLost);
});

test("what a watch asked on a connection that is gone is not asked on the next one", async () => {
  const { channel, link, links, clock } = await ready();
  const starting = channel.watch({ bucket: "b" }, { told: () => {}, lost: () => {} });
  await settled();
  link.answer(1, { watch: "w1" });
  const handle = await starting;
  link.break();
  const move = outcome(handle.move({}));
  await handle.stop();
  const other = channel.call("a", "{}");
  await clock.pass(100);
  links[1].open();
  await settled();
  assert.deepEqual(links[1].sent.map(({ method }) => method), ["a"]);
  assert.ok((await move).error instanceof Disconnected);
  links[1].answer(0, 1);
  await other;
});

test("a watch whose beginning was aborted is stopped when it has begun", async () => {
  const { channel, link } = await ready();
  const controller = new AbortController();
  const watch = outcome(channel.watch({ bucket: "b" }, { told: () => {}, lost: () => {} }, { signal: controller.signal }));
  await settled();
  controller.abort();
  assert.ok((await watch).error);
  link.answer(1, { watch: "w1" });
  await settled();
  assert.deepEqual([link.sent[2].method, link.sent[2].params], ["watch.stop", { watch: "w1" }]);
});

const REASONS = /^(aborted|TIMEOUT|DISCONNECTED|UNREACHABLE|TOO_MANY_|TEMPORARY|UNAUTHORIZED|OBJECT_NOT_FOUND)/;

test("whatever happens, each call ends once, with its own answer or a reason", async () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    let state = seed;
    const random = (n) => (state = (state * 1103515245 + 12345) % 2147483648) % n;
    const { channel, clock, links } = playground({
      firstPause: 10, longestPause: 50, requestTimeout: 3000, pipelinedCalls: 1 + random(8), waitingCalls: 12,
      ...(random(2) && { token: async () => "t", renewsToken: true }),
    });
    const answered = [];
    const calls = [];
    for (let step = 0; step < 120; step += 1) {
      const link = links.at(-1);
      switch (random(9)) {
        case 0: case 1: {
          const controller = new AbortController();
          const how = { mayRepeat: random(2) === 1, signal: controller.signal, timeout: 100 + random(2000) };
          calls.push({ controller, outcome: outcome(channel.call("m", `{"n":${calls.length}}`, how)) });
          break;
        }
        case 2: if (calls.length > 0) calls[random(calls.length)].controller.abort(new Error("aborted")); break;
        case 3: if (link && !link.isClosed) link.open(); break;
        case 4: if (link && random(4) === 0) link.break(new Error("lost")); break;
        case 5: await clock.pass(random(120)); break;
        case 6: if (link) link.events.drained(); break;
        default: {
          const index = link ? answered[links.length] ?? 0 : 0;
          if (!link || link.isClosed || index >= link.sent.length) break;
          answered[links.length] = index + 1;
          const { method, params } = link.sent[index];
          const codes = ["TOO_MANY_REQUESTS", "TEMPORARY_UNAVAILABLE_ERROR", "UNAUTHORIZED", "OBJECT_NOT_FOUND"];
          if (method === "m" && random(5) === 0) link.refuse(index, codes[random(4)]);
          else link.answer(index, params.n ?? {});
        }
      }
      if (random(3) === 0) await settled();
    }
    await clock.pass(10_000);
    for (const [n, call] of calls.entries()) {
      const result = await Promise.race([call.outcome, settled().then(() => assert.fail(`seed ${seed}: call ${n} has not ended`))]);
      if (result.error === undefined) assert.equal(result.value, n, `seed ${seed}`);
      else assert.match(`${result.error.code ?? result.error.message}`, REASONS);
    }
    channel.close();
    assert.equal(clock.timers, 0, `seed ${seed}`);
  }
});
