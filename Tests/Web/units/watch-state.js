import { WatchState } from "/map/watch-state.js";
import { equal, random, test } from "./check.js";

const object = (id, n = 0) => ({ _id: id, n });
const state = (...ids) => {
  const made = new WatchState();
  made.apply("snapshot", { objects: ids.map((id) => object(id)), more: false, change: 1 });
  return made;
};
const kinds = (effects) => effects.map(({ kind, id }) => `${kind} ${id}`);

test("A snapshot in parts counts when it is whole", () => {
  const watch = new WatchState();
  equal(watch.apply("snapshot", { objects: [object("a")], more: true }), []);
  equal([watch.objects.size, watch.isComplete], [0, false]);
  equal(kinds(watch.apply("snapshot", { objects: [object("b")], more: false, change: 7 })), ["enter a", "enter b"]);
  equal([watch.order, watch.change, watch.isComplete], [["a", "b"], 7, true]);
});

test("Events enter, change and leave in their order", () => {
  const watch = state("a");
  const effects = watch.apply("events", { change: 5, events: [{ event: "enter", object: object("b") }, { event: "change", object: object("a", 2) },
    { event: "leave", _id: "b", reason: "moved" }] });
  equal(kinds(effects), ["enter b", "change a", "leave b"]);
  equal(effects[2].reason, "moved");
  equal([[...watch.objects.values()], watch.order, watch.change], [[object("a", 2)], ["a"], 5]);
});

test("An enter of an object that is held is a change, a leave of one that is not is nothing", () => {
  const watch = state("a");
  const effects = watch.apply("events", { change: 2, events: [{ event: "enter", object: object("a", 1) }, { event: "leave", _id: "zz", reason: "deleted" }] });
  equal(kinds(effects), ["change a"]);
  equal(watch.order, ["a"]);
});

test("A heartbeat changes nothing but the change number", () => {
  const watch = state("a");
  equal(watch.apply("events", { change: 9, events: [] }), []);
  equal([watch.change, watch.order], [9, ["a"]]);
});

test("After a resync the old state stays until the new snapshot is whole, which tells the difference", () => {
  const watch = state("a", "b", "c");
  equal(watch.apply("resync", { reason: "slow" }), []);
  equal([watch.objects.size, watch.isComplete], [3, false]);
  watch.apply("snapshot", { objects: [object("b", 1)], more: true });
  equal(watch.objects.size, 3);
  equal(kinds(watch.apply("snapshot", { objects: [object("c"), object("d")], more: false, change: 20 })), ["leave a", "change b", "enter d"]);
  equal(watch.order, ["b", "c", "d"]);
});

test("A resync throws away the parts of a snapshot that has not ended", () => {
  const watch = new WatchState();
  watch.apply("snapshot", { objects: [object("a")], more: true });
  watch.apply("resync", { reason: "slow" });
  watch.apply("snapshot", { objects: [object("b")], more: false, change: 3 });
  equal([...watch.objects.keys()], ["b"]);
});

test("The end has the service's error", () => {
  const watch = state("a");
  watch.apply("end", { error: { message: "the login was revoked" } });
  equal(watch.ended.message, "the login was revoked");
});

test("Meetings, centres and unknown notifications make no effects", () => {
  const watch = state("a");
  equal(watch.apply("events", { change: 2, events: [{ event: "meet", ids: ["a", "b"] }, { event: "center", missing: true }] }), []);
  equal(watch.apply("news", {}), []);
});

test("Indexes turn the old ranking into the new one", () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const next = random(seed);
    const watch = state("a", "b", "c", "d");
    let list = ["a", "b", "c", "d"];
    let number = 0;
    for (let round = 0; round < 40; round += 1) {
      const from = Math.floor(next() * list.length);
      const kind = next();
      let event;
      if (kind < 0.4) {
        const id = list[from];
        list = list.filter((other) => other !== id);
        const index = Math.floor(next() * (list.length + 1));
        list.splice(index, 0, id);
        event = { event: "change", object: object(id, round), index, from };
      } else if (kind < 0.7 || list.length === 1) {
        const id = `new${(number += 1)}`;
        const index = Math.floor(next() * (list.length + 1));
        list.splice(index, 0, id);
        event = { event: "enter", object: object(id), index };
      } else {
        event = { event: "leave", _id: list[from], reason: "moved", index: from };
        list.splice(from, 1);
      }
      watch.apply("events", { change: round, events: [event] });
      equal(watch.order, list, `seed ${seed}, round ${round}:`);
      equal([...watch.objects.keys()].sort(), [...list].sort(), `seed ${seed}, round ${round}:`);
    }
  }
});

test("Parts of a snapshot whose connection broke are forgotten", () => {
  const watch = new WatchState();
  watch.apply("snapshot", { objects: [object("a")], more: true });
  watch.begin();
  watch.apply("snapshot", { objects: [object("b")], more: false, change: 3 });
  equal([...watch.objects.keys()], ["b"]);
});
