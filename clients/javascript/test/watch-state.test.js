// What notifications make of a state, however they are merged, against a slow and obvious reckoning.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compareBy } from "../src/order.js";
import { WatchState } from "../src/watch-state.js";

let seed = 11;
const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
const pick = (list) => list[random(list.length)];
const IDS = ["a1", "b1", "c1", "d1", "e1"];
let change = 0;

const snapshot = (objects) => ["snapshot", { objects, more: false, change: (change += 1), resume: `r${change}` }];
const told = (events) => ["events", { events, change: (change += 1), resume: `r${change}` }];

/** Applies events to a list as docs/live-queries.md says. */
function replay(list, events) {
  for (const { event, id, object, index, from } of events) {
    const at = list.findIndex(({ _id }) => _id === id);
    if (event === "enter") assert.equal(at, -1);
    else assert.notEqual(at, -1, `${event} ${id}`);
    if (from !== undefined) assert.equal(at, from);
    if (event === "leave" || index !== undefined) at >= 0 && list.splice(at, 1);
    if (event === "leave") continue;
    if (index !== undefined) list.splice(index, 0, object);
    else if (at >= 0) list[at] = object;
    else list.push(object);
  }
  return list;
}

test("sets: however notifications are merged, the state is right, and the events lead to it", () => {
  for (let round = 0; round < 300; round += 1) {
    const state = new WatchState();
    let [service, client] = [new Map(), []];
    for (let step = 0; step < 12; step += 1) {
      if (step === 0 || random(6) === 0) {
        service = new Map(IDS.filter(() => random(2)).map((id) => [id, { _id: id, n: random(3) }]));
        state.apply(...snapshot([...service.values()]));
      } else {
        const events = Array.from({ length: random(4) }, () => {
          const id = pick(IDS);
          if (random(3) === 0) {
            service.delete(id);
            return { event: "leave", change, _id: id, reason: "moved" };
          }
          const object = { _id: id, n: random(3) };
          service.set(id, object);
          return { event: pick(["enter", "change"]), change, object };
        });
        state.apply(...told(events));
      }
      if (random(3) === 0) continue;
      const taken = state.take();
      assert.deepEqual(new Map([...taken.objects].sort()), new Map([...service].sort()));
      client = replay(client, taken.events);
      assert.deepEqual(client.sort(compareBy([{ field: "_id" }])), [...service.values()].sort(compareBy([{ field: "_id" }])));
      assert.equal(taken.change, change);
      assert.equal(taken.resume, `r${change}`);
      assert.equal(state.take(), null);
    }
  }
});

test("rankings: however notifications are merged, the events turn the old list into the new one", () => {
  for (let round = 0; round < 300; round += 1) {
    const state = new WatchState({ isRanking: true });
    let [service, client] = [[], []];
    for (let step = 0; step < 12; step += 1) {
      if (step === 0 || random(6) === 0) {
        service = IDS.filter(() => random(2)).map((id) => ({ _id: id, n: random(3) }));
        state.apply(...snapshot(service.slice()));
      } else {
        const events = Array.from({ length: random(4) }, () => {
          const id = pick(IDS);
          const from = service.findIndex(({ _id }) => _id === id);
          if (from >= 0) service.splice(from, 1);
          if (from >= 0 && random(3) === 0) return { event: "leave", _id: id, reason: "moved" };
          const index = random(service.length + 1);
          const object = { _id: id, n: random(3) };
          service.splice(index, 0, object);
          return from < 0 ? { event: "enter", object, index } : { event: "change", object, index, ...(from !== index && { from }) };
        });
        state.apply(...told(events));
      }
      if (random(3) === 0) continue;
      const { objects, events } = state.take();
      assert.deepEqual([...objects.values()], service);
      client = replay(client, events);
      assert.deepEqual(client, service);
    }
  }
});

test("an object that was deleted and made anew leaves and enters, unless states were merged", () => {
  const again = [{ event: "leave", _id: "a1", reason: "deleted" }, { event: "enter", object: { _id: "a1", n: 2 } }];
  for (const isMerged of [false, true]) {
    const state = new WatchState();
    state.apply(...snapshot([{ _id: "a1" }]));
    if (!isMerged) state.take();
    state.apply(...told(again));
    assert.deepEqual(state.take().events.map(({ event }) => event), isMerged ? ["enter"] : ["leave", "enter"]);
  }
});

test("what is in an order stays in it: by code points, missing values last", () => {
  const state = new WatchState({ order: [{ field: "v", descending: true }, { field: "deep.n" }] });
  const values = [null, false, true, -1, 1.5, 9007199254740993n, "", "a", "\uffff", "😀", { _type: "point", lat: 1, lon: 180 },
    { _type: "point", lat: 1, lon: -179 }, []];
  state.apply(...snapshot([{ _id: "none" }]));
  for (const [n, v] of values.entries()) state.apply(...told([{ event: "enter", object: { _id: `v${n}`, v } }]));
  state.apply(...told([{ event: "enter", object: { _id: "x1", v: [1], deep: { n: -1 } } }]));
  assert.deepEqual([...state.take().objects.keys()].join(" "), "x1 v12 v11 v10 v9 v8 v7 v6 v5 v4 v3 v2 v1 v0 none");
});

test("a field whose whole name has a dot takes precedence", () => {
  const compare = compareBy([{ field: "a.b" }]);
  assert.equal(compare({ "a.b": 1, a: { b: 9 } }, { a: { b: 2 } }), -1);
  assert.equal(compare({ a: null }, { a: { b: 2 } }), 1);
});

test("pairs meet and part, also over a snapshot", () => {
  const state = new WatchState({ isPairs: true });
  state.apply(...snapshot([{ ids: ["a1", "o1"], distance: 5 }, { ids: ["b1", "o1"], distance: 6 }]));
  assert.deepEqual(state.take().events.map(({ event, ids }) => [event, ...ids]), [["meet", "a1", "o1"], ["meet", "b1", "o1"]]);
  state.apply(...snapshot([{ ids: ["b1", "o1"], distance: 7 }]));
  const { pairs, events } = state.take();
  assert.deepEqual([...pairs.values()], [{ ids: ["b1", "o1"], distance: 7 }]);
  assert.deepEqual(events.map(({ event, ids, reason }) => [event, ids, reason]), [["part", ["a1", "o1"], "unseen"]]);
});

test("the parts of a snapshot are void after a resync and on another connection", () => {
  const state = new WatchState();
  for (const gap of [() => state.apply("resync", {}), () => state.begin()]) {
    state.apply("snapshot", { objects: [{ _id: "old" }], more: true, change: 1 });
    gap();
    state.apply(...snapshot([{ _id: "new" }]));
    assert.deepEqual([...state.take().objects.keys()], ["new"]);
  }
});

test("a lost connection, and the end of what is not told, are states without events", () => {
  const state = new WatchState();
  assert.equal(state.take(), null);
  state.apply(...snapshot([]));
  assert.equal(state.take().isSnapshot, true);
  state.connected(false);
  const lost = state.take();
  assert.deepEqual([lost.isConnected, lost.isSnapshot, lost.events], [false, false, []]);
  state.synced(change + 5);
  assert.equal(state.take().change, change + 5);
  state.synced(change);
  assert.equal(state.take(), null);
});

test("after a start with a token of an earlier run, objects leave that were never here", () => {
  const state = new WatchState({ resume: "r0" });
  for (const isMerged of [false, true]) {
    if (isMerged) state.apply(...told([]));
    state.apply(...told([{ event: "leave", _id: "x1", reason: "deleted" }]));
    const { events, isComplete } = state.take();
    assert.deepEqual([events.map(({ event, id }) => [event, id]), isComplete], [[["leave", "x1"]], false]);
  }
});
