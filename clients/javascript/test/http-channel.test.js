// Calls and watches over HTTP, with a fetch that the test plays.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Disconnected, InvalidInput, ProtocolError, Timeout, TooManyRequests, Unauthorized } from "../src/errors.js";
import { HTTPChannel } from "../src/http-channel.js";
import { DEFAULTS } from "../src/policy.js";
import { FakeClock, settled } from "./support/fakes.js";

const outcome = (promise) => promise.then((value) => ({ value }), (error) => ({ error }));

/** A channel whose requests wait in `requests` for `answer` or `fail`. */
function playground({ addresses = ["http://a/"], token, renewsToken = false, ...options } = {}) {
  const clock = new FakeClock();
  const requests = [];
  const fetch = (url, { signal, headers, body }) => new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    requests.push({
      url, headers, signal, body: body && JSON.parse(body),
      fail: (message) => reject(new TypeError("fetch failed", { cause: new Error(message) })),
      answer: (value, { status = 200, headers = {} } = {}) =>
        resolve(new Response(typeof value === "string" ? value : JSON.stringify(value), { status, headers })),
      stream: () => {
        let controller;
        const encoder = new TextEncoder();
        resolve(new Response(new ReadableStream({ start: (made) => { controller = made; } })));
        return {
          say: (event, data) => controller.enqueue(encoder.encode(`event: ${event}\nid: x\ndata: ${JSON.stringify(data)}\n\n`)),
          raw: (bytes) => controller.enqueue(bytes),
          end: () => controller.close(),
        };
      },
    });
  });
  const channel = new HTTPChannel({
    addresses: addresses.map((url) => ({ name: url, url })), clock, fetch, parse: JSON.parse, token, renewsToken,
    options: { ...DEFAULTS, ...options },
  });
  return { clock, requests, channel };
}

test("a call is a POST to rpc below the address, and its result comes back", async () => {
  const { channel, requests } = playground({ addresses: ["http://a/geo/"], token: async () => "t" });
  const call = channel.call("m", '{"a":1}');
  await settled();
  const { url, headers, body } = requests[0];
  assert.equal(url, "http://a/geo/rpc");
  assert.equal(headers.Authorization, "Bearer t");
  assert.deepEqual([body.method, body.params], ["m", { a: 1 }]);
  requests[0].answer({ jsonrpc: "2.0", id: 1, result: null });
  assert.equal(await call, null);
});

test("no more requests are made at once than the bound; an aborted one gives its turn away", async () => {
  const { channel, requests } = playground({ parallelRequests: 2 });
  const controller = new AbortController();
  const calls = [{}, {}, { signal: controller.signal }, {}].map((how, n) => outcome(channel.call(`m${n}`, "{}", how)));
  await settled();
  assert.equal(requests.length, 2);
  controller.abort();
  requests[0].answer({ result: 0 });
  await settled();
  assert.deepEqual(requests.map(({ body }) => body.method), ["m0", "m1", "m3"]);
  requests[1].answer({ result: 1 });
  requests[2].answer({ result: 3 });
  assert.deepEqual((await Promise.all(calls)).map(({ value }) => value), [0, 1, undefined, 3]);
  const more = outcome(channel.call("m4", "{}"));
  await settled();
  requests[3].answer({ result: 4 });
  assert.equal((await more).value, 4);
});

test("failures of the network and of the service: what is repeated, and where", async () => {
  const { channel, requests, clock } = playground({ addresses: ["http://a/", "http://b/"] });
  const write = outcome(channel.call("w", "{}"));
  await settled();
  requests[0].fail("ECONNRESET");
  const { error } = await write;
  assert.ok(error instanceof Disconnected);
  assert.equal(error.message, "http://a/: ECONNRESET");
  const read = channel.call("r", "{}", { mayRepeat: true });
  const unavailable = { errorCode: "TEMPORARY_UNAVAILABLE_ERROR", message: "stops" };
  for (const [n, act] of [
    (request) => request.fail("gone"),
    (request) => request.answer(unavailable, { status: 503, headers: { "Retry-After": "1" } }),
    (request) => request.answer("<html>", { status: 502 }),
    (request) => request.answer({ error: { message: "many", data: { errorCode: "TOO_MANY_REQUESTS", retryAfterMillis: 50 } } }),
    (request) => request.answer({ result: 7 }),
  ].entries()) {
    await clock.pass(2_000);
    act(requests[n + 1]);
  }
  assert.equal(await read, 7);
  assert.deepEqual(requests.map(({ url }) => url[7]).join(""), "abaaaa");
});

test("what the port refuses, and what is no answer", async () => {
  for (const [value, status, type] of [
    [{ errorCode: "UNAUTHORIZED", message: "no" }, 401, Unauthorized], ["hello", 200, ProtocolError], ["7", 200, ProtocolError],
    [{}, 200, ProtocolError], [{ errorCode: "LINE_TOO_LONG", message: "long" }, 413, InvalidInput],
  ]) {
    const { channel, requests } = playground();
    const call = outcome(channel.call("m", "{}", { mayRepeat: true }));
    await settled();
    requests[0].answer(value, { status });
    assert.ok((await call).error instanceof type);
  }
});

test("a time limit, a close and too many calls", async () => {
  const { channel, clock, requests } = playground({ waitingCalls: 2 });
  const slow = outcome(channel.call("m", "{}", { timeout: 100 }));
  await clock.pass(100);
  assert.ok((await slow).error instanceof Timeout);
  assert.ok(requests[0].signal.aborted);
  const waiting = [outcome(channel.call("m", "{}")), outcome(channel.call("m", "{}"))];
  assert.ok((await outcome(channel.call("m", "{}"))).error instanceof TooManyRequests);
  channel.close();
  for (const call of waiting) assert.equal((await call).error.code, "CLOSED");
  assert.equal((await outcome(channel.call("m", "{}"))).error.code, "CLOSED");
  assert.equal(clock.timers, 0);
});

test("a token that is made anew is asked for once more", async () => {
  let number = 0;
  const { channel, requests } = playground({ token: async () => `t${(number += 1)}`, renewsToken: true });
  const call = channel.call("m", "{}");
  await settled();
  requests[0].answer({ errorCode: "UNAUTHORIZED", message: "expired" }, { status: 401 });
  await settled();
  assert.equal(requests[1].headers.Authorization, "Bearer t2");
  requests[1].answer({ result: 1 });
  assert.equal(await call, 1);
});

test("a watch is a stream of events, in any pieces; its end is told", async () => {
  const { channel, requests } = playground();
  const told = [];
  let isLost = false;
  const stop = new AbortController();
  const receiver = { told: (kind, params) => told.push([kind, params]), lost: () => { isLost = true; } };
  const params = { bucket: "b", bucketQuery: { clause: { type: "all" } }, fields: ["x", "y"], bestEffortLimit: 3, resume: "r1" };
  const beginning = channel.watch(params, receiver, { signal: stop.signal });
  await settled();
  const { url, headers } = requests[0];
  const asked = Object.fromEntries(new URL(url).searchParams);
  assert.deepEqual(asked, { bucket: "b", query: '{"clause":{"type":"all"}}', limit: "3", fields: "x,y" });
  assert.equal(headers["Last-Event-ID"], "r1");
  const stream = requests[0].stream();
  await beginning;
  stream.raw(new TextEncoder().encode(": the watch goes on\r\n\r\n"));
  for (const byte of new TextEncoder().encode('event: events\ndata: {"a":"☕"}\n\nevent: snap')) stream.raw(new Uint8Array([byte]));
  stream.raw(new TextEncoder().encode('shot\ndata: {"b":1}\n\n'));
  await settled();
  assert.deepEqual(told, [["events", { a: "☕" }], ["snapshot", { b: 1 }]]);
  stream.end();
  await settled();
  assert.ok(isLost);
});

test("a watch that is silent for long is lost; one that tells what is no event has failed", async () => {
  const { channel, requests, clock } = playground({ watchCheckTime: 1000 });
  const losses = [];
  for (const act of [() => clock.pass(1000), (stream) => stream.raw(new TextEncoder().encode("event: events\ndata: {\n\n"))]) {
    const beginning = channel.watch({ bucket: "b" }, { told: () => {}, lost: (error) => losses.push(error) }, {});
    await settled();
    const stream = requests.at(-1).stream();
    await beginning;
    await act(stream);
    await settled();
  }
  assert.equal(losses[0], undefined);
  assert.ok(losses[1] instanceof ProtocolError);
});

test("what only lines have is refused by name", async () => {
  const { channel } = playground();
  const { error } = await outcome(channel.watch({ bucket: "b", leaveRadius: 5 }, {}, {}));
  assert.ok(error instanceof InvalidInput);
  assert.equal(error.path, "leaveRadius");
});
