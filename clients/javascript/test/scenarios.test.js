// What every client has to do: clients/scenarios, with a service that the test plays.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import * as geobucket from "../src/index.js";
import { open } from "../src/connect.js";
import { parseExact } from "../src/json.js";
import { Player } from "./support/player.js";
import { includes, same } from "./support/same.js";

const FOLDER = new URL("../../scenarios/", import.meta.url);
const CAN = new Set([
  "bigIntegers", "totalLimit", "batches", "pipelined", "timeouts", "raw", "match", "shapes", "dryRun", "aggregate",
  "explain", "export",
]);
const lacks = ({ needs = [] }) => needs.filter((name) => !CAN.has(name)).join(", ") || false;

for (const name of readdirSync(FOLDER).filter((file) => file.endsWith(".json")).sort()) {
  const { scenarios = [], clauses = [] } = parseExact(readFileSync(new URL(name, FOLDER), "utf8"));
  for (const scenario of scenarios) {
    test(`${name}: ${scenario.name}`, { skip: lacks(scenario), timeout: 20_000 }, () => run(scenario));
  }
  for (const example of clauses) {
    const title = `${name}: ${JSON.stringify(example.build, big)}`;
    test(title, { skip: lacks(example) }, () => same(clauseOf(example.build), example.clause));
  }
}

function big(name, value) {
  return typeof value === "bigint" ? `${value}` : value;
}

async function run({ options = {}, steps }) {
  const player = new Player();
  const db = await open(await player.begin(), {
    bigint: true,
    token: options.token,
    requestTimeout: options.timeoutMilliseconds ?? 5_000,
    firstPause: options.firstPauseMilliseconds ?? 2,
    longestPause: options.longestPauseMilliseconds ?? 10,
    ...(options.pipelined && { pipelinedCalls: options.pipelined }),
  });
  const watches = new Map();
  try {
    for (const step of steps) await play(step, { player, db, watches });
  } finally {
    db.close();
    player.end();
  }
}

async function play(step, { player, db, watches }) {
  if (step.call) {
    await Promise.all([settle(step, begin(step, db, watches)), player.play(step.wire)]);
  } else if (step.together) {
    const calls = step.together.map((call) => settle(call, begin(call, db, watches)));
    await Promise.all([...calls, player.play(step.wire, !step.oneByOne)]);
  } else if (step.watch) {
    const watch = watchOf(step, db);
    const states = watch[Symbol.asyncIterator]();
    watches.set(step.watch, { watch, states, next: states.next() });
    watches.get(step.watch).next.catch(() => {});
    await player.play(step.wire);
  } else if (step.state) await takeState(watches.get(step.state), step.is);
  else if (step.ended) await assert.rejects(untilEnd(watches.get(step.ended)), (error) => checkFailure(error, step.fails));
  else if (step.tell) player.tell(step.tell);
  else if (step.lost) player.lose();
  else await player.play(step.wire);
}

async function settle({ returns, fails }, call) {
  if (fails) return assert.rejects(call, (error) => checkFailure(error, fails));
  const value = await call;
  if (returns === null) assert.ok(value === undefined || value === "pong");
  else includes(value, returns);
}

const KINDS = [
  ["notFound", "NotFound"], ["invalidInput", "InvalidInput"], ["conflict", "Conflict"], ["unauthorized", "Unauthorized"],
  ["notAllowed", "Forbidden"], ["tooManyRequests", "TooManyRequests"], ["timeout", "Timeout"],
  ["disconnected", "Disconnected"], ["unavailable", "Unavailable"], ["refused", "GeoBucketError"],
];

function checkFailure(error, { kind, errorCode, path, retryAfterMillis, message }) {
  assert.ok(error instanceof geobucket.GeoBucketError, error);
  if (kind) assert.equal(KINDS.find(([, name]) => error instanceof geobucket[name])[0], kind, error);
  if (errorCode) assert.equal(error.code, errorCode);
  if (path) assert.equal(error.path, path);
  if (retryAfterMillis) assert.equal(error.retryAfter, retryAfterMillis);
  if (message) assert.equal(error.message, message);
  return true;
}

// Calls.

const written = ({ _id: id, _version: version, written = true }) => ({ id, version, written });

const CALLS = {
  call: ({ db }, { method, params }) => db.call(method, params),
  ping: ({ db }) => db.ping(),
  buckets: async ({ db }, { scope }) => (await collect(db.buckets({ scope }))).map(({ bucket }) => bucket),
  get: ({ bucket }, { id }) => bucket.get(id),
  create: async ({ bucket }, { object, ...options }) => written(await bucket.create(object, options)),
  put: async ({ bucket }, { id, object, ...options }) => written(await bucket.put(id, object, options)),
  patch: async ({ bucket }, { id, object, ...options }) => written(await bucket.patch(id, object, options)),
  delete: ({ bucket }, { id, ...options }) => bucket.delete(id, options),
  putMany: ({ bucket }, { objects, ...options }) => bucket.putMany(objects, options),
  find: ({ query }) => query.toArray(),
  page: async ({ query }, { key }) => {
    const { objects, nextKey } = await query.page({ key });
    return { objects, next: nextKey ?? null };
  },
  count: ({ query }) => query.count(),
  explain: ({ query }, { analyze }) => query.explain({ analyze }),
  aggregate: ({ query }, { figures }) => query.aggregate(
    Object.fromEntries(Object.entries(figures).map(([name, [type, ...rest]]) => [name, geobucket[type.toLowerCase()](...rest)]))),
  clusters: ({ query }, { query: _, box, ...options }) =>
    query.clusters({ ...options, box: box && [box.slice(0, 2), box.slice(2)] }),
  fields: ({ bucket }) => bucket.fields(),
  deleteWhere: ({ query }, { dryRun }) => query.delete({ dryRun }),
  drop: ({ bucket }) => bucket.drop(),
  export: ({ bucket }) => collect(bucket.export()),
  move: ({ watch, query }) => watch.move(query),
  sync: ({ watch }) => watch.sync(),
  stop: ({ watch }) => watch.close(),
};

function begin({ call, bucket: name, watch, with: arguments_ = {} }, db, watches) {
  const bucket = db.bucket(name ?? "none");
  const context = { db, bucket, query: queryOf(bucket, arguments_.query), watch: watches.get(watch)?.watch };
  return CALLS[call](context, arguments_);
}

function queryOf(bucket, { where, orderBy, nearest, limit, pageSize, fields } = {}) {
  let query = bucket.find(...(where ? [clauseOf(where)] : []));
  if (orderBy) {
    query = query.orderBy(...orderBy.map((key) => (typeof key === "string" ? key : geobucket.descending(key[0]))));
  }
  if (nearest) query = query.nearest();
  if (limit !== undefined) query = query.limit(limit);
  if (pageSize !== undefined) query = query.pageSize(pageSize);
  if (fields !== undefined) query = query.fields(...fields);
  return query;
}

async function collect(iterable) {
  const values = [];
  for await (const value of iterable) values.push(value);
  return values;
}

// Clauses.

const given = (value) => value ?? undefined;
const placeOf = (place) => (place.bucket ? geobucket.objectAt(place.bucket, place.id, place.field) : place);

const BUILDERS = {
  le: "lte", ge: "gte", in: "isIn", has: "hasField",
  box: (field, [south, west, north, east]) => geobucket.box(field, [south, west], [north, east]),
  polygon: "within",
  within: (field, center, radius, into, model) => geobucket.near(field, placeOf(center), given(radius), into, { model }),
  along: (field, line, width, distanceInto, alongInto) => geobucket.along(field, line, width, { distanceInto, alongInto }),
  like: (field, pattern, ignoreCase) => geobucket.like(field, pattern, { ignoreCase }),
  and: (...inner) => geobucket.and(...inner.map(clauseOf)),
  or: (...inner) => geobucket.or(...inner.map(clauseOf)),
  not: (inner) => geobucket.not(clauseOf(inner)),
  intersects: (field, shape) => geobucket.intersects(field, placeOf(shape)),
  inside: (field, shape) => geobucket.inside(field, placeOf(shape)),
  holds: (field, shape) => geobucket.holds(field, placeOf(shape)),
};

function clauseOf([name, ...values]) {
  const builder = BUILDERS[name] ?? name;
  return (typeof builder === "string" ? geobucket[builder] : builder)(...values);
}

// Watches.

function watchOf({ bucket, with: { query, pairs, intervalMilliseconds: interval, ...options } }, db) {
  const watched = queryOf(db.bucket(bucket), query);
  if (!pairs) return watched.watch({ interval, ...options });
  const { bucket: other, where, ...rest } = pairs;
  return watched.watchPairs(queryOf(db.bucket(other), { where }), { ...rest, ...options });
}

async function takeState(watched, { change, objects, events, connected = true, ...flags }) {
  const seen = [];
  for (;;) {
    const { value: state, done } = await watched.next;
    assert.ok(!done, "the watch has ended");
    seen.push(...state.events);
    if (state.change !== change || state.isConnected !== connected) {
      watched.next = watched.states.next();
      continue;
    }
    const values = [...(state.objects ?? state.pairs).values()];
    if (objects) includes(values, objects);
    if (events) includes(seen, events);
    const names = { snapshot: "isSnapshot", complete: "isComplete", centerMissing: "centerIsMissing" };
    for (const [name, value] of Object.entries(flags)) assert.equal(state[names[name]], value, name);
    watched.next = watched.states.next();
    watched.next.catch(() => {});
    return;
  }
}

async function untilEnd(watched) {
  for (let result = await watched.next; !result.done; result = await watched.states.next());
}
